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
		{"the first answers", Pace{Under: 4, resume: 16}, 10 * ms, 16},
		{"a quiet round", Pace{Under: 4, best: ms, resume: 20}, 50 * ms, 20},
		{"time for a quiet round", Pace{Under: 16, best: 10 * ms, rounds: everyQuiet - 1}, 10 * ms, 4},
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

// TestPaceForgets: when a server has become slower for good, the pace gets back
// to its maximum.
func TestPaceForgets(t *testing.T) {
	p := Pace{Under: 64, bounds: Reads, best: time.Millisecond}
	for range 1000 {
		p = p.After(20 * time.Millisecond)
	}
	if p.Under != Reads.Most {
		t.Errorf("%d are under way after 1000 slow rounds", p.Under)
	}
}

// TestQuietRound: answers to requests from before a quiet round don't count in it,
// and the times measured in it do.
func TestQuietRound(t *testing.T) {
	r := Round{Pace: Pace{Under: 16, bounds: Reads, best: 10 * time.Millisecond, rounds: everyQuiet - 1}}
	before := r.Sent()
	r.Answered(16, 10*time.Millisecond, before)
	if r.Under != Reads.Least {
		t.Fatalf("%d are under way in a quiet round", r.Under)
	}
	r.Answered(100, time.Hour, before)
	if r.Under != Reads.Least {
		t.Errorf("answers to earlier requests ended the quiet round")
	}
	r.Answered(Reads.Least, time.Millisecond, r.Sent())
	if r.Under != 20 || r.best != time.Millisecond {
		t.Errorf("after a quiet round %d are under way, and the best is %v", r.Under, r.best)
	}
}

// TestGateAdapts: if a server works on all requests at once, the gate sends as many
// as the bounds allow. If it works on one after the other, the gate sends few, which
// still keep the server busy. The time is virtual.
func TestGateAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(Reads, nil)
		var mu sync.Mutex
		var free time.Time // when the server will have done all requests so far
		const takes = time.Millisecond
		under := 0
		ask := func(throttled bool, most *int) {
			mu.Lock()
			answer := takes
			if throttled {
				if now := time.Now(); free.Before(now) {
					free = now
				}
				free = free.Add(takes)
				answer = time.Until(free)
			}
			under++
			*most = max(*most, under)
			mu.Unlock()
			time.Sleep(answer)
			mu.Lock()
			under--
			mu.Unlock()
		}
		phase := func(requests int, throttled bool) (most int, took time.Duration) {
			began := time.Now()
			var all sync.WaitGroup
			for range requests {
				all.Go(func() {
					g.Pass(t.Context(), func() error {
						ask(throttled, &most)
						return nil
					})
				})
			}
			all.Wait()
			return most, time.Since(began)
		}
		if most, _ := phase(20_000, false); most != Reads.Most {
			t.Errorf("%d requests were under way at a server that works on all of them at once, want %d", most, Reads.Most)
		}
		phase(3000, true) // the gate learns that the server is slower now
		if most, took := phase(2000, true); most > Reads.Most/4 || took > 2000*takes*101/100 {
			t.Errorf("%d requests were under way at a throttled server, and 2000 took %v", most, took)
		}
		phase(3000, false)
		if most, _ := phase(5000, false); most != Reads.Most {
			t.Errorf("%d requests were under way when the server was no longer throttled, want %d", most, Reads.Most)
		}
	})
}

// TestGate: there are never more requests under way than the pace allows, and a
// caller that gives up frees its place.
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
		t.Errorf("a caller that gives up gets %v", err)
	}
	close(hold)
	all.Wait()
	if most > Reads.Least || g.under != 0 || len(g.waiting) != 0 {
		t.Errorf("%d requests were under way at once; now %d are, and %d wait", most, g.under, len(g.waiting))
	}
}
