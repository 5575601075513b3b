package client_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
	"mrtq/newqueue/states"
)

// losing is a connection that loses the answer of one write: before the write
// is sent, or after the server has done it.
type losing struct {
	client.Conn
	mu     sync.Mutex
	lose   bool
	before bool
	also   func() // what others do meanwhile
}

func (c *losing) Multi(ops ...any) ([]zk.MultiResponse, error) {
	c.mu.Lock()
	lose := c.lose
	c.lose = false
	c.mu.Unlock()
	if !lose {
		return c.Conn.Multi(ops...)
	}
	if !c.before {
		if _, err := c.Conn.Multi(ops...); err != nil {
			return nil, err
		}
	}
	if c.also != nil {
		c.also()
	}
	return nil, zk.ErrConnectionClosed
}

// losing returns such a connection, and a queue on it.
func (w *world) losing(before bool) (*losing, *client.Queue) {
	conn, _ := connect(w.t, address(w.t))
	c := &losing{Conn: conn, before: before}
	return c, client.Open(c, w.d, client.WithRoot(w.root))
}

// TestLostAnswers loses the answer of every kind of write, once before and once
// after the server did the write. The caller learns if the write was done.
func TestLostAnswers(t *testing.T) {
	type lossy struct {
		*world
		q   *client.Queue // reliable
		q2  *client.Queue // loses an answer when told
		bid string
		jid string
	}
	for _, c := range []struct {
		name    string
		prepare func(*testing.T, *lossy) any
		do      func(*lossy, any) error
	}{
		{"create batch", nil, func(w *lossy, _ any) error {
			_, err := w.q2.CreateBatch(ctx, newqueue.Submission{BatchID: "lost"})
			return err
		}},
		{"create job", nil, func(w *lossy, _ any) error {
			_, err := w.q2.CreateJob(ctx, w.bid, client.NewJob{})
			return err
		}},
		{"process batch", func(t *testing.T, w *lossy) any {
			value(w.q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
			return value(w.q2.AcquireBatch(ctx, newqueue.BatchPending))(t)
		}, func(w *lossy, b any) error {
			_, err := b.(*client.Batch).Process(ctx, client.NewJob{}, client.NewJob{})
			return err
		}},
		{"acquire", nil, func(w *lossy, _ any) error {
			_, err := w.q2.AcquireJob(ctx, newqueue.JobPending)
			return err
		}},
		{"unlock", func(t *testing.T, w *lossy) any { return value(w.q2.AcquireJob(ctx, newqueue.JobPending))(t) },
			func(w *lossy, j any) error { return j.(*client.Job).Unlock(ctx) }},
		{"succeed", func(t *testing.T, w *lossy) any { return value(w.q2.AcquireJob(ctx, newqueue.JobPending))(t) },
			func(w *lossy, j any) error { return j.(*client.Job).Succeed(ctx) }},
		{"fail", func(t *testing.T, w *lossy) any { return value(w.q2.AcquireJob(ctx, newqueue.JobPending))(t) },
			func(w *lossy, j any) error { return j.(*client.Job).Fail(ctx, "why") }},
		{"identifiers", func(t *testing.T, w *lossy) any { return value(w.q2.AcquireJob(ctx, newqueue.JobPending))(t) },
			func(w *lossy, j any) error {
				return j.(*client.Job).Set(ctx, client.WithIdentifiers(newqueue.Identifiers{PrimaryID: "ark:/1"}))
			}},
		{"priority", nil, func(w *lossy, _ any) error { return w.q2.SetPriority(ctx, w.jid, 1) }},
		{"release", func(t *testing.T, w *lossy) any { drive(t, w.q, w.jid, newqueue.JobHeld); return nil },
			func(w *lossy, _ any) error { return w.q2.MoveJob(ctx, w.jid, newqueue.JobHeld, newqueue.JobPending) }},
		{"delete job", func(t *testing.T, w *lossy) any { drive(t, w.q, w.jid, newqueue.JobFailed); return nil },
			func(w *lossy, _ any) error { _, err := w.q2.DeleteJob(ctx, w.jid); return err }},
		{"clean job", func(t *testing.T, w *lossy) any { drive(t, w.q, w.jid, newqueue.JobCompleted); return nil },
			func(w *lossy, _ any) error {
				_, err := w.q2.CleanupJobs(ctx) // mrt-zk: a report needs it, and nothing is written
				return err
			}},
		{"report batch", func(t *testing.T, w *lossy) any { drive(t, w.q, w.jid, newqueue.JobCompleted); return nil },
			func(w *lossy, _ any) error {
				return w.q2.MoveBatch(ctx, w.bid, newqueue.BatchProcessing, newqueue.BatchReporting)
			}},
		{"ephemeral lock", nil, func(w *lossy, _ any) error { return w.q2.Lock(ctx, newqueue.InventoryLock("ark:/1")) }},
		{"create access", nil, func(w *lossy, _ any) error {
			_, err := w.q2.CreateRequest(ctx, newqueue.AccessLarge, newqueue.Token{Token: "x"})
			return err
		}},
	} {
		for _, d := range newqueue.Dialects {
			for _, before := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/before=%t", c.name, d, before), func(t *testing.T) {
					t.Parallel()
					w := &lossy{world: newWorld(t, d)}
					w.q = w.queue()
					faulty, q2 := w.losing(before)
					w.q2 = q2
					bid, ids := batchOf(t, w.q, 1)
					w.bid, w.jid = bid, ids[0]
					must(t, w.q.Lock(ctx, newqueue.InventoryLock("other"))) // its folder is there
					value(w.q.CreateRequest(ctx, newqueue.AccessLarge, newqueue.Token{}))(t)
					must(t, w.q.Init(ctx))
					w.put("/locks/queue", "")
					for _, s := range states.States(newqueue.EntityJob, string(d)) {
						w.put("/jobs/states/"+s, "") // so that the write is one attempt
					}
					for _, f := range newqueue.BatchFolders {
						w.put("/batches/"+bid+"/states/"+string(f), "")
					}
					var arg any
					if c.prepare != nil {
						arg = c.prepare(t, w)
					}
					old := w.tree()
					faulty.mu.Lock()
					faulty.lose = true
					faulty.mu.Unlock()
					err := c.do(w, arg)
					changes := znode.Diff(old, w.tree(), "/")
					switch {
					case before && err == nil && d == newqueue.MrtZK && c.name == "clean job":
					case before && !errors.Is(err, client.ErrNotDone):
						t.Errorf("the write was never sent, and the caller got: %v", err)
					case before && len(changes) > 0:
						t.Errorf("changed: %v", changes)
					case !before && err != nil:
						t.Errorf("the write was done, and the caller got: %v", err)
					}
					w.check()
				})
			}
		}
	}
}

// TestUnknownOutcome: another client has overwritten the data that would show the
// outcome.
func TestUnknownOutcome(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	conn, _ := connect(t, address(t))
	_, ids := batchOf(t, w.queue(), 1)
	drive(t, w.queue(), ids[0], newqueue.JobHeld)
	faulty := &losing{Conn: conn, before: true, also: func() {
		q := w.queue()
		must(t, q.MoveJob(ctx, ids[0], newqueue.JobHeld, newqueue.JobPending))
		must(t, value(q.AcquireJob(ctx, newqueue.JobPending))(t).Hold(ctx))
	}}
	q := client.Open(faulty, w.d, client.WithRoot(w.root))
	faulty.lose = true
	if err := q.MoveJob(ctx, ids[0], newqueue.JobHeld, newqueue.JobPending); !errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("%v", err)
	}
}

// TestLostSession: a worker whose session has ended can't change its job any
// more, even if its client has a new session, and even if another worker has
// acquired the job since (S8).
func TestLostSession(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q, s := w.open()
		other := w.queue()
		_, ids := batchOf(t, q, 1)
		steps := map[string]func(*client.Job) error{
			"succeed": func(j *client.Job) error { return j.Succeed(ctx) },
			"fail":    func(j *client.Job) error { return j.Fail(ctx, "") },
			"unlock":  func(j *client.Job) error { return j.Unlock(ctx) },
			"identifiers": func(j *client.Job) error {
				return j.Set(ctx, client.WithIdentifiers(newqueue.Identifiers{PrimaryID: "x"}))
			},
		}
		for name, step := range steps {
			for _, taken := range []bool{false, true} {
				j := value(q.AcquireJob(ctx, newqueue.JobPending))(t)
				must(t, s.expire())
				var second *client.Job
				if taken {
					second = value(other.AcquireJob(ctx, newqueue.JobPending))(t)
				}
				before := w.tree()
				if err := step(j); !errors.Is(err, client.ErrNotLocked) {
					t.Errorf("%s: %v", name, err)
				}
				same(t, before, w.tree())
				if second != nil {
					must(t, second.Unlock(ctx))
				}
			}
		}
		if j := value(q.Job(ctx, ids[0]))(t); j.Status.State != newqueue.JobPending {
			t.Errorf("the job is %s", j.Status.State)
		}
		w.check()
	})
}

// sameSession is a client that silently got a new session and takes it for the
// old one. That can happen between a worker's read of its lock and its write.
type sameSession struct {
	client.Conn
	id int64
}

func (c sameSession) SessionID() int64 { return c.id }

func (c sameSession) Exists(path string) (bool, *zk.Stat, error) {
	ok, s, err := c.Conn.Exists(path)
	if s != nil {
		s.EphemeralOwner = c.id
	}
	return ok, s, err
}

// TestFencing: the server refuses the writes of a worker that lost its session,
// because the next acquisition has changed the version of the status.
func TestFencing(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		conn, s := connect(t, address(t))
		fenced := client.Open(sameSession{conn, conn.SessionID()}, w.d, client.WithRoot(w.root))
		batchOf(t, w.queue(), 1)
		j := value(fenced.AcquireJob(ctx, newqueue.JobPending))(t)
		must(t, s.expire())
		second := value(w.queue().AcquireJob(ctx, newqueue.JobPending))(t)
		before := w.tree()
		if err := j.Succeed(ctx); !errors.Is(err, client.ErrConflict) {
			t.Errorf("%v", err)
		}
		if err := j.Set(ctx, client.WithIdentifiers(newqueue.Identifiers{PrimaryID: "x"})); !errors.Is(err, client.ErrConflict) {
			t.Errorf("%v", err)
		}
		if err := j.Unlock(ctx); !errors.Is(err, client.ErrNotLocked) {
			t.Errorf("%v", err)
		}
		same(t, before, w.tree())
		must(t, second.Succeed(ctx))
	})
}
