package client_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// large is a batch that is acquired, and jobs for it that don't fit into one transaction.
func large(t *testing.T, q *client.Queue) (*client.Batch, []client.JobSpec) {
	t.Helper()
	value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "large"}))(t)
	jobs := make([]client.JobSpec, 600)
	for i := range jobs {
		jobs[i].Configuration.PayloadURL = strings.Repeat("x", 3000)
	}
	return value(q.AcquireBatch(ctx, newqueue.BatchPending))(t), jobs
}

// TestLargeBatchBesideOthers: while a large batch is written, another client creates jobs. Each job of
// the large one is written once, and its order stays. It is deleted as a whole, although that doesn't fit into one
// transaction either.
func TestLargeBatchBesideOthers(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	bid, _ := batchOf(t, w.queue(), 1)
	c, q := w.hooked()
	b, jobs := large(t, q)
	for i := range jobs {
		jobs[i].Priority = 1 + i%99
	}
	other, others := w.queue(), 1
	c.multi = func(send send) ([]zk.MultiResponse, error) {
		results, err := send()
		if others < 3 {
			value(other.CreateJob(ctx, bid, client.JobSpec{}))(t)
			others++
		}
		return results, err
	}
	ids := value(b.Process(ctx, jobs...))(t)
	if others < 3 {
		t.Fatalf("the other client created %d jobs", others-1)
	}
	if got := w.jobsIn(b.ID, newqueue.FolderProcessing); !slices.Equal(got, ids) || len(got) != len(jobs) {
		t.Errorf("%d jobs", len(got))
	}
	for i, jid := range ids {
		if j := value(q.Job(ctx, jid))(t); j.Priority != jobs[i].Priority {
			t.Fatalf("job %d has the priority %d, want %d", i, j.Priority, jobs[i].Priority)
		}
	}
	if n := len(w.tree().Children("/jobs")); n != len(jobs)+others+1 {
		t.Errorf("%d nodes below /jobs, want %d jobs and states", n, len(jobs)+others)
	}
	w.check()
	w.put("/batches/"+b.ID+"/status", `{"status":"failed","last_modified":""}`)
	value(q.DeleteBatch(ctx, b.ID))(t)
	if n := len(w.tree().Children("/jobs")); n != others+1 {
		t.Errorf("%d nodes are left", n)
	}
	w.check()
}

// TestDeletedInPart: a batch that is deleted in several transactions moves on between them. Whoever deletes it learns that some of its jobs are
// gone, and so does a cleaning pass, which says nothing of a batch that it leaves as it was.
func TestDeletedInPart(t *testing.T) {
	for state, remove := range map[string]func(*client.Queue, string) error{
		"failed":    func(q *client.Queue, bid string) error { return errorOf(q.DeleteBatch(ctx, bid)) },
		"completed": func(q *client.Queue, _ string) error { return errorOf(q.CleanupBatches(ctx)) },
	} {
		w := newWorld(t, newqueue.Design)
		w.root += "/" + strings.Repeat("x", 2000) // in each operation
		c, q := w.hooked()
		must(t, q.Init(ctx))
		bid, ids := batchOf(t, q, 100)
		for _, jid := range ids {
			w.delete(newqueue.BatchEntryPath(bid, newqueue.FolderProcessing, jid))
			w.put(newqueue.BatchEntryPath(bid, newqueue.FolderCompleted, jid), "")
		}
		status := func(s string) { w.put("/batches/"+bid+"/status", `{"status":"`+s+`","last_modified":""}`) }
		status(state)
		c.next(func(s send) ([]zk.MultiResponse, error) { defer status("update-reporting"); return s() })
		err := remove(q, bid)
		left, _, readErr := w.raw.Children(w.root + newqueue.JobsPath)
		must(t, readErr)
		gone := 100 + 1 - len(left)
		if want := fmt.Sprintf("%d of its jobs are deleted", gone); gone == 0 || gone == 100 || err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(*client.StateError)) {
			t.Errorf("%s: %d jobs are gone: %v", state, gone, err)
		}
	}
}

// TestProcessedInPart: a worker loses its batch after some of the transactions that write the jobs' nodes. The error says how many are written.
func TestProcessedInPart(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		c, q := w.hooked()
		must(t, q.Init(ctx))
		b, jobs := large(t, q)
		c.next(func(s send) ([]zk.MultiResponse, error) {
			defer w.put(b.Path()+"/status", `{"status":"held","last_modified":""}`)
			return s()
		})
		_, err := b.Process(ctx, jobs...)
		written := len(w.tree().Children("/jobs")) - 1
		if want := fmt.Sprintf("process %s: the nodes of %d jobs are written already: ", b.Path(), written); written == 0 || !errors.Is(err, client.ErrConflict) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d are written: %v", written, err)
		}
	})
}

// TestTooLargeWritesNothing: nothing is written of a batch before it is known that all of it fits.
func TestTooLargeWritesNothing(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	b, jobs := large(t, q)
	for _, c := range []struct {
		name string
		jobs []client.JobSpec
		want string
	}{
		{"one job", append(slices.Clone(jobs), client.JobSpec{Configuration: newqueue.Configuration{PayloadURL: strings.Repeat("x", 1_000_000)}}),
			"process /batches/bid0000000000: too large for ZooKeeper: job 601 of 601 takes 1000"},
		{"all entries", make([]client.JobSpec, 12_000), "process /batches/bid0000000000: too large for ZooKeeper: the entries of 12000 jobs take "},
	} {
		_, err := b.Process(ctx, c.jobs...)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if names, _, err := w.raw.Children(w.root + "/jobs"); !errors.Is(err, zk.ErrNoNode) {
			t.Errorf("%s: %d nodes below /jobs, %v", c.name, len(names), err)
		}
	}
	value(b.Process(ctx, jobs...))(t)
	w.check()
}
