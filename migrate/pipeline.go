package migrate

import (
	"context"
	"fmt"
	"iter"
	"time"

	"mrtq/internal/pace"
)

// pipeline starts transactions in order. As many of them are under way at once as the
// server answers without delay. It calls done for each one that succeeded, in order.
//
// After a failure pipeline starts no more transactions and waits for those under way. Then
// it returns the failed one and those after it, with the error. When ctx ends, it also
// starts no more, and returns [ErrInterrupted] when those under way are done. start gets a
// context that does not end, so that a run stops only between two transactions.
func (m *Migrator) pipeline(ctx context.Context, transactions iter.Seq[unit], start func(context.Context, unit) <-chan error, done func(unit)) (failed []unit, err error) {
	next, stop := iter.Pull(transactions)
	defer stop()
	wctx := context.WithoutCancel(ctx)
	round := pace.Round{Pace: m.writes().Start()}
	var under []unit
	var answers []<-chan answered
	more := true
	for {
		for more && len(under) < round.Under && ctx.Err() == nil {
			t, ok := next()
			if more = ok; ok {
				under, answers = append(under, t), append(answers, timed(start(wctx, t), round.Sent()))
			}
		}
		if len(under) == 0 {
			break
		}
		a := <-answers[0]
		if a.err != nil {
			for _, other := range answers[1:] {
				<-other
			}
			return under, a.err
		}
		round.Answered(1, a.took, a.sent)
		done(under[0])
		under, answers = under[1:], answers[1:]
	}
	if more {
		return nil, fmt.Errorf("%w; run it again to finish", ErrInterrupted)
	}
	return nil, nil
}

// writes returns how many transactions may be under way.
func (m *Migrator) writes() pace.Bounds {
	if m.InFlight > 0 {
		return pace.Bounds{Least: m.InFlight, First: m.InFlight, Most: m.InFlight}
	}
	return pace.Writes
}

// answered is the answer to a transaction, and how long it took.
type answered struct {
	err  error
	took time.Duration
	sent int // see [pace.Round.Sent]
}

// timed measures how long an answer took at the moment when it arrives. The pipeline may
// read it later.
func timed(answer <-chan error, sent int) <-chan answered {
	at, began := make(chan answered, 1), time.Now()
	go func() {
		err := <-answer
		at <- answered{err, time.Since(began), sent}
	}()
	return at
}
