package pace

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		from Pace
		took time.Duration
		want int
	}{
		{"the first answers", Pace{Under: 16}, 10 * ms, 20},
		{"as fast as ever", Pace{Under: 16, best: 10 * ms}, 10 * ms, 20},
		{"faster", Pace{Under: 16, best: 10 * ms}, 5 * ms, 20},
		{"a little slower", Pace{Under: 16, best: 10 * ms}, 19 * ms, 20},
		{"slower", Pace{Under: 16, best: 10 * ms}, 30 * ms, 16},
		{"much slower", Pace{Under: 16, best: 10 * ms}, 50 * ms, 12},
		{"few and much slower", Pace{Under: 5, best: 10 * ms}, 50 * ms, 4},
		{"as few as there are", Pace{Under: 4, best: 10 * ms}, 50 * ms, 4},
		{"as many as there may be", Pace{Under: 128, best: 10 * ms}, 10 * ms, 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.from.bounds = Reads
			if got := c.from.After(c.took); got.Under != c.want {
				t.Errorf("%+v after answers in %v gives %d, want %d", c.from, c.took, got.Under, c.want)
			}
		})
	}
}

// TestPaceForgets: a server that has become slower for good is read at full pace
// again.
func TestPaceForgets(t *testing.T) {
	p := Pace{Under: 64, bounds: Reads, best: time.Millisecond}
	for range 1000 {
		p = p.After(20 * time.Millisecond)
	}
	if p.Under != Reads.Most {
		t.Errorf("%d are under way after long", p.Under)
	}
}

// TestGateAdapts: a server answers one request after the other, in virtual
// time. More requests are under way while it is quick, and only as few as it
// needs while it is slow.
func TestGateAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(Reads, nil)
		var mu sync.Mutex
		var free time.Time
		under, most := 0, 0
		ask := func(takes time.Duration) error {
			mu.Lock()
			now := time.Now()
			if free.Before(now) {
				free = now
			}
			free = free.Add(takes)
			answered := free.Sub(now)
			under++
			most = max(most, under)
			mu.Unlock()
			time.Sleep(answered)
			mu.Lock()
			under--
			mu.Unlock()
			return nil
		}
		phase := func(requests int, takes time.Duration) int {
			most = 0
			var all sync.WaitGroup
			for range requests {
				all.Go(func() { g.Pass(t.Context(), func() error { return ask(takes) }) })
			}
			all.Wait()
			return most
		}
		quick := phase(2000, time.Millisecond)
		phase(300, 50*time.Millisecond) // the first of these come while many are under way
		slow := phase(300, 50*time.Millisecond)
		again := phase(2000, time.Millisecond)
		if quick <= Reads.First || slow >= quick/2 || again <= slow {
			t.Errorf("%d requests were under way at a quick server, %d when it was slow, %d when it was quick again", quick, slow, again)
		}
	})
}

// TestGate: never more requests are under way than the pace allows, and a
// request that gives up frees its place.
func TestGate(t *testing.T) {
	g := NewGate(Reads, nil)
	g.round.Pace = Pace{Under: Reads.Least, bounds: Reads, best: 1} // the pace stays at its minimum, because no answer is so fast
	var mu sync.Mutex
	under, most := 0, 0
	hold := make(chan struct{})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			g.Pass(t.Context(), func() error {
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
	go func() { gaveUp <- g.Pass(ctx, func() error { return nil }) }()
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("a request that gives up gets %v", err)
	}
	close(hold)
	all.Wait()
	if most > Reads.Least || g.under != 0 || len(g.waiting) != 0 {
		t.Errorf("%d were under way at once; %d are, and %d wait", most, g.under, len(g.waiting))
	}
}
