package migrate

import (
	"context"
	"iter"
	"sync"
)

// readAhead yields what seq yields, but runs seq in a goroutine of its own, so that seq
// works while the caller does. At most room items wait for the caller. When readAhead
// returns, seq has ended.
func readAhead[T any](ctx context.Context, room int, seq func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	type item struct {
		it  T
		err error
	}
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		items, left := make(chan item, room), make(chan struct{})
		var reading sync.WaitGroup
		defer reading.Wait()
		defer cancel()
		defer close(left)
		reading.Go(func() {
			defer close(items)
			for it, err := range seq(ctx) {
				select {
				case items <- item{it, err}:
				case <-left: // not ctx.Done: the caller must get the error that seq yields then
					return
				}
			}
		})
		for i := range items {
			if !yield(i.it, i.err) {
				return
			}
		}
	}
}
