package client_test

import (
	"errors"
	"testing"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// The admin tool deletes a batch's lock, or is half way through deleting the batch, and the request of Process is lost: that the lock is gone
// does not prove that the jobs were made.
func TestProcessWhoseLockIsDeleted(t *testing.T) {
	for _, what := range []string{"lock", "batch"} {
		w := newWorld(t, newqueue.MrtZK)
		c, q := w.hooked()
		bid := value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
		b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
		c.lose(true, func() {
			w.delete(newqueue.BatchPath(bid) + "/lock")
			if what == "batch" {
				w.delete(newqueue.BatchPath(bid) + "/states")
			}
		})
		if ids, err := b.Process(ctx, client.JobSpec{}, client.JobSpec{}); !errors.Is(err, client.ErrUnknownOutcome) || len(left(w.tree(), "/jobs/jid")) > 0 {
			t.Errorf("%s: %v, %v", what, ids, err)
		}
	}
}

// The admin tool fails a job in the same second, with the bytes that the worker would have written, and removes its lock: the worker does not
// take that for its own write, because the two were not one transaction.
func TestSameBytesOfAnother(t *testing.T) {
	w := newLossy(t, newqueue.MrtZK)
	w.jid = "" // a job of the same second
	noon := clock()
	c, q := w.hooked(noon)
	other := w.queue(noon)
	must(t, value(w.other.AcquireJob(ctx, newqueue.JobPending))(t).Hold(ctx, ""))
	value(other.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	jid := value(value(other.AcquireBatch(ctx, newqueue.BatchPending))(t).Process(ctx, client.JobSpec{}))(t)[0]
	j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
	j.Identifiers.PrimaryID = "ark:/minted"
	c.lose(true, func() {
		w.status(jid, newqueue.JobPending, newqueue.JobFailed)
		w.delete(j.Path() + "/lock")
	})
	if err := j.MoveTo(ctx, states.Failed, ""); !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("%v; identifiers %+v", err, value(other.Job(ctx, jid))(t).Identifiers)
	}
}
