package client_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// soon is how often a test's queue looks for a lock or a hold that was released.
const soon = 50 * time.Millisecond

// waiter is a worker in a Next method, on a connection that counts its watches.
type waiter struct {
	*watchCounter
	session *session
	cancel  context.CancelCauseFunc
	got     chan string // the path of what it got
	failed  chan error
}

// waiting starts a worker, and returns when it has set a watch on the path.
func (w *world) waiting(next func(context.Context, *client.Queue) (string, error), path string, recheck time.Duration) *waiter {
	w.t.Helper()
	counter, s := w.watching()
	v := &waiter{watchCounter: counter, session: s, got: make(chan string, 1), failed: make(chan error, 1)}
	q := client.Open(counter, w.d, client.WithRoot(w.root), client.WithRecheck(recheck))
	inner, cancel := context.WithCancelCause(ctx)
	v.cancel = cancel
	w.t.Cleanup(func() { cancel(nil) })
	go func() {
		at, err := next(inner, q)
		if err != nil {
			v.failed <- err
			return
		}
		v.got <- at
	}()
	for at := range v.looked {
		if at == w.root+path {
			return v
		}
	}
	return nil
}

// gets expects what the worker got, and that it is locked.
func (v *waiter) gets(t *testing.T, w *world, want string) {
	t.Helper()
	select {
	case at := <-v.got:
		if at != want {
			t.Errorf("got %s, want %s", at, want)
		}
		if _, s, err := w.raw.Exists(w.root + at + "/lock"); err != nil || s.EphemeralOwner != v.SessionID() {
			t.Errorf("%s is not locked by the worker: %v %v", at, s, err)
		}
	case err := <-v.failed:
		t.Errorf("it failed: %v", err)
	case <-time.After(30 * time.Second):
		t.Error("it waits on")
	}
}

// watchCounter counts the watches that a queue leaves with its client.
type watchCounter struct {
	client.Conn
	mu     sync.Mutex
	on     map[string]int
	looked chan string // gets the path of each
}

func (w *world) watching() (*watchCounter, *session) {
	conn, s := connect(w.t, address(w.t))
	return &watchCounter{Conn: conn, on: map[string]int{}, looked: make(chan string, 1000)}, s
}

func (c *watchCounter) set(path string) {
	c.mu.Lock()
	c.on[path]++
	c.mu.Unlock()
	c.looked <- path
}

func (c *watchCounter) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, changed, err := c.Conn.ChildrenW(path)
	if err == nil {
		c.set(path)
	}
	return names, stat, changed, err
}

func (c *watchCounter) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	ok, stat, changed, err := c.Conn.ExistsW(path)
	if err == nil {
		c.set(path)
	}
	return ok, stat, changed, err
}

// countingMulti counts transactions.
type countingMulti struct {
	client.Conn
	n atomic.Int32
}

func (c *countingMulti) Multi(ops ...any) ([]zk.MultiResponse, error) {
	c.n.Add(1)
	return c.Conn.Multi(ops...)
}

func errorOf[T any](_ T, err error) error { return err }

// pathOf is the path of what a Next method returned.
func pathOf[T interface{ Path() string }](item T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return item.Path(), nil
}

func nextJob(ctx context.Context, q *client.Queue) (string, error) {
	return pathOf(q.NextJob(ctx, newqueue.JobPending))
}

func nextBatch(ctx context.Context, q *client.Queue) (string, error) {
	return pathOf(q.NextBatch(ctx, newqueue.BatchPending))
}

func nextAccess(ctx context.Context, q *client.Queue) (string, error) {
	return pathOf(q.NextRequest(ctx, newqueue.AccessLarge, newqueue.AccessPending))
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
		next    func(context.Context, *client.Queue) (string, error)
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
				case at := <-v.got:
					t.Fatalf("it did not wait, and got %s", at)
				case <-time.After(2 * soon):
				}
				then()
				v.gets(t, w, c.want)
			})
		})
	}
}

// TestNextOverALostConnection: a job comes while the client has no connection, and while
// its session ends. The worker gets it.
func TestNextOverALostConnection(t *testing.T) {
	for name, lose := range map[string]func(*session) (back func(), err error){
		"connection": func(s *session) (func(), error) { return s.cut(), nil },
		"session":    func(s *session) (func(), error) { return func() {}, s.expire() },
	} {
		t.Run(name, func(t *testing.T) {
			eachDialect(t, func(t *testing.T, w *world) {
				v := w.waiting(nextJob, pending, time.Hour)
				id := v.SessionID()
				back, err := lose(v.session)
				must(t, err)
				batchOf(t, w.queue(), 1)
				back()
				v.gets(t, w, firstJob)
				if same := v.SessionID() == id; same != (name == "connection") {
					t.Errorf("the same session: %t", same)
				}
				w.check()
			})
		})
	}
}

// gone is a connection without a server, until it is back.
type gone struct {
	client.Conn
	failures atomic.Int32 // how many more requests fail
}

func (c *gone) Get(path string) ([]byte, *zk.Stat, error) {
	if c.failures.Add(-1) >= 0 {
		return nil, nil, zk.ErrNoServer
	}
	return c.Conn.Get(path)
}

// TestNextOutlastsAnOutage: other methods give up after a while without a server. A worker
// that waits does not.
func TestNextOutlastsAnOutage(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	batchOf(t, w.queue(), 1)
	conn, _ := connect(t, address(t))
	out := &gone{Conn: conn}
	q := client.Open(out, w.d, client.WithRoot(w.root), client.WithRecheck(soon))
	out.failures.Store(25) // of 20 attempts
	if _, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, zk.ErrNoServer) {
		t.Fatalf("%v", err)
	}
	out.failures.Store(25)
	if j := value(q.NextJob(ctx, newqueue.JobPending))(t); !j.Locked() {
		t.Error("the job is not locked")
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

// TestNextRefuses what it would wait for in vain.
func TestNextRefuses(t *testing.T) {
	q := newWorld(t, newqueue.Design).queue()
	for what, err := range map[string]error{
		"a final state": errorOf(q.NextJob(ctx, newqueue.JobCompleted)),
		"no state":      errorOf(q.NextJob(ctx, "no-such-state")),
		"no queue":      errorOf(q.NextRequest(ctx, "medium", newqueue.AccessPending)),
	} {
		if !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNextSharesOut: workers wait, some on one session, and the jobs come one after the
// other. Each job is got once.
func TestNextSharesOut(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		const sessions, each, batches, jobs = 3, 3, 4, 6
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		got := make(chan string, batches*jobs)
		var workers sync.WaitGroup
		for range sessions {
			q := w.queue(client.WithRecheck(soon))
			for range each {
				workers.Go(func() {
					for {
						j, err := q.NextJob(stop, newqueue.JobPending)
						if errors.Is(err, context.Canceled) {
							return
						}
						if err == nil {
							err = j.Succeed(ctx)
						}
						if err != nil {
							t.Error(err)
							return
						}
						got <- j.ID
					}
				})
			}
		}
		for range batches {
			batchOf(t, w.queue(), jobs)
		}
		times := map[string]int{}
		for range batches * jobs {
			select {
			case jid := <-got:
				if times[jid]++; times[jid] > 1 {
					t.Errorf("%s was acquired %d times", jid, times[jid])
				}
			case <-time.After(time.Minute):
				t.Fatalf("%d of %d jobs are worked", len(times), batches*jobs)
			}
		}
		cancel()
		workers.Wait()
		w.check()
	})
}

// TestWaitsLeaveOneWatch: waiting again for the same sets no second watch.
func TestWaitsLeaveOneWatch(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	bid, _ := batchOf(t, w.queue(), 1)
	busy := w.queue()
	value(busy.AcquireJob(ctx, newqueue.JobPending))(t)
	counter, _ := w.watching()
	q := client.Open(counter, w.d, client.WithRoot(w.root), client.WithRecheck(soon/10))
	for range 3 {
		stop, cancel := context.WithTimeout(ctx, soon)
		defer cancel()
		if _, err := q.NextJob(stop, newqueue.JobPending); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		stop, cancel = context.WithTimeout(ctx, soon)
		defer cancel()
		if _, err := q.ReportWhenEmptied(stop, bid); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	for path, n := range counter.on {
		if n != 1 {
			t.Errorf("%d watches on %s", n, path)
		}
	}
	if len(counter.on) != 2 {
		t.Errorf("watches: %v", counter.on)
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

// TestNotMadeYet: a batch whose jobs are not created yet is not done.
func TestNotMadeYet(t *testing.T) {
	w := newWorld(t, newqueue.MrtZK)
	w.put(firstBatch+"/submission", `{}`)
	w.put(firstBatch+"/status", `{"status":"Processing","last_modified":"2024-03-01 12:00:00 -0800","message":""}`)
	w.put(firstBatch+"/states", "")
	before := w.tree()
	err := w.queue().MoveBatch(ctx, "bid0000000000", newqueue.BatchProcessing, newqueue.BatchReporting)
	if want := "move to reporting " + firstBatch + ": " + firstBatch + "/states/batch-processing: it does not exist"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	same(t, before, w.tree())
}
