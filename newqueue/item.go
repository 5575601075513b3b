package newqueue

import (
	"context"
	"errors"
	"time"

	"mrtq/internal/znode"
)

// item is a batch, a job or an access request: its znode, and the worker's lock
// on it.
type item struct {
	q       *Queue
	path    string
	version int32 // of the status
	lock    lock  // zero when not acquired
}

// lock is an ephemeral lock that this session acquired.
type lock struct {
	path    string
	session int64
	made    int64 // the zxid that created it; every later lock has another
}

// Path is the znode of the batch, job or request.
func (i *item) Path() string { return i.path }

// Locked reports whether it was acquired, and neither unlocked nor moved since.
// It does not notice that the session has ended: the next operation does.
func (i *item) Locked() bool { return i.lock != lock{} }

// Unlock releases the lock and changes nothing else, so that another worker can
// acquire the same. The error wraps [ErrNotLocked] if the lock was already lost.
// After any other error the caller still holds the lock, and may try again.
func (i *item) Unlock(ctx context.Context) error {
	err := i.q.unlock(ctx, i.lock, i.path, i.version)
	if err == nil || errors.Is(err, ErrNotLocked) {
		i.lock = lock{}
	}
	return err
}

// drop releases the lock, because the caller does not get the item. The caller's
// context may have ended, and without drop the lock would stay as long as the
// session.
func (i *item) drop(ctx context.Context) {
	i.q.dropLock(ctx, i.lock, i.path, i.version)
	i.lock = lock{}
}

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

// unlock releases a lock without a transition. As in acquire, the version
// proves that no other worker holds the lock.
func (q *Queue) unlock(ctx context.Context, l lock, entity string, version int32) error {
	err := q.owns(ctx, l)
	if err == nil {
		err = q.commit(ctx, write{
			ops: []znode.Op{znode.Check(entity+"/status", version), znode.Delete(l.path, -1)},
			done: func(ctx context.Context) (bool, error) {
				ok, err := q.holds(ctx, l)
				return !ok, err
			},
		})
	}
	if isRace(err) {
		err = ErrNotLocked
	}
	if err != nil {
		return &opError{"unlock", entity, err}
	}
	return nil
}

// dropLock releases a lock that no caller keeps.
func (q *Queue) dropLock(ctx context.Context, l lock, entity string, version int32) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTime)
	defer cancel()
	_ = q.unlock(ctx, l, entity, version) // otherwise it stays until the session ends
}

// dropTime is how long it may take to release a lock that no caller keeps.
const dropTime = 2 * time.Second

// lockReleased finds out whether a transition that releases a lock happened. As long
// as the session lives, nothing else removes its lock. So the transition happened
// if the lock is removed, no matter what other clients have done since. If the session has
// ended, only the status may show it.
func (q *Queue) lockReleased(l lock, status outcome) outcome {
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
