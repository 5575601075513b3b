package client_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// soon is how often a test's queue looks for a lock or a hold that was released.
const soon = 50 * time.Millisecond

// nexts is a Next method with its arguments.
type nexts func(context.Context, *client.Queue) (lockable, error)

type waiter struct {
	*hooked
	cancel context.CancelCauseFunc
	got    chan lockable
	failed chan error
}

func (w *world) waiting(next nexts, path string, recheck time.Duration) *waiter {
	w.t.Helper()
	conn, q := w.hooked(client.WithRecheck(recheck))
	v := &waiter{hooked: conn, got: make(chan lockable, 1), failed: make(chan error, 1)}
	looked := make(chan string, 1000)
	conn.watched = func(path string) { looked <- path }
	inner, cancel := context.WithCancelCause(ctx)
	v.cancel = cancel
	w.t.Cleanup(func() { cancel(nil) })
	go func() {
		if item, err := next(inner, q); err != nil {
			v.failed <- err
		} else {
			v.got <- item
		}
	}()
	for <-looked != w.root+path {
	}
	return v
}

func (v *waiter) gets(t *testing.T, w *world, want string) {
	t.Helper()
	select {
	case got := <-v.got:
		if got.Path() != want {
			t.Errorf("got %s, want %s", got.Path(), want)
		}
		if _, s, err := w.raw.Exists(w.root + want + "/lock"); err != nil || s.EphemeralOwner != v.SessionID() {
			t.Errorf("%s is not locked by the worker: %v %v", want, s, err)
		}
	case err := <-v.failed:
		t.Errorf("it failed: %v", err)
	case <-time.After(30 * time.Second):
		t.Error("it waits on")
	}
}

func nextJob(ctx context.Context, q *client.Queue) (lockable, error) {
	return q.NextJob(ctx, newqueue.JobPending)
}

func nextBatch(ctx context.Context, q *client.Queue) (lockable, error) {
	return q.NextBatch(ctx, newqueue.BatchPending)
}

func nextAccess(ctx context.Context, q *client.Queue) (lockable, error) {
	return q.NextRequest(ctx, newqueue.AccessLarge, newqueue.AccessPending)
}

const (
	firstJob     = "/jobs/jid0000000000"
	firstBatch   = "/batches/bid0000000000"
	firstRequest = "/access/large/qid0000000000"
	pending      = "/jobs/states/pending"
)

// TestNextWaits: a watch wakes a worker when something comes, and it looks again for what a
// watch does not tell.
func TestNextWaits(t *testing.T) {
	ingest := newqueue.QueueLock(newqueue.HoldIngest)
	// taken acquires the pending job, with the session of another worker.
	taken := func(t *testing.T, w *world) (*client.Job, *session) {
		q, s := w.open()
		batchOf(t, q, 1)
		return value(q.AcquireJob(ctx, newqueue.JobPending))(t), s
	}
	for name, c := range map[string]struct {
		next    nexts
		recheck time.Duration
		prepare func(*testing.T, *world) (then func())
		watch   string // on which it waits
		want    string
	}{
		"no queue yet": {nextJob, time.Hour, func(t *testing.T, w *world) func() {
			return func() { batchOf(t, w.queue(), 1) }
		}, pending, firstJob},
		"a job comes back": {nextJob, time.Hour, func(t *testing.T, w *world) func() {
			_, ids := batchOf(t, w.queue(), 1)
			drive(t, w.queue(), ids[0], newqueue.JobHeld)
			return func() { must(t, w.queue().MoveJob(ctx, ids[0], newqueue.JobHeld, newqueue.JobPending)) }
		}, pending, firstJob},
		"a submission": {nextBatch, time.Hour, func(t *testing.T, w *world) func() {
			return func() { value(w.queue().CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t) }
		}, "/batches", firstBatch},
		"a request": {nextAccess, time.Hour, func(t *testing.T, w *world) func() {
			return func() {
				value(w.queue().CreateRequest(ctx, newqueue.AccessLarge, newqueue.Token{Token: "x"}))(t)
			}
		}, "/access/large", firstRequest},
		"a worker unlocks": {nextJob, soon, func(t *testing.T, w *world) func() {
			j, _ := taken(t, w)
			return func() { must(t, j.Unlock(ctx)) }
		}, pending, firstJob},
		"a worker dies": {nextJob, soon, func(t *testing.T, w *world) func() {
			_, s := taken(t, w)
			return func() { must(t, s.expire()) }
		}, pending, firstJob},
		"held": {nextJob, soon, func(t *testing.T, w *world) func() {
			batchOf(t, w.queue(), 1)
			must(t, w.queue().Lock(ctx, ingest))
			return func() { must(t, w.queue().Unlock(ctx, ingest)) }
		}, pending, firstJob},
		"a job that can't be read": {nextJob, soon, func(t *testing.T, w *world) func() {
			_, ids := batchOf(t, w.queue(), 2)
			w.put("/jobs/"+ids[0]+"/configuration", "no JSON")
			drive(t, w.queue(), ids[1], newqueue.JobHeld)
			return func() { must(t, w.queue().MoveJob(ctx, ids[1], newqueue.JobHeld, newqueue.JobPending)) }
		}, pending, "/jobs/jid0000000001"},
	} {
		t.Run(name, func(t *testing.T) {
			eachDialect(t, func(t *testing.T, w *world) {
				then := c.prepare(t, w)
				v := w.waiting(c.next, c.watch, c.recheck)
				select {
				case got := <-v.got:
					t.Fatalf("it did not wait, and got %s", got.Path())
				case <-time.After(2 * soon):
				}
				then()
				v.gets(t, w, c.want)
			})
		})
	}
}

// TestWaitsOverALostConnection: a job comes, or the last job of a batch leaves, while the client has no
// connection, and while its session ends. Who waits for it notices.
func TestWaitsOverALostConnection(t *testing.T) {
	emptied := func(ctx context.Context, q *client.Queue) (lockable, error) {
		if fired, err := q.ReportWhenEmptied(ctx, "bid0000000000"); err != nil || !fired {
			return nil, fmt.Errorf("fired: %t, %w", fired, err)
		}
		return q.AcquireBatch(ctx, newqueue.BatchReporting)
	}
	for name, lose := range map[string]func(*session) (back func(), err error){
		"connection": func(s *session) (func(), error) { return s.cut(), nil },
		"session":    func(s *session) (func(), error) { return func() {}, s.expire() },
	} {
		t.Run(name, func(t *testing.T) {
			eachDialect(t, func(t *testing.T, w *world) {
				wait := func(next nexts, path string, meanwhile func(), want string) {
					v := w.waiting(next, path, time.Hour)
					id := v.SessionID()
					v.reading.Lock()
					back, err := lose(v.session)
					must(t, err)
					meanwhile()
					v.reconnect(back)
					v.gets(t, w, want)
					if same := v.SessionID() == id; same != (name == "connection") {
						t.Errorf("the same session: %t", same)
					}
					must(t, v.session.expire())
				}
				wait(nextJob, pending, func() { batchOf(t, w.queue(), 1) }, firstJob)
				wait(emptied, firstBatch+"/states/batch-processing", func() { drive(t, w.queue(), "", newqueue.JobCompleted) }, firstBatch)
				w.check()
			})
		})
	}
}

// TestNextOutlastsAnOutage: other methods give up after a while without a server. A worker
// that waits does not.
func TestNextOutlastsAnOutage(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	batchOf(t, w.queue(), 1)
	var failures atomic.Int32 // how many more requests fail
	out, q := w.hooked(client.WithRecheck(soon))
	out.read = func(path string) error {
		if strings.HasSuffix(path, "/status") && failures.Add(-1) >= 0 {
			return zk.ErrNoServer
		}
		return nil
	}
	failures.Store(25) // of 20 attempts
	if _, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, zk.ErrNoServer) {
		t.Fatalf("%v", err)
	}
	failures.Store(25)
	if j := value(q.NextJob(ctx, newqueue.JobPending))(t); !j.Locked() {
		t.Error("the job is not locked")
	}
}

// TestLockIsLeft: the server does what acquires something, and then can't be reached for so long that the client can
// neither read it nor unlock it. The error says which lock stays: a worker must not wait for what its own session has locked.
func TestLockIsLeft(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for name, next := range map[string]nexts{"job": nextJob, "batch": nextBatch, "request": nextAccess} {
			t.Run(string(d)+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					conn := bubbled(t)
					q := client.Open(conn, d)
					must(t, q.Init(ctx))
					batchOf(t, q, 1)
					value(q.CreateBatch(ctx, newqueue.Submission{BatchID: "x"}))(t)
					value(q.CreateRequest(ctx, newqueue.AccessLarge, newqueue.Token{}))(t)
					out := &hooked{Conn: conn}
					out.multi = func(s send) ([]zk.MultiResponse, error) {
						results, err := s()
						if err == nil {
							out.read = func(string) error { return zk.ErrNoServer }
						}
						return results, err
					}
					ctx, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					_, err := next(ctx, client.Open(out, d))
					if !errors.Is(err, client.ErrUnknownOutcome) || !strings.Contains(err.Error(), "/lock (") {
						t.Errorf("%v", err)
					}
				})
			})
		}
	}
}

// TestGivenBack: a worker can't read the lock that it has acquired, and its request to unlock is lost. The lock does not stay: nobody knows of it.
func TestGivenBack(t *testing.T) {
	for _, d := range newqueue.Dialects {
		synctest.Test(t, func(t *testing.T) {
			conn := bubbled(t)
			_, ids := batchOf(t, client.Open(conn, d), 1)
			lock := newqueue.JobPath(ids[0]) + "/lock"
			var failures atomic.Int32
			out := &hooked{Conn: conn}
			out.read = func(path string) error {
				if path == lock && failures.Add(-1) >= 0 {
					return zk.ErrNoServer
				}
				return nil
			}
			out.multi = func(s send) ([]zk.MultiResponse, error) {
				results, err := s()
				if err == nil {
					failures.Store(20)
					out.lose(true)
				}
				return results, err
			}
			if _, err := client.Open(out, d).AcquireJob(ctx, newqueue.JobPending); err == nil || errors.Is(err, client.ErrUnknownOutcome) {
				t.Errorf("%s: %v", d, err)
			}
			if there, _, err := conn.Exists(lock); there || err != nil {
				t.Errorf("%s: the lock is left: %v", d, err)
			}
		})
	}
}

// TestNotGivenBack: a worker can't unlock a job that it does not keep: it can't be read, or a loop's body left it. The error names the lock.
func TestNotGivenBack(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for name, acquire := range map[string]func(context.Context, *client.Queue) error{
			"unreadable": func(ctx context.Context, q *client.Queue) error { return errorOf(q.NextJob(ctx, newqueue.JobPending)) },
			"left": func(ctx context.Context, q *client.Queue) (last error) {
				for _, last = range q.AcquireJobs(ctx, newqueue.JobPending) {
				}
				return last
			},
		} {
			t.Run(string(d)+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					conn := bubbled(t)
					_, ids := batchOf(t, client.Open(conn, d), 1)
					if name == "unreadable" {
						value(conn.Set(newqueue.JobPath(ids[0])+"/configuration", []byte("{"), -1))(t)
					}
					out := &hooked{Conn: conn}
					out.multi = func(s send) ([]zk.MultiResponse, error) {
						results, err := s()
						if err == nil && results[0].Error == nil {
							out.multi = func(send) ([]zk.MultiResponse, error) { return nil, zk.ErrNoServer }
						}
						return results, err
					}
					ctx, cancel := context.WithTimeout(ctx, time.Minute)
					defer cancel()
					if err := acquire(ctx, client.Open(out, d)); !errors.Is(err, client.ErrUnknownOutcome) || !strings.Contains(err.Error(), "/lock (") {
						t.Errorf("%v", err)
					}
				})
			})
		}
	}
}

// TestNotGivenBackButChanged: the admin tool holds a job while a worker acquires it, then releases it, and removes it node by node. The worker has no job, and may have its
// lock. So the error is that one alone, and not also that of a worker whose job was changed, who has one to unlock.
func TestNotGivenBackButChanged(t *testing.T) {
	w := newLossy(t, newqueue.MrtZK)
	w.faulty.next(func(s send) ([]zk.MultiResponse, error) {
		defer w.status(w.jid, newqueue.JobPending, newqueue.JobHeld)
		w.faulty.meddle(func() {
			w.status(w.jid, newqueue.JobHeld, newqueue.JobPending)
			w.faulty.read = func(path string) error {
				if w.faulty.read = nil; strings.HasSuffix(path, "/status") {
					w.delete(newqueue.JobPath(w.jid) + "/status")
				}
				return nil
			}
		})
		return s()
	})
	j, err := w.q.NextJob(ctx, newqueue.JobPending)
	if !errors.Is(err, client.ErrUnknownOutcome) || errors.Is(err, client.ErrConflict) {
		t.Errorf("%v, %v", j, err)
	}
}

// TestNextEnds: it ends with its context, and if the caller closes the session. It leaves no lock.
func TestNextEnds(t *testing.T) {
	why := errors.New("the service stops")
	for name, c := range map[string]struct {
		end  func(*waiter)
		want error
	}{
		"cancelled": {func(v *waiter) { v.cancel(why) }, why},
		"closed":    {func(v *waiter) { v.session.conn.Close() }, zk.ErrConnectionClosed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newqueue.Design)
			v := w.waiting(nextJob, pending, soon)
			c.end(v)
			if err := <-v.failed; !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if locks := left(w.tree(), "/lock"); len(locks) > 0 {
				t.Errorf("left: %v", locks)
			}
		})
	}
}

// TestWaitsLeaveOneWatch: who looks again and again sets no second watch.
func TestWaitsLeaveOneWatch(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	bid, _ := batchOf(t, w.queue(), 1)
	value(w.queue().AcquireJob(ctx, newqueue.JobPending))(t)
	on := map[string]int{}
	counter, q := w.hooked(client.WithRecheck(soon / 10))
	counter.watched = func(path string) { on[path]++ }
	for _, wait := range []func(context.Context) error{
		func(ctx context.Context) error { return errorOf(q.NextJob(ctx, newqueue.JobPending)) },
		func(ctx context.Context) error { return errorOf(q.ReportWhenEmptied(ctx, bid)) },
	} {
		stop, cancel := context.WithTimeout(ctx, soon)
		defer cancel()
		if err := wait(stop); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	if want := map[string]int{w.root + pending: 1, w.root + newqueue.BatchFolderPath(bid, newqueue.FolderProcessing): 1}; !maps.Equal(on, want) {
		t.Errorf("watches: %v, want %v", on, want)
	}
}

// TestReportWhileItIsMade: the client library creates a batch step by step, and
// its jobs one by one. A watcher waits until the last step.
func TestReportWhileItIsMade(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	const status = `,"last_modified":"2024-03-01 12:00:00 -0800","message":""}`
	w.put(firstBatch, "")
	fired := make(chan bool)
	go func() {
		ok, err := w.queue(client.WithRecheck(soon)).ReportWhenEmptied(ctx, "bid0000000000")
		if err != nil {
			t.Error(err)
		}
		fired <- ok
	}()
	for _, step := range [][2]string{
		// Batch.createBatch
		{"/submission", `{"batchID":""}`}, {"/status", `{"status":"Pending"` + status},
		// Batch.acquirePendingBatch
		{"/lock", ""}, {"/states", ""}, {"/status", `{"status":"Processing"` + status},
		// Job.createJob, whose last step is the batch's entry.
		{"/states/batch-processing", ""}, {"/states/batch-processing/jid0000000000", ""},
	} {
		at := w.root + firstBatch + step[0]
		if _, err := w.raw.Create(at, []byte(step[1]), 0, zk.WorldACL(zk.PermAll)); err == zk.ErrNodeExists {
			_, err = w.raw.Set(at, []byte(step[1]), -1)
			must(t, err)
		}
		select {
		case <-fired:
			t.Fatalf("fired after %s", step[0])
		case <-time.After(2 * soon):
		}
	}
	w.delete(firstBatch + "/lock")
	w.delete(firstBatch + "/states/batch-processing/jid0000000000")
	if !<-fired {
		t.Error("not fired")
	}
}
