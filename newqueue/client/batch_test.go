package client_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// holdBatch holds the pending batch. In dialect mrt-zk only an administrator can.
func holdBatch(t *testing.T, q *client.Queue, bid string) {
	t.Helper()
	if q.Dialect() == newqueue.Design {
		must(t, value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Hold(ctx, "collection hold"))
		return
	}
	must(t, q.MoveBatch(ctx, bid, newqueue.BatchPending, newqueue.BatchHeld))
}

func report(t *testing.T, q *client.Queue, s newqueue.BatchState) client.Report {
	t.Helper()
	b := value(q.AcquireBatch(ctx, s))(t)
	r := value(b.Report(ctx))(t)
	must(t, b.Finish(ctx, r))
	if b.Status.State != r.State || b.Locked() {
		t.Errorf("after the report: %v, locked %t", b.Status, b.Locked())
	}
	return r
}

func guard(err error) states.Guard {
	var refused *client.StateError
	if !errors.As(err, &refused) {
		return "no *StateError"
	}
	return refused.Guard
}

func same(t *testing.T, before, after *znode.Tree) {
	t.Helper()
	for _, c := range znode.Diff(before, after, "/") {
		t.Errorf("changed: %v", c)
	}
}

func TestTooLarge(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	_, err := q.CreateBatch(ctx, newqueue.Submission{ErcWhat: strings.Repeat("x", 1_000_000)})
	want := regexp.MustCompile(`^create a batch in /batches: too large for ZooKeeper: 3 operations take 10005\d\d bytes, 1000000 are allowed; the largest is /batches/bid0000000000/submission with 1000176 bytes$`)
	if err == nil || !want.MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
	bid := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "a"}))(t)
	if _, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: "a"}); !errors.Is(err, client.ErrExists) {
		t.Errorf("a second batch of one UUID: %v", err)
	}
	if got := w.tree().Children("/batches"); !slices.Equal(got, []string{bid}) {
		t.Errorf("batches %v", got)
	}
	if _, err := q.CreateJob(ctx, bid, client.JobSpec{}); guard(err) != states.InProcessing {
		t.Errorf("a job in a pending batch: %v", err)
	}
	b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
	before := w.tree()
	for _, bad := range []client.JobSpec{
		{Priority: 100}, {Priority: -1}, {SpaceNeeded: -1},
		{Configuration: newqueue.Configuration{PayloadType: "tape"}},
		{Configuration: newqueue.Configuration{ResponseType: "fax"}},
		{Configuration: newqueue.Configuration{SubmissionMode: "replace"}},
	} {
		if _, err := b.Process(ctx, bad); !errors.Is(err, newqueue.ErrPriority) && !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	same(t, before, w.tree())
	value(b.Process(ctx))(t)
	jid := value(q.CreateJob(ctx, bid, client.JobSpec{Priority: 3}))(t)
	if j := value(q.Job(ctx, jid))(t); j.BatchID != bid || j.Priority != 3 || j.Configuration.BatchID != bid {
		t.Errorf("%+v", j)
	}
	w.check()
}

// TestStepOfAReportThatDoesNotFit: nobody else does anything, so the jobs say for ever that their batch is completed, or failed, or neither.
func TestStepOfAReportThatDoesNotFit(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		try := func(b *client.Batch, to string, want states.Guard) {
			t.Helper()
			err := b.MoveTo(ctx, to, "why")
			if refused := (*client.StateError)(nil); !errors.As(err, &refused) || refused.To != to || refused.Guard != want || errors.Is(err, client.ErrConflict) {
				t.Errorf("to %s: %v", to, err)
			}
		}
		reporting := func(s newqueue.JobState) (*client.Batch, string) {
			t.Helper()
			bid, ids := batchOf(t, q, 1)
			drive(t, q, ids[0], s)
			must(t, q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
			return value(q.AcquireBatch(ctx, newqueue.BatchReporting))(t), ids[0]
		}
		completed, _ := reporting(newqueue.JobCompleted)
		try(completed, states.Failed, states.SomeFailed)
		must(t, completed.Succeed(ctx))
		failed, jid := reporting(newqueue.JobFailed)
		try(failed, states.Completed, states.NoneFailed)
		value(q.ResumeJob(ctx, jid))(t)
		try(failed, states.Completed, states.OnceFinished)
		try(failed, states.Failed, states.SomeFailed)
		w.check()
	})
}
