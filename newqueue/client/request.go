package client

import (
	"context"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Request is a request to assemble an object, as it was when it was read. An
// acquired one also holds the worker's lock. Use it from one goroutine at a time.
type Request struct {
	Queue  newqueue.AccessQueue
	ID     string
	Status newqueue.AccessStatus
	Token  newqueue.Token // never changes

	entity
}

func (q *Queue) newRequest(queue newqueue.AccessQueue, qid string) *Request {
	return &Request{Queue: queue, ID: qid, entity: entity{q: q, kind: newqueue.EntityAccess, path: newqueue.AccessRequestPath(queue, qid)}}
}

func (r *Request) state() string { return string(r.Status.State) }

func (r *Request) properties() []property {
	return []property{
		{name: "status", parse: intoIn(r.q.dialect, &r.Status, newqueue.ParseAccessStatus)},
		{name: "token", parse: into(&r.Token, newqueue.ParseToken), object: true},
	}
}

func (r *Request) decide(ctx context.Context, t states.Transition, a act) (p plan, err error) {
	status := r.Status
	status.State, status.LastModified, status.Message = newqueue.AccessState(t.To), r.q.clock(), a.message
	p.status, p.keep = status.Object(r.q.dialect), func() { r.Status = status }
	if t.Nodes == states.NodesGo {
		p.ops, err = r.remove(ctx)
	}
	return p, err
}

// CreateRequest creates a pending request (A1) and returns its id.
func (q *Queue) CreateRequest(ctx context.Context, queue newqueue.AccessQueue, token newqueue.Token) (string, error) {
	qid, err := q.createRequest(ctx, queue, token)
	if err != nil {
		return "", &opError{"create a request in", newqueue.AccessQueuePath(queue), err}
	}
	return qid, nil
}

func (q *Queue) createRequest(ctx context.Context, queue newqueue.AccessQueue, token newqueue.Token) (qid string, err error) {
	if err := queue.Validate(); err != nil {
		return "", err
	}
	data, err := token.Object().Marshal()
	if err != nil {
		return "", err
	}
	status, err := newqueue.AccessStatus{State: newqueue.AccessState(q.creation(newqueue.EntityAccess).To), LastModified: q.clock()}.Object(q.dialect).Marshal()
	if err != nil {
		return "", err
	}
	err = q.withIDs(ctx, newqueue.AccessQueuePath(queue), newqueue.AccessPrefix, 1, func(ids []string) error {
		qid = ids[0]
		path := newqueue.AccessRequestPath(queue, qid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/token", data),
			znode.Create(path+"/status", status),
		}
		return q.commit(ctx, write{ops: ops, happened: q.created(ops)})
	})
	return qid, err
}

// Request reads a request. The error is a *[NodeError]. It wraps [ErrNotFound]
// if a znode is missing, or is [ErrNoRoot] if the queue's root is.
func (q *Queue) Request(ctx context.Context, queue newqueue.AccessQueue, qid string) (*Request, error) {
	return one(ctx, q.newRequest(queue, qid))
}

// Succeed moves an acquired request from pending to processing (A2), or from
// processing to completed (A3), and releases the lock. Errors as for
// [Job.Succeed].
func (r *Request) Succeed(ctx context.Context) error {
	return r.MoveTo(ctx, newqueue.AccessState(r.q.machines[newqueue.EntityAccess].Success(string(r.Status.State))), "")
}

// Fail moves an acquired processing request to failed (A4), with a message that
// says why, and releases the lock. Errors as for [Job.Succeed].
func (r *Request) Fail(ctx context.Context, message string) error {
	return r.MoveTo(ctx, newqueue.AccessFailed, message)
}

// MoveTo moves an acquired request to any state that a worker may move it to,
// and releases the lock. Errors as for [Job.Succeed].
func (r *Request) MoveTo(ctx context.Context, to newqueue.AccessState, message string) error {
	return r.q.move(ctx, r, act{name: "move to " + string(to), worker: true, to: string(to), message: message})
}

// MoveRequest moves a request without a lock, as an administrator or a cleaning
// pass does: a failed one to processing (A5). from and the errors are as for
// [Queue.MoveJob].
func (q *Queue) MoveRequest(ctx context.Context, queue newqueue.AccessQueue, qid string, from, to newqueue.AccessState) error {
	return q.move(ctx, q.newRequest(queue, qid), act{name: "move to " + string(to), from: string(from), to: string(to)})
}

// DeleteRequest deletes a failed request (A6), or one that the cleaning pass
// would remove (A7, A8). Errors as for [Queue.MoveJob].
func (q *Queue) DeleteRequest(ctx context.Context, queue newqueue.AccessQueue, qid string) error {
	r := q.newRequest(queue, qid)
	return q.move(ctx, r, act{name: "delete", choose: func() (string, error) {
		if t, ok := q.machines[newqueue.EntityAccess].Automatic(r.state()); ok {
			return t.To, nil
		}
		return states.Deleted, nil
	}})
}
