package zkconn

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimit: operations take as long as the cap says, however they are
// distributed over time and over sessions.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		name                             string
		perSecond, workers, each, inEach int
	}{
		{"one after the other", 100, 1, 500, 1},
		{"many at once", 100, 50, 10, 1},
		{"more together than a second allows", 100, 1, 2, 250},
		{"one a second", 1, 2, 3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, started := NewLimiter(c.perSecond), time.Now()
				var all sync.WaitGroup
				for range c.workers {
					all.Go(func() {
						for range c.each {
							if err := pace(t.Context(), l, c.inEach); err != nil {
								t.Error(err)
							}
						}
					})
				}
				all.Wait()
				n := c.workers * c.each * c.inEach
				// The first operations don't wait.
				least := time.Duration(n-max(c.perSecond/10, 1)) * time.Second / time.Duration(c.perSecond)
				if took := time.Since(started); took < least || took > least+time.Second {
					t.Errorf("%d operations took %v, want about %v", n, took, least)
				}
			})
		})
	}
}

// TestNoLimit: without a limit nothing waits. With a limit, a caller whose
// context ends stops waiting.
func TestNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		if err := pace(t.Context(), nil, 1_000_000); err != nil || time.Since(started) != 0 {
			t.Errorf("without a limit it took %v, %v", time.Since(started), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := pace(ctx, NewLimiter(1), 100); !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != time.Second {
			t.Errorf("a caller whose context ends after a second gets %v after %v", err, time.Since(started))
		}
	})
}
