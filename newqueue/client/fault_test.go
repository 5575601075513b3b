package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// lossy is a world with a batch of one pending job. Its queue q can lose an answer.
type lossy struct {
	*world
	faulty   *hooked
	q, other *client.Queue
	bid, jid string
}

func newLossy(t *testing.T, d newqueue.Dialect) *lossy {
	t.Helper()
	w := &lossy{world: newWorld(t, d)}
	w.faulty, w.q = w.hooked()
	w.other = w.queue()
	bid, ids := batchOf(t, w.other, 1)
	w.bid, w.jid = bid, ids[0]
	must(t, w.other.Init(ctx))
	// All folders are there, so that each write is one attempt.
	folders := []string{"/locks/queue", "/locks/inventory", "/access/small"}
	for _, s := range states.States(states.Job, string(d)) {
		folders = append(folders, "/jobs/states/"+s)
	}
	for _, f := range newqueue.BatchFolders {
		folders = append(folders, newqueue.BatchFolderPath(bid, f))
	}
	for _, f := range folders {
		w.put(f, "")
	}
	return w
}

// TestLostAnswers loses the answer of every kind of write, once before and once
// after the server did the write. It is done once. The caller learns that, or that nothing proves it. TestExplorer has
// all writes, but not on Apache's server.
func TestLostAnswers(t *testing.T) {
	type write = func(*testing.T, *lossy) func() error
	do := func(write func(*lossy) error) write {
		return func(_ *testing.T, w *lossy) func() error { return func() error { return write(w) } }
	}
	in := func(s newqueue.JobState, write func(*lossy) error) write {
		return func(t *testing.T, w *lossy) func() error {
			drive(t, w.other, w.jid, s)
			return func() error { return write(w) }
		}
	}
	acquired := func(write func(*client.Job) error) write {
		return func(t *testing.T, w *lossy) func() error {
			j := value(w.q.AcquireJob(ctx, newqueue.JobPending))(t)
			return func() error { return write(j) }
		}
	}
	process := func(jobs ...client.JobSpec) write {
		return func(t *testing.T, w *lossy) func() error {
			value(w.other.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
			b := value(w.q.AcquireBatch(ctx, newqueue.BatchPending))(t)
			return func() error { return errorOf(b.Process(ctx, jobs...)) }
		}
	}
	unproved := []string{"create batch", "create job", "create request", "priority", "release", "delete job", "report batch"}
	for name, prepare := range map[string]write{ // each returns the write whose answer is lost
		"create batch": do(func(w *lossy) error { return errorOf(w.q.CreateBatch(ctx, newqueue.Submission{BatchID: "lost"})) }),
		"create job":   do(func(w *lossy) error { return errorOf(w.q.CreateJob(ctx, w.bid, client.JobSpec{Priority: 3})) }),
		"create request": do(func(w *lossy) error {
			return errorOf(w.q.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{Token: "x"}))
		}),
		"succeed": acquired(func(j *client.Job) error { return j.Succeed(ctx) }),
		"request": func(t *testing.T, w *lossy) func() error {
			value(w.other.CreateRequest(ctx, newqueue.AccessSmall, newqueue.Token{}))(t)
			a := value(w.q.AcquireRequest(ctx, newqueue.AccessSmall, newqueue.AccessPending))(t)
			return func() error { return a.Succeed(ctx) }
		},
		"process":           process(),
		"process with jobs": process(client.JobSpec{}, client.JobSpec{}),
		"acquire":           do(func(w *lossy) error { return errorOf(w.q.AcquireJob(ctx, newqueue.JobPending)) }),
		"unlock":            acquired(func(j *client.Job) error { return j.Unlock(ctx) }),
		"fail":              acquired(func(j *client.Job) error { return j.Fail(ctx, "why") }),
		"save": acquired(func(j *client.Job) error {
			j.SpaceNeeded, j.Identifiers.PrimaryID = 1, "ark:/1"
			return j.Save(ctx)
		}),
		"priority":   do(func(w *lossy) error { return w.q.SetPriority(ctx, w.jid, 1) }),
		"release":    in(newqueue.JobHeld, func(w *lossy) error { return w.q.MoveJob(ctx, w.jid, newqueue.JobHeld, newqueue.JobPending) }),
		"delete job": in(newqueue.JobFailed, func(w *lossy) error { return errorOf(w.q.DeleteJob(ctx, w.jid)) }),
		"report batch": in(newqueue.JobCompleted, func(w *lossy) error {
			return w.q.MoveBatch(ctx, w.bid, newqueue.BatchProcessing, newqueue.BatchReporting)
		}),
		"ephemeral lock": do(func(w *lossy) error { return w.q.Lock(ctx, newqueue.InventoryLock("ark:/1")) }),
	} {
		for _, d := range newqueue.Dialects {
			for _, before := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/before=%t", name, d, before), func(t *testing.T) {
					t.Parallel()
					w := newLossy(t, d)
					write := prepare(t, w)
					old := w.tree()
					writes := 0
					w.faulty.lose(before, func() { w.faulty.multi = func(send send) ([]zk.MultiResponse, error) { writes++; return send() } })
					unknown := !before && slices.Contains(unproved, name)
					if err := write(); errors.Is(err, client.ErrUnknownOutcome) != unknown || !unknown && err != nil || before != (writes == 1) || len(znode.Diff(old, w.tree(), "/")) == 0 {
						t.Errorf("%d writes after the lost answer, %v", writes, err)
					}
					w.check()
				})
			}
		}
	}
}

// TestClosedMeanwhile: the client was closed after it had sent a request. That does not say that the server did not do it.
func TestClosedMeanwhile(t *testing.T) {
	w := newLossy(t, newqueue.Design)
	ctx, cancel := context.WithCancel(ctx)
	w.faulty.next(func(s send) ([]zk.MultiResponse, error) {
		_, err := s()
		must(t, err)
		w.faulty.session.conn.Close()
		cancel()
		return nil, zk.ErrClosing
	})
	if err := w.q.SetPriority(ctx, w.jid, 1); !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("%v", err)
	}
}

// TestLostAnswerInOneSession: two goroutines of one queue want the same lock,
// which shows only the id of their session. If the answer to one of them was
// lost, it must not take the other's lock for its own. The other one comes before or meanwhile.
func TestLostAnswerInOneSession(t *testing.T) {
	lock := newqueue.InventoryLock("ark:/1")
	for _, d := range newqueue.Dialects {
		w := newLossy(t, d)
		var meanwhile, locked error
		w.faulty.lose(true, func() { _, meanwhile = w.q.AcquireJob(ctx, newqueue.JobPending) })
		j, err := w.q.AcquireJob(ctx, newqueue.JobPending)
		if err != nil || !errors.Is(meanwhile, client.ErrNoneAvailable) {
			t.Fatalf("one got %v, the other one %v", err, meanwhile)
		}
		w.faulty.lose(true)
		if second, err := w.q.AcquireJob(ctx, newqueue.JobPending); err == nil {
			t.Errorf("%s was acquired twice", second.ID)
		}
		w.faulty.next(nil)
		must(t, j.Succeed(ctx))

		w.faulty.lose(true, func() { locked = w.q.Lock(ctx, lock) })
		if err := w.q.Lock(ctx, lock); err != nil || !errors.Is(locked, client.ErrLocked) {
			t.Errorf("one got %v, the other one %v", err, locked)
		}
		w.faulty.lose(true)
		if err := w.q.Lock(ctx, lock); !errors.Is(err, client.ErrLocked) {
			t.Errorf("taken twice: %v", err)
		}
		w.faulty.next(nil)
		must(t, w.q.Unlock(ctx, lock))

		ended, cancel := context.WithCancel(ctx)
		cancel()
		unlocked := make(chan error, 1)
		w.faulty.lose(false, func() { unlocked <- w.q.Unlock(ended, lock) })
		if err, other := w.q.Lock(ctx, lock), <-unlocked; err != nil || !errors.Is(other, context.Canceled) {
			t.Errorf("it locks: %v; the other one unlocks: %v", err, other)
		}
		w.faulty.lose(true, func() { go func() { unlocked <- w.q.Unlock(ctx, lock) }() })
		if err, other := w.q.Unlock(ctx, lock), <-unlocked; err != nil || !errors.Is(other, client.ErrNotLocked) {
			t.Errorf("both unlock: %v and %v", err, other)
		}
	}
}

// TestLostSession: a worker whose session has ended can't change its job any more, even if its client has a new
// session, and even if another worker has acquired the job since (S8).
func TestLostSession(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		batchOf(t, w.queue(), 1)
		for name, step := range map[string]func(*client.Job) error{
			"succeed": func(j *client.Job) error { return j.Succeed(ctx) },
			"fail":    func(j *client.Job) error { return j.Fail(ctx, "") },
			"unlock":  func(j *client.Job) error { return j.Unlock(ctx) },
			"save":    func(j *client.Job) error { j.Identifiers.PrimaryID = "x"; return j.Save(ctx) },
		} {
			for _, taken := range []bool{false, true} {
				conn, s := connect(t, address(t))
				worker := client.Open(conn, w.d, client.WithRoot(w.root))
				j := value(worker.AcquireJob(ctx, newqueue.JobPending))(t)
				must(t, s.expire())
				unlock := func(context.Context) error { return nil }
				if taken {
					unlock = value(w.queue().AcquireJob(ctx, newqueue.JobPending))(t).Unlock
				}
				before := w.tree()
				if err := step(j); !errors.Is(err, client.ErrNotLocked) {
					t.Errorf("%s, taken %t: %v", name, taken, err)
				}
				same(t, before, w.tree())
				must(t, unlock(ctx))
			}
		}
		w.check()
	})
}

// TestSentInTheNextSession: a client that has no connection keeps a request, and sends it when it has one, maybe in a new session.
// If another worker holds the item by then, of this library or a deployed one, the server refuses the request.
func TestSentInTheNextSession(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		batchOf(t, w.queue(), 1)
		for name, step := range map[string]func(*client.Job) error{
			"succeed": func(j *client.Job) error { return j.Succeed(ctx) },
			"unlock":  func(j *client.Job) error { return j.Unlock(ctx) },
			"save":    func(j *client.Job) error { j.Identifiers.PrimaryID = "x"; return j.Save(ctx) },
		} {
			for _, deployed := range []bool{false, true} {
				late, q := w.hooked()
				j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
				lock := w.root + j.Path() + "/lock"
				var before *znode.Tree
				late.next(func(s send) ([]zk.MultiResponse, error) {
					must(t, late.session.expire())
					if deployed {
						value(w.raw.Create(lock, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))(t)
					} else {
						value(w.queue().AcquireJob(ctx, newqueue.JobPending))(t)
					}
					before = w.tree()
					return s()
				})
				if err := step(j); !errors.Is(err, client.ErrNotLocked) {
					t.Errorf("%s, deployed %t: %v", name, deployed, err)
				}
				same(t, before, w.tree())
				must(t, w.raw.Delete(lock, -1))
			}
		}
		w.check()
	})
}

// TestNamedUnlockIsLate: a client releases a lock that has a name, and its request comes so late that somebody else has the lock: in the client's next
// session, or because the admin tool has removed a lock that does not end with the session. The new lock stays. That others take locks in the same folder is no
// reason to keep one.
func TestNamedUnlockIsLate(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		must(t, w.queue().Init(ctx))
		for _, l := range []newqueue.Lock{newqueue.InventoryLock("ark:/1"), newqueue.StorageLock("ark:/1"), newqueue.LocalIDLock("1", "o"), newqueue.QueueLock(newqueue.HoldIngest)} {
			path := w.root + l.Path(w.d)
			for _, deployed := range []bool{false, true} {
				late, q := w.hooked()
				must(t, q.Lock(ctx, l))
				var before *znode.Tree
				late.meddle(func() {
					if l.Ephemeral(w.d) {
						must(t, late.session.expire())
					} else {
						must(t, w.raw.Delete(path, -1))
					}
					if deployed {
						value(w.raw.Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))(t)
					} else {
						must(t, w.queue().Lock(ctx, l))
					}
					before = w.tree()
				})
				if err := q.Unlock(ctx, l); !errors.Is(err, client.ErrNotLocked) {
					t.Errorf("%s, deployed %t: %v", l, deployed, err)
				}
				same(t, before, w.tree())
				must(t, w.raw.Delete(path, -1))
			}
		}
		late, q := w.hooked()
		mine, others := newqueue.InventoryLock("ark:/1"), newqueue.InventoryLock("ark:/2")
		must(t, q.Lock(ctx, mine))
		late.meddle(func() { must(t, w.queue().Lock(ctx, others)) })
		if err := q.Unlock(ctx, mine); err != nil || value(q.IsLocked(ctx, mine))(t) || !value(q.IsLocked(ctx, others))(t) {
			t.Error(err)
		}
		w.check()
	})
}
