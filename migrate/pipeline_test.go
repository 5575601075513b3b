package migrate

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mrtq/internal/pace"
	"mrtq/internal/znode"
)

// worker is a server that works on all transactions at once or, while it is throttled, on
// one after the other.
type worker struct {
	throttled func(n int) bool // for the n-th

	mu    sync.Mutex
	free  time.Time // when it has finished the throttled transactions
	under int       // transactions that are not answered yet
	seen  []int     // under way, at each start
}

const transactionTakes = time.Millisecond

func (w *worker) start(_ context.Context, _ unit) <-chan error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, answer := time.Now(), transactionTakes
	if w.throttled(len(w.seen)) {
		if w.free.Before(now) {
			w.free = now
		}
		w.free = w.free.Add(transactionTakes)
		answer = w.free.Sub(now)
	}
	w.under++
	w.seen = append(w.seen, w.under)
	done := make(chan error, 1)
	time.AfterFunc(answer, func() {
		w.mu.Lock()
		w.under--
		w.mu.Unlock()
		done <- nil
	})
	return done
}

// pipe sends that many transactions to a server, in virtual time.
func pipe(t *testing.T, m *Migrator, n int, throttled func(n int) bool) (w *worker, took time.Duration) {
	w = &worker{throttled: throttled}
	synctest.Test(t, func(t *testing.T) {
		began, done := time.Now(), 0
		failed, err := m.pipeline(t.Context(), slices.Values(slices.Repeat([]unit{{ops: []znode.Op{znode.Create("/x", none)}}}, n)), w.start, func(unit) { done++ })
		if err != nil || len(failed) > 0 || done != n {
			t.Errorf("%d of %d are done, %d failed: %v", done, n, len(failed), err)
		}
		took = time.Since(began)
	})
	return w, took
}

// If a server works on all transactions at once, as many as allowed are under way. While it is
// throttled, few are. Afterwards it is as many as before.
func TestPipelineAdapts(t *testing.T) {
	w, _ := pipe(t, &Migrator{}, 6000, func(n int) bool { return n >= 2000 && n < 4000 })
	most := func(from, to int) int { return slices.Max(w.seen[from:to]) }
	before, during, after := most(0, 2000), most(2500, 4000), most(4500, 6000)
	if before != pace.Writes.Most || after != pace.Writes.Most {
		t.Errorf("%d and %d were under way before and after the server was throttled, want %d", before, after, pace.Writes.Most)
	}
	if during > 4 {
		t.Errorf("%d were under way at a throttled server, want 4 at most", during)
	}
}

// A server always has work, although few transactions are under way.
func TestPipelineKeepsBusy(t *testing.T) {
	const n = 2000
	w, took := pipe(t, &Migrator{}, n, func(int) bool { return true })
	if most := slices.Max(w.seen); most > 4 || took > n*transactionTakes*101/100 {
		t.Errorf("with %d under way, %d took %v, and the server was at work for %v", most, n, took, n*transactionTakes)
	}
}

// A fixed number of transactions under way stays fixed.
func TestPipelineKeepsTo(t *testing.T) {
	w, _ := pipe(t, &Migrator{InFlight: 3}, 100, func(int) bool { return false })
	if most := slices.Max(w.seen); most != 3 {
		t.Errorf("%d were under way at once, want 3", most)
	}
}
