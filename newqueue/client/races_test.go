package client_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// TestAnotherClientIsFirst: another client changes the tree between the read and the write of
// a step. The step is decided again, or refused. It is never made from old data.
func TestAnotherClientIsFirst(t *testing.T) {
	moved := func(err error) bool { // deleted by another client: gone, or in mrt-zk marked as deleted
		return errors.Is(err, client.ErrNotFound) || errors.As(err, new(*client.StateError))
	}
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	resume := func(q *client.Queue, jid string) error { _, err := q.ResumeJob(ctx, jid); return err }
	remove := func(q *client.Queue, jid string) error { _, err := q.DeleteJob(ctx, jid); return err }
	eachDialect(t, func(t *testing.T, w *world) {
		other := w.queue()
		lock := func(_ *client.Queue, jid string) error { w.put("/jobs/"+jid+"/lock", ""); return nil }
		c, q := w.hooked()
		for name, race := range map[string]struct {
			first, then func(*client.Queue, string) error
			refused     func(error) bool
		}{
			"resume a deleted job": {remove, resume, moved},
			"resume a locked job":  {lock, resume, is(client.ErrLocked)},
			"delete a locked job":  {lock, remove, is(client.ErrLocked)},
			"delete a resumed job": {resume, remove, moved},
		} {
			_, ids := batchOf(t, other, 1)
			drive(t, other, ids[0], newqueue.JobFailed)
			c.meddle(func() { must(t, race.first(other, ids[0])) })
			if err := race.then(q, ids[0]); !race.refused(err) {
				t.Errorf("%s: %v", name, err)
			}
			switch {
			case strings.HasSuffix(name, "locked job"):
				w.delete("/jobs/" + ids[0] + "/lock")
			case strings.HasSuffix(name, "resumed job"): // the next case's worker must not find it
				must(t, value(other.AcquireJob(ctx, newqueue.JobDownloading))(t).Fail(ctx, "again"))
			}
		}

		_, ids := batchOf(t, other, 2)
		c.meddle(func() { must(t, lock(nil, ids[0])) })
		if j := value(q.AcquireJob(ctx, newqueue.JobPending))(t); j.ID != ids[1] {
			t.Errorf("acquired %s, which another worker has acquired", j.ID)
		} else {
			must(t, j.Hold(ctx, ""))
		}
		w.delete("/jobs/" + ids[0] + "/lock")
		c.meddle(func() { must(t, other.SetPriority(ctx, ids[1], 9)) })
		must(t, q.MoveJob(ctx, ids[1], newqueue.JobHeld, newqueue.JobPending))
		if j := value(q.Job(ctx, ids[1]))(t); j.Priority != 9 || j.Status.State != newqueue.JobPending {
			t.Errorf("a released job has priority %d and is %s", j.Priority, j.Status.State)
		}
		w.check()
	})
}

// TestCompletedBeforeItsDeletion: a job is to be deleted with all its nodes because it failed,
// but it completes meanwhile. Then only its queue entry is removed: the report needs the rest.
func TestCompletedBeforeItsDeletion(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	other := w.queue()
	c, q := w.hooked()
	_, ids := batchOf(t, other, 1)
	drive(t, other, ids[0], newqueue.JobNotify)
	must(t, value(other.AcquireJob(ctx, newqueue.JobNotify))(t).Fail(ctx, "no mail"))
	c.meddle(func() {
		must(t, other.MoveJob(ctx, ids[0], newqueue.JobFailed, newqueue.JobNotify))
		must(t, value(other.AcquireJob(ctx, newqueue.JobNotify))(t).Succeed(ctx))
	})
	must(t, q.MoveJob(ctx, ids[0], "", newqueue.JobDeleted))
	if j := value(other.Job(ctx, ids[0]))(t); j.Status.State != newqueue.JobCompleted {
		t.Errorf("%+v", j.Status)
	}
	if left := w.tree().Children("/jobs/states/completed"); len(left) > 0 {
		t.Errorf("queue entries %q", left)
	}
	w.check()
}

// TestABatchChangesMeanwhile: a batch gets another job, or one of its jobs is resumed, between
// the read and the write of its report.
func TestABatchChangesMeanwhile(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		other := w.queue()
		c, q := w.hooked()
		bid, ids := batchOf(t, other, 1)
		drive(t, other, ids[0], newqueue.JobFailed)
		var added string
		c.meddle(func() { added = value(other.CreateJob(ctx, bid, client.JobSpec{Priority: 5}))(t) })
		if err := q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting); guard(err) != states.OnceEmptied {
			t.Errorf("it has a new job: %v", err)
		}
		drive(t, other, added, newqueue.JobFailed)
		must(t, q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
		b := value(q.AcquireBatch(ctx, newqueue.BatchReporting))(t)
		r := value(b.Report(ctx))(t)
		c.meddle(func() { value(other.ResumeJob(ctx, ids[0]))(t) })
		if err := b.Finish(ctx, r); !errors.Is(err, client.ErrConflict) {
			t.Errorf("one of its jobs was resumed: %v", err)
		}
		w.check()
	})
}

// TestResumedWhileItsBatchIsCleaned: a job of a batch that the admin tool marked as deleted is resumed between
// the pass's read and its write. The batch stays.
func TestResumedWhileItsBatchIsCleaned(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	other := w.queue()
	bid, ids := batchOf(t, other, 1)
	drive(t, other, ids[0], newqueue.JobFailed)
	must(t, other.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
	report(t, other, newqueue.BatchReporting)
	w.put("/batches/"+bid+"/status", `{"status":"Deleted","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
	c, q := w.hooked()
	c.meddle(func() { must(t, other.MoveJob(ctx, ids[0], newqueue.JobFailed, newqueue.JobDownloading)) })
	if gone, err := q.CleanupBatches(ctx); len(gone) > 0 || err != nil {
		t.Errorf("cleaned up %v: %v", gone, err)
	}
	if j := value(other.AcquireJob(ctx, newqueue.JobDownloading))(t); j.ID != ids[0] {
		t.Errorf("acquired %s", j.ID)
	}
	w.check()
}

// TestABatchIsHealthy: before one of a client's reads, another starts the batch, or deletes it. The first does not call it damaged, or missing.
func TestABatchIsHealthy(t *testing.T) {
	start := func(q *client.Queue, _ string) {
		if b, err := q.AcquireBatch(ctx, newqueue.BatchPending); err == nil {
			_, _ = b.Process(ctx, client.JobSpec{})
		}
	}
	remove := func(q *client.Queue, bid string) { _, _ = q.DeleteBatch(ctx, bid) }
	repair := func(q *client.Queue) error { return errorOf(q.RepairBatches(ctx)) }
	for name, c := range map[string]struct {
		held  bool
		do    func(*client.Queue) error
		rival func(*client.Queue, string)
	}{
		"acquired, started": {false, func(q *client.Queue) error { return errorOf(q.AcquireBatch(ctx, newqueue.BatchPending)) }, start},
		"repaired, started": {false, repair, start},
		"repaired, deleted": {true, repair, remove},
	} {
		for _, d := range newqueue.Dialects {
			t.Run(name+"/"+string(d), func(t *testing.T) {
				t.Parallel()
				for read, reads := int64(1), int64(1); read <= reads; read++ {
					w := newWorld(t, d)
					other := w.queue()
					bid := value(other.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
					w.put(newqueue.BatchStatesPath(bid), "")
					if c.held {
						holdBatch(t, other, bid)
						w.put(newqueue.BatchStatesPath(bid), "")
					}
					var n atomic.Int64
					meddler, q := w.hooked()
					meddler.read = func(string) error {
						if n.Add(1) == read {
							c.rival(other, bid)
						}
						return nil
					}
					if err := c.do(q); err != nil && (!errors.Is(err, client.ErrNoneAvailable) || errors.As(err, new(*client.StateError))) {
						t.Errorf("before read %d: %v", read, err)
					}
					reads = n.Load()
				}
			})
		}
	}
}

// TestTwoPasses: a cleaning pass that another one has overtaken looks at each batch, and not at all others for each of them.
func TestTwoPasses(t *testing.T) {
	const batches = 20
	eachDialect(t, func(t *testing.T, w *world) {
		other := w.queue()
		for i := range 2 * batches {
			bid, _ := batchOf(t, other, 0)
			if i < batches {
				must(t, other.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
				report(t, other, newqueue.BatchReporting)
			}
		}
		var n atomic.Int64
		c, q := w.hooked()
		c.read = func(string) error { n.Add(1); return nil }
		c.meddle(func() { value(other.CleanupBatches(ctx))(t) })
		if gone, err := q.CleanupBatches(ctx); len(gone) > 0 || err != nil {
			t.Errorf("%q, %v", gone, err)
		}
		if n.Load() > 20*batches {
			t.Errorf("%d reads for %d batches", n.Load(), 2*batches)
		}
	})
}
