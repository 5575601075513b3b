package rehearse

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// Disturbed counts what went wrong on purpose.
type Disturbed struct {
	Failed int `json:"failed"`
	Killed int `json:"killed"`
	Lost   int `json:"lost"`
}

// crew are the workers of one copy, and what disturbs them. A worker is killed or loses its
// session after it has taken something and before it has begun: what is half done then is the
// services' own affair, whoever made the queue.
type crew struct {
	*daemons.World
	mishaps  float64 // how often each of them comes
	random   *rand.Rand
	did      Disturbed
	failed   map[string]bool // the records that were made to fail, by key
	newQueue *daemons.Mirror
	old      *daemons.Mirror
	perRound int
	stuck    []Difference // workers who could not do what the layout allows
}

// A worker takes a part of all items, and then it is the next one's turn: few, so that the
// folders behind the first one stay short.
const rounds, mostPerRound = 20, 250

// unsized lets Estimate not find the length of a manifest where that does harm: the priority becomes
// one of three digits.
func unsized(priority int64) bool { return priority+10 > newqueue.MaxPriority }

func (c *crew) fails(_, record string) bool {
	if c.random.Float64() >= c.mishaps {
		return false
	}
	c.did.Failed++
	c.failed[record] = true
	return true
}

// cleanEvery is after how many rounds the hourly cleanup comes.
const cleanEvery = 8

// work lets workers work until none finds anything, or until enough reports true. show is called
// with the number of records of which some work was done.
func (c *crew) work(ctx context.Context, workers []*daemons.Actor, enough func() bool, show func(done int)) error {
	clean := func(worked bool, round int) error {
		if round%cleanEvery == 0 || !worked {
			return c.Clean()
		}
		return nil
	}
	return c.rounds(ctx, workers, enough, show, clean)
}

func (c *crew) rounds(ctx context.Context, workers []*daemons.Actor, enough func() bool, show func(done int), clean func(worked bool, round int) error) error {
	for round := 1; ; round++ {
		worked := false
		for _, a := range workers {
			for range c.perRound {
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				did, err := c.turn(a)
				if session.Lost(err) || errors.Is(err, context.Canceled) { // no fault of the worker
					return err
				}
				if err != nil {
					c.stuck = append(c.stuck, Difference{Stuck, a.Name, err.Error()})
					return nil // it would find the same again
				}
				if !did {
					break
				}
				worked = true
			}
			show(len(c.Begun))
			if enough != nil && enough() {
				return nil
			}
		}
		if err := clean(worked, round); err != nil || !worked {
			return err
		}
	}
}

func (c *crew) turn(a *daemons.Actor) (did bool, err error) {
	luck := c.random.Float64()
	if luck >= 2*c.mishaps {
		return a.Step()
	}
	turn := a.Begin()
	at, more := turn.Next()
	for more && at.Waits == "" && strings.HasPrefix(at.Write, "create /") && strings.HasSuffix(at.Write, "/lock") {
		at, more = turn.Next()
	}
	switch {
	case !more || at.Waits != "":
		return turn.Finish()
	case luck < c.mishaps:
		c.did.Killed++
		a.Kill()
		a.Expire() // the server ends its session later, and nobody waits for that here
	default:
		c.did.Lost++
		a.Expire()
		if c.Dialect == newqueue.Design { // its workers notice before they begin, and give up
			a.Kill()
			break
		}
		if _, err := turn.Finish(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// whileHeld lets each worker look for work while the queues are held. The inventory service and
// the cleanup are left out, because they ignore holds and must not be started then.
func (c *crew) whileHeld() (all []Difference, err error) {
	for _, a := range c.Workers() {
		if a.Name == string(services.Inventory) {
			continue
		}
		before := len(c.Begun)
		if did, err := a.Step(); err != nil {
			return nil, err
		} else if did && len(c.Begun) > before {
			all = append(all, Difference{WhileHeld, c.Begun[before], a.Name + " worked on it although its queue was held"})
		} else if did {
			all = append(all, Difference{WhileHeld, newqueue.LocksPath, a.Name + " worked although its queue was held"})
		}
	}
	return all, nil
}

func (c *crew) result() (*observed, error) {
	s := &observed{executions: c.Executions(), states: map[string]string{}, emails: c.Emails, troubles: c.Troubles, failed: map[string]bool{}, begun: c.Begun}
	for key := range c.failed { // its worker may have been killed before it said so
		states := s.executions[key].States
		s.failed[key] = len(states) > 0 && strings.EqualFold(states[len(states)-1], string(newqueue.JobFailed))
	}
	for _, parent := range []string{newqueue.JobsPath, newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessQueuePath(newqueue.AccessLarge)} {
		states, err := c.States(parent)
		if err != nil {
			return nil, err
		}
		for id, state := range states {
			s.states[parent+"/"+id] = strings.ToLower(state)
		}
	}
	return s, nil
}
