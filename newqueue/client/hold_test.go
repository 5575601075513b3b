package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

type lockable interface {
	Path() string
	Locked() bool
	Unlock(context.Context) error
}

func errorOf[T any](_ T, err error) error { return err }

// acquirings are the ways to acquire, each with the hold that stops it. prepare makes
// something to acquire.
var acquirings = map[string]struct {
	hold    newqueue.QueueHold
	prepare func(*testing.T, *client.Queue)
	acquire func(context.Context, *client.Queue) (lockable, error)
}{
	"job": {newqueue.HoldIngest, func(t *testing.T, q *client.Queue) { batchOf(t, q, 1) },
		func(ctx context.Context, q *client.Queue) (lockable, error) {
			return q.AcquireJob(ctx, newqueue.JobPending)
		}},
	"jobs": {newqueue.HoldIngest, func(t *testing.T, q *client.Queue) { batchOf(t, q, 2) },
		func(ctx context.Context, q *client.Queue) (lockable, error) {
			for j, err := range q.AcquireJobs(ctx, newqueue.JobPending) {
				return j, err
			}
			return nil, client.ErrNoneAvailable
		}},
	"pending batch": {newqueue.HoldIngest, func(t *testing.T, q *client.Queue) {
		value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	}, func(ctx context.Context, q *client.Queue) (lockable, error) {
		return q.AcquireBatch(ctx, newqueue.BatchPending)
	}},
	"reporting batch": {newqueue.HoldIngest, func(t *testing.T, q *client.Queue) {
		bid, ids := batchOf(t, q, 1)
		drive(t, q, ids[0], newqueue.JobFailed)
		must(t, q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
	}, func(ctx context.Context, q *client.Queue) (lockable, error) {
		return q.AcquireBatch(ctx, newqueue.BatchReporting)
	}},
	"large request": {newqueue.HoldAccessLarge, func(t *testing.T, q *client.Queue) {
		value(q.CreateRequest(ctx, newqueue.AccessLarge, newqueue.Token{Token: "x"}))(t)
	}, func(ctx context.Context, q *client.Queue) (lockable, error) {
		return q.AcquireRequest(ctx, newqueue.AccessLarge, newqueue.AccessPending)
	}},
	"small request": {newqueue.HoldAccessSmall, func(t *testing.T, q *client.Queue) {
		value(q.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{Token: "x"}))(t)
	}, func(ctx context.Context, q *client.Queue) (lockable, error) {
		return q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending)
	}},
}

// TestHoldWhileAcquiring: a hold that is set after the worker has looked for one, and
// before it acquires, stops it too. So it does if the folder of the holds did not exist.
func TestHoldWhileAcquiring(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		for name, c := range acquirings {
			for _, folder := range []bool{false, true} {
				w := newWorld(t, w.d)
				c.prepare(t, w.queue())
				if folder {
					w.put("/locks/queue", "")
				}
				var before *znode.Tree
				late, q := w.hooked()
				late.meddle(func() {
					w.put(newqueue.QueueHoldPath(c.hold), `{"owners":[{"by":"bob"}]}`)
					before = w.tree()
				})
				_, err := c.acquire(ctx, q)
				if want := fmt.Sprintf("%s: the queue is held", c.hold); !errors.Is(err, client.ErrHeld) || err.Error() != want {
					t.Errorf("%s, folder %t: %v", name, folder, err)
				}
				same(t, before, w.tree())
			}
		}
	})
}
