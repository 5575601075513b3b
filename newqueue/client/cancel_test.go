package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// TestCancelledAcquisition: if a context ends in the middle of an acquisition,
// no lock is left that the caller does not know of. It would stay as long as the
// session.
func TestCancelledAcquisition(t *testing.T) {
	job, batch, access := acquirings["job"].acquire, acquirings["pending batch"].acquire, acquirings["small request"].acquire
	pass := func(ctx context.Context, q *client.Queue) (lockable, error) {
		// The context ends in the loop's body, which neither moves nor keeps the job.
		for _, err := range q.AcquireJobs(ctx, newqueue.JobPending) {
			if err != nil {
				return nil, err
			}
			value(q.Batch(context.WithoutCancel(ctx), "bid0000000000"))(t)
		}
		return nil, context.Cause(ctx)
	}
	lock := func(ctx context.Context, q *client.Queue) (lockable, error) {
		return nil, q.Lock(ctx, newqueue.InventoryLock("ark:/1"))
	}
	const jobLock, accessLock, inventory = "/jobs/jid0000000000/lock", "/access/small/qid0000000000/lock", "/locks/inventory/ark_1"
	for _, c := range []struct {
		name   string
		do     func(context.Context, *client.Queue) (lockable, error)
		atRead string // of a path with this suffix; else at the first transaction
		lock   string
	}{
		{"job, at the look at the lock", job, "/lock", jobLock},
		{"job, at its configuration", job, "/configuration", jobLock},
		{"job, at the transaction", job, "", jobLock},
		{"job, in a pass", pass, "/batches/bid0000000000/status", jobLock},
		{"batch, at its submission", batch, "/submission", "/batches/bid0000000001/lock"},
		{"batch, at the transaction", batch, "", "/batches/bid0000000001/lock"},
		{"access, at its token", access, "/token", accessLock},
		{"access, at the transaction", access, "", accessLock},
		{"inventory, at the transaction", lock, "", inventory},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newqueue.Design)
			batchOf(t, w.queue(), 1)
			value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
			value(w.queue().CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
			w.put("/locks/inventory", "")
			w.put("/locks/queue", "") // else the first transaction finds that it is missing
			stop, cancel := context.WithCancel(ctx)
			goOn, dropped := make(chan struct{}), make(chan struct{})
			var multis atomic.Int32
			faulty, q := w.hooked()
			if c.atRead != "" {
				faulty.read = func(path string) error {
					if strings.HasSuffix(path, c.atRead) {
						cancel()
					}
					return nil
				}
			} else {
				faulty.multi = func(send send) ([]zk.MultiResponse, error) {
					switch multis.Add(1) {
					case 1:
						cancel()
						<-goOn
					case 2: // drops the lock
						defer close(dropped)
					}
					return send()
				}
			}
			_, err := c.do(stop, q)
			if !errors.Is(err, context.Canceled) || c.atRead == "" && !errors.Is(err, client.ErrUnknownOutcome) {
				t.Errorf("%v", err)
			}
			if c.atRead == "" { // only now
				close(goOn)
				select {
				case <-dropped: // before that, the connection must not close
				case <-time.After(time.Minute):
					t.Fatal("the lock is not dropped")
				}
			}
			if w.tree().Get(c.lock) != nil {
				t.Errorf("%s is still there", c.lock)
			}
			w.check()
		})
	}
}
