package newqueue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// waiter is a worker in a Next method, on a connection that counts its watches.
type waiter struct {
	*watchCounter
	q       *newqueue.Queue
	session *session
	cancel  context.CancelCauseFunc
	got     chan string // the path of what it got
	failed  chan error
}

// waiting starts a worker, and returns when it has set a watch on the path.
func (w *world) waiting(next func(context.Context, *newqueue.Queue) (string, error), path string) *waiter {
	w.t.Helper()
	conn, s := connect(w.t, address(w.t))
	v := &waiter{watchCounter: &watchCounter{Conn: conn, on: map[string]int{}, looked: make(chan string, 1000)}, session: s,
		got: make(chan string, 1), failed: make(chan error, 1)}
	v.q = newqueue.Open(v.watchCounter, w.d, newqueue.WithRoot(w.root))
	inner, cancel := context.WithCancelCause(ctx)
	v.cancel = cancel
	w.t.Cleanup(func() { cancel(nil) })
	go func() {
		at, err := next(inner, v.q)
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

// pathOf is the path of what a Next method returned.
func pathOf[T interface{ Path() string }](item T, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return item.Path(), nil
}

func nextJob(ctx context.Context, q *newqueue.Queue) (string, error) {
	return pathOf(q.NextJob(ctx, newqueue.JobPending))
}

func nextBatch(s newqueue.BatchState) func(context.Context, *newqueue.Queue) (string, error) {
	return func(ctx context.Context, q *newqueue.Queue) (string, error) { return pathOf(q.NextBatch(ctx, s)) }
}

func nextAccess(s newqueue.AccessState) func(context.Context, *newqueue.Queue) (string, error) {
	return func(ctx context.Context, q *newqueue.Queue) (string, error) {
		return pathOf(q.NextAccess(ctx, newqueue.AccessLarge, s))
	}
}

const (
	firstJob     = "/jobs/jid0000000000"
	firstBatch   = "/batches/bid0000000000"
	firstRequest = "/access/large/qid0000000000"
)

// TestNextWaits: a worker waits until whatever keeps it from acquiring has changed.
func TestNextWaits(t *testing.T) {
	ingest := newqueue.QueueLock(newqueue.HoldIngest)
	request := func(t *testing.T, q *newqueue.Queue) {
		value(q.CreateAccess(ctx, newqueue.AccessLarge, newqueue.Token{Token: "x"}))(t)
	}
	submit := func(t *testing.T, q *newqueue.Queue) {
		value(q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"}))(t)
	}
	// taken acquires the pending job, with the session of another worker.
	taken := func(t *testing.T, w *world) (*newqueue.Job, *session) {
		q, s := w.open()
		batchOf(t, q, 1)
		return value(q.AcquireJob(ctx, newqueue.JobPending))(t), s
	}
	for name, c := range map[string]struct {
		next    func(context.Context, *newqueue.Queue) (string, error)
		prepare func(*testing.T, *world) (then func())
		watch   string // on which it waits
		want    string
	}{
		"no queue yet": {nextJob, func(t *testing.T, w *world) func() {
			return func() { batchOf(t, w.queue(), 1) }
		}, "/jobs/states/pending", firstJob},
		"a new job": {nextJob, func(t *testing.T, w *world) func() {
			w.put("/jobs/states/pending", "")
			return func() { batchOf(t, w.queue(), 1) }
		}, "/jobs/states/pending", "/jobs/jid0000000001"},
		"a job comes back": {nextJob, func(t *testing.T, w *world) func() {
			_, ids := batchOf(t, w.queue(), 1)
			drive(t, w.queue(), ids[0], newqueue.JobHeld)
			return func() { must(t, w.queue().MoveJob(ctx, ids[0], newqueue.JobHeld, newqueue.JobPending)) }
		}, "/jobs/states/pending", firstJob},
		"a worker unlocks": {nextJob, func(t *testing.T, w *world) func() {
			j, _ := taken(t, w)
			return func() { must(t, j.Unlock(ctx)) }
		}, firstJob + "/lock", firstJob},
		"a worker dies": {nextJob, func(t *testing.T, w *world) func() {
			_, s := taken(t, w)
			return func() { must(t, s.expire()) }
		}, firstJob + "/lock", firstJob},
		"held": {nextJob, func(t *testing.T, w *world) func() {
			batchOf(t, w.queue(), 1)
			must(t, w.queue().Lock(ctx, ingest))
			return func() {
				w.put("/locks/queue/ingest", `{"owners":[{"by":"alice"}]}`) // another owner changes nothing
				must(t, w.queue().Unlock(ctx, ingest))
			}
		}, "/locks/queue/ingest", firstJob},
		"held and empty": {nextJob, func(t *testing.T, w *world) func() {
			must(t, w.queue().Lock(ctx, ingest))
			return func() {
				batchOf(t, w.queue(newqueue.IgnoreHolds()), 1)
				must(t, w.queue().Unlock(ctx, ingest))
			}
		}, "/locks/queue/ingest", firstJob},
		"held while it waits": {nextJob, func(t *testing.T, w *world) func() {
			w.put("/jobs/states/pending", "")
			return func() {
				must(t, w.queue().Lock(ctx, ingest))
				batchOf(t, w.queue(newqueue.IgnoreHolds()), 1)
				must(t, w.queue().Unlock(ctx, ingest))
			}
		}, "/jobs/states/pending", "/jobs/jid0000000001"},
		"a submission": {nextBatch(newqueue.BatchPending), func(t *testing.T, w *world) func() {
			return func() { submit(t, w.queue()) }
		}, "/batches", firstBatch},
		"a batch is done": {nextBatch(newqueue.BatchReporting), func(t *testing.T, w *world) func() {
			bid, ids := batchOf(t, w.queue(), 1)
			return func() {
				drive(t, w.queue(), ids[0], newqueue.JobFailed)
				must(t, w.queue().MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
			}
		}, firstBatch + "/status", firstBatch},
		"a batch is released": {nextBatch(newqueue.BatchPending), func(t *testing.T, w *world) func() {
			submit(t, w.queue())
			must(t, value(w.queue().AcquireBatch(ctx, newqueue.BatchPending))(t).Hold(ctx, ""))
			return func() { must(t, w.queue().MoveBatch(ctx, "bid0000000000", "", newqueue.BatchPending)) }
		}, firstBatch + "/status", firstBatch},
		"a request": {nextAccess(newqueue.AccessPending), func(t *testing.T, w *world) func() {
			return func() { request(t, w.queue()) }
		}, "/access/large", firstRequest},
		"a request is retried": {nextAccess(newqueue.AccessProcessing), func(t *testing.T, w *world) func() {
			q := w.queue()
			request(t, q)
			must(t, value(q.AcquireAccess(ctx, newqueue.AccessLarge, newqueue.AccessPending))(t).Succeed(ctx))
			must(t, value(q.AcquireAccess(ctx, newqueue.AccessLarge, newqueue.AccessProcessing))(t).Fail(ctx, ""))
			return func() {
				must(t, w.queue().MoveAccess(ctx, newqueue.AccessLarge, "qid0000000000", newqueue.AccessFailed, newqueue.AccessProcessing))
			}
		}, firstRequest + "/status", firstRequest},
	} {
		t.Run(name, func(t *testing.T) {
			eachDialect(t, func(t *testing.T, w *world) {
				then := c.prepare(t, w)
				v := w.waiting(c.next, c.watch)
				select {
				case at := <-v.got:
					t.Fatalf("it did not wait, and got %s", at)
				default:
				}
				then()
				v.gets(t, w, c.want)
				w.check()
			})
		})
	}
}

// TestNextGetsWhatIsThere, in the order of AcquireJob.
func TestNextGetsWhatIsThere(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		_, ids := batchOf(t, q, 3)
		must(t, q.SetPriority(ctx, ids[2], 1))
		for _, want := range []string{ids[2], ids[0], ids[1]} {
			if j := value(q.NextJob(ctx, newqueue.JobPending))(t); j.ID != want || !j.Locked() {
				t.Errorf("got %s, locked %t, want %s", j.ID, j.Locked(), want)
			}
		}
	})
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
				v := w.waiting(nextJob, "/jobs/states/pending")
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
	newqueue.Conn
	failures atomic.Int32 // how many more requests fail
	err      error
}

func (c *gone) fails() bool { return c.failures.Add(-1) >= 0 }

func (c *gone) Get(path string) ([]byte, *zk.Stat, error) {
	if c.fails() {
		return nil, nil, c.err
	}
	return c.Conn.Get(path)
}

func (c *gone) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if c.fails() {
		return nil, c.err
	}
	return c.Conn.Multi(ops...)
}

// TestNextOutlastsAnOutage: other methods give up after a while without a server. A worker
// that waits does not.
func TestNextOutlastsAnOutage(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	batchOf(t, w.queue(), 1)
	conn, _ := connect(t, address(t))
	out := &gone{Conn: conn, err: zk.ErrNoServer}
	q := newqueue.Open(out, w.d, newqueue.WithRoot(w.root))
	out.failures.Store(25) // of 20 attempts
	if _, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, zk.ErrNoServer) {
		t.Fatalf("%v", err)
	}
	out.failures.Store(25)
	if j := value(q.NextJob(ctx, newqueue.JobPending))(t); !j.Locked() {
		t.Error("the job is not locked")
	}
}

// TestNextEnds: it ends with its context, whatever it waits for, and if the caller closes
// the session. It leaves no lock.
func TestNextEnds(t *testing.T) {
	why := errors.New("the service stops")
	for name, c := range map[string]struct {
		prepare func(*world)
		watch   string
		end     func(*waiter)
		want    error
	}{
		"cancelled":            {func(*world) {}, "/jobs/states/pending", func(v *waiter) { v.cancel(why) }, why},
		"cancelled while held": {func(w *world) { must(w.t, w.queue().Lock(ctx, newqueue.QueueLock(newqueue.HoldIngest))) }, "/locks/queue/ingest", func(v *waiter) { v.cancel(why) }, why},
		"closed":               {func(*world) {}, "/jobs/states/pending", func(v *waiter) { v.session.conn.Close() }, zk.ErrConnectionClosed},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newqueue.Design)
			c.prepare(w)
			v := w.waiting(nextJob, c.watch)
			c.end(v)
			if err := <-v.failed; !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if locks := left(w.tree(), "/lock"); len(locks) > 0 && name != "cancelled while held" {
				t.Errorf("left: %v", locks)
			}
		})
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	w := newWorld(t, newqueue.Design)
	batchOf(t, w.queue(), 1)
	if _, err := w.queue().NextJob(ended, newqueue.JobPending); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestNextRefuses what it would wait for in vain.
func TestNextRefuses(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	for what, err := range map[string]error{
		"a final state": errorOf(q.NextJob(ctx, newqueue.JobCompleted)),
		"no state":      errorOf(q.NextJob(ctx, "no-such-state")),
		"no queue":      errorOf(q.NextAccess(ctx, "medium", newqueue.AccessPending)),
	} {
		if !errors.Is(err, newqueue.ErrValue) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNextSharesOut: workers wait, some on one session, and the jobs come one after the
// other while an administrator holds the queue now and then. Each job is got once.
func TestNextSharesOut(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		const sessions, each, batches, jobs = 3, 3, 4, 6
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		var mu sync.Mutex
		times := map[string]int{}
		done := make(chan string, batches*jobs)
		var workers sync.WaitGroup
		for range sessions {
			q := w.queue()
			for range each {
				workers.Go(func() {
					for {
						j, err := q.NextJob(stop, newqueue.JobPending)
						if err != nil {
							if !errors.Is(err, context.Canceled) {
								t.Error(err)
							}
							return
						}
						mu.Lock()
						times[j.ID]++
						mu.Unlock()
						if err := j.Succeed(ctx); err != nil {
							t.Error(err)
						}
						done <- j.ID
					}
				})
			}
		}
		admin := w.queue(newqueue.IgnoreHolds())
		var want []string
		for i := range batches {
			hold := newqueue.QueueLock(newqueue.HoldIngest)
			if i%2 == 1 {
				must(t, admin.Lock(ctx, hold))
			}
			_, ids := batchOf(t, admin, jobs)
			want = append(want, ids...)
			if i%2 == 1 {
				must(t, admin.Unlock(ctx, hold))
			}
		}
		for range want {
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("%d of %d jobs are worked", len(times), len(want))
			}
		}
		cancel()
		workers.Wait()
		for _, jid := range want {
			if times[jid] != 1 {
				t.Errorf("%s was acquired %d times", jid, times[jid])
			}
		}
		w.check()
	})
}

// TestNextAfterAnotherGoroutineFailed: another goroutine of the same session was just
// acquiring the only job, and its connection was lost. Nothing in the tree shows that.
func TestNextAfterAnotherGoroutineFailed(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	batchOf(t, w.queue(), 1)
	conn, _ := connect(t, address(t))
	counter := &watchCounter{Conn: conn, on: map[string]int{}, looked: make(chan string, 1000)}
	faulty := &losing{Conn: counter, before: true, lose: true}
	q := newqueue.Open(faulty, w.d, newqueue.WithRoot(w.root))
	got := make(chan string)
	faulty.also = func() {
		go func() {
			at, err := nextJob(ctx, q)
			if err != nil {
				t.Error(err)
			}
			got <- at
		}()
		for range 3 { // the list, the job's lock and its status
			<-counter.looked
		}
	}
	if _, err := q.AcquireJob(ctx, newqueue.JobPending); !errors.Is(err, newqueue.ErrNotDone) {
		t.Fatalf("%v", err)
	}
	select {
	case at := <-got:
		if at != firstJob {
			t.Errorf("got %s", at)
		}
	case <-time.After(30 * time.Second):
		t.Error("it waits on")
	}
}

// TestNextLeavesFewWatches: waiting again for the same sets no second watch.
func TestNextLeavesFewWatches(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	batchOf(t, w.queue(), 2)
	other := w.queue()
	busy := value(other.AcquireJob(ctx, newqueue.JobPending))(t)
	conn, _ := connect(t, address(t))
	listed := &countingLists{Conn: conn}
	counter := &watchCounter{Conn: listed, on: map[string]int{}, looked: make(chan string, 1000)}
	q := newqueue.Open(counter, w.d, newqueue.WithRoot(w.root))
	mine := value(q.NextJob(ctx, newqueue.JobPending))(t)
	if len(counter.on) > 0 {
		t.Errorf("it did not have to wait, and set watches: %v", counter.on)
	}
	for _, lists := range []int32{4, 2, 2, 2} {
		stop, cancel := context.WithCancel(ctx)
		ended, before := make(chan error, 1), listed.n.Load()
		go func() { ended <- errorOf(q.NextJob(stop, newqueue.JobPending)) }()
		// It lists the jobs to acquire one, and to set watches, and both again when it has set some.
		for listed.n.Load() < before+lists {
			time.Sleep(time.Millisecond)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	for _, path := range []string{"/jobs/states/pending", busy.Path() + "/lock", mine.Path() + "/lock"} {
		if n := counter.on[w.root+path]; n != 1 {
			t.Errorf("%d watches on %s", n, path)
		}
	}
}

// countingLists counts how often children are listed.
type countingLists struct {
	newqueue.Conn
	n atomic.Int32
}

func (c *countingLists) Children(path string) ([]string, *zk.Stat, error) {
	names, stat, err := c.Conn.Children(path)
	c.n.Add(1)
	return names, stat, err
}

// countingMulti counts transactions.
type countingMulti struct {
	newqueue.Conn
	n atomic.Int32
}

func (c *countingMulti) Multi(ops ...any) ([]zk.MultiResponse, error) {
	c.n.Add(1)
	return c.Conn.Multi(ops...)
}

// TestNextSkipsWhatCantBeRead: two workers wait beside a job whose content can't be read.
// Neither wakes the other by trying it again and again. When a good job comes, one gets it.
func TestNextSkipsWhatCantBeRead(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		_, ids := batchOf(t, w.queue(), 2)
		w.put("/jobs/"+ids[0]+"/configuration", "no JSON")
		drive(t, w.queue(), ids[1], newqueue.JobHeld)
		var counters []*countingMulti
		got := make(chan string, 2)
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		var workers sync.WaitGroup
		for range 2 {
			conn, _ := connect(t, address(t))
			c := &countingMulti{Conn: conn}
			counters = append(counters, c)
			q := newqueue.Open(c, w.d, newqueue.WithRoot(w.root))
			workers.Go(func() {
				if at, err := nextJob(stop, q); err == nil {
					got <- at
				}
			})
		}
		quiet := func() (n int32) {
			for _, c := range counters {
				n += c.n.Load()
			}
			return n
		}
		// Wait until they have stopped trying.
		for before := int32(-1); before != quiet() || before == 0; time.Sleep(300 * time.Millisecond) {
			if before = quiet(); before > 40 {
				t.Fatalf("%d transactions: they wake each other", before)
			}
		}
		must(t, w.queue().MoveJob(ctx, ids[1], newqueue.JobHeld, newqueue.JobPending))
		if at := <-got; at != "/jobs/"+ids[1] {
			t.Errorf("got %s", at)
		}
		cancel()
		workers.Wait()
		if len(got) > 0 {
			t.Error("both got it: " + fmt.Sprint(slices.Collect(func(yield func(string) bool) { yield(<-got) })))
		}
	})
}

func errorOf[T any](_ T, err error) error { return err }
