package client_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// status is what the deployed admin tool does to a job: it writes the status, then it moves the entry. It looks at no lock.
func (w *world) status(jid string, from, to newqueue.JobState) {
	w.t.Helper()
	title := func(s newqueue.JobState) string { return strings.ToUpper(string(s[:1])) + string(s[1:]) }
	path := newqueue.JobPath(jid) + "/status"
	w.put(path, strings.Replace(string(w.tree().Get(path).Data), title(from), title(to), 1))
	w.delete(newqueue.JobEntryPath(from, client.DefaultPriority, jid))
	w.put(newqueue.JobEntryPath(to, client.DefaultPriority, jid), "")
}

// TestDeployedTools: the deployed services and their admin tool write without transactions, and the tool looks at no lock
// (docs/deployed-services.md). It holds, releases, fails or removes what a worker works on, and Process rewrites each configuration. Some of it
// happens while the worker's request is lost, or the answer. The worker learns what is true, and keeps no lock that it does not know of.
func TestDeployedTools(t *testing.T) {
	const pending, held = newqueue.JobPending, newqueue.JobHeld
	hold := func(w *lossy) { w.status(w.jid, pending, held) }
	again := func(w *lossy) { hold(w); w.status(w.jid, held, pending) }
	remove := func(path func(*lossy) string) func(*lossy) {
		return func(w *lossy) {
			tree := w.tree()
			for _, p := range slices.Backward(tree.Paths(path(w))) {
				w.delete(p)
			}
		}
	}
	job := func(w *lossy) string { return newqueue.JobPath(w.jid) }
	fail := func(w *lossy) { w.status(w.jid, pending, newqueue.JobFailed); w.delete(job(w) + "/lock") }
	kept, before, after := 0, 1, 2
	type work = func(*testing.T, *lossy) (meanwhile func(*lossy), do func() error)
	acquired := func(meanwhile func(*lossy), do func(*client.Job) error) work {
		return func(t *testing.T, w *lossy) (func(*lossy), func() error) {
			j := value(w.q.AcquireJob(ctx, pending))(t)
			return meanwhile, func() error {
				err := do(j)
				if err == nil || errors.Is(err, client.ErrUnknownOutcome) {
					return err
				}
				if left := j.Unlock(ctx); left != nil && !errors.Is(left, client.ErrNotLocked) {
					t.Errorf("unlock: %v", left)
				}
				return err
			}
		}
	}
	unlock := func(j *client.Job) error { return j.Unlock(ctx) }
	process := func(meanwhile func(*lossy), do func(*client.Batch) error) work {
		return func(t *testing.T, w *lossy) (func(*lossy), func() error) {
			bid := value(w.other.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
			b := value(w.q.AcquireBatch(ctx, newqueue.BatchPending))(t)
			if meanwhile == nil {
				meanwhile = remove(func(*lossy) string { return newqueue.BatchPath(bid) })
			}
			return meanwhile, func() error { return do(b) }
		}
	}
	for name, c := range map[string]struct {
		lost int
		work work
		want error
	}{
		"a new job is rewritten": {after, func(_ *testing.T, w *lossy) (func(*lossy), func() error) {
			return func(w *lossy) {
				for _, jid := range w.tree().Children("/jobs") {
					if jid != "states" && jid != w.jid {
						w.put("/jobs/"+jid+"/configuration", `{"objectID":"ark:/1"}`)
					}
				}
			}, func() error { return errorOf(w.q.CreateJob(ctx, w.bid, client.JobSpec{})) }
		}, client.ErrUnknownOutcome},

		"held, succeed":                     {kept, acquired(hold, succeed), client.ErrConflict},
		"held, save":                        {kept, acquired(hold, func(j *client.Job) error { j.SpaceNeeded++; return j.Save(ctx) }), client.ErrConflict},
		"held, unlock":                      {kept, acquired(hold, unlock), nil},
		"held, lost, unlock":                {before, acquired(hold, unlock), nil},
		"held and released, lost, succeed":  {before, acquired(again, succeed), client.ErrConflict},
		"failed, unlock":                    {kept, acquired(fail, unlock), client.ErrNotLocked},
		"failed, lost, unlock":              {before, acquired(fail, unlock), client.ErrNotLocked},
		"failed, lost, succeed":             {before, acquired(fail, succeed), client.ErrNotLocked},
		"removed, succeed":                  {kept, acquired(remove(job), succeed), client.ErrNotLocked},
		"removed, lost, succeed":            {before, acquired(remove(job), succeed), client.ErrUnknownOutcome},
		"done, acquired by another, answer": {after, acquired(func(w *lossy) { _, _ = w.other.AcquireJob(ctx, newqueue.JobEstimating) }, succeed), client.ErrUnknownOutcome},
		"held in a pass": {kept, func(t *testing.T, w *lossy) (func(*lossy), func() error) {
			return func(*lossy) {}, func() (last error) {
				for j, err := range w.q.AcquireJobs(ctx, pending) {
					if last = err; j != nil {
						hold(w)
					}
				}
				return last
			}
		}, nil},
		"held while it is acquired": {after, func(t *testing.T, w *lossy) (func(*lossy), func() error) {
			return hold, func() error { return errorOf(w.q.AcquireJob(ctx, pending)) }
		}, client.ErrNoneAvailable},

		"a batch is removed, process":       {kept, process(nil, func(b *client.Batch) error { return errorOf(b.Process(ctx, client.JobSpec{})) }), client.ErrNotLocked},
		"a batch is removed, lost, process": {before, process(nil, func(b *client.Batch) error { return errorOf(b.Process(ctx, client.JobSpec{})) }), client.ErrUnknownOutcome},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newLossy(t, newqueue.MrtZK)
			meanwhile, do := c.work(t, w)
			if c.lost == kept {
				meanwhile(w)
			} else {
				w.faulty.lose(c.lost == before, func() { meanwhile(w) })
			}
			jobs := len(w.tree().Children("/jobs"))
			err := do()
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			for _, path := range left(w.tree(), "/lock") {
				if _, stat, _ := w.raw.Exists(w.root + path); stat.EphemeralOwner == w.faulty.SessionID() {
					t.Errorf("left after %v: %s", err, path)
				}
			}
			if made := len(w.tree().Children("/jobs")) - jobs; made > 1 {
				t.Errorf("%d jobs were made: %v", made, err)
			}
		})
	}
}

// TestAcquiredInAnotherState: a worker's session ends just after it has seen its new lock. Another one moves the job. Then it reads the status.
func TestAcquiredInAnotherState(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		other := w.queue()
		batchOf(t, other, 1)
		c, q := w.hooked()
		var acquired atomic.Bool
		var once sync.Once
		seen := make(chan struct{})
		c.next(func(s send) ([]zk.MultiResponse, error) { defer acquired.Store(true); return s() })
		c.seen = func(path string) {
			if acquired.Load() && strings.HasSuffix(path, "/lock") {
				once.Do(func() { close(seen) })
			}
		}
		c.read = func(path string) error {
			if strings.HasSuffix(path, "/status") && acquired.Load() {
				<-seen
				acquired.Store(false)
				must(t, c.session.expire())
				must(t, value(other.AcquireJob(ctx, newqueue.JobPending))(t).Succeed(ctx))
				must(t, value(other.AcquireJob(ctx, newqueue.JobEstimating))(t).Succeed(ctx))
			}
			return nil
		}
		if j, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, client.ErrNoneAvailable) {
			t.Errorf("%v: %+v", err, j)
		}
		w.check()
	})
}

// TestWaitsForItsJobs: in dialect mrt-zk a batch is processing as soon as a worker has acquired it. Another client's job would keep
// the worker, and each one after it, from making the batch's jobs. What only others may do is no step of its worker.
func TestWaitsForItsJobs(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	q := w.queue()
	bid := value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
	if err := errorOf(w.queue().CreateJob(ctx, bid, client.JobSpec{})); guard(err) != states.InProcessing {
		t.Errorf("%v", err)
	}
	for to, says := range map[string]string{
		states.Failed:    "it moves only without a lock: call Unlock, and then Queue.MoveBatch",
		states.Reporting: "it can only move to failed",
		states.Held:      "it can only move to reporting, failed",
	} {
		if err := b.MoveTo(ctx, to, "why"); !errors.As(err, new(*client.StateError)) || !strings.HasSuffix(err.Error(), ": from processing "+says) {
			t.Errorf("to %s: %v", to, err)
		}
	}
	must(t, errorOf(b.Process(ctx, client.JobSpec{})))
	must(t, errorOf(q.CreateJob(ctx, bid, client.JobSpec{})))
	w.check()
}

// TestRefusalsNameAWay: what the error advises works.
func TestRefusalsNameAWay(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	q := w.queue()
	bid := value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
	if err := b.Fail(ctx, "why"); guard(err) != "" {
		t.Error(err)
	}
	must(t, b.Unlock(ctx))
	must(t, q.MoveBatch(ctx, bid, "", newqueue.BatchFailed))

	const cleaned = "can't move from completed to deleted: only a cleaning pass does that"
	bid, ids := batchOf(t, q, 1)
	drive(t, q, ids[0], newqueue.JobCompleted)
	must(t, q.MoveBatch(ctx, bid, "", newqueue.BatchReporting))
	b = value(q.AcquireBatch(ctx, newqueue.BatchReporting))(t)
	r := value(b.Report(ctx))(t)
	must(t, b.Finish(ctx, r))
	if err := b.Finish(ctx, r); err == nil || !strings.HasSuffix(err.Error(), "can't move from completed to completed: completed is final") {
		t.Error(err)
	}
	for _, err := range []error{errorOf(q.DeleteBatch(ctx, bid)), q.MoveBatch(ctx, bid, "", newqueue.BatchDeleted)} {
		if err == nil || !strings.HasSuffix(err.Error(), cleaned) {
			t.Error(err)
		}
	}
	if done := value(q.CleanupBatches(ctx))(t); !slices.Equal(done, []string{bid}) {
		t.Errorf("%q", done)
	}

	d := newWorld(t, newqueue.Design)
	q = d.queue()
	_, ids = batchOf(t, q, 1)
	drive(t, q, ids[0], newqueue.JobCompleted)
	if err := errorOf(q.DeleteJob(ctx, ids[0])); err == nil || !strings.HasSuffix(err.Error(), cleaned) {
		t.Error(err)
	}
	if done := value(q.CleanupJobs(ctx))(t); !slices.Equal(done, ids) {
		t.Errorf("%q", done)
	}
}
