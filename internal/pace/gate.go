package pace

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Gate limits how many requests are under way at once. It admits them in the order of
// their calls.
type Gate struct {
	limit *Limit

	mu      sync.Mutex
	round   Round
	under   int
	waiting []*waiter
}

// waiter is a caller that waits with requests. When turn is closed, it may send some of
// them.
type waiter struct {
	turn      chan struct{}
	most, may int // how many requests it has, and how many of them it may send
	sent      int // see [Round.Sent]
}

// NewGate returns a gate that keeps within the bounds and obeys the limit. A nil limit
// means no limit.
func NewGate(b Bounds, limit *Limit) *Gate {
	return &Gate{limit: limit, round: Round{Pace: b.Start()}}
}

// Pass runs one request when its turn comes.
func (g *Gate) Pass(ctx context.Context, request func() error) error {
	return g.PassAll(ctx, []int{1}, func(int, int) error { return request() })
}

// PassAll runs many requests. operations has how many operations each of them does. Whenever
// some may be sent together, PassAll calls requests with a range of their indexes: from is
// the first, and to is one after the last.
func (g *Gate) PassAll(ctx context.Context, operations []int, requests func(from, to int) error) error {
	for from := 0; from < len(operations); {
		n, sent, err := g.enter(ctx, len(operations)-from)
		if err != nil {
			return err
		}
		together := 0
		for _, some := range operations[from : from+n] {
			together += some
		}
		if err := g.run(ctx, n, together, sent, func() error { return requests(from, from+n) }); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// run runs requests that have entered.
func (g *Gate) run(ctx context.Context, n, operations, sent int, requests func() error) error {
	if err := g.limit.Wait(ctx, operations); err != nil {
		g.giveBack(n)
		return err
	}
	start := time.Now()
	defer func() { g.leave(n, time.Since(start), sent) }()
	return requests()
}

// enter waits for a turn. It returns how many requests may be sent, never more than most,
// and their mark (see [Round.Sent]).
func (g *Gate) enter(ctx context.Context, most int) (may, sent int, err error) {
	if ctx.Err() != nil {
		return 0, 0, context.Cause(ctx)
	}
	g.mu.Lock()
	if free := g.round.Under - g.under; free > 0 && len(g.waiting) == 0 {
		may = min(free, most)
		g.under += may
		sent = g.round.Sent()
		g.mu.Unlock()
		return may, sent, nil
	}
	w := &waiter{turn: make(chan struct{}), most: most}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case <-w.turn:
		return w.may, w.sent, nil
	case <-ctx.Done():
		g.giveUp(w)
		return 0, 0, context.Cause(ctx)
	}
}

// giveUp removes the waiter from the queue. If its turn came meanwhile, the next waiter
// gets the turn.
func (g *Gate) giveUp(w *waiter) {
	g.mu.Lock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		g.mu.Unlock()
		return
	}
	g.mu.Unlock()
	g.giveBack(w.may)
}

// giveBack frees the places of requests that were not sent.
func (g *Gate) giveBack(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under -= n
	g.admit()
}

// leave frees the places of requests that were answered, and adapts the pace.
func (g *Gate) leave(n int, took time.Duration, sent int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under -= n
	g.round.Answered(n, took, sent)
	g.admit()
}

// admit gives a turn to the waiters whose requests the pace allows now.
func (g *Gate) admit() {
	for len(g.waiting) > 0 && g.under < g.round.Under {
		w := g.waiting[0]
		g.waiting = g.waiting[1:]
		w.may = min(w.most, g.round.Under-g.under)
		w.sent = g.round.Sent()
		g.under += w.may
		close(w.turn)
	}
}
