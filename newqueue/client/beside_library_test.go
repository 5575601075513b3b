package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// In these tests, newqueue works beside the deployed client library.

// TestResumedAnyNumberOfTimes: a job fails and is resumed three times in the
// same step. This works in every step, no matter which side fails it and which
// resumes it.
func TestResumedAnyNumberOfTimes(t *testing.T) {
	for _, c := range []struct{ fails, resumes string }{
		{"we", "we"}, {"Java", "we"}, {"we", "Java"}, {"we", "Ruby"}, {"Java", "Ruby"},
	} {
		before := "null"
		for state := newqueue.JobPending; state != newqueue.JobCompleted; state = newqueue.Success(state, newqueue.MrtZK) {
			name, want := strings.ToUpper(string(state[:1]))+string(state[1:]), before // the library's words
			before = name
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
						Last json.RawMessage `json:"last_successful_status"`
					}
					must(t, json.Unmarshal(w.tree().Get(job+"/status").Data, &status))
					if last := string(status.Last); last != want && last != strconv.Quote(want) {
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
	c, q := w.hooked()
	c.meddle(func() { must(t, l.setStatus("/jobs/"+ids[0], "Downloading", true)) })
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
