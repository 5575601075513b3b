package side

import (
	"context"
	"sync"
	"time"
)

// gate lets as many requests be under way as its pace says, in the order in which
// they came.
type gate struct {
	mu      sync.Mutex
	pace    pace
	under   int
	waiting []chan struct{} // closed when it is their turn
	// The answers of this round, and how long they took together.
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

// giveUp takes a place in the queue back, or the turn if it came meanwhile.
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

// admit lets in whoever may come now.
func (g *gate) admit() {
	for len(g.waiting) > 0 && g.under < g.pace.under {
		g.under++
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}
