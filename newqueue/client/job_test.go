package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// TestBrokenNodes: bad data causes a typed error that names the path. Nothing
// changes, and other jobs can still be acquired.
func TestBrokenNodes(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 2)
		job := "/jobs/" + ids[0]
		for _, c := range []struct{ node, data, want string }{
			{"/status", "{", job + "/status: not a JSON object: unexpected EOF"},
			{"/status", `{"retry_count":0}`, job + "/status: status is missing"},
			{"/status", `[1]`, job + "/status: not a JSON object: json: cannot unmarshal array into Go value of type newqueue.Object"},
			{"/priority", "100", job + "/priority: 100: a priority is a number from 0 to 99"},
			{"/priority", "five", job + `/priority: "five" is not a decimal number`},
			{"/space_needed", "-2", job + `/space_needed: "-2" is not a decimal number`},
			{"/configuration", "null", job + "/configuration: not a JSON object: it is null"},
			{"/bid", "", job + "/bid: it does not exist"},
		} {
			n := w.tree().Get(job + c.node)
			if c.node == "/bid" {
				w.delete(job + c.node)
			} else {
				w.put(job+c.node, c.data)
			}
			before := w.tree()
			_, err := q.Job(ctx, ids[0])
			var bad *client.NodeError
			if !errors.As(err, &bad) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
			if j.ID != ids[1] {
				t.Errorf("%s: acquired %s", c.node, j.ID)
			}
			if _, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, client.ErrNoneAvailable) || !errors.As(err, &bad) {
				t.Errorf("%s: %v", c.node, err)
			}
			must(t, j.Unlock(ctx))
			same(t, before, w.tree())
			w.put(job+c.node, string(n.Data))
		}
		// An unknown state is kept and reported, never changed.
		w.put(job+"/status", `{"status":"Paused","retry_count":2,"colour":"red"}`)
		j := value(q.Job(ctx, ids[0]))(t)
		if j.Status.State != "Paused" || j.Status.State.Known() || j.Status.Other["colour"] != "red" {
			t.Errorf("%+v", j.Status)
		}
		before := w.tree()
		err := q.MoveJob(ctx, ids[0], "", newqueue.JobPending)
		if want := "move to pending " + job + ": " + job + "/status: not a value that the layout allows: dialect " + string(w.d) + " has no state Paused"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		same(t, before, w.tree())
		// A queue entry of no job.
		w.put("/jobs/states/pending/oops", "")
		for j, err := range q.AcquireJobs(ctx, newqueue.JobPending) {
			if err != nil && !strings.Contains(err.Error(), "/jobs/states/pending/oops: \"oops\" is not a queue entry") || err == nil && j.ID == ids[0] {
				t.Errorf("%v, %v", j, err)
			}
		}
	})
}

// TestUnknownKeysAreKept: keys that the layout doesn't know survive a transition.
func TestUnknownKeysAreKept(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	q := w.queue(clock())
	_, ids := batchOf(t, q, 1)
	w.put("/jobs/"+ids[0]+"/status", `{"status":"Pending","last_successful_status":null,"last_modified":"2024-01-01 00:00:00 +0000","retry_count":0,"message":"","big":12345678901234567890}`)
	must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Succeed(ctx))
	want := `{"big":12345678901234567890,"last_modified":"2024-03-01 12:00:00 -0800","last_successful_status":"Pending","message":"","retry_count":0,"status":"Estimating"}`
	if got := string(w.tree().Get("/jobs/" + ids[0] + "/status").Data); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRefusedValues: a name that can't be a lock's, a priority of three digits, and a state or a queue in
// which no worker acquires anything.
func TestRefusedValues(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	_, ids := batchOf(t, q, 1)
	for _, l := range []newqueue.Lock{{}, newqueue.CollectionLock(""), newqueue.CollectionLock("a/b"), newqueue.QueueLock("egress"), newqueue.StorageLock("."), newqueue.InventoryLock("a\x00")} {
		if err := q.Lock(ctx, l); !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%q: %v", l, err)
		}
	}
	for _, p := range []int{-1, 100} {
		if err := q.SetPriority(ctx, ids[0], p); !errors.Is(err, newqueue.ErrPriority) {
			t.Errorf("priority %d: %v", p, err)
		}
	}
	// A worker would wait for it in vain.
	for what, err := range map[string]error{
		"no submission": errorOf(q.CreateBatch(ctx, newqueue.Submission{})),
		"a held job":    errorOf(q.AcquireJob(ctx, newqueue.JobHeld)),
		"a final state": errorOf(q.NextJob(ctx, newqueue.JobCompleted)),
		"no state":      errorOf(q.NextJob(ctx, "no-such-state")),
		"no queue":      errorOf(q.NextRequest(ctx, "medium", newqueue.AccessPending)),
	} {
		if !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestSizeThatEstimateDidNotFind: the deployed Estimate writes -1 then. The published design has no such number.
func TestSizeThatEstimateDidNotFind(t *testing.T) {
	for d, want := range map[newqueue.Dialect]int64{newqueue.MrtZK: -1, newqueue.Design: 0} {
		n, err := newqueue.ParseSpaceNeeded(d, []byte("-1"))
		if n != want || (err == nil) != (d == newqueue.MrtZK) {
			t.Errorf("%s: %d, %v", d, n, err)
		}
	}
}

// TestWorkersPart: what a worker changes of its job is written by Save or with the transition, and nothing else is. Each
// property is created, and then replaced.
func TestWorkersPart(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 1)
		for n, s := range []newqueue.JobState{newqueue.JobPending, newqueue.JobEstimating} {
			j := value(q.AcquireJob(ctx, s))(t)
			before := w.tree()
			must(t, j.Save(ctx))
			same(t, before, w.tree())
			j.Identifiers.LocalIDs = append(j.Identifiers.LocalIDs, fmt.Sprint(n))
			j.Priority = 2 + n
			must(t, j.Save(ctx))
			j.SpaceNeeded, j.Inventory.Mode = int64(n), fmt.Sprint(n)
			if w.d == newqueue.MrtZK {
				j.Store.Mode = fmt.Sprint(n)
			}
			must(t, j.Succeed(ctx))
			got := value(q.Job(ctx, ids[0]))(t)
			if got.Priority != 2+n || got.SpaceNeeded != int64(n) || len(got.Identifiers.LocalIDs) != n+1 || got.Inventory.Mode != fmt.Sprint(n) || (got.Store.Mode != "") != (w.d == newqueue.MrtZK) {
				t.Errorf("%s: %+v", s, got)
			}
		}
		j := value(q.AcquireJob(ctx, newqueue.JobProvisioning))(t)
		before := w.tree()
		for _, bad := range []struct{ change, undo func() }{
			{func() { j.SpaceNeeded = -1 }, func() { j.SpaceNeeded = 1 }},
			{func() { j.Priority = 100 }, func() { j.Priority = 3 }},
		} {
			bad.change()
			if err := j.Succeed(ctx); !errors.Is(err, newqueue.ErrValue) && !errors.Is(err, newqueue.ErrPriority) {
				t.Errorf("%+v: %v", j, err)
			}
			bad.undo()
		}
		same(t, before, w.tree())
		must(t, j.Succeed(ctx))
		w.check()
	})
}

// TestCleaningUpNamesUnknownStates: a cleaning pass can't decide on a state that the dialect
// does not have. It names the job, and leaves one that has just moved.
func TestCleaningUpNamesUnknownStates(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 1)
		status := "/jobs/" + ids[0] + "/status"
		cleans := map[newqueue.Dialect]newqueue.JobState{newqueue.Design: newqueue.JobCompleted, newqueue.MrtZK: newqueue.JobDeleted}[w.d]
		w.put(newqueue.JobEntryPath(cleans, client.DefaultPriority, ids[0]), "")
		w.put(status, `{"status":"Paused"}`)
		before := w.tree()
		cleaned, err := q.CleanupJobs(ctx)
		var bad *client.NodeError
		if len(cleaned) > 0 || !errors.As(err, &bad) || bad.Path != status || !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%v %v", cleaned, err)
		}
		same(t, before, w.tree())
		failed := map[newqueue.Dialect]string{newqueue.Design: "failed", newqueue.MrtZK: "Failed"}[w.d]
		w.put(status, `{"status":"`+failed+`"}`)
		if cleaned, err := q.CleanupJobs(ctx); len(cleaned) > 0 || err != nil {
			t.Errorf("a job that has just moved: %v %v", cleaned, err)
		}
	})
}

// TestNoPriority: a job that is created without a priority is not more urgent than others.
func TestNoPriority(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
		ids := value(value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Process(ctx, client.JobSpec{}, client.JobSpec{Priority: 1}))(t)
		if j := value(q.Job(ctx, ids[0]))(t); j.Priority != client.DefaultPriority {
			t.Errorf("priority %d", j.Priority)
		}
		if j := value(q.AcquireJob(ctx, newqueue.JobPending))(t); j.ID != ids[1] {
			t.Errorf("got %s first", j.ID)
		}
		must(t, q.SetPriority(ctx, ids[0], 0))
		w.check()
	})
}

func TestErrorMessages(t *testing.T) {
	for want, err := range map[string]error{
		"job /jobs/jid0000000001 can't move from pending to completed: from pending it can only move to failed, held": &client.StateError{states.Job, "/jobs/jid0000000001", states.Pending, states.Completed, []string{states.Failed, states.Held}, "", ""},
		"job /jobs/j can't move from failed to notify: only if a step of the job has succeeded":                       &client.StateError{states.Job, "/jobs/j", states.Failed, states.Notify, nil, states.OnceStepped, ""},
		"batch /batches/b can't move from deleted to held: deleted is final":                                          &client.StateError{states.Batch, "/batches/b", states.Deleted, states.Held, nil, "", ""},
		"/jobs/j/status: it does not exist":                                                                           &client.NodeError{"/jobs/j/status", client.ErrNotFound},
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}
