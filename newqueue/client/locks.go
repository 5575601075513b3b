package client

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Every lock of a name is new, so its version proves nothing. So Lock also writes the lock's folder, whose version then tells [Queue.Unlock]
// whether another client has taken a lock there since. A service of another implementation does not write the folder. So Lock
// also writes the lock, as [Item.acquire] does.

// Lock acquires a lock. The error wraps [ErrLocked] if this session or another
// already holds it, and [newqueue.ErrValue] if no znode can have its name.
func (q *Queue) Lock(ctx context.Context, l newqueue.Lock) (err error) {
	defer wrap("acquire", l.String(), &err)
	if err := l.Validate(q.dialect); err != nil {
		return err
	}
	path := l.Path(q.dialect)
	if _, taken, err := q.stat(ctx, path); err != nil || taken { // before it reserves the name: the holder's Unlock must not wait for all who try
		return cmp.Or(err, ErrLocked)
	}
	if !q.reserve(path) {
		return ErrLocked
	}
	defer q.reserved.Delete(path)
	// Another goroutine of this session may hold it by now. After a lost answer, that would look as if this call had taken it.
	if _, taken, err := q.stat(ctx, path); err != nil || taken {
		return cmp.Or(err, ErrLocked)
	}
	w := write{ops: []znode.Op{znode.Create(path, empty), znode.Set(path, empty, 0), znode.Set(znode.Parent(path), empty, -1)}}
	if l.Ephemeral(q.dialect) {
		w.lock, w.happened = path, q.locked(path)
	} else {
		next, _, err := q.sequence(ctx, znode.Parent(path))
		if err != nil {
			return err
		}
		w.happened = q.created(path, next, w.ops[0])
	}
	err = q.commit(ctx, w)
	if errors.Is(err, zk.ErrNodeExists) {
		return ErrLocked
	}
	return err
}

// Unlock releases a lock, of this goroutine or another one of this queue. It waits while another one takes it or releases it. The error wraps
// [ErrNotLocked] if it isn't held, if it is ephemeral and another session holds it, or if it was released and taken again during the call.
//
// If there is no error, the lock that was there at the call is gone. In dialect mrt-zk that may be the admin tool's work: if this call's request was
// lost, it does not notice that, and another session may have the lock by now. And a lock that this package did not make, such as a hold of mrtq,
// has nothing that tells it from the next such one: if it is replaced while the request is on its way, Unlock releases the new one.
func (q *Queue) Unlock(ctx context.Context, l newqueue.Lock) (err error) {
	defer wrap("release", l.String(), &err)
	if err := l.Validate(q.dialect); err != nil {
		return err
	}
	path := l.Path(q.dialect)
	first, there, err := q.stat(ctx, path)
	if err != nil || !there {
		return cmp.Or(err, ErrNotLocked)
	}
	for !q.reserve(path) { // another goroutine looks whether it may take it, or releases it
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer q.reserved.Delete(path)
	for {
		folder, ok, err := q.stat(ctx, znode.Parent(path))
		if err != nil || !ok {
			return cmp.Or(err, ErrNotLocked)
		}
		held, ok, err := q.stat(ctx, path)
		if err != nil {
			return err
		}
		if !ok || l.Ephemeral(q.dialect) && held.EphemeralOwner != q.conn.SessionID() || held.Czxid != first.Czxid {
			return ErrNotLocked
		}
		err = q.commit(ctx, write{
			ops:     []znode.Op{znode.Check(znode.Parent(path), folder.Version), znode.Delete(path, held.Version)},
			session: held.EphemeralOwner, happened: q.unlocked(path, held),
		})
		switch {
		case refusedAt(err, znode.Parent(path)) && isRace(err): // another client took a lock there, maybe this one: look again
		case isRace(err):
			return ErrNotLocked
		default:
			return err
		}
	}
}

// IsLocked reports whether any session holds a lock. Nobody can hold a collection whose name no
// znode can have: a job's profile may be such a name, and its worker goes on.
func (q *Queue) IsLocked(ctx context.Context, l newqueue.Lock) (bool, error) {
	err := l.Validate(q.dialect)
	if err != nil && strings.HasPrefix(l.Path(q.dialect), newqueue.CollectionLocksPath+"/") {
		return false, nil
	}
	if err != nil {
		return false, &opError{"look at", l.String(), err}
	}
	_, ok, err := q.stat(ctx, l.Path(q.dialect))
	return ok, err
}
