package client_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// holders are the workers that have a job: from the moment at which they have acquired it to that at which they
// begin to give it up, or at which their sessions begin to end.
type holders struct {
	mu   sync.Mutex
	of   map[string]int // by job
	done map[string]int // how often a worker has succeeded in a job's state
}

func (h *holders) take(t *testing.T, jid string, worker int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.of[jid]; other != 0 {
		t.Errorf("worker %d has %s, and worker %d has acquired it", other, jid, worker)
	}
	h.of[jid] = worker
}

func (h *holders) giveUp(worker int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for jid, has := range h.of {
		if has == worker {
			delete(h.of, jid)
		}
	}
}

func (h *holders) succeeded(jid string, s newqueue.JobState) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done[jid+string(s)]++
	return h.done[jid+string(s)] == 1
}

// TestWorkers lets 8 workers drain a queue while they lose their sessions at
// random, between and during operations. Only one worker at a time holds a job, each step is
// made once, and no job is lost.
func TestWorkers(t *testing.T) {
	const workers, jobs = 8, 8
	eachDialect(t, func(t *testing.T, w *world) {
		q := w.queue()
		bid, _ := batchOf(t, q, jobs)
		h := &holders{of: map[string]int{}, done: map[string]int{}}
		var lost atomic.Int32
		var running sync.WaitGroup
		var states []newqueue.JobState
		for s := newqueue.JobPending; s != newqueue.JobCompleted; s = newqueue.Success(s, w.d) {
			states = append(states, s)
		}
		deadline := time.Now().Add(30 * time.Second)
		for n := 1; n <= workers; n++ {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			mortal, q := w.hooked()
			// Its session ends in the middle of a request, too: before it is sent, or once it is done.
			var dies sync.Mutex // the queue reads in several goroutines
			deaths := 0
			perhaps := func(oneIn int) {
				dies.Lock()
				defer dies.Unlock()
				if rng.IntN(oneIn) != 0 {
					return
				}
				h.giveUp(n)
				if err := mortal.session.expire(); err != nil {
					t.Error(err)
				}
				lost.Add(1)
				deaths++
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
				for len(w.jobsIn(bid, newqueue.FolderCompleted)) < jobs {
					if time.Now().After(deadline) {
						t.Error("not done after 30 seconds")
						return
					}
					s := states[rng.IntN(len(states))]
					before := deaths
					j, err := q.AcquireJob(ctx, s)
					switch {
					case errors.Is(err, client.ErrNoneAvailable), errors.Is(err, client.ErrUnknownOutcome):
						continue
					case err != nil:
						t.Errorf("worker %d: %v", n, err)
						return
					}
					if deaths == before { // otherwise its session may have ended since
						h.take(t, j.ID, n)
					}
					j.SpaceNeeded++ // its work
					if err := j.Save(ctx); err != nil && deaths == before {
						t.Errorf("worker %d: %v", n, err)
					}
					perhaps(10)
					h.giveUp(n)
					switch err = j.Succeed(ctx); {
					case err == nil && !h.succeeded(j.ID, s):
						t.Errorf("worker %d: %s has left %s a second time", n, j.ID, s)
					case err != nil && !errors.Is(err, client.ErrUnknownOutcome) && !errors.Is(err, client.ErrNotLocked) && !errors.Is(err, client.ErrConflict):
						t.Errorf("worker %d: %v", n, err) // its session is over, and the lock with it
						return
					}
				}
			})
		}
		running.Wait()
		if lost.Load() == 0 || len(h.done) < jobs {
			t.Errorf("%d steps with %d lost sessions prove nothing", len(h.done), lost.Load())
		}
		must(t, q.MoveBatch(ctx, bid, newqueue.BatchProcessing, newqueue.BatchReporting))
		w.check()
	})
}
