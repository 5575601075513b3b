package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// In these tests, newqueue works beside the deployed client library.

// TestResumedAnyNumberOfTimes: a job fails and is resumed three times in the
// same step. This works in every step, no matter which side fails it and which
// resumes it.
func TestResumedAnyNumberOfTimes(t *testing.T) {
	states := map[newqueue.JobState]string{
		newqueue.JobPending: "Pending", newqueue.JobEstimating: "Estimating", newqueue.JobProvisioning: "Provisioning",
		newqueue.JobDownloading: "Downloading", newqueue.JobProcessing: "Processing", newqueue.JobStoring: "Storing",
		newqueue.JobRecording: "Recording", newqueue.JobNotify: "Notify",
	}
	for _, c := range []struct{ fails, resumes string }{
		{"we", "we"}, {"Java", "we"}, {"we", "Java"}, {"we", "Ruby"}, {"Java", "Ruby"},
	} {
		for state, name := range states {
			t.Run(fmt.Sprintf("%s fails, %s resumes, %s", c.fails, c.resumes, state), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, newqueue.MrtZK)
				q, l := w.queue(), library{w}
				_, ids := batchOf(t, q, 1)
				job := "/jobs/" + ids[0]
				drive(t, q, ids[0], state)
				for round := 1; round <= 3; round++ {
					if c.fails == "we" {
						must(t, value(q.AcquireJob(ctx, state))(t).Fail(ctx, "no luck"))
					} else {
						must(t, l.setStatus(job, "Failed", false))
					}
					// CDL's admin tool requeues by the last step that
					// succeeded. With any other value it does nothing.
					var status struct {
						Last *string `json:"last_successful_status"`
					}
					must(t, json.Unmarshal(w.tree().Get(job+"/status").Data, &status))
					if last, want := fmt.Sprint(deref(status.Last)), stepBefore(states, state); last != want {
						t.Errorf("failed for the %d. time, its last_successful_status is %s, want %s", round, last, want)
					}
					if c.resumes == "we" {
						if at := value(q.ResumeJob(ctx, ids[0]))(t); at != state {
							t.Fatalf("resumed at %s", at)
						}
					} else {
						must(t, l.setStatus(job, name, c.resumes == "Ruby"))
					}
					w.check()
				}
			})
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// stepBefore is the library's name of the step before a state.
func stepBefore(states map[newqueue.JobState]string, s newqueue.JobState) string {
	for before, name := range states {
		if newqueue.Success(before, newqueue.MrtZK) == s {
			return name
		}
	}
	return "null"
}

// TestRetriedElsewhere: an administrator retries a job at an earlier step than
// the one that failed. If it fails there, it is resumed there.
func TestRetriedElsewhere(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	q := w.queue()
	_, ids := batchOf(t, q, 1)
	drive(t, q, ids[0], newqueue.JobNotify)
	must(t, value(q.AcquireJob(ctx, newqueue.JobNotify))(t).Fail(ctx, "503"))
	must(t, q.MoveJob(ctx, ids[0], newqueue.JobFailed, newqueue.JobDownloading))
	must(t, library{w}.setStatus("/jobs/"+ids[0], "Failed", false))
	if at := value(q.ResumeJob(ctx, ids[0]))(t); at != newqueue.JobDownloading {
		t.Errorf("resumed at %s: the steps between were not done again", at)
	}
	// A job that was held and then fails at once starts again from the
	// beginning: the library writes Held, which no reader of
	// last_successful_status knows.
	w = newWorld(t, newqueue.MrtZK)
	q = w.queue()
	_, ids = batchOf(t, q, 1)
	must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Hold(ctx))
	must(t, q.MoveJob(ctx, ids[0], newqueue.JobHeld, newqueue.JobPending))
	must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Fail(ctx, "bad digest"))
	if last := value(q.Job(ctx, ids[0]))(t).Status.LastSuccessful; last != "" {
		t.Errorf("its last_successful_status is %s", last)
	}
}

// TestLibraryMarkedDeleted: the cleaning pass completely removes what the admin
// tool only marked as deleted.
func TestLibraryMarkedDeleted(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	q, l := w.queue(), library{w}
	bid, ids := batchOf(t, q, 2)
	uuid := value(q.Batch(ctx, bid))(t).Submission.BatchID
	drive(t, q, ids[0], newqueue.JobFailed)
	must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Fail(ctx, "bad digest"))
	must(t, q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
	report(t, q, newqueue.BatchReporting)
	must(t, l.setStatus("/batches/"+bid, "Deleted", false))
	w.check()

	// While one of its jobs is unfinished again, it stays, as with the library.
	must(t, l.setStatus("/jobs/"+ids[1], "Estimating", true))
	if gone := value(q.CleanupBatches(ctx))(t); len(gone) > 0 {
		t.Errorf("cleaned up %v under a job that is at work", gone)
	}
	if err := q.MoveBatch(ctx, bid, "", states.Removed); !errors.Is(err, client.ErrStillProcessing) {
		t.Errorf("%v", err)
	}
	must(t, l.setStatus("/jobs/"+ids[1], "Failed", true))
	if gone := value(q.CleanupBatches(ctx))(t); !slices.Equal(gone, []string{bid}) {
		t.Errorf("cleaned up %v", gone)
	}
	for _, part := range []string{bid, uuid, ids[0], ids[1]} {
		if nodes := left(w.tree(), part); len(nodes) > 0 {
			t.Errorf("left: %v", nodes)
		}
	}

	for _, queue := range newqueue.AccessQueues {
		qid := value(q.CreateRequest(ctx, queue, newqueue.Token{Token: "t"}))(t)
		must(t, value(q.AcquireRequest(ctx, queue, newqueue.AccessPending))(t).Succeed(ctx))
		must(t, value(q.AcquireRequest(ctx, queue, newqueue.AccessProcessing))(t).Fail(ctx, "no room"))
		must(t, l.setStatus(newqueue.AccessRequestPath(queue, qid), "Deleted", false))
		if gone := value(q.CleanupRequests(ctx, queue))(t); !slices.Equal(gone, []string{qid}) {
			t.Errorf("cleaned up %v", gone)
		}
		if nodes := w.tree().Children(newqueue.AccessQueuePath(queue)); len(nodes) > 0 {
			t.Errorf("left: %v", nodes)
		}
	}
	w.check()
}

// TestResumedWhileItsBatchIsCleaned: a job of a deleted batch is requeued between
// the pass's read and its write. The batch stays.
func TestResumedWhileItsBatchIsCleaned(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	l, other := library{w}, w.queue()
	bid, ids := batchOf(t, other, 1)
	drive(t, other, ids[0], newqueue.JobFailed)
	must(t, other.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
	report(t, other, newqueue.BatchReporting)
	must(t, l.setStatus("/batches/"+bid, "Deleted", false))
	c, q := w.meddled()
	c.meddle = func() { must(t, l.setStatus("/jobs/"+ids[0], "Downloading", true)) }
	if gone, err := q.CleanupBatches(ctx); len(gone) > 0 || err != nil {
		t.Errorf("cleaned up %v: %v", gone, err)
	}
	if j := value(other.AcquireJob(ctx, newqueue.JobDownloading))(t); j.ID != ids[0] {
		t.Errorf("acquired %s", j.ID)
	}
	w.check()
}

// TestBatchIDIsTheName: each side finds and cleans up what the other created,
// by the unchanged batchID.
func TestBatchIDIsTheName(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	q, l := w.queue(), library{w}
	must(t, q.Init(ctx))
	for i, id := range []string{"bid-7f7dd8b6", "a batch of May", "Überführung 漢字", "100%", "a%2Fb", "%41", "...", "bid:1;x&y"} {
		ours := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: id}))(t)
		if got := l.findByUUID(id); got != ours {
			t.Errorf("the library finds %q under %q, want %s", got, id, ours)
		}
		must(t, value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Hold(ctx, ""))
		value(q.DeleteBatch(ctx, ours))(t)
		if names := w.tree().Children("/batch-uuids"); len(names) > 0 {
			t.Errorf("left: %q", names)
		}

		theirs := newqueue.SequenceID(newqueue.BatchPrefix, int32(100+i))
		must(t, l.createBatch(theirs, id))
		w.check()
		if _, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: id}); !errors.Is(err, client.ErrExists) {
			t.Errorf("%q a second time: %v", id, err)
		}
		must(t, value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Hold(ctx, ""))
		value(q.DeleteBatch(ctx, theirs))(t)
		if names := w.tree().Children("/batch-uuids"); len(names) > 0 {
			t.Errorf("left: %q", names)
		}
	}
}

// TestBatchIDThatCantBeAName: the library can't have such a batch. newqueue
// stores it under another name.
func TestBatchIDThatCantBeAName(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		for _, id := range []string{"a/b", ".", "..", "bell \a", "a/", "clef \U0001d11e"} {
			if err := newqueue.CheckBatchID(id); !errors.Is(err, newqueue.ErrValue) {
				t.Errorf("%q: %v", id, err)
			}
			bid := value(q.CreateBatch(ctx, newqueue.Submission{BatchID: id}))(t)
			must(t, value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Hold(ctx, ""))
			w.check()
			if n := w.tree().Get(newqueue.BatchUUIDPath(id)); n == nil || string(n.Data) != bid {
				t.Errorf("%q is not in batch-uuids", id)
			}
			value(q.DeleteBatch(ctx, bid))(t)
		}
	})
}

// meddled is a connection on which another client writes once, between a
// decision's last read and its write.
type meddled struct {
	client.Conn
	meddle func()
}

// meddled returns such a connection, and a queue on it.
func (w *world) meddled() (*meddled, *client.Queue) {
	conn, _ := connect(w.t, address(w.t))
	c := &meddled{Conn: conn}
	return c, client.Open(c, w.d, client.WithRoot(w.root))
}

func (c *meddled) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if f := c.meddle; f != nil {
		c.meddle = nil
		f()
	}
	return c.Conn.Multi(ops...)
}
