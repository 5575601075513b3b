package migrate

import (
	"context"
	"fmt"
	"iter"
)

// pipeline sends transactions, one after the other. It calls done for each one that
// succeeded, and returns the first one that failed, with the error. When ctx ends, it sends
// no more, and returns [ErrInterrupted]. start gets a context that does not end, so that a
// run stops only between two transactions.
func (m *Migrator) pipeline(ctx context.Context, transactions iter.Seq[unit], start func(context.Context, unit) <-chan error, done func(unit)) (failed []unit, err error) {
	wctx := context.WithoutCancel(ctx)
	for t := range transactions {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w; run it again to finish", ErrInterrupted)
		}
		if err := <-start(wctx, t); err != nil {
			return []unit{t}, err
		}
		done(t)
	}
	return nil, nil
}
