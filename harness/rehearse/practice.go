package rehearse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// Practice has the simulated workers of a disposable server, for people who practise the cutover on
// a copy: those of the legacy queue at the server's root, and the deployed services of a new queue.
// They work only when they are told to, so between two times people can do what the runbook says.
type Practice struct {
	crew *crew
}

// Team is who works at a time.
type Team string

// The teams of a [Practice].
const (
	LegacyInventory Team = "inventory" // the legacy inventory service
	LegacyWorkers   Team = "legacy"    // all workers of the legacy queue
	Services        Team = "services"  // the deployed services, with the cleanup when they start
)

// Tally is what all teams have done so far.
type Tally struct {
	Begun                       int      // records that somebody worked on
	Stored, Recorded, Assembled int      // objects, objects in the inventory, access requests
	Removed                     int      // batches that the cleanup removed
	Twice                       []string // the records whose work was done more than once: see [daemons.LegacyKey]
	Troubles                    []string // what the services could not do, in order
	Stuck                       []string // workers who could not do what the layout allows, in order
}

// NewPractice hires the workers of a server for a new queue at a chroot. Nobody connects yet. The
// error is that the address is none.
func NewPractice(ctx context.Context, address, newQueue string) (*Practice, error) {
	at, err := zkconn.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	s := &stage{cfg: zkconn.Config{Address: at, SessionTimeout: sessionTimeout}}
	c := &crew{random: rand.New(rand.NewPCG(1, 1)), newQueue: newMirror(), old: newMirror(), perRound: 1}
	c.newQueue.heldByOthers = true
	c.World = daemons.New(daemons.Options{New: s.site(ctx, newQueue, c.newQueue), Legacy: s.site(ctx, "", c.old)})
	return &Practice{c}, nil
}

// legacyInventory is the name of the legacy inventory service.
const legacyInventory = "legacy inventory"

// count counts how often a name is in a list.
func count(names []string, name string) (n int) {
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

// Work lets a team work until it has begun so many records (0 means all), or finds nothing, or stop
// reports true: then each worker ends, after what it is at. show is called with the number of records.
// The error is that there is no new queue ([migrate.ErrNoQueue]), that a session was lost, or that ctx
// has ended.
func (p *Practice) Work(ctx context.Context, team Team, records int, stop func() bool, show func(records int)) error {
	defer p.crew.Close()
	p.crew.newQueue.forget() // others wrote meanwhile
	p.crew.old.forget()
	workers := p.crew.LegacyWorkers()
	switch team {
	case LegacyInventory:
		workers = slices.DeleteFunc(slices.Clone(workers), func(a *daemons.Actor) bool { return a.Name != legacyInventory })
	case Services:
		workers = p.crew.Workers()
		if err := p.crew.Start(); errors.Is(err, zk.ErrNoNode) {
			return fmt.Errorf("%w: nothing is at %s; migrate first", migrate.ErrNoQueue, p.crew.New.Root)
		} else if err != nil {
			return err
		}
	case LegacyWorkers:
	}
	before := len(p.crew.Begun)
	enough := func() bool {
		return records > 0 && len(p.crew.Begun)-before >= records || stop()
	}
	return p.crew.rounds(ctx, workers, enough, func(n int) { show(n - before) }, func(bool, int) error { return nil })
}

// Tally returns what was done so far.
func (p *Practice) Tally() Tally {
	t := Tally{Removed: len(p.crew.Removed)}
	for key, e := range p.crew.Executions() {
		if len(e.Workers) > 0 || e.Times() > 0 { // else it was done before, and a report lists it
			t.Begun++
		}
		t.Stored += e.Stored + e.StoredEmpty
		t.Recorded += e.Recorded
		t.Assembled += e.Assembled
		// Several legacy records can name one manifest, and each is worked once.
		if e.Times() > max(1, count(e.Workers, legacyInventory)) {
			t.Twice = append(t.Twice, key)
		}
	}
	slices.Sort(t.Twice)
	for _, trouble := range p.crew.Troubles {
		t.Troubles = append(t.Troubles, trouble.String())
	}
	for _, d := range p.crew.stuck {
		t.Stuck = append(t.Stuck, d.Path+": "+d.Message)
	}
	return t
}
