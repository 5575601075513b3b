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

// cancelling is a connection that ends the caller's context at a certain
// request.
type cancelling struct {
	client.Conn
	cancel  context.CancelFunc
	atRead  string        // cancel when a path with this suffix is read
	atMulti bool          // cancel at the first transaction
	goOn    chan struct{} // the first transaction waits until this is closed
	dropped chan struct{} // closed when the second one, which drops the lock, is answered
	multis  atomic.Int32
}

func (c *cancelling) Get(path string) ([]byte, *zk.Stat, error) {
	if c.atRead != "" && strings.HasSuffix(path, c.atRead) {
		c.cancel()
	}
	return c.Conn.Get(path)
}

func (c *cancelling) Exists(path string) (bool, *zk.Stat, error) {
	if c.atRead != "" && strings.HasSuffix(path, c.atRead) {
		c.cancel()
	}
	return c.Conn.Exists(path)
}

func (c *cancelling) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if c.atMulti {
		switch c.multis.Add(1) {
		case 1:
			c.cancel()
			<-c.goOn
		case 2:
			defer close(c.dropped)
		}
	}
	return c.Conn.Multi(ops...)
}

// TestCancelledAcquisition: if a context ends in the middle of an acquisition,
// no lock is left that the caller does not know of. It would stay as long as the
// session.
func TestCancelledAcquisition(t *testing.T) {
	job := func(ctx context.Context, q *client.Queue) error {
		_, err := q.AcquireJob(ctx, newqueue.JobPending)
		return err
	}
	batch := func(ctx context.Context, q *client.Queue) error {
		_, err := q.AcquireBatch(ctx, newqueue.BatchPending)
		return err
	}
	access := func(ctx context.Context, q *client.Queue) error {
		_, err := q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending)
		return err
	}
	pass := func(ctx context.Context, q *client.Queue) error {
		// The context ends in the loop's body, which neither moves nor keeps the job.
		for _, err := range q.AcquireJobs(ctx, newqueue.JobPending) {
			if err != nil {
				return err
			}
			value(q.Batch(context.WithoutCancel(ctx), "bid0000000000"))(t)
		}
		return context.Cause(ctx)
	}
	lock := func(ctx context.Context, q *client.Queue) error {
		return q.Lock(ctx, newqueue.InventoryLock("ark:/1"))
	}
	const jobLock, accessLock, inventory = "/jobs/jid0000000000/lock", "/access/small/qid0000000000/lock", "/locks/inventory/ark_1"
	for _, c := range []struct {
		name    string
		do      func(context.Context, *client.Queue) error
		atRead  string
		atMulti bool
		lock    string
	}{
		{"job, at the look at the lock", job, "/lock", false, jobLock},
		{"job, at its configuration", job, "/configuration", false, jobLock},
		{"job, at the transaction", job, "", true, jobLock},
		{"job, in a pass", pass, "/batches/bid0000000000/status", false, jobLock},
		{"batch, at its submission", batch, "/submission", false, "/batches/bid0000000001/lock"},
		{"batch, at the transaction", batch, "", true, "/batches/bid0000000001/lock"},
		{"access, at its token", access, "/token", false, accessLock},
		{"access, at the transaction", access, "", true, accessLock},
		{"inventory, at the transaction", lock, "", true, inventory},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newqueue.Design)
			batchOf(t, w.queue(), 1)
			value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
			value(w.queue().CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
			w.put("/locks/inventory", "")
			w.put("/locks/queue", "") // else the first transaction finds that it is missing
			conn, _ := connect(t, address(t))
			stop, cancel := context.WithCancel(ctx)
			faulty := &cancelling{Conn: conn, cancel: cancel, atRead: c.atRead, atMulti: c.atMulti, goOn: make(chan struct{}), dropped: make(chan struct{})}
			q := client.Open(faulty, w.d, client.WithRoot(w.root))
			err := c.do(stop, q)
			if !errors.Is(err, context.Canceled) || c.atMulti && !errors.Is(err, client.ErrUnknownOutcome) {
				t.Errorf("%v", err)
			}
			if c.atMulti { // only now
				close(faulty.goOn)
				select {
				case <-faulty.dropped: // before that, the connection must not close
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
