package accept

import (
	"context"
	"errors"
	"fmt"
	"path"

	"mrtq/newqueue"
)

func (w *world) aRequest(state, acquired string) error {
	if err := w.newAccess("request", "small", state); err != nil || acquired == "" {
		return err
	}
	return w.arrange("worker", acquireAccess("small", state))
}

// acquireAccess acquires the next request of a queue in a state.
func acquireAccess(queue, state string) func(context.Context, *actor, *outcome) error {
	return func(ctx context.Context, a *actor, _ *outcome) (err error) {
		a.access, err = a.q.AcquireRequest(ctx, newqueue.AccessQueue(queue), newqueue.AccessState(state))
		return err
	}
}

func (w *world) requestComesIn(size, token string) error {
	return w.act("API", func(ctx context.Context, a *actor, answer *outcome) error {
		qid, err := a.q.CreateRequest(ctx, newqueue.AccessQueue(size), newqueue.Token{
			Token: token, DeliveryNode: 7777, CloudContentBytes: 123456, Status: "202",
			URL: "http://example.org/presigned", AnticipatedAvailabilityTime: "2024-03-01T13:00:00-08:00",
		})
		answer.ids = []string{qid}
		return err
	})
}

func (w *world) adminActsOnRequest(action string) error {
	queue, qid := queueOf(w.names["request"])
	return w.act("administrator", func(ctx context.Context, a *actor, _ *outcome) error {
		if action == "deletes the request" {
			return a.q.DeleteRequest(ctx, queue, qid)
		}
		return a.q.MoveRequest(ctx, queue, qid, newqueue.AccessFailed, newqueue.AccessProcessing)
	})
}

// queueOf splits a request's path.
func queueOf(at string) (newqueue.AccessQueue, string) {
	return newqueue.AccessQueue(path.Base(path.Dir(at))), path.Base(at)
}

func (w *world) requestIsMade(size, token string) error {
	made := w.newcomers("/access/" + size)
	if err := w.done(); err != nil {
		return err
	}
	if len(made) != 1 || len(w.last.ids) != 1 || made[0] != w.last.ids[0] {
		return fmt.Errorf("the new requests are %v, the answer is %v", made, w.last.ids)
	}
	at := "/access/" + size + "/" + made[0]
	status := object{"status": w.state("pending"), "last_modified": w.time(w.now)}
	w.message(status, "")
	return errors.Join(
		w.wantNode(at, []byte{}),
		w.wantNode(at+"/token", tokenOf(token).bytes()),
		w.wantNode(at+"/status", status.bytes()),
	)
}

func (w *world) requestIsGone() error {
	return errors.Join(w.done(), w.wantGone(w.names["request"]))
}
