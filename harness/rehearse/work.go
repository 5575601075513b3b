package rehearse

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/newqueue"
)

// crew are the workers of one copy.
type crew struct {
	*daemons.World
	failed        map[string]bool // the records that were made to fail, by key
	newQueue, old *daemons.Mirror
	perRound      int
	stuck         []Difference // workers who could not do what the layout allows
}

// A worker takes a part of all items, and then it is the next one's turn: few, so that the
// folders behind the first one stay short.
const rounds, mostPerRound = 20, 250

// newCrew returns the workers of the copy, of the new queue and of the legacy one. A legacy worker has
// done the work of the records that were consumed: nobody knows, and that is the worst that can be.
func (p *attempt) newCrew(ctx context.Context) *crew {
	c := &crew{failed: map[string]bool{}, newQueue: daemons.NewMirror(), old: daemons.NewMirror(), perRound: min(1+len(p.records)/rounds, mostPerRound)}
	nodes := map[string][]string{}
	for kind, all := range p.copy.Queues.Nodes {
		nodes[string(kind)] = all
	}
	random := rand.New(rand.NewPCG(1, 1))
	c.World = daemons.New(daemons.Options{
		Dialect: p.plan.Dialect, Unsized: unsized, New: p.stage.site(ctx, p.folder+newFolder, c.newQueue), Legacy: p.stage.site(ctx, p.folder+oldFolder, c.old),
		LegacyNodes: nodes,
		Fails: func(_, record string) bool {
			if random.Float64() >= p.opt.Fails {
				return false
			}
			c.failed[record] = true
			return true
		},
	})
	for _, f := range p.records {
		if f.Before {
			c.DoneBefore(f.Key)
		}
	}
	return c
}

// unsized lets Estimate not find the length of a manifest where that does harm: the priority becomes
// one of three digits.
func unsized(priority int64) bool { return priority+10 > newqueue.MaxPriority }

// forget makes the workers see what others have written.
func (c *crew) forget() {
	c.newQueue.Forget()
	c.old.Forget()
}

// cleanEvery is after how many rounds the hourly cleanup comes.
const cleanEvery = 8

func (c *crew) cleanSometimes(worked bool, round int) error {
	if round%cleanEvery == 0 || !worked {
		return c.Clean()
	}
	return nil
}

// work lets workers work until none finds anything, or until enough reports true. show is called after each one's turn, and clean after each round.
func (c *crew) work(ctx context.Context, workers []*daemons.Actor, enough func() bool, show func(), clean func(worked bool, round int) error) error {
	for round := 1; ; round++ {
		worked := false
		for _, a := range workers {
			for range c.perRound {
				if err := ctx.Err(); err != nil {
					return context.Cause(ctx)
				}
				did, err := a.Step()
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
			show()
			if enough != nil && enough() {
				return nil
			}
		}
		if err := clean(worked, round); err != nil || !worked {
			return err
		}
	}
}

func (c *crew) result() (*observed, error) {
	s := &observed{executions: c.Executions(), states: map[string]string{}, emails: c.Emails, troubles: c.Troubles, failed: maps.Clone(c.failed)}
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
