package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Item is what a [Job], a [Batch] and a [Request] have in common: a znode with a status,
// and the worker's lock on it. Each of its methods that moves it also releases the lock, in one
// transaction. Their errors: [ErrNotLocked] if the lock was lost; [ErrConflict] if the status was changed, which the deployed
// admin tool does in spite of a lock, and then the lock stays until Unlock; *[StateError] if there
// is no such step or its guard does not hold. After an error nothing was written, unless the error is
// [ErrUnknownOutcome], or its message says what was written ([Batch.Process]).
type Item struct {
	q       *Queue
	of      member // the job, batch or request itself
	kind    states.Entity
	path    string
	version int32 // of the status
	lock    lock  // zero when not acquired
	gone    int   // jobs that removeAhead has deleted
}

type member interface {
	base() *Item
	// state is the one that was read last.
	state() string
	// properties are the znodes below it. The first is the status.
	properties() []property
	// decide reads what a transition depends on, and returns what it writes.
	decide(ctx context.Context, t states.Transition, a act) (plan, error)
}

func (e *Item) base() *Item { return e }

// property is a znode below an item, and how its data becomes a field.
type property struct {
	name     string
	parse    func(data []byte) error
	optional bool // an item may lack it
	object   bool // a JSON object: see [newqueue.Dialect.IsEmptyObject]
}

func into[T any](field *T, parse func([]byte) (T, error)) func([]byte) error {
	return func(data []byte) (err error) {
		*field, err = parse(data)
		return err
	}
}

func intoIn[T any](d newqueue.Dialect, field *T, parse func(newqueue.Dialect, []byte) (T, error)) func([]byte) error {
	return into(field, func(data []byte) (T, error) { return parse(d, data) })
}

func (e *Item) nodes(ctx context.Context, names ...string) (map[string]*node, error) {
	nodes := make([]*node, len(names))
	err := each(len(names), func(i int) error {
		n, ok, err := e.q.maybe(ctx, e.path+"/"+names[i])
		if ok {
			nodes[i] = &n
		}
		return err
	})
	found := map[string]*node{}
	for i, name := range names {
		found[name] = nodes[i]
	}
	return found, err
}

// load reads properties at the same time. The error is a *[NodeError]. It wraps
// [ErrNotFound] if one is missing.
func (e *Item) load(ctx context.Context, properties []property) error {
	var names []string
	for _, p := range properties {
		names = append(names, p.name)
	}
	nodes, err := e.nodes(ctx, names...)
	if err != nil {
		return err
	}
	for _, p := range properties {
		if err := e.parse(p, nodes[p.name]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Item) parse(p property, n *node) error {
	switch {
	case n == nil && p.optional:
		return nil
	case n == nil:
		return &NodeError{e.path + "/" + p.name, ErrNotFound}
	}
	if p.name == "status" {
		e.version = n.version
	}
	if p.object && e.q.dialect.IsEmptyObject(n.data) {
		return nil
	}
	if err := p.parse(n.data); err != nil {
		return &NodeError{e.path + "/" + p.name, err}
	}
	return nil
}

func (e *Item) loadAll(ctx context.Context) error {
	err := e.load(ctx, e.of.properties())
	if j, ok := e.of.(*Job); ok {
		j.was = j.work()
	}
	return err
}

func (e *Item) loadStatus(ctx context.Context) error { return e.load(ctx, e.of.properties()[:1]) }

// lock is a lock that ends with its session. czxid tells it from another one at the same path; it is 0 until the lock
// was read.
type lock struct {
	path           string
	session, czxid int64
}

// Path returns the znode of the batch, job or request.
func (e *Item) Path() string { return e.path }

// Locked reports whether it was acquired, and neither unlocked nor moved since.
// It does not notice that the session has ended: the next operation does.
func (e *Item) Locked() bool { return e.lock != lock{} }

// Succeed moves it to the state that follows when a worker succeeds in its state.
func (e *Item) Succeed(ctx context.Context) error {
	return e.move(ctx, act{name: "finish", worker: true, to: e.q.machines[e.kind].Success(e.of.state())})
}

// Fail moves it to failed, with a message that says why.
func (e *Item) Fail(ctx context.Context, message string) error {
	return e.MoveTo(ctx, states.Failed, message)
}

// Hold moves a pending job or batch to held because its collection is held. In dialect mrt-zk
// only an administrator can hold a batch ([Queue.MoveBatch]).
func (e *Item) Hold(ctx context.Context, message string) error {
	return e.MoveTo(ctx, states.Held, message)
}

// MoveTo moves it to any state that a worker may move it to, with a message in the status, which may be
// empty. It creates no jobs when it moves a batch to processing: see [Batch.Process]. When it moves a
// batch to completed or failed, it reports the batch's jobs as [Batch.Finish] does.
func (e *Item) MoveTo(ctx context.Context, to, message string) error {
	return e.move(ctx, act{name: "move to " + to, worker: true, to: to, message: message})
}

// Unlock releases the lock and changes nothing else, so that another worker can
// acquire the same. The error wraps [ErrNotLocked] if the lock was already lost, or if it is gone after a lost answer and
// nothing proves that this call removed it.
// After any other error the caller may still hold the lock, and may try again.
func (e *Item) Unlock(ctx context.Context) error {
	err := e.retry(ctx, false, func() error {
		status, held, err := e.holds(ctx)
		if err != nil {
			return err
		}
		return e.q.commit(ctx, e.release(held, status))
	})
	if errors.Is(err, ErrUnknownOutcome) {
		if _, lost := e.owns(ctx); errors.Is(lost, ErrNotLocked) {
			err = lost // nothing proves that this call removed it
		}
	}
	if err == nil || errors.Is(err, ErrNotLocked) {
		e.lock = lock{}
	}
	if err != nil {
		return &opError{"unlock", e.path, err}
	}
	return nil
}

// giveBack unlocks what the caller does not keep. That the lock is gone already is no error. If it may stay until the session ends, the error is [ErrUnknownOutcome]
// and names it.
func (e *Item) giveBack(ctx context.Context) error {
	err := e.Unlock(ctx)
	switch {
	case err == nil || errors.Is(err, ErrNotLocked):
		return nil
	case errors.Is(err, ErrUnknownOutcome):
		return err
	}
	return fmt.Errorf("%w: look at %s (%v)", ErrUnknownOutcome, e.lock.path, err) // the reason is not the caller's, who has no item
}

// owns returns the lock's Stat, or [ErrNotLocked] unless it is still the one that was acquired.
func (e *Item) owns(ctx context.Context) (*zk.Stat, error) {
	if e.lock.session == 0 || e.q.conn.SessionID() != e.lock.session {
		return nil, ErrNotLocked // it ended with the session, or will
	}
	stat, ok, err := e.q.stat(ctx, e.lock.path)
	if err == nil && (!ok || stat.EphemeralOwner != e.lock.session || e.lock.czxid != 0 && e.lock.czxid != stat.Czxid) {
		err = ErrNotLocked
	}
	if err == nil {
		e.lock.czxid = stat.Czxid
	}
	return stat, err
}

// holds reads the status and then the lock, as owns does. So the status has another version once another worker has acquired
// the item.
func (e *Item) holds(ctx context.Context) (status node, held *zk.Stat, err error) {
	status, there, err := e.q.maybe(ctx, e.path+"/status")
	if err == nil {
		held, err = e.owns(ctx)
	}
	if err == nil && !there {
		err = &NodeError{e.path + "/status", ErrNotFound}
	}
	return status, held, err
}
