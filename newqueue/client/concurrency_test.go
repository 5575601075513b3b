package client_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// input is an operation of a worker on a job, for the recorded history.
type input struct {
	kind   string // "acquire", "succeed", "lose" (its session)
	worker int
	jid    string
	state  newqueue.JobState // acquire: the one asked for
}

// oneJob is the model of one job: its state, and the worker that holds it. Each
// job has its own history.
type oneJob struct {
	state  newqueue.JobState
	holder int // 0: nobody
}

// The answers that a worker can get.
const (
	no      = "no"
	yes     = "yes"
	unknown = "unknown" // ErrUnknownOutcome: either
)

func jobModel(d newqueue.Dialect) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byJob := map[string][]porcupine.Operation{}
			for _, o := range history {
				jid := o.Input.(input).jid
				byJob[jid] = append(byJob[jid], o)
			}
			var all [][]porcupine.Operation
			for _, h := range byJob {
				all = append(all, h)
			}
			return all
		},
		Init: func() []any { return []any{oneJob{state: newqueue.JobPending}} },
		Step: func(s, in, out any) []any {
			job, op := s.(oneJob), in.(input)
			moved := oneJob{state: newqueue.Success(job.state, d)}
			switch {
			case op.kind == "acquire" && job.holder == 0 && job.state == op.state: // recorded only when it succeeded
				return []any{oneJob{job.state, op.worker}}
			case op.kind == "succeed" && job.holder == op.worker && out == yes:
				return []any{moved}
			case op.kind == "succeed" && job.holder == op.worker && out == unknown:
				return []any{moved, job}
			case op.kind == "succeed" && job.holder != op.worker && out != yes:
				return []any{job}
			case op.kind == "lose" && job.holder == op.worker:
				return []any{oneJob{state: job.state}}
			case op.kind == "lose":
				return []any{job}
			}
			return nil
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " ", out) },
	}
	return model.ToModel()
}

// mortal is a connection whose session ends at random in the middle of a
// request: before it is sent, or once it is done.
type mortal struct {
	client.Conn
	dies   *sync.Mutex // the queue reads in several goroutines
	rng    *rand.Rand  // of the one worker
	expire func()
}

func (c mortal) perhaps(oneIn int) {
	c.dies.Lock()
	defer c.dies.Unlock()
	if c.rng.IntN(oneIn) == 0 {
		c.expire()
	}
}

func (c mortal) Multi(ops ...any) ([]zk.MultiResponse, error) {
	c.perhaps(20)
	defer c.perhaps(20)
	return c.Conn.Multi(ops...)
}

func (c mortal) Exists(path string) (bool, *zk.Stat, error) {
	c.perhaps(40)
	return c.Conn.Exists(path)
}

// TestWorkers lets 16 workers drain a queue while they lose their sessions at
// random, between and during operations. Only one worker at a time holds a job,
// and no job is lost.
func TestWorkers(t *testing.T) {
	const workers, jobs = 16, 24
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, ids := batchOf(t, q, jobs)
		var (
			mu      sync.Mutex
			history []porcupine.Operation
			lost    atomic.Int32
			running sync.WaitGroup
		)
		start := time.Now()
		record := func(in input, call int64, done string) {
			mu.Lock()
			defer mu.Unlock()
			history = append(history, porcupine.Operation{ClientId: in.worker, Input: in, Call: call, Output: done, Return: int64(time.Since(start))})
		}
		var states []newqueue.JobState
		for s := newqueue.JobPending; s != newqueue.JobCompleted; s = newqueue.Success(s, w.d) {
			states = append(states, s)
		}
		for n := 1; n <= workers; n++ {
			conn, session := connect(t, address(t))
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			expire := func() {
				call := int64(time.Since(start))
				if err := session.expire(); err != nil {
					t.Error(err)
				}
				lost.Add(1)
				for _, jid := range ids { // whichever it had
					record(input{"lose", n, jid, ""}, call, yes)
				}
			}
			q := client.Open(mortal{conn, new(sync.Mutex), rng, expire}, w.d, client.WithRoot(w.root))
			running.Go(func() {
				for {
					if len(w.jobsIn(bid, newqueue.FolderCompleted)) == jobs {
						return
					}
					if time.Since(start) > 30*time.Second {
						t.Error("not done after 30 seconds")
						return
					}
					s := states[rng.IntN(len(states))]
					call := int64(time.Since(start))
					j, err := q.AcquireJob(ctx, s)
					switch {
					case errors.Is(err, client.ErrNone), errors.Is(err, client.ErrNotDone), errors.Is(err, client.ErrUnknownOutcome):
						continue
					case err != nil:
						t.Errorf("worker %d: %v", n, err)
						return
					}
					in := input{"acquire", n, j.ID, s}
					record(in, call, yes)
					if rng.IntN(10) == 0 {
						expire()
					}
					in.kind, call = "succeed", int64(time.Since(start))
					switch err = j.Succeed(ctx); {
					case err == nil:
						record(in, call, yes)
					case errors.Is(err, client.ErrUnknownOutcome):
						record(in, call, unknown)
					case errors.Is(err, client.ErrNotLocked), errors.Is(err, client.ErrNotDone), errors.Is(err, client.ErrConflict):
						record(in, call, no) // its session is over, and the lock with it
					default:
						t.Errorf("worker %d: %v", n, err)
						return
					}
				}
			})
		}
		running.Wait()
		if r := porcupine.CheckOperationsTimeout(jobModel(w.d), history, 20*time.Second); r != porcupine.Ok {
			t.Errorf("the history of %d operations is %s", len(history), r)
		}
		if lost.Load() == 0 || len(history) < jobs*len(states)*2 {
			t.Errorf("%d operations with %d lost sessions prove nothing", len(history), lost.Load())
		}
		if got := w.jobsIn(bid, newqueue.FolderCompleted); len(got) != len(ids) {
			t.Errorf("%d of %d jobs completed", len(got), len(ids))
		}
		must(t, q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
		w.check()
	})
}

// TestRacers: many callers try the same at the same moment. One succeeds, and the
// others get an error.
func TestRacers(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		const racers = 8
		q := w.queue()
		queues := make([]*client.Queue, racers)
		for i := range queues {
			queues[i] = w.queue()
		}
		_, ids := batchOf(t, q, 1)
		drive(t, q, ids[0], newqueue.JobHeld)
		race := func(name string, do func(*client.Queue) error, loses ...error) {
			t.Helper()
			errs := make(chan error, racers)
			begin := make(chan struct{})
			for _, q := range queues {
				go func() { <-begin; errs <- do(q) }()
			}
			close(begin)
			won := 0
			for range racers {
				err := <-errs
				lost := false
				for _, want := range loses {
					lost = lost || errors.Is(err, want)
				}
				switch {
				case err == nil:
					won++
				case !lost && !errors.As(err, new(*client.StateError)):
					t.Errorf("%s: %v", name, err)
				}
			}
			if won != 1 {
				t.Errorf("%s: %d won", name, won)
			}
		}
		race("release", func(q *client.Queue) error { return q.MoveJob(ctx, ids[0], newqueue.JobHeld, newqueue.JobPending) }, client.ErrConflict, client.ErrLocked)
		race("acquire", func(q *client.Queue) error { _, err := q.AcquireJob(ctx, newqueue.JobPending); return err }, client.ErrNone)
		race("lock", func(q *client.Queue) error { return q.Lock(ctx, newqueue.StorageLock("ark:/1")) }, client.ErrLocked)
		race("uuid", func(q *client.Queue) error {
			_, err := q.CreateBatch(ctx, newqueue.Submission{BatchID: "one"})
			return err
		}, client.ErrExists)
		// Here all may win, each with an id of its own.
		made := make(chan string, racers)
		for _, q := range queues {
			go func() {
				bid, err := q.CreateBatch(ctx, newqueue.Submission{ProfileName: "p"})
				if err != nil {
					t.Error(err)
				}
				made <- bid
			}()
		}
		seen := map[string]bool{}
		for range racers {
			seen[<-made] = true
		}
		if len(seen) != racers {
			t.Errorf("%d batches of %d", len(seen), racers)
		}
		w.check()
	})
}
