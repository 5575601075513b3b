package pace

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Limit caps operations a second. A nil Limit caps nothing.
type Limit struct{ bucket *rate.Limiter }

// NewLimit returns a cap on operations a second. Several sessions can share it. At one
// moment it allows at most a tenth of a second's operations.
func NewLimit(perSecond int) *Limit {
	return &Limit{rate.NewLimiter(rate.Limit(perSecond), max(perSecond/10, 1))}
}

// Wait waits until n operations may be sent together, or until ctx ends.
func (l *Limit) Wait(ctx context.Context, operations int) error {
	for l != nil && operations > 0 {
		some := min(operations, l.bucket.Burst())
		turn := l.bucket.ReserveN(time.Now(), some)
		if err := Sleep(ctx, turn.Delay()); err != nil {
			turn.Cancel()
			return err
		}
		operations -= some
	}
	return nil
}

// Sleep waits for d. If ctx ends first, it returns the cause.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
