package newqueue_test

import (
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// meddled is a connection on which another client writes once, between a
// decision's last read and its write.
type meddled struct {
	newqueue.Conn
	meddle func()
}

func (c *meddled) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if f := c.meddle; f != nil {
		c.meddle = nil
		f()
	}
	return c.Conn.Multi(ops...)
}

// TestMeddling: if another client changes what a decision depends on, between the
// read and the write, the queue notices.
func TestMeddling(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		conn, _ := connect(t, address(t))
		c := &meddled{Conn: conn}
		q := newqueue.Open(c, w.d, newqueue.WithRoot(w.root))
		other := w.queue()

		// B5: the batch is not empty any more.
		bid, _ := batchOf(t, other, 0)
		c.meddle = func() { value(other.CreateJob(ctx, bid, newqueue.NewJob{Priority: 5}))(t) }
		if err := q.ReportIfEmptied(ctx, bid); !errors.Is(err, newqueue.ErrStillProcessing) || !errors.Is(err, newqueue.ErrConflict) {
			t.Errorf("B5: %v", err)
		}

		// A priority changes while a worker holds the job. Its transition still
		// writes the right entry.
		j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
		c.meddle = func() { must(t, other.SetPriority(ctx, j.ID, 42)) }
		must(t, j.Succeed(ctx))
		w.check()

		// A job that moves between the list and the lock is not acquired in a wrong
		// state.
		c.meddle = func() { must(t, value(other.AcquireJob(ctx, newqueue.JobEstimating))(t).Succeed(ctx)) }
		if _, err := q.AcquireJob(ctx, newqueue.JobEstimating); !errors.Is(err, newqueue.ErrNone) {
			t.Errorf("acquired in a wrong state: %v", err)
		}
		complete(t, other, newqueue.JobProvisioning)

		// B6: while the report is recorded, a job fails into a folder that did
		// not exist. No operation does that to a batch without unfinished jobs.
		must(t, other.ReportIfEmptied(ctx, bid))
		b := value(q.AcquireReportingBatch(ctx))(t)
		r := value(b.Report(ctx))(t)
		for _, f := range []newqueue.BatchFolder{newqueue.FolderFailed, newqueue.FolderProcessing} {
			entry := "/batches/" + bid + "/states/" + string(f) + "/jid0000000000"
			c.meddle = func() { w.put(entry, "") }
			if f == newqueue.FolderFailed {
				w.put("/jobs/jid0000000000/status", "{}")
			}
			if err := b.Finish(ctx, r); !errors.Is(err, newqueue.ErrConflict) {
				t.Errorf("B6 with a job in %s: %v", f, err)
			}
			w.delete(entry)
		}
		must(t, b.Finish(ctx, r))

		// A deletion whose answer depends on the batch, and J22 itself.
		bid, ids := batchOf(t, other, 2)
		drive(t, other, ids[0], newqueue.JobHeld)
		c.meddle = func() { must(t, other.ReleaseJob(ctx, ids[0])) }
		if _, err := q.DeleteJob(ctx, ids[0]); !errors.As(err, new(*newqueue.StateError)) || !errors.Is(err, newqueue.ErrConflict) {
			t.Errorf("J22: %v", err)
		}

		// Another client uses the id first.
		c.meddle = func() { value(other.CreateJob(ctx, bid, newqueue.NewJob{}))(t) }
		jid := value(q.CreateJob(ctx, bid, newqueue.NewJob{}))(t)
		if value(q.Job(ctx, jid))(t).BatchID != bid || len(value(q.BatchJobs(ctx, bid))(t)[newqueue.FolderProcessing]) != 4 {
			t.Error("two creators, not two jobs")
		}
	})
}

// complete moves the only job from a state to completed.
func complete(t *testing.T, q *newqueue.Queue, from newqueue.JobState) {
	t.Helper()
	for s := from; s != newqueue.JobCompleted; s = newqueue.Success(s, q.Dialect()) {
		must(t, value(q.AcquireJob(ctx, s))(t).Succeed(ctx))
	}
}
