package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// attempts is how often a decision is made because another client changed what it
// depends on. Each time, that client has succeeded, so only a broken tree reaches
// this limit.
const attempts = 50

type act struct {
	name     string                        // in an error
	worker   bool                          // whether the caller is a worker, who holds the lock
	from, to string                        // an empty from allows every state
	who      states.Actor                  // whose transition it must be; Automatic finds it without to
	choose   func() (to string, err error) // instead of to; called when the status is read
	message  string

	jobs   []znode.Op // create the jobs of a batch
	report *Report    // the jobs of a batch must be those of this report
}

type plan struct {
	status newqueue.Object
	ops    []znode.Op // besides the lock and the status
	keep   func()     // notes in the item what was written
}

func (e *Item) move(ctx context.Context, a act) error {
	if err := e.retry(ctx, a.worker, func() error { return e.tryMove(ctx, a) }); err != nil {
		if e.gone > 0 {
			err = fmt.Errorf("%d of its jobs are deleted already: %w", e.gone, err)
		}
		return &opError{a.name, e.path, err}
	}
	return nil
}

func (e *Item) tryMove(ctx context.Context, a act) error {
	if !a.worker { // a worker's decision depends on the status that it acquired
		if err := e.loadStatus(ctx); err != nil {
			return err
		}
	}
	t, err := e.allowed(a)
	if err != nil {
		return err
	}
	var held *zk.Stat
	var session int64
	if a.worker {
		if held, err = e.owns(ctx); err != nil {
			return err
		}
		session = e.lock.session
	}
	p, err := e.of.decide(ctx, t, a)
	if err != nil {
		return err
	}
	ops := e.lockOps(t.Who, held)
	var happened evidence
	if t.Nodes == states.NodesKept {
		data, err := p.status.Marshal()
		if err != nil {
			return err
		}
		ops[len(ops)-1] = znode.Set(e.path+"/status", data, e.version)
		if happened = e.q.written(e.path+"/status", e.version, data); a.worker {
			happened = e.released(held, e.version, data)
		}
	} else {
		happened = e.q.removed(p.ops[len(p.ops)-1].Path)
	}
	if err := e.q.commit(ctx, write{ops: append(ops, p.ops...), session: session, happened: happened}); err != nil {
		return err
	}
	if a.worker {
		e.lock = lock{}
		e.version++
	}
	if p.keep != nil {
		p.keep()
	}
	return nil
}

func (e *Item) retry(ctx context.Context, worker bool, try func() error) error {
	for attempt := 1; ; attempt++ {
		again, err := e.refused(ctx, worker, try(), attempt)
		if again {
			continue
		}
		if err != nil && attempt > 1 && attempt < attempts && !errors.Is(err, ErrUnknownOutcome) && !errors.Is(err, ErrNotLocked) {
			err = fmt.Errorf("%w: %w", ErrConflict, err) // without the other client it would have succeeded
		}
		return err
	}
}

func (e *Item) allowed(a act) (t states.Transition, err error) {
	table, state := e.q.machines[e.kind], e.of.state()
	if a.from != "" && state != a.from {
		return t, e.transitionError(a.to, true, "")
	}
	if a.choose != nil {
		if a.to, err = a.choose(); err != nil {
			return t, err
		}
	}
	t, ok := table.Find(state, a.to)
	if a.who == states.Automatic {
		t, ok = table.By(states.Automatic, state)
	}
	switch {
	case !ok && a.to == states.Deleted: // in dialect mrt-zk a cleaning pass skips that state
		removal, _ := table.Find(state, states.Removed)
		return t, e.transitionError(a.to, false, removal.Who)
	case !ok:
		return t, e.transitionError(a.to, false, "")
	case a.worker && e.Locked() && t.Guard == states.OnceEmptied: // the worker of a batch of dialect mrt-zk has made no jobs yet
		return t, e.transitionError(a.to, true, "")
	case a.who != "" && a.who != t.Who, a.worker && !t.Who.HoldsLock():
		return t, e.transitionError(a.to, false, t.Who)
	case t.Who.HoldsLock() && !a.worker:
		return t, ErrNotLocked
	}
	return t, nil
}

// transitionError is the error for a transition that the table does not have, or not for
// this caller, but for who. If the item is in another state than the caller saw, it lists only the other states.
func (e *Item) transitionError(to string, others bool, who states.Actor) error {
	from := e.of.state()
	if !slices.Contains(states.States(e.kind, string(e.q.dialect)), from) {
		return &NodeError{e.path + "/status", fmt.Errorf("%w: dialect %s has no state %s", newqueue.ErrValue, e.q.dialect, from)}
	}
	bad := &StateError{Entity: e.kind, Path: e.path, From: from, To: to, Who: who}
	for _, t := range e.q.machines[e.kind].From(from) {
		if t.To != states.Removed && (!others || t.To != to) {
			bad.Allowed = append(bad.Allowed, t.To)
		}
	}
	return bad
}

func (e *Item) guardError(to string, g states.Guard) error {
	return &StateError{Entity: e.kind, Path: e.path, From: e.of.state(), To: to, Guard: g}
}

// refused turns the server's refusal into an error of this package. again is true
// if the caller must read and decide again.
func (e *Item) refused(ctx context.Context, worker bool, err error, attempt int) (again bool, result error) {
	var r *znode.MultiError
	switch {
	case !errors.As(err, &r):
		return false, err
	case r.Op.Path == e.path+"/lock" && errors.Is(err, zk.ErrNodeExists):
		return false, ErrLocked
	case worker && (r.Op.Path == e.path+"/lock" || r.Op.Path == e.path+"/status"):
		if _, err := e.owns(ctx); err != nil {
			return false, err
		}
		return false, fmt.Errorf("%w: its status is no longer the one that was acquired", ErrConflict)
	}
	return attempt < attempts && isRace(err), named(err)
}

// named is the server's refusal with the path of the znode that caused it.
func named(err error) error {
	var r *znode.MultiError
	switch {
	case !errors.As(err, &r):
		return err
	case errors.Is(err, zk.ErrNoNode):
		return &NodeError{r.Op.Path, ErrNotFound}
	case errors.Is(err, zk.ErrNodeExists):
		return &NodeError{r.Op.Path, ErrExists}
	}
	return &NodeError{r.Op.Path, r.Err}
}

// isRace reports whether another client's write can be the cause of a refusal.
func isRace(err error) bool {
	var r *znode.MultiError
	return errors.As(err, &r) && slices.ContainsFunc([]error{zk.ErrNoNode, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrBadVersion},
		func(race error) bool { return errors.Is(err, race) })
}

// refusedAt reports whether the server refused a transaction because of a path.
func refusedAt(err error, path string) bool {
	var r *znode.MultiError
	return errors.As(err, &r) && r.Op.Path == path
}

// lockOps are the operations that every transition begins with: the lock, and a check
// that the status is still the one that was read. They release a worker's lock. For
// every other caller they prove that no worker holds it: creating a lock that exists
// fails, and so does the whole transaction. held is the Stat of a worker's lock.
func (e *Item) lockOps(who states.Actor, held *zk.Stat) []znode.Op {
	lock, status := e.path+"/lock", znode.Check(e.path+"/status", e.version)
	if who.HoldsLock() {
		return []znode.Op{znode.Delete(lock, held.Version), status}
	}
	return []znode.Op{znode.Create(lock, empty), znode.Delete(lock, -1), status}
}

// keepsLock is a write by a worker who keeps the lock, which had a Stat before. It also writes the lock, so that the
// lock's version shows whether it was done.
func (e *Item) keepsLock(l *zk.Stat, ops []znode.Op) write {
	happened := e.q.underLock(e.lock.path, l)
	happened.path = ops[0].Path // the lock ends with its session
	ops = append([]znode.Op{znode.Set(e.lock.path, empty, l.Version), znode.Check(e.path+"/status", e.version)}, ops...)
	return write{ops: ops, session: e.lock.session, happened: happened}
}

// release is a write by a worker who releases the lock and leaves the item in its state. It also writes the status, unchanged, because that proves
// that it was done. As in acquire, the versions prove that no other worker holds the lock.
func (e *Item) release(l *zk.Stat, status node, ops ...znode.Op) write {
	happened := e.released(l, status.version, status.data)
	happened.path = e.lock.path
	ops = append([]znode.Op{znode.Delete(e.lock.path, l.Version), znode.Set(e.path+"/status", status.data, status.version)}, ops...)
	return write{ops: ops, session: e.lock.session, happened: happened}
}

func (e *Item) remove(ctx context.Context) ([]znode.Op, error) {
	nodes, err := e.subtree(ctx)
	return deleteAll(slices.DeleteFunc(nodes, func(p string) bool { return p == e.path+"/lock" })), err
}

// subtree lists every node of the item, as [Queue.subtree] does. The error wraps [ErrNotFound] if it does not exist.
func (e *Item) subtree(ctx context.Context) ([]string, error) {
	nodes, err := e.q.subtree(ctx, e.path)
	if err == nil && nodes == nil {
		err = &NodeError{e.path, ErrNotFound}
	}
	return nodes, err
}

// deleteAll deletes a subtree, children first. paths lists parents first.
func deleteAll(paths []string) []znode.Op {
	ops := make([]znode.Op, 0, len(paths))
	for _, p := range slices.Backward(paths) {
		ops = append(ops, znode.Delete(p, -1))
	}
	return ops
}
