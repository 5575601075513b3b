package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// errSkip says that an item can't be acquired now; the caller tries the next.
var errSkip = errors.New("it can't be acquired now")

// acquire locks an item if it is in a state, in one transaction, and reads it. So it
// never returns the item in another state. If there is a
// lock already, acquire sends no transaction: many workers may look at many locked
// jobs again and again, and a write costs the servers far more than a read.
//
// The same transaction writes the status again, unchanged unless the table has a
// transition for it ([states.Acquirer]). So the status has a
// new version after every acquisition, and that version proves who holds the
// lock. A worker may lose its lock with its session, while its client silently
// opens a new session. That worker still has the old version, so all its writes
// are refused, even if the same lock exists again because another worker
// acquired it. A worker of another implementation does not write the status when it acquires. So acquire also
// writes the lock, whose version is then never that of a lock that was only created.
//
// Unless the queue ignores holds, the same transaction also fails if hold is set. absent
// is what checkHold has found.
//
// An acquisition that has begun is finished, even if the context ends: otherwise the lock
// would stay as long as the session.
func (e *Item) acquire(ctx context.Context, state string, hold newqueue.QueueHold, absent string) error {
	ctx = context.WithoutCancel(ctx)
	if !e.q.reserve(e.path) {
		return errSkip
	}
	defer e.q.reserved.Delete(e.path)
	for range attempts {
		acquired, err := e.tryAcquire(ctx, state, absent)
		switch {
		case err == nil:
			e.lock = lock{path: e.path + "/lock", session: e.q.conn.SessionID()}
			// The session may be a newer one than when the request was made, or may have ended since.
			err = together(ctx, func(ctx context.Context) error {
				_, err := e.owns(ctx)
				return err
			}, e.loadAll)
			switch {
			case err == nil && e.version == acquired:
				return nil
			case err == nil: // another worker has it by now, or the admin tool, which looks at no lock, has changed it
				err = errSkip
			case errors.Is(err, ErrNotLocked):
				return errSkip
			}
			if left := e.giveBack(ctx); left != nil {
				err = fmt.Errorf("%w (%v)", left, err)
			}
			return err
		case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNotEmpty): // it moved meanwhile, or a states that was left has a new child: read it again
		case errors.Is(err, zk.ErrNodeExists) && refusedAt(err, absent):
			if absent, err = e.q.checkHold(ctx, hold); err != nil {
				return err
			} // released meanwhile, or only the folder was created
		case errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrNoNode):
			return errSkip
		default:
			return err
		}
	}
	return errSkip
}

// tryAcquire is one attempt to lock an item. It returns the version of the status
// that the lock comes with.
func (e *Item) tryAcquire(ctx context.Context, state, absent string) (int32, error) {
	now, err := e.nodes(ctx, "lock", "status")
	if err != nil {
		return 0, err
	}
	status := now["status"]
	if now["lock"] != nil || status == nil {
		return 0, errSkip
	}
	if err := e.parse(e.of.properties()[0], status); err != nil {
		return 0, err
	}
	if e.of.state() != state {
		if waits, err := e.waits(ctx, state); err != nil || !waits {
			return 0, cmp.Or(err, errSkip) // it has moved since it was listed
		}
	}
	data, more, err := e.acquisition(ctx, *status)
	if err != nil {
		return 0, err
	}
	at := e.path + "/lock"
	var ops []znode.Op
	if absent != "" {
		ops = []znode.Op{znode.Create(absent, empty), znode.Delete(absent, -1)}
	}
	ops = append(ops, znode.Create(at, empty), znode.Set(at, empty, 0), znode.Set(e.path+"/status", data, status.version))
	err = e.q.commit(ctx, write{ops: append(ops, more...), lock: at, happened: e.q.locked(at)})
	if err != nil && !isRace(err) {
		err = &opError{"lock", e.path, err}
	}
	return status.version + 1, err
}

// waits reports whether an item waits in a state for a worker. In dialect mrt-zk a batch waits for a report
// only while its batch-processing is there and empty. And it waits for its jobs even if it became processing
// when it was acquired as pending, if its worker created none: it died, or unlocked the batch.
func (e *Item) waits(ctx context.Context, state string) (bool, error) {
	b, isBatch := e.of.(*Batch)
	var folder string // is there and empty
	switch in := e.of.state() == state; {
	case isBatch && e.q.dialect == newqueue.MrtZK && in && (state == states.Reporting || state == states.UpdateReporting):
		folder = newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing)
	case isBatch && state == states.Pending && b.startedBefore():
		folder = newqueue.BatchStatesPath(b.ID)
	default:
		return in, nil
	}
	stat, there, err := e.q.stat(ctx, folder)
	return there && stat.NumChildren == 0, err
}

// acquisition is what an acquisition writes besides the lock: the status, which it does not change unless
// the table has a transition for it, and what that transition writes.
func (e *Item) acquisition(ctx context.Context, status node) (data []byte, more []znode.Op, err error) {
	if t, ok := e.q.machines[e.kind].By(states.Acquirer, e.of.state()); ok {
		p, err := e.of.decide(ctx, t, act{})
		if err != nil {
			return nil, nil, err
		}
		data, err = p.status.Marshal()
		return data, p.ops, err
	}
	if b, ok := e.of.(*Batch); ok && b.state() == states.Pending {
		_, err = b.leftStates(ctx)
	}
	return status.data, nil, err
}

// reserve keeps the other goroutines of this queue from acquiring a lock, and from releasing a named one, while
// one of them does. They share a session, so after a lost answer the lock itself
// does not show which of them acquired it. It reports false if another goroutine has it.
func (q *Queue) reserve(path string) bool {
	_, taken := q.reserved.LoadOrStore(path, true)
	return !taken
}

// The services look for a hold, and then acquire. If an administrator sets the hold in
// between, they still acquire. This package does better: the transaction that acquires a
// job also creates the hold's znode and deletes it again. The server refuses that
// transaction if the hold is there. (A transaction can check a znode's version, but not
// that there is no znode.) So nothing is acquired once a hold is set. What a worker has
// acquired before, it finishes.

// checkHold returns [ErrHeld] if there is a hold that this queue respects.
// Otherwise it returns the path that the hold's creation begins with: that of the hold,
// or of a folder above it that does not exist either. It is "" for a queue that ignores
// holds.
func (q *Queue) checkHold(ctx context.Context, h newqueue.QueueHold) (absent string, err error) {
	if q.ignoreHolds {
		return "", nil
	}
	path := newqueue.QueueHoldPath(h)
	for _, at := range []string{path, newqueue.QueueLocksPath, newqueue.LocksPath} {
		_, there, err := q.stat(ctx, at)
		switch {
		case err != nil:
			return "", err
		case there && at == path:
			return "", fmt.Errorf("%s: %w", h, ErrHeld)
		case there:
			return absent, nil
		}
		absent = at
	}
	return absent, nil
}

type workQueue[T member] struct {
	q      *Queue
	kind   states.Entity
	state  string
	hold   newqueue.QueueHold // stops these workers
	folder string             // its children are the items, or the queue entries of jobs
	at     func(id string) T
	err    error // why there is no such queue
}

type entry struct {
	id   string
	path string // of the folder's child
	err  error  // why it can't be read
}

// check refuses a queue in which a worker has nothing to do.
func (l workQueue[T]) check() error {
	if l.err != nil {
		return l.err
	}
	for _, t := range l.q.machines[l.kind].From(l.state) {
		if t.Who.HoldsLock() {
			return nil
		}
	}
	return fmt.Errorf("acquire a %s in state %s: %w: a worker has nothing to do in that state", l.kind, l.state, newqueue.ErrValue)
}

func (l workQueue[T]) list(ctx context.Context) ([]entry, error) {
	names, err := l.q.children(ctx, l.folder)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(names))
	elsewhere := make([]bool, len(names))
	_ = each(len(names), func(i int) error {
		entries[i].id, entries[i].path = names[i], znode.Join(l.folder, names[i])
		if l.kind == states.Job { // sorted: a priority and an id have a fixed number of digits
			_, jid, err := newqueue.ParseJobEntry(names[i])
			if entries[i].id = jid; err != nil {
				entries[i].err = &NodeError{entries[i].path, err}
			}
			return nil
		}
		// The folder has batches or requests in all states.
		e := l.at(names[i]).base()
		waits, err := true, e.loadStatus(ctx)
		if err == nil {
			waits, err = e.waits(ctx, l.state)
		}
		elsewhere[i] = err == nil && !waits
		return nil
	})
	some := entries[:0]
	for i, e := range entries {
		if !elsewhere[i] {
			some = append(some, e)
		}
	}
	return some, nil
}

// pass visits the items once, and yields those that it could lock. See
// [Queue.AcquireJobs].
func (l workQueue[T]) pass(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		var absent string
		var entries []entry
		err := l.check()
		if err == nil {
			err = together(ctx, func(ctx context.Context) (err error) {
				absent, err = l.q.checkHold(ctx, l.hold)
				return err
			}, func(ctx context.Context) (err error) {
				entries, err = l.list(ctx)
				return err
			})
		}
		if err != nil {
			yield(none, err)
			return
		}
		for _, at := range entries {
			m, err := l.at(at.id), cmp.Or(at.err, context.Cause(ctx))
			if err == nil {
				err = m.base().acquire(ctx, l.state, l.hold, absent)
			}
			switch {
			case errors.Is(err, errSkip):
			case err != nil:
				// A hold that was set since the pass began ends it.
				if !yield(none, err) || errors.Is(err, ErrHeld) {
					return
				}
			case !yield(m, nil):
				return
			case m.base().Locked():
				if err := m.base().giveBack(context.WithoutCancel(ctx)); err != nil && !yield(none, err) {
					return
				}
			}
		}
	}
}

// first returns the first item of a pass. The error is [ErrNoneAvailable], joined with that
// of each item that could not be read or has no place in the queue.
func first[T any](items iter.Seq2[T, error]) (T, error) {
	var none T
	unreadable := []error{ErrNoneAvailable}
	for v, err := range items {
		if err == nil {
			return v, nil
		}
		if errors.Is(err, ErrUnknownOutcome) || !errors.As(err, new(*NodeError)) && !errors.As(err, new(*StateError)) {
			return none, err
		}
		unreadable = append(unreadable, err)
	}
	if len(unreadable) == 1 {
		return none, ErrNoneAvailable
	}
	return none, errors.Join(unreadable...)
}

func (q *Queue) jobLine(s newqueue.JobState) workQueue[*Job] {
	return workQueue[*Job]{q: q, kind: states.Job, state: string(s), hold: newqueue.HoldIngest, folder: newqueue.JobStatePath(s), at: q.newJob}
}

func (q *Queue) batchLine(s newqueue.BatchState) workQueue[*Batch] {
	return workQueue[*Batch]{q: q, kind: states.Batch, state: string(s), hold: newqueue.HoldIngest, folder: newqueue.BatchesPath, at: q.newBatch}
}

func (q *Queue) requestLine(queue newqueue.AccessQueue, s newqueue.AccessState) workQueue[*Request] {
	hold := map[newqueue.AccessQueue]newqueue.QueueHold{newqueue.AccessSmall: newqueue.HoldAccessSmall, newqueue.AccessLarge: newqueue.HoldAccessLarge}[queue]
	return workQueue[*Request]{q: q, kind: states.Access, state: string(s), hold: hold, folder: newqueue.AccessQueuePath(queue), err: queue.Validate(),
		at: func(qid string) *Request { return q.newRequest(queue, qid) }}
}

// AcquireJob locks the first unlocked job in a state: the lowest priority number
// comes first, then the oldest job. The lock ends with the job's transition, with
// its Unlock, or with the session. It does not wait: see [Queue.NextJob].
//
// The error wraps [ErrNoneAvailable] if there is no such job, and also a *[NodeError] if
// there is one that could not be read. It wraps
// [ErrHeld] while an administrator holds the ingest queue, [newqueue.ErrValue]
// for a state in which a worker has nothing to do (see [newqueue.Success]), and [ErrNotFound] if
// the queue's root does not exist. After [ErrUnknownOutcome] a job may stay locked
// until the session ends.
func (q *Queue) AcquireJob(ctx context.Context, s newqueue.JobState) (*Job, error) {
	return first(q.AcquireJobs(ctx, s))
}

// AcquireJobs visits every job in a state once, in the order of
// [Queue.AcquireJob], and yields those that it could lock. If the loop's body
// does not move the job, the job is unlocked before the next one; if the body
// leaves the loop, the caller keeps it. If it can't be unlocked, AcquireJobs yields [ErrUnknownOutcome]. So one pass sees all jobs: a job without
// room stays, and a smaller one behind it moves (J7). For a job that can't be
// read it yields a *[NodeError], and continues. [ErrHeld] ends the pass.
func (q *Queue) AcquireJobs(ctx context.Context, s newqueue.JobState) iter.Seq2[*Job, error] {
	return q.jobLine(s).pass(ctx)
}

// AcquireBatch locks the oldest unlocked batch in a state: pending, reporting, or
// update-reporting. The lock ends with the batch's transition, with its Unlock, or
// with the session. Errors as for [Queue.AcquireJob]. A pending batch that already
// has jobs is skipped, and the error names it ([states.WithoutJobs]).
//
// In dialect mrt-zk a batch with a resumed job is skipped, until that job is done. A
// pending batch becomes processing with its lock (B3). If its worker
// dies or unlocks it before [Batch.Process], it is acquired as if it were still pending, but
// not by the client library.
func (q *Queue) AcquireBatch(ctx context.Context, s newqueue.BatchState) (*Batch, error) {
	return first(q.batchLine(s).pass(ctx))
}

// AcquireRequest locks the oldest unlocked request of a queue in a state. The
// state is pending, to start a request, or processing, to work on one that was
// just started, that an administrator retried, or whose worker died. The lock
// ends with the request's transition, with its Unlock, or with the session.
// Errors as for [Queue.AcquireJob]; the hold is that of this access queue.
func (q *Queue) AcquireRequest(ctx context.Context, queue newqueue.AccessQueue, s newqueue.AccessState) (*Request, error) {
	return first(q.requestLine(queue, s).pass(ctx))
}
