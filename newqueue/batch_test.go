package newqueue_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// finish moves the first pending job to completed.
func finish(t *testing.T, q *newqueue.Queue, ok bool) string {
	t.Helper()
	if ok {
		for s := newqueue.JobPending; s != newqueue.JobCompleted; s = newqueue.Success(s, q.Dialect()) {
			j := value(q.AcquireJob(ctx, s))(t)
			must(t, j.Succeed(ctx))
			if newqueue.Success(s, q.Dialect()) == newqueue.JobCompleted {
				return j.ID
			}
		}
	}
	j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
	must(t, j.Fail(ctx, "bad digest"))
	return j.ID
}

// failAtDownload lets the first pending job fail in downloading, where it can be
// resumed.
func failAtDownload(t *testing.T, q *newqueue.Queue) string {
	t.Helper()
	for _, s := range []newqueue.JobState{newqueue.JobPending, newqueue.JobEstimating, newqueue.JobProvisioning} {
		must(t, value(q.AcquireJob(ctx, s))(t).Succeed(ctx))
	}
	j := value(q.AcquireJob(ctx, newqueue.JobDownloading))(t)
	must(t, j.Fail(ctx, "404"))
	return j.ID
}

// report reports the batch that waits for a report, and returns the report.
func report(t *testing.T, q *newqueue.Queue, s newqueue.BatchState) newqueue.Report {
	t.Helper()
	b := value(q.AcquireBatch(ctx, s))(t)
	r := value(b.Report(ctx))(t)
	must(t, b.Finish(ctx, r))
	if b.Status.State != r.State || b.Locked() {
		t.Errorf("after the report: %v, locked %t", b.Status, b.Locked())
	}
	return r
}

func state(t *testing.T, q *newqueue.Queue, bid string) newqueue.BatchState {
	t.Helper()
	return value(q.Batch(ctx, bid))(t).Status.State
}

// TestBatchStories has the use cases of S11. A batch of three jobs succeeds; one
// fails; one fails, is retried and succeeds; one fails, is retried and fails
// again.
func TestBatchStories(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		succeeds, _ := batchOf(t, q, 3)
		for range 3 {
			if state(t, q, succeeds) != newqueue.BatchProcessing {
				t.Error("not processing")
			}
			finish(t, q, true)
		}
		must(t, q.ReportIfEmptied(ctx, succeeds))
		if r := report(t, q, newqueue.BatchReporting); len(r.Completed) != 3 || r.State != newqueue.BatchCompleted || !r.Changed() {
			t.Errorf("%+v", r)
		}
		w.check()

		fails, _ := batchOf(t, q, 3)
		bad := failAtDownload(t, q)
		good := []string{finish(t, q, true), finish(t, q, true)}
		must(t, q.ReportIfEmptied(ctx, fails))
		if r := report(t, q, newqueue.BatchReporting); !slices.Equal(r.NewlyFailed, []string{bad}) || !slices.Equal(r.NewlyCompleted, good) || r.State != newqueue.BatchFailed {
			t.Errorf("%+v", r)
		}
		// Nothing has changed, so nothing must be sent (S7).
		must(t, q.UpdateReportBatch(ctx, fails))
		if r := report(t, q, newqueue.BatchUpdateReporting); r.Changed() || !slices.Equal(r.Unresolved, []string{bad}) {
			t.Errorf("%+v", r)
		}
		// After one retry it fails again; after another it succeeds.
		if s := value(q.ResumeJob(ctx, bad))(t); s != newqueue.JobDownloading {
			t.Errorf("resumed at %s", s)
		}
		w.check()
		j := value(q.AcquireJob(ctx, newqueue.JobDownloading))(t)
		if j.Status.RetryCount != 1 {
			t.Errorf("retry_count %d", j.Status.RetryCount)
		}
		must(t, j.Fail(ctx, "404 again"))
		must(t, q.RetryJob(ctx, bad, newqueue.JobDownloading))
		must(t, q.UpdateReportBatch(ctx, fails))
		b := value(q.AcquireUpdateReportingBatch(ctx))(t)
		if _, err := b.Report(ctx); !errors.Is(err, newqueue.ErrStillProcessing) {
			t.Errorf("a report while its last job is at work: %v", err)
		}
		must(t, b.Unlock(ctx))
		for s := newqueue.JobDownloading; s != newqueue.JobCompleted; s = newqueue.Success(s, w.d) {
			must(t, value(q.AcquireJob(ctx, s))(t).Succeed(ctx))
		}
		if r := report(t, q, newqueue.BatchUpdateReporting); !slices.Equal(r.NewlyCompleted, []string{bad}) || r.State != newqueue.BatchCompleted {
			t.Errorf("%+v", r)
		}
		w.check()
		// Completed batches are removed completely.
		if gone := value(q.CleanupBatches(ctx))(t); !slices.Equal(gone, []string{succeeds, fails}) {
			t.Errorf("cleaned up %v", gone)
		}
		for _, p := range w.tree().Paths("/") {
			if strings.Contains(p, "bid0") || strings.Contains(p, "jid0") || strings.Contains(p, "uuid-") {
				t.Errorf("left behind: %s", p)
			}
		}
	})
}

func TestReportGoneStale(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, _ := batchOf(t, q, 1)
		jid := failAtDownload(t, q)
		must(t, q.ReportIfEmptied(ctx, bid))
		b := value(q.AcquireReportingBatch(ctx))(t)
		r := value(b.Report(ctx))(t)
		value(q.ResumeJob(ctx, jid))(t)
		before := w.tree()
		if err := b.Finish(ctx, r); !errors.Is(err, newqueue.ErrConflict) {
			t.Errorf("a report of a removed batch: %v", err)
		}
		same(t, before, w.tree())
	})
}

func same(t *testing.T, before, after *znode.Tree) {
	t.Helper()
	for _, c := range znode.Diff(before, after, "/") {
		t.Errorf("changed: %v", c)
	}
}

func TestHeldBatch(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "u"}))(t)
		must(t, value(q.AcquirePendingBatch(ctx))(t).Hold(ctx, "frozen"))
		if b := value(q.FindBatch(ctx, "u"))(t); b.ID != bid || b.Status.State != newqueue.BatchHeld || b.Status.Message != "frozen" {
			t.Errorf("%+v", b)
		}
		if _, err := q.AcquirePendingBatch(ctx); !errors.Is(err, newqueue.ErrNone) {
			t.Errorf("a held batch is acquired: %v", err)
		}
		must(t, q.ReleaseBatch(ctx, bid))
		w.check()
		b := value(q.AcquirePendingBatch(ctx))(t)
		if err := q.MoveBatch(ctx, bid, newqueue.BatchHeld); !errors.Is(err, newqueue.ErrNotLocked) {
			t.Errorf("a worker's step without a lock: %v", err)
		}
		must(t, b.Hold(ctx, ""))
		d := value(q.DeleteBatch(ctx, bid))(t)
		if want := "the depositor of batch " + bid + " will not be told of its deletion"; !slices.Equal(d.Warnings, []string{want}) {
			t.Errorf("warnings %q", d.Warnings)
		}
		if _, err := q.FindBatch(ctx, "u"); !errors.Is(err, newqueue.ErrNotFound) {
			t.Errorf("%v", err)
		}
		w.check()
	})
}

func TestIllegalBatchTransitions(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid := value(q.CreateBatch(ctx, newqueue.Submission{}))(t)
		for _, from := range states.States(newqueue.EntityBatch, string(w.d)) {
			o := newqueue.BatchStatus{State: newqueue.BatchState(from)}.Object(w.d)
			w.put("/batches/"+bid+"/status", string(value(o.Marshal())(t)))
			before := w.tree()
			for _, p := range states.Illegal(newqueue.EntityBatch, string(w.d)) {
				if p.From != from {
					continue
				}
				err := q.MoveBatch(ctx, bid, newqueue.BatchState(p.To))
				var s *newqueue.StateError
				if !errors.As(err, &s) || s.From != p.From || s.To != p.To {
					t.Errorf("%v: %v", p, err)
				}
			}
			same(t, before, w.tree())
		}
	})
}

// TestLargeBatch creates and deletes a batch that doesn't fit one transaction.
func TestLargeBatch(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	bid := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "large"}))(t)
	jobs := make([]newqueue.NewJob, 600)
	for i := range jobs {
		jobs[i].Configuration.PayloadURL = strings.Repeat("x", 3000)
	}
	ids := value(value(q.AcquirePendingBatch(ctx))(t).Process(ctx, jobs...))(t)
	if got := value(q.BatchJobs(ctx, bid))(t)[newqueue.FolderProcessing]; !slices.Equal(got, ids) || len(got) != 600 {
		t.Errorf("%d jobs", len(got))
	}
	w.check()
	w.put("/batches/"+bid+"/status", `{"status":"failed","last_modified":""}`)
	value(q.DeleteBatch(ctx, bid))(t)
	if n := len(w.tree().Children("/jobs")); n != 1 {
		t.Errorf("%d nodes are left", n)
	}
	w.check()
}

func TestTooLarge(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	_, err := q.CreateBatch(ctx, newqueue.Submission{ErcWhat: strings.Repeat("x", 1_000_000)})
	want := regexp.MustCompile(`^create a batch in /batches: too large for ZooKeeper: 3 operations take 10005\d\d bytes, 1000000 are allowed; the largest is /batches/bid0000000000/submission with 1000176 bytes$`)
	if !errors.Is(err, newqueue.ErrTooLarge) || !want.MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
	bid := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "a"}))(t)
	if _, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: "a"}); !errors.Is(err, newqueue.ErrExists) {
		t.Errorf("a second batch of one UUID: %v", err)
	}
	if got := w.tree().Children("/batches"); !slices.Equal(got, []string{bid}) {
		t.Errorf("batches %v", got)
	}
	if _, err := q.CreateJob(ctx, bid, newqueue.NewJob{}); !errors.Is(err, newqueue.ErrNotProcessing) {
		t.Errorf("a job in a pending batch: %v", err)
	}
	b := value(q.AcquirePendingBatch(ctx))(t)
	before := w.tree()
	for _, bad := range []newqueue.NewJob{
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
	jid := value(q.CreateJob(ctx, bid, newqueue.NewJob{Priority: 3}))(t)
	if j := value(q.Job(ctx, jid))(t); j.BatchID != bid || j.Priority != 3 || j.Configuration.BatchID != bid {
		t.Errorf("%+v", j)
	}
	w.check()
}

// TestWatcherFiresOnce: many watchers wait while many jobs finish at the same
// moment. Exactly one watcher moves the batch (S10).
func TestWatcherFiresOnce(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, ids := batchOf(t, q, 8)
		for range ids {
			for s := newqueue.JobPending; s != newqueue.JobNotify; s = newqueue.Success(s, w.d) {
				must(t, value(q.AcquireJob(ctx, s))(t).Succeed(ctx))
			}
		}
		const watchers = 4
		fired := make(chan bool, watchers)
		for range watchers {
			other := w.queue()
			go func() {
				ok, err := other.ReportWhenEmptied(ctx, bid)
				if err != nil {
					t.Error(err)
				}
				fired <- ok
			}()
		}
		done := make(chan error, len(ids))
		for range ids {
			j := value(q.AcquireJob(ctx, newqueue.JobNotify))(t)
			go func() { done <- j.Succeed(ctx) }()
		}
		for range ids {
			must(t, <-done)
		}
		n := 0
		for range watchers {
			if <-fired {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d watchers fired", n)
		}
		if s := state(t, q, bid); s != newqueue.BatchReporting {
			t.Errorf("the batch is %s", s)
		}
		// A watcher that starts too late reports that. One that starts in time
		// notices that the batch was emptied before.
		if ok := value(q.ReportWhenEmptied(ctx, bid))(t); ok {
			t.Error("fired twice")
		}
		empty, _ := batchOf(t, q, 0)
		if ok := value(q.ReportWhenEmptied(ctx, empty))(t); !ok {
			t.Error("the watcher did not notice an empty batch")
		}
		w.check()
	})
}

func TestWatchBatches(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q, watcher := w.queue(), w.queue()
	told := make(chan string)
	stop := newStop()
	ended := make(chan error, 1)
	go func() { ended <- watcher.WatchBatches(stop.ctx, func(bid string) { told <- bid }) }()
	for range 3 {
		bid, _ := batchOf(t, q, 1)
		finish(t, q, true)
		if got := <-told; got != bid {
			t.Errorf("the callback got %s, want %s", got, bid)
		}
	}
	stop.cancel()
	if err := <-ended; !errors.Is(err, stop.ctx.Err()) {
		t.Errorf("ended with %v", err)
	}
}

func TestAccess(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue(clock())
		qid := value(q.CreateAccess(ctx, newqueue.AccessSmall, newqueue.Token{Token: "t", DeliveryNode: 7, CloudContentBytes: 1 << 40}))(t)
		if got := string(w.tree().Get("/access/small/" + qid + "/token").Data); got != `{"anticipated-availability-time":"","cloud-content-byte":1099511627776,"delivery-node":7,"status":"","token":"t","url":""}` {
			t.Error(got)
		}
		if _, err := q.AcquireAccess(ctx, newqueue.AccessLarge, newqueue.AccessPending); !errors.Is(err, newqueue.ErrNone) {
			t.Errorf("%v", err)
		}
		acquire := func(s newqueue.AccessState) *newqueue.Access {
			t.Helper()
			return value(q.AcquireAccess(ctx, newqueue.AccessSmall, s))(t)
		}
		must(t, acquire(newqueue.AccessPending).Succeed(ctx))            // A2
		must(t, acquire(newqueue.AccessProcessing).Fail(ctx, "no room")) // A4
		must(t, q.RetryAccess(ctx, newqueue.AccessSmall, qid))           // A5
		if err := q.RetryAccess(ctx, newqueue.AccessSmall, qid); !errors.As(err, new(*newqueue.StateError)) {
			t.Errorf("%v", err)
		}
		a := acquire(newqueue.AccessProcessing)
		if err := q.DeleteAccess(ctx, newqueue.AccessSmall, qid); err == nil {
			t.Error("deleted while a worker held it")
		}
		must(t, a.Succeed(ctx)) // A3
		w.check()
		if gone := value(q.CleanupAccess(ctx, newqueue.AccessSmall))(t); !slices.Equal(gone, []string{qid}) { // A7
			t.Errorf("cleaned up %v", gone)
		}
		bad := value(q.CreateAccess(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
		must(t, acquire(newqueue.AccessPending).Succeed(ctx))
		must(t, acquire(newqueue.AccessProcessing).Fail(ctx, ""))
		must(t, q.DeleteAccess(ctx, newqueue.AccessSmall, bad)) // A6
		if got := w.tree().Children("/access/small"); len(got) != 0 {
			t.Errorf("left %v", got)
		}
		for _, p := range states.Illegal(newqueue.EntityAccess, string(w.d)) {
			id := fmt.Sprintf("qid%010d", 900)
			w.put("/access/large/"+id+"/token", "{}")
			w.put("/access/large/"+id+"/status", string(value(newqueue.AccessStatus{State: newqueue.AccessState(p.From)}.Object(w.d).Marshal())(t)))
			if err := q.MoveAccess(ctx, newqueue.AccessLarge, id, newqueue.AccessState(p.To)); !errors.As(err, new(*newqueue.StateError)) {
				t.Errorf("%v: %v", p, err)
			}
		}
	})
}

// TestWatchOutlivesItsSession: a watcher still notices an emptied batch if its
// session ended meanwhile.
func TestWatchOutlivesItsSession(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, _ := batchOf(t, q, 1)
		watcher, session := w.open()
		fired := make(chan bool)
		go func() {
			ok, err := watcher.ReportWhenEmptied(ctx, bid)
			if err != nil {
				t.Error(err)
			}
			fired <- ok
		}()
		must(t, session.expire())
		finish(t, q, true)
		if !<-fired {
			t.Error("not fired")
		}
	})
}

func TestFailBatch(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, ids := batchOf(t, q, 1)
		before := w.tree()
		err := q.FailBatch(ctx, bid, "no such collection")
		if w.d == newqueue.Design {
			if !errors.As(err, new(*newqueue.StateError)) {
				t.Errorf("%v", err)
			}
			same(t, before, w.tree())
			return
		}
		must(t, err)
		if b := value(q.Batch(ctx, bid))(t); b.Status.State != newqueue.BatchFailed || b.Status.Message != "no such collection" {
			t.Errorf("%+v", b.Status)
		}
		// Its job is still being worked on, so the batch can't be deleted.
		j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
		before = w.tree()
		want := "delete /batches/" + bid + ": /jobs/" + ids[0] + ": the lock is already held"
		if _, err := q.DeleteBatch(ctx, bid); !errors.Is(err, newqueue.ErrLocked) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		same(t, before, w.tree())
		must(t, j.Unlock(ctx))
		value(q.DeleteBatch(ctx, bid))(t)
		w.check()
	})
}
