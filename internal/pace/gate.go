package pace

import (
	"context"
	"sync"
	"time"
)

// Gate limits the requests under way to its pace, in the order in which they
// came.
type Gate struct {
	limit *Limit

	mu      sync.Mutex
	round   Round
	under   int
	waiting []chan struct{} // closed when the request's turn comes
}

// NewGate returns a gate within these bounds that also obeys the limit. A nil
// limit is none.
func NewGate(b Bounds, limit *Limit) *Gate {
	return &Gate{limit: limit, round: Round{Pace: b.Start()}}
}

// Pass runs one request when its turn comes.
func (g *Gate) Pass(ctx context.Context, request func() error) error {
	if err := g.enter(ctx); err != nil {
		return err
	}
	if err := g.limit.Wait(ctx, 1); err != nil {
		g.giveBack()
		return err
	}
	start := time.Now()
	defer func() { g.leave(time.Since(start)) }()
	return request()
}

func (g *Gate) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.mu.Lock()
	if g.under < g.round.Under && len(g.waiting) == 0 {
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
func (g *Gate) giveUp(turn chan struct{}) {
	g.mu.Lock()
	for i, w := range g.waiting {
		if w == turn {
			g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
			g.mu.Unlock()
			return
		}
	}
	g.mu.Unlock()
	g.giveBack()
}

// giveBack is leave without a request.
func (g *Gate) giveBack() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under--
	g.admit()
}

func (g *Gate) leave(took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under--
	g.round.Answered(took)
	g.admit()
}

// admit starts the requests that the pace allows now.
func (g *Gate) admit() {
	for len(g.waiting) > 0 && g.under < g.round.Under {
		g.under++
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}
