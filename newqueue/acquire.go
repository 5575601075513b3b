package newqueue

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

// errSkip says that an item can't be acquired now; the caller tries the next.
var errSkip = errors.New("skip")

// acquire locks an item in the state that was read from its status, in one
// transaction. So it never returns the item in another state. Then it calls load.
// fits returns errSkip for a status that the worker does not want. If there is a
// lock already, acquire sends no transaction: many workers may look at many locked
// items again and again, and a write costs the servers far more than a read.
//
// The same transaction writes the status again, unchanged. So the status has a
// new version after every acquisition, and that version proves who holds the
// lock. A worker may lose its lock with its session, while its client silently
// opens a new session. That worker still has the old version, so all its writes
// are refused, even if the same lock exists again because another worker
// acquired it.
//
// Unless the queue ignores holds, the same transaction also fails if hold is set.
func (i *item) acquire(ctx context.Context, hold QueueHold, fits func(status []byte) error, load func(context.Context) error) error {
	if !i.q.reserve(i.path) {
		return errSkip
	}
	defer i.q.reserved.Delete(i.path)
	for range attempts {
		acquired, err := i.tryAcquire(ctx, hold, fits)
		switch {
		case err == nil:
			i.lock = lock{path: i.path + "/lock", session: i.q.conn.SessionID()}
			err = together(ctx, i.readLock, load)
			if i.version = acquired; err != nil && !errors.Is(err, errSkip) {
				i.drop(ctx)
			}
			return err
		case errors.Is(err, zk.ErrBadVersion): // it moved meanwhile: read it again
		case errors.Is(err, zk.ErrNodeExists) && refusedAt(err, QueueHoldPath(hold)):
			if err := i.q.checkHold(ctx, hold); err != nil {
				return err
			} // released meanwhile
		case errors.Is(err, zk.ErrNodeExists), errors.Is(err, zk.ErrNoNode):
			return errSkip
		default:
			return err
		}
	}
	return errSkip
}

// tryAcquire is one attempt to lock the item. It returns the version of the status
// that the lock comes with.
func (i *item) tryAcquire(ctx context.Context, hold QueueHold, fits func(status []byte) error) (int32, error) {
	q, at, status := i.q, i.path+"/lock", i.path+"/status"
	var n node
	var locked bool
	err := together(ctx, func(ctx context.Context) (err error) {
		_, locked, err = q.stat(ctx, at)
		return err
	}, func(ctx context.Context) (err error) {
		n, err = q.get(ctx, status)
		return err
	})
	if locked || errors.Is(err, ErrNotFound) {
		return 0, errSkip
	}
	if err == nil {
		err = fits(n.data)
	}
	if err != nil {
		return 0, err
	}
	acquired := n.version + 1
	err = q.commit(ctx, write{
		lock:   at,
		absent: q.guard(hold),
		ops:    []znode.Op{znode.Set(status, n.data, n.version)},
		done: func(ctx context.Context) (bool, error) {
			// The lock alone could belong to another goroutine of this session.
			n, ok, err := q.maybe(ctx, status)
			if err != nil || !ok || n.version != acquired {
				return false, err
			}
			_, err = q.taken(ctx, at)
			if errors.Is(err, errSkip) {
				return false, nil
			}
			return err == nil, err
		},
		late: func() { q.dropLock(ctx, lock{path: at, session: q.conn.SessionID()}, i.path, acquired) },
	})
	if err != nil && !isRace(err) {
		err = &opError{"lock", i.path, err}
	}
	return acquired, err
}

// readLock reads the lock that was just acquired.
func (i *item) readLock(ctx context.Context) error {
	l, err := i.q.taken(ctx, i.lock.path)
	if err == nil {
		i.lock = l
	}
	return err
}

// fits skips an item that has moved since it was listed. err is that of its status.
func fits(path string, inState bool, err error) error {
	switch {
	case err != nil:
		return &NodeError{path + "/status", err}
	case !inState:
		return errSkip
	}
	return nil
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
type line[T acquirable] struct {
	q       *Queue
	entity  Entity
	state   string
	hold    QueueHold // stops these workers
	folder  string    // holds the items, or their queue entries
	list    func(context.Context) ([]entry, error)
	path    func(id string) string
	acquire func(ctx context.Context, id string) (T, error)
	err     error // why there is no such line
}

// acquirable is a *[Job], *[Batch] or *[Request].
type acquirable interface {
	Unlock(context.Context) error
	held() *item
}

// check refuses a line in which a worker has nothing to do.
func (l line[T]) check() error {
	if l.err != nil {
		return l.err
	}
	for _, t := range l.q.machines[l.entity].From(l.state) {
		if t.Who.HoldsLock() {
			return nil
		}
	}
	return fmt.Errorf("acquire a %s in state %s: %w: a worker has nothing to do in that state", l.entity, l.state, ErrValue)
}

// pass visits the items once, and yields those that acquire could lock. See
// [Queue.AcquireJobs].
func (l line[T]) pass(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		err := l.check()
		if err == nil {
			err = l.q.checkHold(ctx, l.hold)
		}
		var entries []entry
		if err == nil {
			entries, err = l.list(ctx)
		}
		if err != nil {
			yield(none, err)
			return
		}
		for _, at := range entries {
			v, err := none, at.err
			if err == nil {
				v, err = l.acquire(ctx, at.id)
			}
			if errors.Is(err, errSkip) {
				continue
			}
			if errors.Is(err, ErrHeld) { // since the pass began
				yield(none, err)
				return
			}
			if err != nil {
				v = none
			}
			if !yield(v, err) {
				return
			}
			if err != nil || !v.held().Locked() {
				continue
			}
			if ctx.Err() != nil {
				v.held().drop(ctx)
			} else if err := v.Unlock(ctx); err != nil && !yield(none, err) {
				return
			}
		}
	}
}

// held is the item itself.
func (i *item) held() *item { return i }

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

func (q *Queue) jobLine(s JobState) line[*Job] {
	list := func(ctx context.Context) ([]entry, error) { return q.queue(ctx, s) }
	return line[*Job]{q: q, entity: EntityJob, state: string(s), hold: HoldIngest, folder: JobStatePath(s), list: list, path: JobPath,
		acquire: func(ctx context.Context, jid string) (*Job, error) {
			j := q.newJob(jid)
			return j, j.acquire(ctx, HoldIngest, func(data []byte) error {
				st, err := ParseJobStatus(q.dialect, data)
				return fits(j.path, st.State == s, err)
			}, j.load)
		}}
}

func (q *Queue) batchLine(s BatchState) line[*Batch] {
	list := func(ctx context.Context) ([]entry, error) { return q.list(ctx, BatchesPath) }
	return line[*Batch]{q: q, entity: EntityBatch, state: string(s), hold: HoldIngest, folder: BatchesPath, list: list, path: BatchPath,
		acquire: func(ctx context.Context, bid string) (*Batch, error) {
			b := q.newBatch(bid)
			return b, b.acquire(ctx, HoldIngest, func(data []byte) error {
				st, err := ParseBatchStatus(q.dialect, data)
				err = fits(b.path, st.State == s, err)
				if err == nil && s == BatchPending {
					_, err = q.leftStates(ctx, bid)
				}
				return err
			}, b.load)
		}}
}

func (q *Queue) accessLine(queue AccessQueue, s AccessState) line[*Request] {
	folder := AccessQueuePath(queue)
	hold := map[AccessQueue]QueueHold{AccessSmall: HoldAccessSmall, AccessLarge: HoldAccessLarge}[queue]
	return line[*Request]{q: q, entity: EntityAccess, state: string(s), hold: hold, folder: folder, err: queue.validate(),
		list: func(ctx context.Context) ([]entry, error) { return q.list(ctx, folder) },
		path: func(qid string) string { return AccessRequestPath(queue, qid) },
		acquire: func(ctx context.Context, qid string) (*Request, error) {
			a := q.newRequest(queue, qid)
			return a, a.acquire(ctx, hold, func(data []byte) error {
				st, err := ParseAccessStatus(q.dialect, data)
				return fits(a.path, st.State == s, err)
			}, a.load)
		}}
}

// AcquireJob locks the first unlocked job in a state: the lowest priority number
// comes first, then the oldest job. The lock ends with the job's transition, with
// its Unlock, or with the session. It does not wait: see [Queue.NextJob].
//
// The error wraps [ErrNone] if there is no such job, and also a *[NodeError] if
// there is one that could not be read. It is a *[HeldError], which wraps
// [ErrHeld], while an administrator holds the ingest queue. It wraps [ErrValue]
// for a state in which a worker has nothing to do (see [Success]), and [ErrNoRoot] if
// the queue's root does not exist. After [ErrUnknownOutcome] a job may stay locked
// until the session ends.
func (q *Queue) AcquireJob(ctx context.Context, s JobState) (*Job, error) {
	return first(q.AcquireJobs(ctx, s))
}

// AcquireJobs visits every job in a state once, in the order of
// [Queue.AcquireJob], and yields those that it could lock. If the loop's body
// does not move the job, the job is unlocked before the next one; if the body
// leaves the loop, the caller keeps it. So one pass sees all jobs: a job without
// room stays, and a smaller one behind it moves (J7). For a job that can't be
// read it yields a *[NodeError], and continues. A *[HeldError] ends the pass.
func (q *Queue) AcquireJobs(ctx context.Context, s JobState) iter.Seq2[*Job, error] {
	return q.jobLine(s).pass(ctx)
}

// AcquireBatch locks the oldest unlocked batch in a state: pending, reporting, or
// update-reporting. The lock ends with the batch's transition, with its Unlock, or
// with the session. Errors as for [Queue.AcquireJob]. A pending batch that already
// has jobs is skipped, and the error names it ([ErrHasJobs]).
func (q *Queue) AcquireBatch(ctx context.Context, s BatchState) (*Batch, error) {
	return first(q.batchLine(s).pass(ctx))
}

// AcquireRequest locks the oldest unlocked request of a queue in a state. The
// state is pending, to start a request, or processing, to work on one that was
// just started, that an administrator retried, or whose worker died. The lock
// ends with the request's transition, with its Unlock, or with the session.
// Errors as for [Queue.AcquireJob]; the hold is that of this access queue.
func (q *Queue) AcquireRequest(ctx context.Context, queue AccessQueue, s AccessState) (*Request, error) {
	return first(q.accessLine(queue, s).pass(ctx))
}
