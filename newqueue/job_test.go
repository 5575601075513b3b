package newqueue_test

import (
	"errors"
	"strings"
	"testing"

	"mrtq/newqueue"
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
			{"/space_needed", "-1", job + `/space_needed: "-1" is not a decimal number`},
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
			var bad *newqueue.NodeError
			if !errors.As(err, &bad) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
			if j.ID != ids[1] {
				t.Errorf("%s: acquired %s", c.node, j.ID)
			}
			if _, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, newqueue.ErrNone) || !errors.As(err, &bad) {
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
		err := q.MoveJob(ctx, ids[0], newqueue.JobPending)
		if want := "move to pending " + job + ": " + job + "/status: not a value that the layout allows: dialect " + string(w.d) + " has no state Paused"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		same(t, before, w.tree())
		// A queue entry of no job.
		w.put("/jobs/states/pending/oops", "")
		if _, err := q.Jobs(ctx, newqueue.JobPending); err == nil || !strings.Contains(err.Error(), "/jobs/states/pending/oops: \"oops\" is not a queue entry") {
			t.Errorf("%v", err)
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

// TestRefusedValues: a name that can't be a lock's, a priority of three digits, and a state in
// which no worker acquires a job.
func TestRefusedValues(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	_, ids := batchOf(t, q, 1)
	for _, l := range []newqueue.Lock{newqueue.CollectionLock(""), newqueue.CollectionLock("a/b"), newqueue.QueueLock("egress"), newqueue.StorageLock("."), newqueue.InventoryLock("a\x00")} {
		if err := q.Lock(ctx, l); !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%q: %v", l, err)
		}
	}
	for _, p := range []int{-1, 100} {
		if err := q.SetPriority(ctx, ids[0], p); !errors.Is(err, newqueue.ErrPriority) {
			t.Errorf("priority %d: %v", p, err)
		}
	}
	if _, err := q.AcquireJob(ctx, newqueue.JobHeld); !errors.Is(err, newqueue.ErrValue) {
		t.Errorf("a worker acquired a held job: %v", err)
	}
}
