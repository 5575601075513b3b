package zkconn

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
)

// TestLimitIsShared: several sessions share a limit. Their reads and changes
// together stay within it, and all are done.
func TestLimitIsShared(t *testing.T) {
	s, err := minizk.Start(minizk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const perSecond = 100
	cfg := Config{Address: Address{Servers: []string{s.Addr()}}, Limit: NewLimit(perSecond)}
	began := time.Now()
	var all sync.WaitGroup
	for _, name := range []string{"/a", "/b"} {
		w, err := OpenWriter(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		all.Go(func() {
			ops := []znode.Op{znode.Create(name, nil)}
			for range 9 {
				ops = append(ops, znode.Check(name, 0))
			}
			if err := w.Multi(t.Context(), ops); err != nil {
				t.Error(err)
			}
			for range 15 {
				if _, err := w.Get(t.Context(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	const operations, atOnce = 2 * (10 + 15), perSecond / 10
	if took, least := time.Since(began), (operations-atOnce)*time.Second/perSecond; took < least {
		t.Errorf("%d operations took %v, want at least %v", operations, took, least)
	}
}

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
				l, started := NewLimit(c.perSecond), time.Now()
				var all sync.WaitGroup
				for range c.workers {
					all.Go(func() {
						for range c.each {
							if err := l.wait(t.Context(), c.inEach); err != nil {
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
		var none *Limit
		if err := none.wait(t.Context(), 1_000_000); err != nil || time.Since(started) != 0 {
			t.Errorf("without a limit it took %v, %v", time.Since(started), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := NewLimit(1).wait(ctx, 100); !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != time.Second {
			t.Errorf("a caller whose context ends after a second gets %v after %v", err, time.Since(started))
		}
	})
}
