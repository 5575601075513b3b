package side

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		from pace
		took time.Duration
		want int
	}{
		{"the first answers", pace{under: 16}, 10 * ms, 20},
		{"as fast as ever", pace{under: 16, best: 10 * ms}, 10 * ms, 20},
		{"faster", pace{under: 16, best: 10 * ms}, 5 * ms, 20},
		{"a little slower", pace{under: 16, best: 10 * ms}, 19 * ms, 20},
		{"slower", pace{under: 16, best: 10 * ms}, 30 * ms, 16},
		{"much slower", pace{under: 16, best: 10 * ms}, 50 * ms, 12},
		{"few and much slower", pace{under: 5, best: 10 * ms}, 50 * ms, 4},
		{"as few as there are", pace{under: leastUnder, best: 10 * ms}, 50 * ms, leastUnder},
		{"as many as there may be", pace{under: mostUnder, best: 10 * ms}, 10 * ms, mostUnder},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.from.after(c.took); got.under != c.want {
				t.Errorf("%+v after answers in %v gives %d, want %d", c.from, c.took, got.under, c.want)
			}
		})
	}
}

// TestPaceForgets: a server that has become slower for good is read at full pace
// again.
func TestPaceForgets(t *testing.T) {
	p := pace{under: 64, best: time.Millisecond}
	for range 1000 {
		p = p.after(20 * time.Millisecond)
	}
	if p.under != mostUnder {
		t.Errorf("%d are under way after long", p.under)
	}
}

// TestGate: never more requests are under way than the pace allows, and a
// request that gives up frees its place.
func TestGate(t *testing.T) {
	g := newGate()
	g.pace = pace{under: leastUnder, best: 1} // the pace stays at its minimum, because no answer is so fast
	var mu sync.Mutex
	under, most := 0, 0
	hold := make(chan struct{})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			g.pass(t.Context(), func() error {
				mu.Lock()
				under++
				most = max(most, under)
				mu.Unlock()
				<-hold
				mu.Lock()
				under--
				mu.Unlock()
				return nil
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error)
	go func() { gaveUp <- g.pass(ctx, func() error { return nil }) }()
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("a request that gives up gets %v", err)
	}
	close(hold)
	all.Wait()
	if most > leastUnder || g.under != 0 || len(g.waiting) != 0 {
		t.Errorf("%d were under way at once; %d are, and %d wait", most, g.under, len(g.waiting))
	}
}
