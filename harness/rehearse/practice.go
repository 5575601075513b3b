package rehearse

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Practice has the simulated workers of a disposable server, for people who practise the cutover on
// a copy: those of the legacy queue at the server's root, and the deployed services of a new queue.
type Practice struct {
	crew *crew
	open func(context.Context) (*migrate.Writer, error) // a session below the new queue
	did  func(Team, Doing)

	depositor       *depositor // nil if nobody submits
	left, submitted int        // records
	next            time.Time  // when the next one is due
}

// Team is who works at a time.
type Team string

// The teams of a [Practice].
const (
	LegacyInventory Team = "legacy inventory" // the legacy inventory service
	LegacyWorkers   Team = "legacy workers"   // all workers of the legacy queue
	Services        Team = "services"         // the deployed services, with the cleanup when they start
	Submitter       Team = "submitter"        // a depositor, at work beside the others
)

// Doing is what a team does.
type Doing string

// What a team does.
const (
	AtWork  Doing = "at work"
	Waiting Doing = "waiting" // it was at work, and finds nothing now
	Stopped Doing = "stopped" // its shift has ended
)

// Tally is what all teams have done so far.
type Tally struct {
	Submitted                   int      // records, by the submitter
	Begun                       int      // records that somebody worked on
	Stored, Recorded, Assembled int      // objects, objects in the inventory, access requests
	Removed                     int      // batches that the cleanup removed
	Twice                       []string // the records whose work was done more than once: see [daemons.LegacyKey]
	Troubles                    []string // what somebody could not do
}

// NewPractice returns the workers of a server for a new queue at a chroot. Nobody connects yet. The
// error is that the address is none.
func NewPractice(ctx context.Context, address, newQueue string) (*Practice, error) {
	at, err := zkconn.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	s := &stage{cfg: zkconn.Config{Address: at, SessionTimeout: sessionTimeout}}
	c := &crew{random: rand.New(rand.NewPCG(1, 1)), newQueue: daemons.NewMirror(), old: daemons.NewMirror(), perRound: 1}
	c.newQueue.HeldByOthers = true
	c.World = daemons.New(daemons.Options{New: s.site(ctx, newQueue, c.newQueue), Legacy: s.site(ctx, "", c.old)})
	return &Practice{crew: c, open: func(ctx context.Context) (*migrate.Writer, error) { return s.open(ctx, newQueue) }}, nil
}

// submitEvery is the time from one submitted record to the next.
const submitEvery = 2 * time.Second

// Submit lets a depositor submit n records while [Practice.Run] runs: copies of the pending ingest records of the
// queue as it was loaded. The error is that it has none. Call Submit before Run.
func (p *Practice) Submit(n int, loaded *znode.Tree) error {
	var records []string
	for _, node := range p.crew.LegacyNodes["ingest"] {
		records = append(records, loaded.Paths(node)...)
	}
	p.depositor, p.left = newDepositor(loaded, records, legacy.Options{}), n
	if len(p.depositor.models) == 0 {
		return errors.New("no ingest record is pending, of which a submitter could submit copies")
	}
	return nil
}

func (p *Practice) submit() error {
	if p.left == 0 || time.Now().Before(p.next) {
		return nil
	}
	switch _, _, err := p.depositor.submit(p.crew.World); {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case err != nil:
		return err
	}
	p.left, p.submitted, p.next = p.left-1, p.submitted+1, time.Now().Add(submitEvery)
	if p.left == 0 {
		p.did(Submitter, Stopped)
	}
	return nil
}

type shift struct {
	team   Team
	ends   func(begun int, found bool) bool // after it has begun so many records, and found something or not
	cleans bool                             // the cleanup comes when there is nothing to do, because nobody practises for an hour
}

// Run lets the legacy inventory service finish its queue, and then the services work from the release on.
// If stopAfter isn't 0, they stop when they have begun so many records. Then the legacy workers wait for
// the rollback, and work the records that it gives back and those that are still submitted, and the services start again, with the cleanup. did is
// called when a team has worked, when it waits while nobody submits, and when it stops. Run ends with ctx, or with the error that a session was lost.
func (p *Practice) Run(ctx context.Context, stopAfter int, did func(Team, Doing)) error {
	p.did = did
	for _, s := range []shift{
		{LegacyInventory, func(_ int, found bool) bool { return !found }, false},
		{Services, func(begun int, _ bool) bool { return stopAfter > 0 && begun >= stopAfter }, false},
		{LegacyWorkers, func(begun int, found bool) bool { return begun > 0 && !found && p.left == 0 }, false},
		{Services, func(int, bool) bool { return false }, true},
	} {
		if err := p.work(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

const (
	lookAgain = time.Second     // a team waits so long if it has found nothing
	sayAgain  = 5 * time.Second // how often a team that is at work says so
)

func (p *Practice) work(ctx context.Context, s shift) error {
	defer p.crew.Close()
	workers, afterTurn := p.crew.LegacyWorkers(), func(int) {}
	switch s.team {
	case LegacyInventory:
		workers = slices.DeleteFunc(slices.Clone(workers), func(a *daemons.Actor) bool { return a.Name != string(LegacyInventory) })
	case Services:
		workers = p.crew.Workers()
		if err := p.start(ctx); err != nil {
			return err
		}
		w, err := p.open(ctx)
		if err != nil {
			return err
		}
		defer w.Close()
		// follow adds a job to a batch only while that has an unfinished one. So no reporter may see the batch as it was before, once that one is finished.
		var last int64
		afterTurn = func(int) {
			if jobs, _, err := w.Exists(ctx, newqueue.JobsPath); err != nil || jobs.Pzxid != last {
				p.crew.newQueue.Forget()
				last = jobs.Pzxid
			}
		}
	case LegacyWorkers:
		if err := p.awaitRollback(ctx); err != nil {
			return err
		}
	}
	doing, said := Waiting, time.Time{}
	before := len(p.crew.Begun)
	ends := func(found bool) bool { return s.ends(len(p.crew.Begun)-before, found) }
	for {
		p.crew.newQueue.Forget() // others wrote meanwhile
		p.crew.old.Forget()
		found, stuck, began := false, len(p.crew.stuck), time.Now()
		enough := func() bool { return ends(true) || found && time.Since(began) > sayAgain }
		err := p.crew.rounds(ctx, workers, enough, afterTurn, func(worked bool, _ int) error {
			found = found || worked
			return p.submit()
		})
		if err != nil {
			return err
		}
		if s.cleans && !found {
			removed := len(p.crew.Removed)
			if err := p.crew.Clean(); err != nil {
				return err
			}
			found = len(p.crew.Removed) > removed
		}
		p.crew.stuck = slices.Compact(p.crew.stuck) // each look finds the same obstacle again
		stopped := ends(found)
		if stopped {
			p.crew.Close() // before anybody is told
		}
		switch {
		case stopped:
			p.did(s.team, Stopped)
			return nil
		case found || len(p.crew.stuck) > stuck:
			if doing == Waiting || time.Since(said) > sayAgain || len(p.crew.stuck) > stuck {
				p.did(s.team, AtWork)
				said = time.Now()
			}
			doing = AtWork
		case !found && doing == AtWork && p.left == 0: // else more will come
			doing = Waiting
			p.did(s.team, doing)
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

func (p *Practice) start(ctx context.Context) error {
	for {
		p.crew.newQueue.Forget()
		s, err := p.crew.New.Connect()
		if err != nil {
			return err
		}
		holds, _, err := s.Children(p.crew.New.Root + newqueue.QueueLocksPath)
		s.Close()
		switch {
		case err == nil && len(holds) == 0:
			return p.crew.Start()
		case err != nil && !errors.Is(err, zk.ErrNoNode):
			return err
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

func (p *Practice) awaitRollback(ctx context.Context) error {
	w, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		status, err := migrate.ReadStatus(ctx, &w.Reader)
		if err != nil {
			return err
		}
		if run := status.Current(); run != nil && run.State == migration.RunRolledBack {
			return nil
		}
		if err := p.pause(ctx); err != nil {
			return err
		}
	}
}

// pause lets a team wait. The submitter does not.
func (p *Practice) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(lookAgain):
		return p.submit()
	}
}

// Tally returns what was done so far.
func (p *Practice) Tally() Tally {
	t := Tally{Submitted: p.submitted, Removed: len(p.crew.Removed)}
	for key, e := range p.crew.Executions() {
		if len(e.Workers) > 0 || e.Times() > 0 { // else it was done before, and a report lists it
			t.Begun++
		}
		t.Stored += e.Stored + e.StoredEmpty
		t.Recorded += e.Recorded
		t.Assembled += e.Assembled
		// Several legacy records can name one manifest, and each is worked once.
		others := slices.DeleteFunc(slices.Clone(e.Workers), func(name string) bool { return name == string(LegacyInventory) })
		if e.Times() > max(1, len(e.Workers)-len(others)) {
			t.Twice = append(t.Twice, key)
		}
	}
	slices.Sort(t.Twice)
	for _, trouble := range p.crew.Troubles {
		t.Troubles = append(t.Troubles, trouble.String())
	}
	for _, d := range p.crew.stuck {
		t.Troubles = append(t.Troubles, d.Path+": "+d.Message)
	}
	return t
}
