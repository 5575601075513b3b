package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mrtq/newqueue"
)

// TestCancelledAcquisition: if a context ends in the middle of an acquisition, the caller gets what
// was locked. No lock is left that the caller does not know of. It would stay as long as the
// session.
func TestCancelledAcquisition(t *testing.T) {
	for name, c := range acquirings {
		for _, at := range []string{"/lock", "/status", "transaction"} {
			t.Run(name+", at the "+strings.TrimPrefix(at, "/"), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, newqueue.Design)
				c.prepare(t, w.queue())
				stop, cancel := context.WithCancel(ctx)
				faulty, q := w.hooked()
				faulty.read = func(path string) error {
					if strings.HasSuffix(path, at) {
						cancel()
					}
					return nil
				}
				if at == "transaction" {
					faulty.meddle(cancel)
				}
				switch got, err := c.acquire(stop, q); {
				case err == nil:
					must(t, got.Unlock(ctx))
				case !errors.Is(err, context.Canceled):
					t.Errorf("%v", err)
				}
				if locks := left(w.tree(), "/lock"); len(locks) > 0 {
					t.Errorf("left: %v", locks)
				}
			})
		}
	}
}

// TestCancelledPass: a context ends in the body of a pass, which neither moves nor keeps the job.
func TestCancelledPass(t *testing.T) {
	w := newWorld(t, newqueue.Design)
	q := w.queue()
	batchOf(t, q, 2)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	got := 0
	for _, err := range q.AcquireJobs(stop, newqueue.JobPending) {
		if cancel(); err == nil {
			got++
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if locks := left(w.tree(), "/lock"); got != 1 || len(locks) > 0 {
		t.Errorf("%d jobs, left: %v", got, locks)
	}
}
