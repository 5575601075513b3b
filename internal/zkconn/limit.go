package zkconn

import (
	"context"
	"sync"
	"time"
)

// Limiter caps operations a second. Several sessions can share one. A nil Limiter caps
// nothing.
type Limiter struct {
	each  time.Duration // the time that one operation takes
	burst time.Duration // how much of that time operations may be ahead of the clock

	mu   sync.Mutex
	next time.Time // when the operations so far are paid for
}

// NewLimiter returns a cap on operations a second. At one moment it allows at most a tenth
// of a second's operations, and at least one.
func NewLimiter(perSecond int) *Limiter {
	each := time.Second / time.Duration(perSecond)
	return &Limiter{each: each, burst: max(time.Second/10, each)}
}

// wait waits until n operations may be sent together. If ctx ends first, it returns the
// cause.
func (l *Limiter) wait(ctx context.Context, n int) error {
	if l == nil {
		return nil
	}
	now := time.Now()
	l.mu.Lock()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(time.Duration(n) * l.each)
	delay := l.next.Sub(now) - l.burst
	l.mu.Unlock()
	return sleep(ctx, delay)
}

// sleep waits for d. If ctx ends first, it returns the cause.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
