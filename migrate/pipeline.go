package migrate

import (
	"context"
	"fmt"
	"iter"
)

// pipeline starts transactions in order, with InFlight of them under way at
// once. It calls done for each that succeeded, in order. After a failure it
// starts no more, waits for those under way, and returns the failed one and
// those after it, with the error. After ctx ends it starts no more either, and
// returns [ErrInterrupted] when those under way are done. It stops only between
// transactions, so start does not get ctx's end.
func (m *Migrator) pipeline(ctx context.Context, transactions iter.Seq[unit], start func(context.Context, unit) <-chan error, done func(unit)) (failed []unit, err error) {
	next, stop := iter.Pull(transactions)
	defer stop()
	wctx := context.WithoutCancel(ctx)
	var under []unit
	var answers []<-chan error
	more := true
	for {
		for more && len(under) < m.InFlight && ctx.Err() == nil {
			t, ok := next()
			if more = ok; ok {
				under, answers = append(under, t), append(answers, start(wctx, t))
			}
		}
		if len(under) == 0 {
			break
		}
		if err := <-answers[0]; err != nil {
			for _, a := range answers[1:] {
				<-a
			}
			return under, err
		}
		done(under[0])
		under, answers = under[1:], answers[1:]
	}
	if more {
		return nil, fmt.Errorf("%w; run the same command again to finish", ErrInterrupted)
	}
	return nil, nil
}
