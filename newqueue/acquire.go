package newqueue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"mrtq/internal/znode"
)

// lock is an ephemeral lock that this session acquired.
type lock struct {
	path    string
	session int64
	made    int64 // the zxid that created it; every later lock has another
}

// errSkip says that an item can't be acquired now; the caller tries the next.
var errSkip = errors.New("skip")

// acquire locks an entity in the state that was read from its status, in one
// transaction. So it never returns the entity in another state.
//
// The same transaction writes the status again, unchanged. So the status has a
// new version after every acquisition, and that version proves who holds the
// lock. A worker may lose its lock with its session, while its client silently
// opens a new session. That worker still has the old version, so all its writes
// are refused, even if the same lock exists again because another worker
// acquired it.
func (q *Queue) acquire(ctx context.Context, path string, fits func(status []byte) error) (status node, l lock, err error) {
	if !q.reserve(path) {
		return status, lock{}, errSkip
	}
	defer q.unreserve(path)
	for range attempts {
		status, err = q.get(ctx, path+"/status")
		if errors.Is(err, ErrNotFound) {
			return status, lock{}, errSkip
		}
		if err != nil {
			return status, lock{}, err
		}
		if err := fits(status.data); err != nil {
			return status, lock{}, err
		}
		at := path + "/lock"
		acquired := status.version + 1
		err = q.commit(ctx, write{
			lock: at,
			ops:  []znode.Op{znode.Set(path+"/status", status.data, status.version)},
			done: func(ctx context.Context) (bool, error) {
				// The lock alone could belong to another goroutine of this
				// session.
				n, err := q.get(ctx, path+"/status")
				if errors.Is(err, ErrNotFound) || err == nil && n.version != acquired {
					return false, nil
				}
				if err == nil {
					_, err = q.taken(ctx, at)
				}
				if errors.Is(err, errSkip) {
					return false, nil
				}
				return err == nil, err
			},
			late: func() { q.dropLock(ctx, lock{path: at, session: q.conn.SessionID()}, path, acquired) },
		})
		switch {
		case err == nil:
			status.version = acquired
			l, err = q.taken(ctx, at)
			if err != nil && !errors.Is(err, errSkip) {
				q.dropLock(ctx, lock{path: at, session: q.conn.SessionID()}, path, acquired)
			}
			return status, l, err
		case errors.Is(err, znode.ErrBadVersion): // it moved meanwhile: read it again
		case errors.Is(err, znode.ErrNodeExists), errors.Is(err, znode.ErrNoNode):
			return status, lock{}, errSkip
		default:
			return status, lock{}, &opError{"lock", path, err}
		}
	}
	return status, lock{}, errSkip
}

// acquired locks an entity whose status fits, and then reads it with load.
func (q *Queue) acquired(ctx context.Context, path string, fits func(status []byte) error, load func(context.Context) error) (lock, int32, error) {
	status, l, err := q.acquire(ctx, path, fits)
	if err != nil {
		return lock{}, 0, err
	}
	if err := load(ctx); err != nil {
		q.dropLock(ctx, l, path, status.version)
		return lock{}, 0, err
	}
	return l, status.version, nil
}

// fits skips an entity that has moved since it was listed. err is that of its status.
func fits(path string, inState bool, err error) error {
	switch {
	case err != nil:
		return &NodeError{path + "/status", err}
	case !inState:
		return errSkip
	}
	return nil
}

// firstOf acquires the first of some entities that can be acquired. The error wraps
// [ErrNone], and a *[NodeError] for each one that could not be read.
func firstOf[T any](ctx context.Context, q *Queue, ids []string, acquire func(id string) (T, error)) (none T, err error) {
	bad := []error{ErrNone}
	for _, id := range ids {
		v, err := acquire(id)
		var unreadable *NodeError
		switch {
		case err == nil:
			return v, nil
		case errors.Is(err, errSkip):
		case errors.As(err, &unreadable):
			q.log.WarnContext(ctx, "skipped, because it can't be read", "error", err)
			bad = append(bad, err)
		default:
			return none, err
		}
	}
	if len(bad) == 1 {
		return none, ErrNone
	}
	return none, errors.Join(bad...)
}

// taken reads a lock that was just acquired. The session may be a newer one than
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
// does not show which of them acquired it.
func (q *Queue) reserve(path string) bool {
	_, taken := q.reserved.LoadOrStore(path, true)
	return !taken
}

func (q *Queue) unreserve(path string) { q.reserved.Delete(path) }

// holds reports whether this session still holds a lock.
func (q *Queue) holds(ctx context.Context, l lock) (bool, error) {
	if l.session == 0 || q.conn.SessionID() != l.session {
		return false, nil // it ended with the session, or will
	}
	stat, ok, err := q.stat(ctx, l.path)
	return ok && stat.EphemeralOwner == l.session, err
}

// owns returns [ErrNotLocked] unless this session holds the lock.
func (q *Queue) owns(ctx context.Context, l lock) error {
	ok, err := q.holds(ctx, l)
	if err == nil && !ok {
		err = ErrNotLocked
	}
	return err
}

// release unlocks an entity, and clears the holder's lock once it is gone.
func (q *Queue) release(ctx context.Context, l *lock, entity string, version int32) error {
	err := q.unlock(ctx, *l, entity, version)
	if err == nil || errors.Is(err, ErrNotLocked) {
		*l = lock{}
	}
	return err
}

// unlock releases a lock without a transition. As in acquire, the version
// proves that no other worker holds the lock.
func (q *Queue) unlock(ctx context.Context, l lock, entity string, version int32) error {
	if err := q.owns(ctx, l); err != nil {
		return &opError{"unlock", entity, err}
	}
	err := q.commit(ctx, write{
		ops: []znode.Op{znode.Check(entity+"/status", version), znode.Delete(l.path, -1)},
		done: func(ctx context.Context) (bool, error) {
			ok, err := q.holds(ctx, l)
			return !ok, err
		},
	})
	if isRace(err) {
		err = ErrNotLocked
	}
	if err != nil {
		return &opError{"unlock", entity, err}
	}
	return nil
}

// dropLock releases a lock that no caller keeps. The caller's context may have
// ended, and without dropLock the lock would stay as long as the session.
func (q *Queue) dropLock(ctx context.Context, l lock, entity string, version int32) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	if err := q.unlock(ctx, l, entity, version); err != nil {
		q.log.WarnContext(ctx, "lock not released: it stays until the session ends", "error", err)
	}
}

// dropTime is how long dropLock may take.
const dropTime = 2 * time.Second

// lockReleased finds out whether a transition that releases a lock happened. As long
// as the session lives, nothing else removes its lock. So the transition happened
// if the lock is gone, no matter what others have done since. If the session has
// ended, only the status may show it.
func (q *Queue) lockReleased(l lock, status func(context.Context) (bool, error)) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		stat, ok, err := q.stat(ctx, l.path)
		switch {
		case err != nil:
			return false, err
		case ok && stat.Czxid == l.made:
			return false, nil
		case q.conn.SessionID() == l.session:
			return true, nil
		}
		return status(ctx)
	}
}

// AcquireJob locks the first unlocked job in a state: the lowest priority number
// comes first, then the oldest job. The lock ends with the job's transition, with
// [Job.Unlock], or with the session. The error wraps [ErrNone] if there is no
// such job, and also a *[NodeError] if there is one that could not be read. It
// wraps [ErrValue] for a state in which a worker has nothing to do: see
// [Success].
func (q *Queue) AcquireJob(ctx context.Context, s JobState) (*Job, error) {
	bad := []error{ErrNone}
	for j, err := range q.AcquireJobs(ctx, s) {
		if err == nil {
			return j, nil
		}
		var unreadable *NodeError
		if !errors.As(err, &unreadable) {
			return nil, err
		}
		bad = append(bad, err)
	}
	if len(bad) == 1 {
		return nil, ErrNone
	}
	return nil, errors.Join(bad...)
}

// AcquireJobs visits every job in a state once, in the order of
// [Queue.AcquireJob], and yields those that it could lock. If the loop's body
// does not move the job, the job is unlocked before the next one; if the body
// leaves the loop, the caller keeps it. So one pass sees all jobs: a job without
// room stays, and a smaller one behind it moves (J7). For a job that can't be
// read it yields a *[NodeError], and continues.
func (q *Queue) AcquireJobs(ctx context.Context, s JobState) iter.Seq2[*Job, error] {
	return func(yield func(*Job, error) bool) {
		if err := q.workersState(EntityJob, string(s)); err != nil {
			yield(nil, err)
			return
		}
		entries, err := q.queue(ctx, s)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range entries {
			j, err := q.acquireEntry(ctx, e, s)
			if errors.Is(err, errSkip) {
				continue
			}
			if err != nil {
				q.log.WarnContext(ctx, "job skipped", "state", s, "error", err)
			}
			if !yield(j, err) {
				return
			}
			if j != nil && j.Locked() {
				if ctx.Err() != nil {
					q.dropLock(ctx, j.lock, j.Path(), j.version)
					j.lock = lock{}
				} else if err := j.Unlock(ctx); err != nil && !yield(nil, err) {
					return
				}
			}
		}
	}
}

func (q *Queue) acquireEntry(ctx context.Context, e entry, s JobState) (j *Job, err error) {
	if e.err != nil {
		return nil, e.err
	}
	j = &Job{ID: e.jid, q: q}
	j.lock, j.version, err = q.acquired(ctx, j.Path(), func(data []byte) error {
		st, err := ParseJobStatus(q.dialect, data)
		return fits(j.Path(), st.State == s, err)
	}, j.load)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// workersState refuses a state in which a worker has nothing to do.
func (q *Queue) workersState(e Entity, s string) error {
	for _, t := range q.machines[e].From(s) {
		if t.Who.HoldsLock() {
			return nil
		}
	}
	return fmt.Errorf("acquire a %s in state %s: %w: a worker has nothing to do in that state", e, s, ErrValue)
}

// Unlock releases the job's lock and changes nothing else, so that another worker
// can acquire the job. The error wraps [ErrNotLocked] if the lock was already
// lost. After any other error the caller still holds the lock, and may try again.
func (j *Job) Unlock(ctx context.Context) error {
	return j.q.release(ctx, &j.lock, j.Path(), j.version)
}
