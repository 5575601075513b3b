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

// errSkip says that a member can't be acquired now; the caller tries the next.
var errSkip = errors.New("skip")

// acquire locks a member if it is in a state, in one transaction, and reads it. So it
// never returns the member in another state. If there is a
// lock already, acquire sends no transaction: many workers may look at many locked
// jobs again and again, and a write costs the servers far more than a read.
//
// The same transaction writes the status again, unchanged unless the table has a
// transition for it ([states.Acquirer]). So the status has a
// new version after every acquisition, and that version proves who holds the
// lock. A worker may lose its lock with its session, while its client silently
// opens a new session. That worker still has the old version, so all its writes
// are refused, even if the same lock exists again because another worker
// acquired it.
//
// Unless the queue ignores holds, the same transaction also fails if hold is set. absent
// is what checkHold has found.
func (q *Queue) acquire(ctx context.Context, m member, state string, hold newqueue.QueueHold, absent string) error {
	e := m.base()
	if !q.reserve(e.path) {
		return errSkip
	}
	defer q.reserved.Delete(e.path)
	for range attempts {
		acquired, err := q.tryAcquire(ctx, m, state, absent)
		switch {
		case err == nil:
			e.lock = lock{path: e.path + "/lock", session: q.conn.SessionID()}
			err = together(ctx, e.readLock, func(ctx context.Context) error { return e.load(ctx, m.properties()) })
			if e.version = acquired; err != nil && !errors.Is(err, errSkip) {
				e.drop(ctx)
			}
			return err
		case errors.Is(err, zk.ErrBadVersion): // it moved meanwhile: read it again
		case errors.Is(err, zk.ErrNodeExists) && refusedAt(err, absent):
			if absent, err = q.checkHold(ctx, hold); err != nil {
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

// tryAcquire is one attempt to lock a member. It returns the version of the status
// that the lock comes with.
func (q *Queue) tryAcquire(ctx context.Context, m member, state, absent string) (int32, error) {
	e := m.base()
	now, err := e.nodes(ctx, "lock", "status")
	if err != nil {
		return 0, err
	}
	status := now["status"]
	if now["lock"] != nil || status == nil {
		return 0, errSkip
	}
	if err := e.parse(statusOf(m)[0], *status); err != nil {
		return 0, err
	}
	if m.state() != state {
		if waits, err := q.waits(ctx, m, state); err != nil || !waits {
			return 0, cmp.Or(err, errSkip) // it has moved since it was listed
		}
	}
	data, more, err := q.acquisition(ctx, m, *status)
	if err != nil {
		return 0, err
	}
	at, acquired := e.path+"/lock", status.version+1
	ops := append(stillAbsent(absent), znode.Create(at, empty), znode.Set(e.path+"/status", data, status.version))
	err = q.commit(ctx, write{
		ops:  append(ops, more...),
		lock: at,
		happened: func(ctx context.Context) (bool, error) {
			// The lock alone could belong to another goroutine of this session.
			n, ok, err := q.maybe(ctx, e.path+"/status")
			if err != nil || !ok || n.version != acquired {
				return false, err
			}
			_, err = q.taken(ctx, at)
			if errors.Is(err, errSkip) {
				return false, nil
			}
			return err == nil, err
		},
		late: func() { q.dropLock(ctx, lock{path: at, session: q.conn.SessionID()}, e.path, acquired) },
	})
	if err != nil && !isRace(err) {
		err = &opError{"lock", e.path, err}
	}
	return acquired, err
}

// waits reports whether a member waits in a state for a worker. In dialect mrt-zk a batch waits for a report
// only while its batch-processing is there and empty. And it waits for its jobs even if it became processing
// when it was acquired as pending, if its worker created none: it died, or unlocked the batch.
func (q *Queue) waits(ctx context.Context, m member, state string) (bool, error) {
	b, isBatch := m.(*Batch)
	var folder string // is there and empty
	switch {
	case !isBatch || q.dialect != newqueue.MrtZK:
		return m.state() == state, nil
	case m.state() == state && state != states.Pending:
		folder = newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing)
	case state == states.Pending && b.startedBefore():
		folder = newqueue.BatchStatesPath(b.ID)
	default:
		return m.state() == state, nil
	}
	stat, there, err := q.stat(ctx, folder)
	return there && stat.NumChildren == 0, err
}

// acquisition is what an acquisition writes besides the lock: the status, which it does not change unless
// the table has a transition for it, and what that transition writes.
func (q *Queue) acquisition(ctx context.Context, m member, status node) (data []byte, more []znode.Op, err error) {
	e := m.base()
	if t, ok := q.machines[e.kind].Acquisition(m.state()); ok {
		p, err := m.decide(ctx, t, act{})
		if err != nil {
			return nil, nil, err
		}
		data, err = p.status.Marshal()
		return data, p.ops, err
	}
	if e.kind == newqueue.EntityBatch && m.state() == states.Pending {
		_, err = q.leftStates(ctx, e.path)
	}
	return status.data, nil, err
}

// readLock reads the lock that was just acquired.
func (e *entity) readLock(ctx context.Context) error {
	l, err := e.q.taken(ctx, e.lock.path)
	if err == nil {
		e.lock = l
	}
	return err
}

// taken reads a lock that was just acquired. It returns errSkip if this session
// does not hold it. The session may be a newer one than
// when the request was made, because the client keeps a request that it could
// not send for its next session.
func (q *Queue) taken(ctx context.Context, path string) (lock, error) {
	stat, ok, err := q.stat(ctx, path)
	switch {
	case err != nil:
		return lock{}, err
	case !ok || stat.EphemeralOwner != q.conn.SessionID():
		return lock{}, errSkip // the session has ended since, and so has the lock
	}
	return lock{path, stat.EphemeralOwner, stat.Czxid}, nil
}

// reserve keeps the other goroutines of this queue from acquiring a lock while
// one of them does. They share a session, so after a lost answer the lock itself
// does not show which of them acquired it. It reports false if another goroutine has it.
func (q *Queue) reserve(path string) bool {
	_, taken := q.reserved.LoadOrStore(path, true)
	return !taken
}

// line is where workers look for work: the jobs, batches or requests in a state.
type line[T member] struct {
	q      *Queue
	kind   newqueue.Entity
	state  string
	hold   newqueue.QueueHold // stops these workers
	folder string             // its children are the members, or the queue entries of jobs
	at     func(id string) T
	err    error // why there is no such line
}

// check refuses a line in which a worker has nothing to do.
func (l line[T]) check() error {
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

// list are the members to visit.
func (l line[T]) list(ctx context.Context) ([]entry, error) {
	if l.kind == newqueue.EntityJob {
		return l.q.queue(ctx, newqueue.JobState(l.state))
	}
	entries, err := l.q.list(ctx, l.folder)
	if err != nil {
		return nil, err
	}
	// The folder has batches or requests in all states.
	elsewhere := make([]bool, len(entries))
	_ = each(ctx, len(entries), func(ctx context.Context, i int) error {
		m := l.at(entries[i].id)
		waits, err := true, m.base().load(ctx, statusOf(m))
		if err == nil {
			waits, err = l.q.waits(ctx, m, l.state)
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

// pass visits the members once, and yields those that it could lock. See
// [Queue.AcquireJobs].
func (l line[T]) pass(ctx context.Context) iter.Seq2[T, error] {
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
			err := at.err
			m := l.at(at.id)
			if err == nil {
				err = l.q.acquire(ctx, m, l.state, l.hold, absent)
			}
			if errors.Is(err, errSkip) {
				continue
			}
			if err != nil {
				// A hold that was set since the pass began ends it.
				if !yield(none, err) || errors.Is(err, ErrHeld) {
					return
				}
				continue
			}
			if !yield(m, nil) {
				return
			}
			e := m.base()
			if !e.Locked() {
				continue
			}
			if ctx.Err() != nil {
				e.drop(ctx)
			} else if err := e.Unlock(ctx); err != nil && !yield(none, err) {
				return
			}
		}
	}
}

// first returns the first item of a pass. The error is [ErrNone], joined with a
// *[NodeError] for each item that could not be read.
func first[T any](items iter.Seq2[T, error]) (T, error) {
	var none T
	unreadable := []error{ErrNone}
	for v, err := range items {
		if err == nil {
			return v, nil
		}
		if !errors.As(err, new(*NodeError)) {
			return none, err
		}
		unreadable = append(unreadable, err)
	}
	if len(unreadable) == 1 {
		return none, ErrNone
	}
	return none, errors.Join(unreadable...)
}

func (q *Queue) jobLine(s newqueue.JobState) line[*Job] {
	return line[*Job]{q: q, kind: newqueue.EntityJob, state: string(s), hold: newqueue.HoldIngest, folder: newqueue.JobStatePath(s), at: q.newJob}
}

func (q *Queue) batchLine(s newqueue.BatchState) line[*Batch] {
	return line[*Batch]{q: q, kind: newqueue.EntityBatch, state: string(s), hold: newqueue.HoldIngest, folder: newqueue.BatchesPath, at: q.newBatch}
}

func (q *Queue) requestLine(queue newqueue.AccessQueue, s newqueue.AccessState) line[*Request] {
	hold := map[newqueue.AccessQueue]newqueue.QueueHold{newqueue.AccessSmall: newqueue.HoldAccessSmall, newqueue.AccessLarge: newqueue.HoldAccessLarge}[queue]
	return line[*Request]{q: q, kind: newqueue.EntityAccess, state: string(s), hold: hold, folder: newqueue.AccessQueuePath(queue), err: queue.Validate(),
		at: func(qid string) *Request { return q.newRequest(queue, qid) }}
}

// AcquireJob locks the first unlocked job in a state: the lowest priority number
// comes first, then the oldest job. The lock ends with the job's transition, with
// its Unlock, or with the session. It does not wait: see [Queue.NextJob].
//
// The error wraps [ErrNone] if there is no such job, and also a *[NodeError] if
// there is one that could not be read. It is a *[HeldError], which wraps
// [ErrHeld], while an administrator holds the ingest queue. It wraps [newqueue.ErrValue]
// for a state in which a worker has nothing to do (see [newqueue.Success]), and [ErrNoRoot] if
// the queue's root does not exist. After [ErrUnknownOutcome] a job may stay locked
// until the session ends.
func (q *Queue) AcquireJob(ctx context.Context, s newqueue.JobState) (*Job, error) {
	return first(q.AcquireJobs(ctx, s))
}

// AcquireJobs visits every job in a state once, in the order of
// [Queue.AcquireJob], and yields those that it could lock. If the loop's body
// does not move the job, the job is unlocked before the next one; if the body
// leaves the loop, the caller keeps it. So one pass sees all jobs: a job without
// room stays, and a smaller one behind it moves (J7). For a job that can't be
// read it yields a *[NodeError], and continues. A *[HeldError] ends the pass.
func (q *Queue) AcquireJobs(ctx context.Context, s newqueue.JobState) iter.Seq2[*Job, error] {
	return q.jobLine(s).pass(ctx)
}

// AcquireBatch locks the oldest unlocked batch in a state: pending, reporting, or
// update-reporting. The lock ends with the batch's transition, with its Unlock, or
// with the session. Errors as for [Queue.AcquireJob]. A pending batch that already
// has jobs is skipped, and the error names it ([ErrHasJobs]).
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
