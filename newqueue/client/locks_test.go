package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// TestUnlockBesideLock: two goroutines of a service share a queue. One holds a named lock, and releases it while the other one looks whether it may
// take it: before the lock was taken, and then once more.
func TestUnlockBesideLock(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		l := newqueue.InventoryLock("ark:/1")
		c, q := w.hooked()
		must(t, q.Init(ctx))
		var reads, looks atomic.Int64
		unlocked := make(chan error, 1)
		c.seen = func(path string) {
			if strings.HasSuffix(path, l.Path(w.d)) && looks.Add(1) == 1 {
				must(t, q.Lock(ctx, l))
				reads.Store(1)
			}
		}
		c.read = func(path string) error {
			if strings.HasSuffix(path, l.Path(w.d)) && reads.CompareAndSwap(1, 2) {
				ended, cancel := context.WithCancel(ctx)
				cancel()
				if err := q.Unlock(ended, l); !errors.Is(err, context.Canceled) {
					t.Errorf("it waits no longer: %v", err)
				}
				go func() { unlocked <- q.Unlock(ctx, l) }()
			}
			return nil
		}
		if err := q.Lock(ctx, l); !errors.Is(err, client.ErrLocked) {
			t.Errorf("the other one takes it: %v", err)
		}
		if err := <-unlocked; err != nil || value(w.queue().IsLocked(ctx, l))(t) {
			t.Errorf("the holder releases it: %v", err)
		}
	})
}

// TestTwoGoroutinesOneLock: they take turns, and no lock is left.
func TestTwoGoroutinesOneLock(t *testing.T) {
	eachDialect(t, func(t *testing.T, w *world) {
		l := newqueue.InventoryLock("ark:/1")
		q := w.queue()
		must(t, q.Init(ctx))
		end, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		errs := make(chan error)
		for range 2 {
			go func() {
				var err error
				for n := 0; n < 50 && (err == nil || errors.Is(err, client.ErrLocked)) && end.Err() == nil; {
					if err = q.Lock(end, l); err == nil {
						n++
						time.Sleep(time.Millisecond) // it works, and the other one tries
						err = q.Unlock(end, l)
					}
				}
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}
