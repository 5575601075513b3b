package newqueue

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// NextJob waits until it can lock a job in a state, and returns that job, as
// [Queue.AcquireJob] does and in its order. While the ingest queue is held it waits
// until the hold is released. It waits with watches and never polls.
//
// Any number of workers may wait. No two get the same job; if several wait for one
// job, which of them gets it is not defined. A job that can't be read is skipped and
// logged ([WithLogger]). NextJob tries it again when anything else changes among the
// jobs of that state.
//
// NextJob also waits while the connection is lost, and sets its watches again when
// the client has another connection or another session: a worker that waits holds
// no lock that could end with the session. If ctx ends, the error wraps its cause.
// Other errors: [ErrNoRoot] and [ErrValue], [ErrUnknownOutcome] as for
// [Queue.AcquireJob], and [zk.ErrConnectionClosed] after the caller has closed the
// session.
func (q *Queue) NextJob(ctx context.Context, s JobState) (*Job, error) { return q.jobLine(s).next(ctx) }

// NextBatch waits until it can lock a batch in a state, and returns that batch, as
// [Queue.AcquireBatch] does. Otherwise it is like [Queue.NextJob].
func (q *Queue) NextBatch(ctx context.Context, s BatchState) (*Batch, error) {
	return q.batchLine(s).next(ctx)
}

// NextAccess waits until it can lock a request of a queue in a state, and returns
// that request, as [Queue.AcquireAccess] does. Otherwise it is like [Queue.NextJob].
func (q *Queue) NextAccess(ctx context.Context, queue AccessQueue, s AccessState) (*Access, error) {
	return q.accessLine(queue, s).next(ctx)
}

// next looks for an item. If there is none, it sets watches, looks again for what
// changed before they were set, and waits until one fires.
func (l line[T]) next(ctx context.Context) (none T, err error) {
	for {
		var wake wakers
		l.busy = &wake.busy
		v, unreadable, err := find(l.pass(ctx))
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, ErrHeld):
			err = l.q.watchHold(ctx, l.hold, &wake)
		case errors.Is(err, ErrNone):
			err = l.watch(ctx, unreadable, &wake)
		}
		if err == nil && !wake.fresh {
			err = wake.wait(ctx)
		}
		if err != nil && !connectionLost(err) {
			return none, err
		}
		if err != nil {
			l.q.log.WarnContext(ctx, "still waiting, without a connection", "entity", l.entity, "state", l.state, "error", err)
		}
	}
}

// connectionLost reports whether a request failed, and changed nothing, because the
// client has no connection now, and is about to connect again. A client that was closed
// answers every request with zk.ErrConnectionClosed, so that is not among these errors:
// it would be another one if the client had tried to connect.
func connectionLost(err error) bool {
	return !errors.Is(err, ErrUnknownOutcome) && slices.ContainsFunc([]error{ErrNotDone, zk.ErrNoServer, zk.ErrSessionExpired, zk.ErrSessionMoved},
		func(lost error) bool { return errors.Is(err, lost) })
}

// wakers are what can end a wait.
type wakers struct {
	events []<-chan zk.Event
	// busy are closed when another goroutine of this queue, which is just acquiring an
	// item, has acquired it or failed.
	busy []<-chan struct{}
	// fresh: a watch was set just now, and does not tell what happened before.
	fresh bool
}

// wait returns when something has happened.
func (w *wakers) wait(ctx context.Context) error {
	cases := []reflect.SelectCase{}
	add := func(channel any) {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(channel)})
	}
	for _, c := range w.events {
		add(c)
	}
	for _, c := range w.busy {
		add(c)
	}
	// One select takes 65,536 cases.
	const most = 1 << 15
	stop, some := context.WithCancel(ctx)
	var selects sync.WaitGroup
	for part := range slices.Chunk(cases, most) {
		selects.Go(func() {
			defer some()
			reflect.Select(append(slices.Clone(part), reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(stop.Done())}))
		})
	}
	selects.Wait()
	some()
	return context.Cause(ctx)
}

// watch sets the watches that show when an item of the line may be acquired: on the
// list, on every lock, and on the status of every item that is not locked. It sets none
// on an item that can't be read: an attempt to acquire that one changes it, and so
// two waiting workers would wake each other for ever.
func (l line[T]) watch(ctx context.Context, unreadable []*NodeError, wake *wakers) error {
	q := l.q
	q.watches.forgetFired()
	list, err := q.watches.get("list "+l.folder, wake, func() (watched[bool], error) {
		_, changed, err := q.watchFolder(ctx, l.folder)
		return watched[bool]{true, changed}, err
	})
	if err != nil {
		return err
	}
	wake.events = append(wake.events, list.changed)
	entries, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := l.path(e.id)
		if e.err != nil || slices.ContainsFunc(unreadable, func(bad *NodeError) bool { return znode.Within(bad.Path, path) }) {
			continue
		}
		lock, err := q.watchOnce(ctx, path+"/lock", wake)
		if err == nil && !lock.v {
			lock, err = q.watchOnce(ctx, path+"/status", wake)
		}
		if err != nil {
			return err
		}
		wake.events = append(wake.events, lock.changed)
	}
	return nil
}

// watchHold sets the watch that shows when a hold is released.
func (q *Queue) watchHold(ctx context.Context, h QueueHold, wake *wakers) error {
	hold, err := q.watchOnce(ctx, QueueHoldPath(h), wake)
	wake.fresh = wake.fresh && !hold.v // while it was there, nothing else mattered
	wake.events = append(wake.events, hold.changed)
	return err
}

// watchOnce watches whether a node exists and what its data is.
func (q *Queue) watchOnce(ctx context.Context, path string, wake *wakers) (watched[bool], error) {
	return q.watches.get(path, wake, func() (w watched[bool], err error) {
		w.v, w.changed, err = q.watchThere(ctx, path)
		return w, err
	})
}

// watches are those that were set to wait for work. The client keeps every watch until
// it fires, so whoever waits again for the same must not set another. When a watch has
// fired, its channel is closed.
type watches struct {
	mu sync.Mutex
	on map[string]watched[bool]
}

// get returns the watch with that name, and sets it if there is none or it has fired.
func (w *watches) get(name string, wake *wakers, set func() (watched[bool], error)) (watched[bool], error) {
	w.mu.Lock()
	has, ok := w.on[name]
	w.mu.Unlock()
	if ok && !fired(has.changed) {
		return has, nil
	}
	has, err := set()
	if err != nil {
		return has, err
	}
	wake.fresh = true
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.on == nil {
		w.on = map[string]watched[bool]{}
	}
	w.on[name] = has
	return has, nil
}

func (w *watches) forgetFired() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, has := range w.on {
		if fired(has.changed) {
			delete(w.on, name)
		}
	}
}

func fired(changed <-chan zk.Event) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}
