package client_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
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
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			mortal, q := w.hooked()
			expire := func() {
				call := int64(time.Since(start))
				if err := mortal.session.expire(); err != nil {
					t.Error(err)
				}
				lost.Add(1)
				for _, jid := range ids { // whichever it had
					record(input{"lose", n, jid, ""}, call, yes)
				}
			}
			// Its session ends in the middle of a request, too: before it is sent, or once it is done.
			var dies sync.Mutex // the queue reads in several goroutines
			perhaps := func(oneIn int) {
				dies.Lock()
				defer dies.Unlock()
				if rng.IntN(oneIn) == 0 {
					expire()
				}
			}
			mortal.multi = func(send send) ([]zk.MultiResponse, error) {
				perhaps(20)
				defer perhaps(20)
				return send()
			}
			mortal.read = func(path string) error {
				if strings.HasSuffix(path, "/lock") {
					perhaps(40)
				}
				return nil
			}
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
					case errors.Is(err, client.ErrNone), errors.Is(err, client.ErrUnknownOutcome):
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
					case errors.Is(err, client.ErrNotLocked), errors.Is(err, client.ErrConflict):
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
