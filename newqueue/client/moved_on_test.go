package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// TestLostAnswerWhileOthersGoOn loses an answer, and other clients overwrite what
// was written before the caller reads it. The caller still learns the outcome.
func TestLostAnswerWhileOthersGoOn(t *testing.T) {
	for _, c := range []struct {
		name string
		// prepare returns the write whose answer is lost.
		prepare func(t *testing.T, w *world, q *client.Queue) func() error
		also    func(t *testing.T, q *client.Queue)
	}{
		{"create batch", func(_ *testing.T, _ *world, q *client.Queue) func() error {
			return func() error {
				_, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: "lost"})
				return err
			}
		}, func(t *testing.T, q *client.Queue) {
			must(t, value(q.AcquireBatch(ctx, newqueue.BatchPending))(t).Hold(ctx, "collection hold"))
		}},
		{"create job", func(t *testing.T, w *world, q *client.Queue) func() error {
			bid, _ := batchOf(t, w.queue(), 0)
			return func() error {
				_, err := q.CreateJob(ctx, bid, client.NewJob{Priority: 3, SpaceNeeded: 1, Identifiers: newqueue.Identifiers{LocalIDs: []string{"a"}}})
				return err
			}
		}, func(t *testing.T, q *client.Queue) {
			j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
			must(t, j.Set(ctx, client.WithIdentifiers(newqueue.Identifiers{PrimaryID: "ark:/1"})))
			must(t, j.Succeed(ctx, client.WithPriority(7), client.WithSpaceNeeded(9)))
		}},
		{"create access", func(_ *testing.T, _ *world, q *client.Queue) func() error {
			return func() error {
				_, err := q.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{Token: "x"})
				return err
			}
		}, func(t *testing.T, q *client.Queue) {
			must(t, value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t).Succeed(ctx))
		}},
		{"succeed", func(t *testing.T, w *world, q *client.Queue) func() error {
			batchOf(t, w.queue(), 1)
			j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
			return func() error { return j.Succeed(ctx) }
		}, func(t *testing.T, q *client.Queue) {
			must(t, value(q.AcquireJob(ctx, newqueue.JobEstimating))(t).Succeed(ctx))
			must(t, value(q.AcquireJob(ctx, newqueue.JobProvisioning))(t).Succeed(ctx))
		}},
		{"process", func(t *testing.T, w *world, q *client.Queue) func() error {
			value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
			b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
			return func() error { _, err := b.Process(ctx); return err }
		}, func(t *testing.T, q *client.Queue) {
			must(t, q.MoveBatch(ctx, "bid0000000000", newqueue.BatchProcessing, newqueue.BatchReporting))
			b := value(q.AcquireBatch(ctx, newqueue.BatchReporting))(t)
			must(t, b.Finish(ctx, value(b.Report(ctx))(t)))
		}},
		{"access", func(t *testing.T, w *world, q *client.Queue) func() error {
			value(w.queue().CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
			a := value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t)
			return func() error { return a.Succeed(ctx) }
		}, func(t *testing.T, q *client.Queue) {
			must(t, value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessProcessing))(t).Fail(ctx, ""))
		}},
	} {
		for _, d := range newqueue.Dialects {
			t.Run(fmt.Sprintf("%s/%s", c.name, d), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, d)
				faulty, q := w.losing(false)
				must(t, q.Init(ctx))
				w.put("/access/small", "")
				for _, s := range states.States(newqueue.EntityJob, string(d)) {
					w.put("/jobs/states/"+s, "") // so that the write is one attempt
				}
				do := c.prepare(t, w, q)
				other := w.queue()
				faulty.also = func() { c.also(t, other) }
				faulty.lose = true
				if err := do(); err != nil {
					t.Errorf("it happened, and the caller gets: %v", err)
				}
				w.check()
			})
		}
	}
}

// TestCreatedAndGone: an entity is deleted before its creator can read it. That
// looks the same as if another client had used the id.
func TestCreatedAndGone(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	conn, _ := connect(t, address(t))
	other := w.queue()
	must(t, other.Init(ctx))
	faulty := &losing{Conn: conn, lose: true, also: func() {
		b := value(other.AcquireBatch(ctx, newqueue.BatchPending))(t)
		must(t, b.Hold(ctx, ""))
		value(other.DeleteBatch(ctx, b.ID))(t)
	}}
	_, err := client.Open(faulty, w.d, client.WithRoot(w.root)).CreateBatch(ctx, newqueue.Submission{BatchID: "u"})
	if !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("%v", err)
	}
}

// TestLostAnswerInOneSession: two goroutines of one queue want the same lock,
// which shows only the id of their session. If the answer to one of them was
// lost, it must not take the other's lock for its own.
func TestLostAnswerInOneSession(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		faulty, q := w.losing(true)
		batchOf(t, w.queue(), 1)
		j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
		faulty.lose = true
		if second, err := q.AcquireJob(ctx, newqueue.JobPending); err == nil {
			t.Errorf("%s was acquired twice", second.ID)
		}
		faulty.lose = false
		must(t, j.Succeed(ctx))

		lock := newqueue.InventoryLock("ark:/1")
		must(t, q.Lock(ctx, lock))
		faulty.lose = true
		if err := q.Lock(ctx, lock); !errors.Is(err, client.ErrLocked) {
			t.Errorf("taken twice: %v", err)
		}
		faulty.lose = false
		must(t, q.Unlock(ctx, lock))
	})
}

// TestAnothersStepLooksLikeOurs: a worker's request was lost together with its
// session, and another worker makes the same step within the same second. The
// client library's times have only seconds. The first worker must not take that
// step for its own.
func TestAnothersStepLooksLikeOurs(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	conn, session := connect(t, address(t))
	faulty := &losing{Conn: conn, before: true}
	q := client.Open(faulty, w.d, client.WithRoot(w.root), clock())
	batchOf(t, w.queue(), 1)
	j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
	faulty.lose = true
	faulty.also = func() {
		must(t, session.expire())
		must(t, value(w.queue(clock()).AcquireJob(ctx, newqueue.JobPending))(t).Succeed(ctx))
	}
	if err := j.Succeed(ctx); !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("two workers finished one step: %v", err)
	}
}

// TestUnlockCanBeRepeated: if a release fails, the caller still holds the lock
// and can release it.
func TestUnlockCanBeRepeated(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	faulty, q := w.losing(true)
	batchOf(t, w.queue(), 1)
	value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	value(w.queue().CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
	j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
	b := value(q.AcquireBatch(ctx, newqueue.BatchPending))(t)
	a := value(q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t)
	for name, held := range map[string]interface {
		Unlock(context.Context) error
		Locked() bool
	}{"job": j, "batch": b, "access": a} {
		faulty.lose = true
		if err := held.Unlock(ctx); !errors.Is(err, client.ErrNotDone) || !held.Locked() {
			t.Errorf("%s: %v, still locked: %t", name, err, held.Locked())
		}
		if err := held.Unlock(ctx); err != nil || held.Locked() {
			t.Errorf("%s: %v, still locked: %t", name, err, held.Locked())
		}
	}
}
