package side

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gate lets as many requests be under way as its pace says, in the order in which
// they came.
type gate struct {
	mu      sync.Mutex
	pace    pace
	under   int
	waiting []*waiter
	// The answers of this round, and how long they took together.
	answers int
	took    time.Duration
}

// waiter is somebody with requests, of whom some may be sent when turn is closed.
type waiter struct {
	turn      chan struct{}
	most, may int
}

func newGate() *gate { return &gate{pace: pace{under: firstUnder}} }

// pass runs one request when it is its turn.
func (g *gate) pass(ctx context.Context, request func() error) error {
	_, err := g.passSome(ctx, 1, func(int) error { return request() })
	return err
}

// passSome runs some requests together when it is their turn: of so many as many as
// may be under way then, which it returns.
func (g *gate) passSome(ctx context.Context, most int, requests func(n int) error) (n int, err error) {
	if n, err = g.enter(ctx, most); err != nil {
		return 0, err
	}
	start := time.Now()
	defer func() { g.leave(n, time.Since(start)) }()
	return n, requests(n)
}

// passAll runs so many requests, some of them at a time: those from one index to
// before another.
func (g *gate) passAll(ctx context.Context, count int, requests func(from, to int) error) error {
	for from := 0; from < count; {
		n, err := g.passSome(ctx, count-from, func(n int) error { return requests(from, from+n) })
		if err != nil {
			return err
		}
		from += n
	}
	return nil
}

func (g *gate) enter(ctx context.Context, most int) (may int, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	g.mu.Lock()
	if free := g.pace.under - g.under; free > 0 && len(g.waiting) == 0 {
		may = min(free, most)
		g.under += may
		g.mu.Unlock()
		return may, nil
	}
	w := &waiter{turn: make(chan struct{}), most: most}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case <-w.turn:
		return w.may, nil
	case <-ctx.Done():
		g.giveUp(w)
		return 0, context.Cause(ctx)
	}
}

// giveUp takes a place in the queue back, or the turn if it came meanwhile.
func (g *gate) giveUp(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.waiting, w); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
		return
	}
	g.under -= w.may
	g.admit()
}

func (g *gate) leave(n int, took time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under -= n
	g.took += took * time.Duration(n)
	if g.answers += n; g.answers >= g.pace.under {
		g.pace = g.pace.after(g.took / time.Duration(g.answers))
		g.answers, g.took = 0, 0
	}
	g.admit()
}

// admit lets in whoever may come now.
func (g *gate) admit() {
	for len(g.waiting) > 0 && g.under < g.pace.under {
		w := g.waiting[0]
		g.waiting = g.waiting[1:]
		w.may = min(w.most, g.pace.under-g.under)
		g.under += w.may
		close(w.turn)
	}
}
