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

// worker is a server that carries out one transaction after the other.
type worker struct {
	mu    sync.Mutex
	free  time.Time // when it has done all that it was given
	takes func(n int) time.Duration
	n     int   // transactions that it was given
	under int   // of those, not answered yet
	seen  []int // under way, at each start
}

func (w *worker) start(_ context.Context, _ unit) <-chan error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.free.Before(now) {
		w.free = now
	}
	w.free = w.free.Add(w.takes(w.n))
	w.n++
	w.under++
	w.seen = append(w.seen, w.under)
	done := make(chan error, 1)
	time.AfterFunc(w.free.Sub(now), func() {
		w.mu.Lock()
		w.under--
		w.mu.Unlock()
		done <- nil
	})
	return done
}

// pipe sends that many transactions to a server, in virtual time.
func pipe(t *testing.T, m *Migrator, n int, takes func(n int) time.Duration) (w *worker, took time.Duration) {
	w = &worker{takes: takes}
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

// TestPipelineAdapts: more transactions are under way while the server answers at
// once, as few as there may be while it is slow, and more again afterwards; it is
// never idle for that.
func TestPipelineAdapts(t *testing.T) {
	const ms = time.Millisecond
	const n = 600
	slow := func(i int) time.Duration {
		if i >= 200 && i < 400 {
			return 100 * ms
		}
		return ms
	}
	w, took := pipe(t, &Migrator{}, n, slow)
	most := func(from, to int) int { return slices.Max(w.seen[from:to]) }
	before, during, after := most(0, 200), most(300, 400), most(500, 600)
	if before <= pace.Writes.First || before > pace.Writes.Most {
		t.Errorf("%d were under way at a quick server, want more than %d", before, pace.Writes.First)
	}
	if during >= before {
		t.Errorf("%d were under way when the server was slow, %d before", during, before)
	}
	if after <= during {
		t.Errorf("%d were under way when the server was quick again, %d while it was slow", after, during)
	}
	if least := 400*ms + 200*100*ms; took > least+10*ms {
		t.Errorf("it took %v, and the server was at work for %v: it was idle", took, least)
	}
}

// TestPipelineKeepsTo: a fixed number stays.
func TestPipelineKeepsTo(t *testing.T) {
	w, _ := pipe(t, &Migrator{InFlight: 3}, 100, func(int) time.Duration { return time.Millisecond })
	if most := slices.Max(w.seen); most != 3 {
		t.Errorf("%d were under way at once, want 3", most)
	}
}
