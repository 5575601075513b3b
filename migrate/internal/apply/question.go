package apply

import "context"

// Question is what the operator is asked before a migrator leads, so that nobody waits for a person.
type Question struct {
	// Reason says why to ask, as both sides were read last; "" if there is no reason.
	Reason func() string
	// Ask asks. Its error says that the operator does not want it. It is nil if nobody wants to be asked.
	Ask func() error
	// Read reads both sides again.
	Read func(context.Context) error
}

// Lead asks, leads, and reads again. If there is another reason then, because another migrator ran meanwhile, it gives
// its turn back, and asks again. The error comes from Ask, lead or Read.
func (q Question) Lead(ctx context.Context, lead func() (*Turn, error)) (*Turn, error) {
	for agreed := ""; ; {
		if why := q.Reason(); q.Ask != nil && why != agreed {
			if err := q.Ask(); err != nil {
				return nil, err
			}
			agreed = why
		}
		turn, err := lead()
		if err != nil {
			return nil, err
		}
		if err = q.Read(ctx); err != nil {
			turn.Resign()
			return nil, err
		}
		if why := q.Reason(); q.Ask == nil || why == "" || why == agreed {
			return turn, nil
		}
		turn.Resign()
	}
}
