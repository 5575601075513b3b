package side

import (
	"context"
	"sync"
	"time"
)

// gate limits the requests under way to its pace, in the order in which they
// came.
type gate struct {
	mu      sync.Mutex
	pace    pace
	under   int
	waiting []chan struct{} // closed when the request's turn comes
	// The number of answers in this round, and their total time.
	answers int
	took    time.Duration
}

func newGate() *gate { return &gate{pace: pace{under: firstUnder}} }

// pass runs one request when it is its turn.
func (g *gate) pass(ctx context.Context, request func() error) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	start := time.Now()
	defer func() { g.leave(time.Since(start)) }()
	return request()
}

func (g *gate) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.mu.Lock()
	if g.under < g.pace.under && len(g.waiting) == 0 {
		g.under++
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.waiting = append(g.waiting, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		g.giveUp(turn)
		return context.Cause(ctx)
	}
}

// giveUp leaves the queue, or gives back the turn if it came meanwhile.
func (g *gate) giveUp(turn chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == turn {
			g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
			return
		}
	}
	g.under--
	g.admit()
}

func (g *gate) leave(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under--
	g.took += took
	if g.answers++; g.answers >= g.pace.under {
		g.pace = g.pace.after(g.took / time.Duration(g.answers))
		g.answers, g.took = 0, 0
	}
	g.admit()
}

// admit starts the requests that the pace allows now.
func (g *gate) admit() {
	for len(g.waiting) > 0 && g.under < g.pace.under {
		g.under++
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}
