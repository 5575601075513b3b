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

	Item
}

func (q *Queue) newRequest(queue newqueue.AccessQueue, qid string) *Request {
	r := &Request{Queue: queue, ID: qid, Item: Item{q: q, kind: states.Access, path: newqueue.AccessRequestPath(queue, qid)}}
	r.of = r
	return r
}

func (r *Request) state() string { return string(r.Status.State) }

func (r *Request) properties() []property {
	return []property{
		{name: "status", parse: intoIn(r.q.dialect, &r.Status, newqueue.Parse)},
		{name: "token", parse: intoIn(r.q.dialect, &r.Token, newqueue.Parse), object: true},
	}
}

func (r *Request) decide(ctx context.Context, t states.Transition, a act) (p plan, err error) {
	status := r.Status
	status.State, status.LastModified, status.Message = newqueue.AccessState(t.To), r.q.clock(), a.message
	p.status, p.keep = newqueue.ToObject(r.q.dialect, status), func() { r.Status = status }
	if t.Nodes == states.NodesRemoved {
		p.ops, err = r.remove(ctx)
	}
	return p, err
}

// CreateRequest creates a pending request (A1) and returns its id.
func (q *Queue) CreateRequest(ctx context.Context, queue newqueue.AccessQueue, token newqueue.Token) (qid string, err error) {
	defer wrap("create a request in", newqueue.AccessQueuePath(queue), &err)
	if err := queue.Validate(); err != nil {
		return "", err
	}
	data, err := newqueue.ToObject(q.dialect, token).Marshal()
	if err != nil {
		return "", err
	}
	status, err := newqueue.ToObject(q.dialect, newqueue.AccessStatus{State: newqueue.AccessState(q.creation(states.Access).To), LastModified: q.clock()}).Marshal()
	if err != nil {
		return "", err
	}
	return q.withID(ctx, newqueue.AccessQueuePath(queue), newqueue.AccessPrefix, func(qid string, next int32) error {
		path := newqueue.AccessRequestPath(queue, qid)
		ops := []znode.Op{
			znode.Create(path, empty),
			znode.Create(path+"/token", data),
			znode.Create(path+"/status", status),
		}
		return q.commit(ctx, write{ops: ops, happened: q.created(path, next, ops[1])})
	})
}

// MoveRequest moves a request without a lock, as an administrator or a cleaning
// pass does: a failed one to processing (A5). from and the errors are as for
// [Queue.MoveJob].
func (q *Queue) MoveRequest(ctx context.Context, queue newqueue.AccessQueue, qid string, from, to newqueue.AccessState) error {
	return q.newRequest(queue, qid).move(ctx, act{name: "move to " + string(to), from: string(from), to: string(to)})
}

// DeleteRequest deletes a failed request (A6), or one that the cleaning pass
// would remove (A7, A8). Errors as for [Queue.MoveJob].
func (q *Queue) DeleteRequest(ctx context.Context, queue newqueue.AccessQueue, qid string) error {
	r := q.newRequest(queue, qid)
	return r.move(ctx, act{name: "delete", choose: func() (string, error) {
		if t, ok := q.machines[states.Access].By(states.Automatic, r.state()); ok {
			return t.To, nil
		}
		return states.Deleted, nil
	}})
}
