package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// The admin tool deletes a batch's lock, or is half way through deleting the batch, and the request of Process is lost: the lock is gone, and
// the jobs were not made.
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
		if ids, err := b.Process(ctx, client.JobSpec{}, client.JobSpec{}); !errors.Is(err, client.ErrNotLocked) || len(left(w.tree(), "/jobs/jid")) > 0 {
			t.Errorf("%s: %v, %v", what, ids, err)
		}
	}
}

// The admin tool deletes the batch's lock, the request of Process is lost, and another worker makes the batch's jobs.
func TestProcessedByAnother(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	c, q := w.hooked()
	other := w.queue()
	bid := value(other.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
	c.lose(true, func() {
		w.delete(newqueue.BatchPath(bid) + "/lock")
		value(value(other.AcquireBatch(ctx, newqueue.BatchPending))(t).Process(ctx, client.JobSpec{}))(t)
	})
	if ids, err := b.Process(ctx, client.JobSpec{}); err == nil {
		t.Errorf("it says that it made %v", ids)
	}
	w.check()
}

// An item that is unlocked says so only if this call did it. Otherwise the lock was lost: the admin tool has deleted it, and maybe
// another worker has taken the item since.
func TestUnlockOfALockThatIsGone(t *testing.T) {
	type item interface {
		Path() string
		Unlock(context.Context) error
	}
	for name, acquire := range map[string]func(*client.Queue) (item, error){
		"job":   func(q *client.Queue) (item, error) { return q.AcquireJob(ctx, newqueue.JobPending) },
		"batch": func(q *client.Queue) (item, error) { return q.AcquireBatch(ctx, newqueue.BatchPending) },
		"request": func(q *client.Queue) (item, error) {
			return q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending)
		},
	} {
		for then, others := range map[string]func(*testing.T, *lossy){
			"stays":    func(*testing.T, *lossy) {},
			"taken":    func(t *testing.T, w *lossy) { value(acquire(w.other))(t) },
			"released": func(t *testing.T, w *lossy) { must(t, value(acquire(w.other))(t).Unlock(ctx)) },
		} {
			for _, before := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/before=%t", name, then, before), func(t *testing.T) {
					t.Parallel()
					w := newLossy(t, newqueue.MrtZK)
					value(w.other.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
					value(w.other.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
					i := value(acquire(w.q))(t)
					w.faulty.lose(before, func() {
						if before {
							w.delete(i.Path() + "/lock")
						}
						others(t, w)
					})
					proved := !before && then == "stays"
					if err := i.Unlock(ctx); (err == nil) != proved || err != nil && !errors.Is(err, client.ErrNotLocked) {
						t.Error(err)
					}
				})
			}
		}
	}
}

// The admin tool deletes the lock of a job that a pass has shown. The pass goes on: it has nothing to unlock.
func TestPassWhoseLockIsDeleted(t *testing.T) {
	w := newLossy(t, newqueue.MrtZK)
	_, ids := batchOf(t, w.other, 2)
	var seen []string
	for j, err := range w.q.AcquireJobs(ctx, newqueue.JobPending) {
		if err != nil {
			t.Error(err)
			continue
		}
		if seen = append(seen, j.ID); j.ID == w.jid {
			w.delete(j.Path() + "/lock")
		}
	}
	if !slices.Equal(seen, append([]string{w.jid}, ids...)) {
		t.Errorf("%q", seen)
	}
}

// A worker's lock goes: its session ends, or somebody deletes the lock. The same client takes the same job again, at the same path, before the
// first worker acts, between its look and its write, or while its request is lost. The first one changes nothing, and the second one keeps its lock.
func TestTakenAgainByTheSameClient(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, expires := range []bool{true, false} {
			for _, when := range []string{"before", "between", "lost"} {
				for name, step := range map[string]func(*client.Job) error{
					"succeed": succeed,
					"unlock":  func(j *client.Job) error { return j.Unlock(ctx) },
					"save":    func(j *client.Job) error { j.SpaceNeeded = 9; return j.Save(ctx) },
				} {
					t.Run(fmt.Sprintf("%s/%s/expires=%t/%s", d, name, expires, when), func(t *testing.T) {
						t.Parallel()
						w := newLossy(t, d)
						j := value(w.q.AcquireJob(ctx, newqueue.JobPending))(t)
						var second *client.Job
						again := func() {
							if expires {
								must(t, w.faulty.session.expire())
							} else {
								w.delete(j.Path() + "/lock")
							}
							second = value(w.q.AcquireJob(ctx, newqueue.JobPending))(t)
						}
						switch when {
						case "before":
							again()
						case "between":
							w.faulty.meddle(again)
						case "lost":
							w.faulty.lose(true, again)
						}
						err := step(j)
						if _, stat, _ := w.raw.Exists(w.root + j.Path() + "/lock"); stat.EphemeralOwner != w.faulty.SessionID() {
							t.Errorf("the second one's lock is gone: %v", err)
						}
						// In dialect design nobody but its holder deletes a lock.
						if impossible := d == newqueue.Design && !expires && when == "lost"; err == nil && !impossible {
							t.Error("it says that it did it")
						}
						must(t, second.Succeed(ctx))
					})
				}
			}
		}
	}
}

// The admin tool fails a job in the same second, with the bytes that the worker would have written, and removes its lock: the worker does not
// take that for its own write, because the two were not one transaction. That another worker then takes the job, in one, proves nothing.
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

	value(other.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
	r := value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t)
	c.lose(true, func() {
		status := r.Path() + "/status"
		w.put(status, strings.Replace(string(w.tree().Get(status).Data), "Pending", "Processing", 1))
		w.delete(r.Path() + "/lock")
		value(other.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessProcessing))(t)
	})
	if err := r.Succeed(ctx); !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("taken by another: %v", err)
	}
}

// The admin tool deletes a worker's lock, and its request is lost. Another worker takes the item and does the same step in the same second, with
// the same bytes: the first one does not take that for its own, because its identifiers are not written, or its report is not sent.
func TestSameStepOfAnother(t *testing.T) {
	w := newLossy(t, newqueue.MrtZK)
	w.jid = "" // a job of the same second
	noon := clock()
	c, q := w.hooked(noon)
	other := w.queue(noon)
	must(t, value(w.other.AcquireJob(ctx, newqueue.JobPending))(t).Hold(ctx, ""))
	value(other.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
	type step struct {
		path string
		do   func() error
	}
	job := func(finish func(*client.Job) error) func(*client.Queue) step {
		return func(q *client.Queue) step {
			j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
			return step{j.Path(), func() error { return finish(j) }}
		}
	}
	try := func(name string, acquire func(*client.Queue) step) {
		mine := acquire(q)
		c.lose(true, func() {
			w.delete(mine.path + "/lock")
			must(t, acquire(other).do())
		})
		if err := mine.do(); !errors.Is(err, client.ErrUnknownOutcome) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bid, jids := batchOf(t, other, 1)
	drive(t, other, jids[0], newqueue.JobCompleted)
	must(t, other.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
	try("report", func(q *client.Queue) step {
		b := value(q.AcquireBatch(ctx, newqueue.BatchReporting))(t)
		r := value(b.Report(ctx))(t)
		return step{b.Path(), func() error { return b.Finish(ctx, r) }}
	})
	_, jids = batchOf(t, other, 1)
	try("fail", job(func(j *client.Job) error { return j.Fail(ctx, "why") }))
	must(t, other.MoveJob(ctx, jids[0], newqueue.JobFailed, newqueue.JobPending))
	try("succeed", job(succeed))
	try("request", func(q *client.Queue) step {
		r := value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t)
		return step{r.Path(), func() error { return r.Succeed(ctx) }}
	})
	w.check()
}
