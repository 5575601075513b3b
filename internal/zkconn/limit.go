package zkconn

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// NewLimiter returns a cap on operations a second, which several sessions can share. At one
// moment it allows at most a tenth of a second's operations, and at least one.
func NewLimiter(perSecond int) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(perSecond), max(perSecond/10, 1))
}

// pace waits until n operations may be sent together; a nil cap lets all of them pass. If ctx
// ends first, it returns the cause. WaitN would refuse more operations than the cap allows at
// one moment, and would not tell the cause.
func pace(ctx context.Context, limit *rate.Limiter, n int) error {
	for ; limit != nil && n > 0; n -= limit.Burst() {
		part := limit.ReserveN(time.Now(), min(n, limit.Burst()))
		if err := sleep(ctx, part.Delay()); err != nil {
			return err
		}
	}
	return nil
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
