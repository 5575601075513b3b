// Package practice has the simulated workers of a disposable server, for people who practise the cutover on a copy (docs/practice.md).
package practice

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Practice has the workers of the legacy queue at a server's root, and the deployed services of a new queue.
type Practice struct {
	world         *daemons.World
	newQueue, old *daemons.Mirror
	at            zkconn.Config   // the new queue
	queue         *migrate.Writer // a session there, while Run runs
	made          int64           // the zxid of the last job that was made, as of the last look
	stuck         []string        // what workers could not do that the layout allows
	say           func(who, does string)

	depositor       *daemons.Depositor // nil if nobody submits
	left, submitted int                // records
	next            time.Time          // when the next one is due
}

// Tally is what all teams have done so far.
type Tally struct {
	Submitted                   int      // records, by the submitter
	Begun                       int      // records that somebody worked on
	Stored, Recorded, Assembled int      // objects, objects in the inventory, access requests
	Removed                     int      // batches that the cleanup removed
	Twice                       []string // the records whose work was done more than once: see [daemons.LegacyKey]
	Troubles                    []string // what somebody could not do
}

// New returns the workers of a server for a new queue at a chroot. Nobody connects yet. The
// error is that the address is none.
func New(ctx context.Context, address, newQueue string) (*Practice, error) {
	at, err := zkconn.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	connect := func() (daemons.Session, error) { return session.Open(ctx, zkconn.Config{Address: at}) }
	p := &Practice{newQueue: daemons.NewMirror(), old: daemons.NewMirror()}
	p.newQueue.HeldByOthers = true
	p.world = daemons.New(daemons.Options{New: p.newQueue.Site(newQueue, connect), Legacy: p.old.Site("", connect)})
	p.at.Address = at
	p.at.Address.Chroot = newQueue
	return p, nil
}

// submitEvery is the time from one submitted record to the next.
const submitEvery = 2 * time.Second

// Submit lets a depositor submit n records while [Practice.Run] runs: copies of the pending ingest records of the
// queue as it was loaded. The error is that it has none. Call Submit before Run.
func (p *Practice) Submit(n int, loaded *znode.Tree) error {
	var records []string
	for _, node := range p.world.LegacyNodes["ingest"] {
		records = append(records, loaded.Paths(node)...)
	}
	p.depositor, p.left = daemons.NewDepositor(loaded, records, legacy.Options{}), n
	if p.depositor.Models() == 0 {
		return errors.New("no ingest record is pending, of which a submitter could submit copies")
	}
	return nil
}

func (p *Practice) submit() error {
	if p.left == 0 || time.Now().Before(p.next) {
		return nil
	}
	switch _, _, err := p.depositor.Submit(p.world); {
	case errors.Is(err, zk.ErrNodeExists):
		return nil
	case err != nil:
		return err
	}
	p.left, p.submitted, p.next = p.left-1, p.submitted+1, time.Now().Add(submitEvery)
	if p.left == 0 {
		p.say("submitter", "stopped")
	}
	return nil
}

type shift struct {
	team    string
	workers []*daemons.Actor
	start   func(context.Context) error      // waits until they may start
	ends    func(begun int, found bool) bool // after it has begun so many records, and found something or not
	cleans  bool                             // the cleanup comes when there is nothing to do, because nobody practises for an hour
}

// Run lets the legacy inventory service finish its queue, and then the services work from the release on.
// If stopAfter isn't 0, they stop when they have begun so many records. Then the legacy workers wait for
// the rollback, and work the records that it gives back and those that are still submitted, and the services start again, with the cleanup. say is
// told that a team is "at work", that it is "waiting" while nobody submits, and that it has "stopped". Run ends with ctx, or with the error that a session was
// lost.
func (p *Practice) Run(ctx context.Context, stopAfter int, say func(who, does string)) (err error) {
	p.say = say
	if p.queue, err = zkconn.OpenWriter(ctx, p.at); err != nil {
		return err
	}
	defer p.queue.Close()
	all := p.world.LegacyWorkers()
	inventory := slices.DeleteFunc(slices.Clone(all), func(a *daemons.Actor) bool { return a.Name != legacyInventory })
	atOnce := func(context.Context) error { return nil }
	for _, s := range []shift{
		{legacyInventory, inventory, atOnce, func(_ int, found bool) bool { return !found }, false},
		{"services", p.world.Workers(), p.awaitRelease, func(begun int, _ bool) bool { return stopAfter > 0 && begun >= stopAfter }, false},
		{"legacy workers", all, p.awaitRollback, func(begun int, found bool) bool { return begun > 0 && !found && p.left == 0 }, false},
		{"services", p.world.Workers(), p.awaitRelease, func(int, bool) bool { return false }, true},
	} {
		if err := p.work(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

const (
	legacyInventory = "legacy inventory"
	lookAgain       = time.Second     // a team waits so long if it has found nothing
	sayAgain        = 5 * time.Second // how often a team that is at work says so
)

func (p *Practice) work(ctx context.Context, s shift) error {
	defer p.world.Close()
	if err := s.start(ctx); err != nil {
		return err
	}
	p.forget()
	var said time.Time // that it is at work; zero if it waits
	before := len(p.world.Begun)
	ends := func(found bool) bool { return s.ends(len(p.world.Begun)-before, found) }
	for {
		stuck := len(p.stuck)
		found, err := p.round(ctx, s.workers, func() bool { return ends(true) })
		if err == nil && !found && s.cleans {
			err = p.world.Clean()
		}
		if err != nil {
			return err
		}
		switch {
		case ends(found):
			p.world.Close() // before anybody is told
			p.say(s.team, "stopped")
			return nil
		case len(p.stuck) > stuck || found && time.Since(said) > sayAgain:
			said = time.Now()
			p.say(s.team, "at work")
			p.forget()
		case !found && !said.IsZero() && p.left == 0: // else more will come
			said = time.Time{}
			p.say(s.team, "waiting")
		}
		if !found {
			if err := p.pause(ctx); err != nil {
				return err
			}
			p.forget()
		}
	}
}

// round lets each worker take a turn, until enough reports true. A worker who can't go on is passed over.
func (p *Practice) round(ctx context.Context, workers []*daemons.Actor, enough func() bool) (found bool, err error) {
	for _, a := range workers {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		did, err := a.Step()
		if session.Lost(err) || errors.Is(err, context.Canceled) { // no fault of the worker
			return false, err
		}
		if err != nil {
			if text := a.Name + ": " + err.Error(); !slices.Contains(p.stuck, text) {
				p.stuck = append(p.stuck, text)
			}
		}
		found = found || did
		p.seeNewJobs(ctx)
		if enough() {
			break
		}
	}
	return found, p.submit()
}

// forget makes the workers see what others have written.
func (p *Practice) forget() {
	p.newQueue.Forget()
	p.old.Forget()
}

// seeNewJobs makes the services see what follow has written. It adds a job to a batch only while that has an unfinished one. So no reporter may see the batch
// as it was before, once that one is finished.
func (p *Practice) seeNewJobs(ctx context.Context) {
	if jobs, _, err := p.queue.Exists(ctx, newqueue.JobsPath); err != nil || jobs.Pzxid != p.made {
		p.newQueue.Forget()
		p.made = jobs.Pzxid
	}
}

func (p *Practice) awaitRelease(ctx context.Context) error {
	err := p.await(ctx, func() (bool, error) {
		holds, err := p.queue.Children(ctx, newqueue.QueueLocksPath)
		if errors.Is(err, znode.ErrNoNode) {
			return false, nil
		}
		return len(holds) == 0, err
	})
	if err != nil {
		return err
	}
	p.forget()
	return p.world.Start()
}

func (p *Practice) awaitRollback(ctx context.Context) error {
	return p.await(ctx, func() (bool, error) {
		status, err := migrate.ReadStatus(ctx, &p.queue.Reader)
		if err != nil {
			return false, err
		}
		run := status.Current()
		return run != nil && run.State == migration.RunRolledBack, nil
	})
}

func (p *Practice) await(ctx context.Context, isSo func() (bool, error)) error {
	for {
		if so, err := isSo(); so || err != nil {
			return err
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
	t := Tally{Submitted: p.submitted, Removed: len(p.world.Removed)}
	for key, e := range p.world.Executions() {
		if len(e.Workers) > 0 || e.Times() > 0 { // else it was done before, and a report lists it
			t.Begun++
		}
		t.Stored += e.Stored + e.StoredEmpty
		t.Recorded += e.Recorded
		t.Assembled += e.Assembled
		// Several legacy records can name one manifest, and each is worked once.
		others := slices.DeleteFunc(slices.Clone(e.Workers), func(name string) bool { return name == legacyInventory })
		if e.Times() > max(1, len(e.Workers)-len(others)) {
			t.Twice = append(t.Twice, key)
		}
	}
	slices.Sort(t.Twice)
	for _, trouble := range p.world.Troubles {
		t.Troubles = append(t.Troubles, trouble.String())
	}
	t.Troubles = append(t.Troubles, p.stuck...)
	return t
}
