package zkconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// enter begins a call. Unless ctx or the session is over, it runs f in another goroutine,
// because f blocks in the library. If a goroutine has just become free, enter uses that
// one, because the stack of a new one would have to grow first.
func (s *session) enter(ctx context.Context, f func()) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal != nil {
		return s.fatal
	}
	select {
	case s.free <- f:
	default:
		// Don't start after end, so that close doesn't wait for it.
		s.calls.Go(func() { s.serve(f) })
	}
	return nil
}

// serve runs f, and then the functions of later calls until the session is over.
func (s *session) serve(f func()) {
	for {
		f()
		select {
		case f = <-s.free:
		case <-s.over:
			return
		}
	}
}

// await returns the answer, or an error if ctx or the session ends first. After an error,
// the answering goroutine may run until the session is closed, and its results must not be
// read.
func await[T any](ctx context.Context, s *session, answer <-chan T) (T, error) {
	var none T
	var err error
	select {
	case a := <-answer:
		return a, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.over:
		err = s.fatal
	}
	select {
	case a := <-answer: // both came at the same moment
		return a, nil
	default:
		return none, err
	}
}

// attempt runs one request of the library, which has no contexts. sent is false
// if the request certainly was not sent.
func (s *session) attempt(ctx context.Context, f func() error) (sent bool, err error) {
	answer := make(chan error, 1)
	if err := s.enter(ctx, func() { answer <- f() }); err != nil {
		return false, err
	}
	got, err := await(ctx, s, answer)
	if err == nil {
		err = got
	}
	return err != zk.ErrNoServer, err
}

// repeat repeats a request until it gets an answer. The request must not change
// anything.
func (s *session) repeat(ctx context.Context, f func() error) error {
	return s.untilAnswered(ctx, func() error {
		_, err := s.attempt(ctx, f)
		return err
	})
}

// untilAnswered runs try until it gets an answer. try sends a request and waits for the
// answer.
func (s *session) untilAnswered(ctx context.Context, try func() error) error {
	var since time.Time
	for {
		err := try()
		if !temporary(err) {
			return err
		}
		// A lost session ends the loop. But this request may also break the connection
		// again each time it has come back.
		switch now := time.Now(); {
		case since.IsZero():
			since = now
		case now.Sub(since) > s.cfg.GiveUp && throttled(err):
			return err
		case now.Sub(since) > s.cfg.GiveUp:
			return lostError("the connection broke at each attempt", s.cfg.GiveUp, err)
		}
		s.pause(ctx)
	}
}

// write runs a request once. It repeats the request only if it was not sent, or if the
// server throttled it and so did nothing. The error wraps [ErrUnknownOutcome] if no answer
// came.
func (s *session) write(ctx context.Context, f func() error) error {
	if err := s.cfg.Limit.Wait(ctx, 1); err != nil {
		return &unsentError{err}
	}
	for began := time.Now(); ; {
		sent, err := s.attempt(ctx, f)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNoServer):
			s.pause(ctx)
		case throttled(err) && ctx.Err() == nil && time.Since(began) < s.cfg.GiveUp:
			s.pause(ctx)
		case !sent:
			return &unsentError{err}
		case unanswered(err):
			return fmt.Errorf("%w (%w)", ErrUnknownOutcome, err)
		default:
			return apiError(err)
		}
	}
}

// pause waits a moment while the library reconnects, so that a repeated request doesn't
// spin.
func (s *session) pause(ctx context.Context) {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.over:
	case <-ctx.Done():
	}
}
