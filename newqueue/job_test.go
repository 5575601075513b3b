package newqueue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// TestOrder: the lowest priority number comes first, then the oldest job. A
// changed priority changes the order (S2). What is locked is skipped.
func TestOrder(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 4)
		must(t, q.SetPriority(ctx, ids[2], 3))
		must(t, q.SetPriority(ctx, ids[1], 99))
		var order []string
		for range ids {
			order = append(order, value(q.AcquireJob(ctx, newqueue.JobPending))(t).ID)
		}
		if want := []string{ids[2], ids[0], ids[3], ids[1]}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
		if _, err := q.AcquireJob(ctx, newqueue.JobPending); err != newqueue.ErrNone {
			t.Errorf("all are locked: %v", err)
		}
		if _, err := q.AcquireJob(ctx, newqueue.JobRecording); err != newqueue.ErrNone {
			t.Errorf("no folder: %v", err)
		}
		if _, err := q.AcquireJob(ctx, newqueue.JobHeld); !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("a worker acquired a held job: %v", err)
		}
		for _, p := range []int{-1, 100} {
			if err := q.SetPriority(ctx, ids[0], p); !errors.Is(err, newqueue.ErrPriority) {
				t.Errorf("priority %d: %v", p, err)
			}
		}
		jobs := value(q.Jobs(ctx, newqueue.JobPending))(t)
		if len(jobs) != 4 || jobs[0].ID != ids[2] || jobs[0].Priority != 3 {
			t.Errorf("%+v", jobs)
		}
		w.check()
	})
}

// TestProvisioning: jobs that don't fit stay. Each pass looks at all jobs, so a
// smaller one behind them moves (S4).
func TestProvisioning(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 3)
		for i := range ids {
			must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Succeed(ctx))
			j := value(q.AcquireJob(ctx, newqueue.JobEstimating))(t)
			must(t, j.Succeed(ctx, newqueue.WithSpaceNeeded(int64(100-i*50))))
		}
		var seen []string
		for j, err := range q.AcquireJobs(ctx, newqueue.JobProvisioning) {
			must(t, err)
			seen = append(seen, j.ID)
			if j.SpaceNeeded <= 10 {
				must(t, j.Succeed(ctx))
			}
		}
		if !slices.Equal(seen, ids) {
			t.Errorf("looked at %v, want %v", seen, ids)
		}
		if j := value(q.AcquireJob(ctx, newqueue.JobDownloading))(t); j.ID != ids[2] {
			t.Errorf("%s went on", j.ID)
		}
		left := value(q.Jobs(ctx, newqueue.JobProvisioning))(t)
		if len(left) != 2 || slices.Contains(w.tree().Paths("/jobs"), left[0].Path()+"/lock") {
			t.Errorf("left %v", left)
		}
		w.check()
	})
}

// TestIdentifiersAreKept: a job that is restarted after its identifier was minted
// keeps the identifier (S6), and its static nodes never change (S9).
func TestIdentifiersAreKept(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q, s := w.open()
		bid, ids := batchOf(t, q, 1)
		drive(t, q, ids[0], newqueue.JobProcessing)
		j := value(q.AcquireJob(ctx, newqueue.JobProcessing))(t)
		must(t, j.SetIdentifiers(ctx, newqueue.Identifiers{PrimaryID: "ark:/99999/fk4", LocalIDs: []string{"a"}}))
		must(t, s.expire())
		q = w.queue()
		j = value(q.AcquireJob(ctx, newqueue.JobProcessing))(t)
		if j.Identifiers.PrimaryID != "ark:/99999/fk4" {
			t.Errorf("%+v", j.Identifiers)
		}
		opts := []newqueue.JobOption{newqueue.WithInventory(newqueue.Inventory{ManifestURL: "http://m", Mode: "add"})}
		if w.d == newqueue.MrtZK {
			opts = append(opts, newqueue.WithStore(newqueue.Store{ManifestURL: "http://s", Mode: "add", Delete: "no"}))
		} else if err := j.Succeed(ctx, newqueue.WithStore(newqueue.Store{})); !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("store in dialect design: %v", err)
		}
		must(t, j.Succeed(ctx, opts...))
		for s := j.Status.State; s != newqueue.JobCompleted; s = newqueue.Success(s, w.d) {
			must(t, value(q.AcquireJob(ctx, s))(t).Succeed(ctx))
		}
		j = value(q.Job(ctx, ids[0]))(t)
		if j.Inventory.ManifestURL != "http://m" || (w.d == newqueue.MrtZK) != (j.Store.Delete == "no") {
			t.Errorf("%+v %+v", j.Inventory, j.Store)
		}
		tree := w.tree()
		for _, p := range []string{"/jobs/" + ids[0] + "/configuration", "/jobs/" + ids[0] + "/bid", "/batches/" + bid + "/submission"} {
			if v := tree.Get(p).Stat.Version; v != 0 {
				t.Errorf("%s has version %d", p, v)
			}
		}
		w.check()
	})
}

// TestDeletionWarns: the answer warns if the depositor will not be told (S12).
func TestDeletionWarns(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, ids := batchOf(t, q, 1)
		drive(t, q, ids[0], newqueue.JobFailed)
		d := value(q.DeleteJob(ctx, ids[0]))(t)
		if want := fmt.Sprintf("the depositor of batch %s will not be told of job %s", bid, ids[0]); !slices.Equal(d.Warnings, []string{want}) {
			t.Errorf("%q", d.Warnings)
		}
		_, err := q.DeleteJob(ctx, ids[0])
		if w.d == newqueue.Design && !errors.Is(err, newqueue.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if w.d == newqueue.MrtZK && !errors.As(err, new(*newqueue.StateError)) {
			t.Errorf("%v", err)
		}
		w.check()
	})
}

func TestResume(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	batchOf(t, q, 1)
	j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
	if _, err := q.ResumeJob(ctx, j.ID); !errors.As(err, new(*newqueue.StateError)) {
		t.Errorf("%v", err)
	}
	must(t, j.Fail(ctx, "bad digest"))
	before := w.tree()
	if _, err := q.ResumeJob(ctx, j.ID); !errors.Is(err, newqueue.ErrNotResumable) {
		t.Errorf("%v", err)
	}
	if err := q.RetryJob(ctx, j.ID, newqueue.JobDownloading); !errors.Is(err, newqueue.ErrNotResumable) {
		t.Errorf("%v", err)
	}
	same(t, before, w.tree())

	w = newWorld(t, newqueue.MrtZK)
	q = w.queue()
	batchOf(t, q, 1)
	j = value(q.AcquireJob(ctx, newqueue.JobPending))(t)
	must(t, j.Fail(ctx, ""))
	jid := j.ID
	if s := value(q.ResumeJob(ctx, jid))(t); s != newqueue.JobPending {
		t.Errorf("resumed at %s", s)
	}
	// The Java library has resumed it and failed it again. Only an
	// administrator can know where to resume it.
	must(t, library{w}.setStatus("/jobs/"+jid, "Failed", false))
	must(t, library{w}.setStatus("/jobs/"+jid, "Estimating", false))
	must(t, library{w}.setStatus("/jobs/"+jid, "Failed", false))
	if _, err := q.ResumeJob(ctx, jid); !errors.Is(err, newqueue.ErrNotResumable) || !strings.Contains(err.Error(), "RetryJob") {
		t.Errorf("%v", err)
	}
	must(t, q.RetryJob(ctx, jid, newqueue.JobEstimating))
	w.check()
}

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

// TestAdministratorsWait: an administrator is refused while a worker has the job.
func TestAdministratorsWait(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 1)
		drive(t, q, ids[0], newqueue.JobHeld)
		if _, err := w.raw.Create(w.root+"/jobs/"+ids[0]+"/lock", []byte{}, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		before := w.tree()
		for name, err := range map[string]error{
			"release": q.ReleaseJob(ctx, ids[0]),
			"delete":  func() error { _, err := q.DeleteJob(ctx, ids[0]); return err }(),
		} {
			if !errors.Is(err, newqueue.ErrLocked) {
				t.Errorf("%s: %v", name, err)
			}
		}
		same(t, before, w.tree())
		w.delete("/jobs/" + ids[0] + "/lock")
		must(t, q.ReleaseJob(ctx, ids[0]))
	})
}

func TestLocks(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q, s := w.open()
		other := w.queue()
		design := w.d == newqueue.Design
		for _, c := range []struct {
			lock  newqueue.Lock
			path  string
			stays bool
		}{
			{newqueue.QueueLock(newqueue.HoldIngest), "/locks/queue/ingest", true},
			{newqueue.QueueLock(newqueue.HoldAccessSmall), "/locks/queue/accessSmall", true},
			{newqueue.QueueLock(newqueue.HoldAccessLarge), "/locks/queue/accessLarge", true},
			{newqueue.CollectionLock("merritt_demo"), "/locks/collections/merritt_demo", true},
			{newqueue.StorageLock("ark:/99999/fk4"), "/locks/storage/ark_99999_fk4", !design},
			{newqueue.InventoryLock("ark:/99999/fk4"), "/locks/inventory/ark_99999_fk4", false},
			{newqueue.LocalIDLock("a/b:c", "ark:/13030/owner"), map[bool]string{true: "/locks/queue/localid/", false: "/locks/localid/"}[design] + "a_b:cark_13030_owner", false},
		} {
			must(t, q.Lock(ctx, c.lock))
			if w.tree().Get(c.path) == nil {
				t.Errorf("%s: nothing at %s", c.lock, c.path)
			}
			w.check()
			for _, taker := range []*newqueue.Queue{q, other} {
				if err := taker.Lock(ctx, c.lock); !errors.Is(err, newqueue.ErrLocked) {
					t.Errorf("%s taken twice: %v", c.lock, err)
				}
			}
			if err := other.Unlock(ctx, c.lock); !c.stays && !errors.Is(err, newqueue.ErrNotLocked) {
				t.Errorf("%s released by another session: %v", c.lock, err)
			} else if c.stays {
				must(t, err)
				must(t, q.Lock(ctx, c.lock))
			}
			must(t, q.Unlock(ctx, c.lock))
			if err := q.Unlock(ctx, c.lock); !errors.Is(err, newqueue.ErrNotLocked) {
				t.Errorf("%s released twice: %v", c.lock, err)
			}
			must(t, q.Lock(ctx, c.lock))
			must(t, s.expire())
			if locked := value(other.IsLocked(ctx, c.lock))(t); locked != c.stays {
				t.Errorf("%s after its session's end: locked %t", c.lock, locked)
			}
			if c.stays {
				must(t, other.Unlock(ctx, c.lock))
			}
			// Until the client has its new session.
			value(q.IsLocked(ctx, c.lock))(t)
		}
		for _, l := range []newqueue.Lock{newqueue.CollectionLock(""), newqueue.CollectionLock("a/b"), newqueue.QueueLock("egress"), newqueue.StorageLock("."), newqueue.InventoryLock("a\x00")} {
			if err := q.Lock(ctx, l); !errors.Is(err, newqueue.ErrValue) {
				t.Errorf("%q: %v", l, err)
			}
		}
	})
}
