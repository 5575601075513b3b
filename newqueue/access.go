package newqueue

import (
	"context"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// Access is a request to assemble an object, as it was when it was read. An
// acquired one also holds the worker's lock. Use it from one goroutine at a time.
type Access struct {
	Queue  AccessQueue
	ID     string
	Status AccessStatus
	Token  Token // never changes

	q       *Queue
	version int32 // of the status
	lock    lock  // zero when not acquired
}

// Locked reports whether the request was acquired, and neither unlocked nor moved
// since.
func (a *Access) Locked() bool { return a.lock != lock{} }

// Path is the request's znode.
func (a *Access) Path() string { return AccessRequestPath(a.Queue, a.ID) }

// CreateAccess creates a pending request (A1) and returns its id.
func (q *Queue) CreateAccess(ctx context.Context, queue AccessQueue, token Token) (string, error) {
	var qid string
	err := q.createAccess(ctx, queue, token, &qid)
	if err != nil {
		return "", &opError{"create a request in", AccessQueuePath(queue), err}
	}
	return qid, nil
}

func (q *Queue) createAccess(ctx context.Context, queue AccessQueue, token Token, qid *string) error {
	if !slices.Contains(AccessQueues, queue) {
		return fmt.Errorf("queue %q: %w: want one of %v", queue, ErrValue, AccessQueues)
	}
	t, err := q.creation(EntityAccess)
	if err != nil {
		return err
	}
	data, err := token.Object().Marshal()
	if err != nil {
		return err
	}
	status, err := AccessStatus{State: AccessState(t.To), LastModified: q.now().Round(0)}.Object(q.dialect).Marshal()
	if err != nil {
		return err
	}
	return q.withIDs(ctx, AccessQueuePath(queue), AccessPrefix, 1, func(ids []string) error {
		*qid = ids[0]
		path := AccessRequestPath(queue, *qid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/token", data),
			znode.Create(path+"/status", status),
		}
		return q.commit(ctx, write{ops: ops, done: q.created(ops)})
	})
}

// Access reads a request. The error is a *[NodeError]. It wraps [ErrNotFound]
// if a znode is missing.
func (q *Queue) Access(ctx context.Context, queue AccessQueue, qid string) (*Access, error) {
	a := &Access{Queue: queue, ID: qid, q: q}
	if err := a.load(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Access) load(ctx context.Context) error {
	n, err := a.q.get(ctx, a.Path()+"/status")
	if err != nil {
		return err
	}
	if a.Status, err = ParseAccessStatus(a.q.dialect, n.data); err != nil {
		return &NodeError{a.Path() + "/status", err}
	}
	a.version = n.version
	if n, err = a.q.get(ctx, a.Path()+"/token"); err != nil {
		return err
	}
	if a.q.dialect.noObject(n.data) {
		return nil
	}
	if a.Token, err = ParseToken(n.data); err != nil {
		return &NodeError{a.Path() + "/token", err}
	}
	return nil
}

// AcquireAccess locks the oldest unlocked request of a queue in a state. The
// state is pending, to start a request, or processing, to work on one that was
// just started, that an administrator retried, or whose worker died. The lock
// ends with the request's transition, with [Access.Unlock], or with the session.
// Errors as for [Queue.AcquireJob].
func (q *Queue) AcquireAccess(ctx context.Context, queue AccessQueue, s AccessState) (*Access, error) {
	if err := q.workersState(EntityAccess, string(s)); err != nil {
		return nil, err
	}
	ids, err := q.children(ctx, AccessQueuePath(queue))
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	return firstOf(ctx, q, ids, func(qid string) (a *Access, err error) {
		a = &Access{Queue: queue, ID: qid, q: q}
		a.lock, a.version, err = q.acquired(ctx, a.Path(), func(data []byte) error {
			st, err := ParseAccessStatus(q.dialect, data)
			return fits(a.Path(), st.State == s, err)
		}, a.load)
		return a, err
	})
}

// Unlock releases the request's lock and changes nothing else, so that another
// worker can acquire the request. The error wraps [ErrNotLocked] if the lock was
// already lost. After any other error the caller still holds the lock, and may
// try again.
func (a *Access) Unlock(ctx context.Context) error {
	return a.q.release(ctx, &a.lock, a.Path(), a.version)
}

// Succeed moves an acquired request from pending to processing (A2), or from
// processing to completed (A3), and releases the lock. Errors as for
// [Job.Succeed].
func (a *Access) Succeed(ctx context.Context) error {
	return a.MoveTo(ctx, AccessState(a.q.machines[EntityAccess].Success(string(a.Status.State))), "")
}

// Fail moves an acquired processing request to failed (A4), with a message that
// says why, and releases the lock. Errors as for [Job.Succeed].
func (a *Access) Fail(ctx context.Context, message string) error {
	return a.MoveTo(ctx, AccessFailed, message)
}

// MoveTo moves an acquired request to any state that a worker may move it to,
// and releases the lock. Errors as for [Job.Succeed].
func (a *Access) MoveTo(ctx context.Context, to AccessState, message string) error {
	status, err := a.q.moveAccess(ctx, a.Queue, a.ID, a, func(AccessState) (AccessState, error) { return to, nil }, message)
	if err != nil {
		return &opError{"move to " + string(to), a.Path(), err}
	}
	a.lock, a.Status = lock{}, status
	a.version++
	return nil
}

// MoveAccess moves a request without a lock, as an administrator or a cleaning
// pass does. Errors as for [Queue.MoveJob].
func (q *Queue) MoveAccess(ctx context.Context, queue AccessQueue, qid string, to AccessState) error {
	_, err := q.moveAccess(ctx, queue, qid, nil, func(AccessState) (AccessState, error) { return to, nil }, "")
	if err != nil {
		return &opError{"move to " + string(to), AccessRequestPath(queue, qid), err}
	}
	return nil
}

// RetryAccess returns a failed request to processing (A5). Errors as for
// [Queue.MoveJob].
func (q *Queue) RetryAccess(ctx context.Context, queue AccessQueue, qid string) error {
	path := AccessRequestPath(queue, qid)
	_, err := q.moveAccess(ctx, queue, qid, nil, func(s AccessState) (AccessState, error) {
		if s != AccessFailed {
			return "", q.refuse(EntityAccess, path, string(s), states.Processing)
		}
		return AccessProcessing, nil
	}, "")
	if err != nil {
		return &opError{"retry", path, err}
	}
	return nil
}

// DeleteAccess deletes a failed request (A6), or one that the cleaning pass
// would remove (A7, A8). Errors as for [Queue.MoveJob].
func (q *Queue) DeleteAccess(ctx context.Context, queue AccessQueue, qid string) error {
	path := AccessRequestPath(queue, qid)
	_, err := q.moveAccess(ctx, queue, qid, nil, func(s AccessState) (AccessState, error) {
		if t, ok := q.machines[EntityAccess].Automatic(string(s)); ok {
			return AccessState(t.To), nil
		}
		return AccessDeleted, nil
	}, "")
	if err != nil {
		return &opError{"delete", path, err}
	}
	return nil
}

// CleanupAccess is the cleaning pass over the requests of a queue. It removes
// completed requests (A7) and requests that the admin tool marked as deleted
// (A8), and returns their ids. Errors as for [Queue.CleanupJobs].
func (q *Queue) CleanupAccess(ctx context.Context, queue AccessQueue) ([]string, error) {
	ids, err := q.children(ctx, AccessQueuePath(queue))
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	c := cleaning{q: q}
	for _, qid := range ids {
		_, err := q.moveAccess(ctx, queue, qid, nil, func(s AccessState) (AccessState, error) {
			t, ok := q.machines[EntityAccess].Automatic(string(s))
			if !ok {
				return "", errSkip
			}
			return AccessState(t.To), nil
		}, "")
		c.add(ctx, qid, AccessRequestPath(queue, qid), err)
	}
	return c.result()
}

func (q *Queue) moveAccess(ctx context.Context, queue AccessQueue, qid string, by *Access, target func(AccessState) (AccessState, error), message string) (status AccessStatus, err error) {
	path := AccessRequestPath(queue, qid)
	m := move{EntityAccess, path, by != nil}
	err = m.retry(func() error {
		var version int32
		if by != nil {
			status, version = by.Status, by.version
		} else {
			n, err := q.get(ctx, path+"/status")
			if err != nil {
				return err
			}
			if status, err = ParseAccessStatus(q.dialect, n.data); err != nil {
				return &NodeError{path + "/status", err}
			}
			version = n.version
		}
		to, err := target(status.State)
		if err != nil {
			return err
		}
		t, err := q.allowed(m, string(status.State), string(to))
		if err != nil {
			return err
		}
		if by != nil {
			if err := q.owns(ctx, by.lock); err != nil {
				return err
			}
		}
		status.State, status.LastModified, status.Message = to, q.now().Round(0), message
		ops := lockOps(t.Who, path)
		if t.Nodes == states.NodesGo {
			nodes, err := q.subtree(ctx, path)
			if err != nil {
				return err
			}
			nodes = slices.DeleteFunc(nodes, func(p string) bool { return p == path+"/lock" })
			ops = append(append(ops, znode.Check(path+"/status", version)), deleteAll(nodes)...)
		} else {
			data, err := status.Object(q.dialect).Marshal()
			if err != nil {
				return err
			}
			ops = append(ops, znode.Set(path+"/status", data, version))
		}
		done := q.written(path+"/status", version, ops, t.Nodes == states.NodesGo)
		if by != nil {
			done = q.lockReleased(by.lock, done)
		}
		return q.commit(ctx, write{ops: ops, done: done})
	})
	return status, err
}
