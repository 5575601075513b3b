package newqueue

import (
	"context"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// Request is a request to assemble an object, as it was when it was read. An
// acquired one also holds the worker's lock. Use it from one goroutine at a time.
type Request struct {
	Queue  AccessQueue
	ID     string
	Status AccessStatus
	Token  Token // never changes

	item
}

func (q *Queue) newRequest(queue AccessQueue, qid string) *Request {
	return &Request{Queue: queue, ID: qid, item: item{q: q, path: AccessRequestPath(queue, qid)}}
}

// CreateRequest creates a pending request (A1) and returns its id.
func (q *Queue) CreateRequest(ctx context.Context, queue AccessQueue, token Token) (string, error) {
	qid, err := q.createRequest(ctx, queue, token)
	if err != nil {
		return "", &opError{"create a request in", AccessQueuePath(queue), err}
	}
	return qid, nil
}

func (q *Queue) createRequest(ctx context.Context, queue AccessQueue, token Token) (qid string, err error) {
	if err := queue.validate(); err != nil {
		return "", err
	}
	data, err := token.Object().Marshal()
	if err != nil {
		return "", err
	}
	status, err := AccessStatus{State: AccessState(q.creation(EntityAccess).To), LastModified: q.clock()}.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	err = q.withIDs(ctx, AccessQueuePath(queue), AccessPrefix, 1, func(ids []string) error {
		qid = ids[0]
		path := AccessRequestPath(queue, qid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/token", data),
			znode.Create(path+"/status", status),
		}
		return q.commit(ctx, write{ops: ops, done: q.created(ops)})
	})
	return qid, err
}

// Request reads a request. The error is a *[NodeError]. It wraps [ErrNotFound]
// if a znode is missing, or is [ErrNoRoot] if the queue's root is.
func (q *Queue) Request(ctx context.Context, queue AccessQueue, qid string) (*Request, error) {
	a := q.newRequest(queue, qid)
	if err := a.load(ctx); err != nil {
		return nil, q.orNoRoot(ctx, err)
	}
	return a, nil
}

func (a *Request) load(ctx context.Context) error { return together(ctx, a.loadStatus, a.loadToken) }

func (a *Request) loadToken(ctx context.Context) error {
	_, err := parsed(ctx, a.q, a.path+"/token", &a.Token, orNoObject(a.q.dialect, ParseToken))
	return err
}

func (a *Request) loadStatus(ctx context.Context) (err error) {
	a.version, err = parsed(ctx, a.q, a.path+"/status", &a.Status, by(a.q.dialect, ParseAccessStatus))
	return err
}

// Succeed moves an acquired request from pending to processing (A2), or from
// processing to completed (A3), and releases the lock. Errors as for
// [Job.Succeed].
func (a *Request) Succeed(ctx context.Context) error {
	return a.MoveTo(ctx, AccessState(a.q.machines[EntityAccess].Success(string(a.Status.State))), "")
}

// Fail moves an acquired processing request to failed (A4), with a message that
// says why, and releases the lock. Errors as for [Job.Succeed].
func (a *Request) Fail(ctx context.Context, message string) error {
	return a.MoveTo(ctx, AccessFailed, message)
}

// MoveTo moves an acquired request to any state that a worker may move it to,
// and releases the lock. Errors as for [Job.Succeed].
func (a *Request) MoveTo(ctx context.Context, to AccessState, message string) error {
	s := &accessSnap{snap: snap{item: &a.item, entity: EntityAccess, worker: true}, access: a, message: message}
	err := a.q.move(ctx, "move to "+string(to), s, want{to: string(to)})
	if err == nil {
		a.Status = s.status
	}
	return err
}

// MoveRequest moves a request without a lock, as an administrator or a cleaning
// pass does: a failed one to processing (A5). from and the errors are as for
// [Queue.MoveJob].
func (q *Queue) MoveRequest(ctx context.Context, queue AccessQueue, qid string, from, to AccessState) error {
	return q.move(ctx, "move to "+string(to), q.snapAccess(queue, qid), want{from: string(from), to: string(to)})
}

// DeleteRequest deletes a failed request (A6), or one that the cleaning pass
// would remove (A7, A8). Errors as for [Queue.MoveJob].
func (q *Queue) DeleteRequest(ctx context.Context, queue AccessQueue, qid string) error {
	s := q.snapAccess(queue, qid)
	return q.move(ctx, "delete", s, want{choose: func() (string, error) {
		if t, ok := q.machines[EntityAccess].Automatic(s.from); ok {
			return t.To, nil
		}
		return states.Deleted, nil
	}})
}

// accessSnap holds what was read about a request before a decision, and what the
// caller changes with the transition.
type accessSnap struct {
	snap
	access  *Request
	status  AccessStatus // once decided, the new one
	message string
}

func (q *Queue) snapAccess(queue AccessQueue, qid string) *accessSnap {
	a := q.newRequest(queue, qid)
	return &accessSnap{snap: snap{item: &a.item, entity: EntityAccess}, access: a}
}

func (s *accessSnap) read(ctx context.Context) (state string, err error) {
	if !s.worker {
		err = s.access.loadStatus(ctx)
	}
	s.status = s.access.Status
	return string(s.status.State), err
}

func (s *accessSnap) prepare(context.Context, states.Transition) error { return nil }

func (s *accessSnap) decide(t states.Transition) ([]znode.Op, error) {
	s.status.State, s.status.LastModified, s.status.Message = AccessState(t.To), s.q.clock(), s.message
	ops, err := s.ops(t, s.status.Object(s.q.dialect))
	return append(ops, deleteAll(s.subtree)...), err
}
