package side

import (
	"context"
	"iter"
	"sync"
)

// ahead runs f on every value of in, up to most at once, and yields the results
// in order. It ends after the first error. It pulls from in only between two
// yields, so nothing piles up while the caller is busy. When it returns, no f
// is running.
func ahead[In, Out any](ctx context.Context, in iter.Seq[In], most int, f func(context.Context, In) (Out, error)) iter.Seq2[Out, error] {
	type result struct {
		out Out
		err error
	}
	return func(yield func(Out, error) bool) {
		next, stop := iter.Pull(in)
		defer stop()
		ctx, cancel := context.WithCancel(ctx)
		var w workers
		defer w.end()
		defer cancel()
		var under []chan result
		more := true
		for {
			for more && len(under) < most {
				var item In
				if item, more = next(); more {
					done := make(chan result, 1)
					w.do(func() {
						out, err := f(ctx, item)
						done <- result{out, err}
					})
					under = append(under, done)
				}
			}
			if len(under) == 0 {
				return
			}
			r := <-under[0]
			under = under[1:]
			if !yield(r.out, r.err) || r.err != nil {
				return
			}
		}
	}
}

// workers run each function at once. They use a goroutine that has just become free,
// if there is one, because the stack of a new one would have to grow first.
type workers struct {
	free chan func() // received by goroutines that have nothing to do
	all  sync.WaitGroup
}

func (w *workers) do(f func()) {
	if w.free == nil {
		w.free = make(chan func())
	}
	select {
	case w.free <- f:
	default:
		w.all.Go(func() {
			f()
			for f := range w.free {
				f()
			}
		})
	}
}

// end returns when all functions have returned.
func (w *workers) end() {
	if w.free != nil {
		close(w.free)
	}
	w.all.Wait()
}
