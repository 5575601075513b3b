package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Kept is something that a rollback leaves, and why.
type Kept struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Undo is what a rollback would do, or did.
type Undo struct {
	Run  string `json:"run"`
	Done Done   `json:"removed"`
	Kept []Kept `json:"kept"` // jobs and batches, and records whose jobs are gone
	Left []Kept `json:"left"` // everything else that is not as it was before the run
	// Twice are the records whose jobs stay, or were finished and cleaned up.
	Twice RunsTwice `json:"runs_twice"`

	run       Run
	target    *listing
	force     bool
	structure []string    // the layout's znodes that the run made, children first
	jobs      []undoneJob // that the run made, in the order of their removal
	batches   []undoneBatch
	uuids     []namedBatch // entries of /batch-uuids, in the order of the BIDs
	rewritten int          // jobs of earlier runs that this run rewrote

	// Used only while the rollback is planned:
	stay      map[ref]string     // why jobs stay, by root
	forced    map[ref][]znode.Op // the operations that remove jobs that another client changed
	custody   []jobPresence      // for each row of the ledger
	rewroteBy map[string]bool    // runs that rewrote jobs of this one
}

// jobPresence says whether the job of a ledger entry is there, and which run made it.
type jobPresence uint8

const (
	noJob         jobPresence = iota
	madeByThisRun             // and known to the ledger
	madeByOtherRun
)

// RunRecord is the record of the run that is rolled back.
func (u *Undo) RunRecord() Run { return u.run }

// removesAll reports whether the rollback removes everything that the run made, so that the
// run's record can be removed too.
func (u *Undo) removesAll() bool { return len(u.Kept) == 0 && u.rewritten == 0 && u.run.Lost == 0 }

// PlanRollback plans the rollback of a run. It removes the jobs, access requests and
// batches that the run's own transactions made. It keeps those that another client has
// changed since, or deleted and recreated. With force, it keeps a changed job only
// if a worker has it locked. PlanRollback reads the target part by part and writes
// nothing. The error wraps [ErrNoRun], [ErrNotNewest] or [ErrLedger], or comes from
// reading.
func PlanRollback(ctx context.Context, target side.Side, id string, force bool) (*Undo, error) {
	l, err := listTarget(ctx, target, nil)
	if err != nil {
		return nil, err
	}
	u := &Undo{
		Run: id, Kept: []Kept{}, Left: []Kept{}, Twice: RunsTwice{Jobs: []TwiceJob{}}, target: l, force: force,
		stay: map[ref]string{}, forced: map[ref][]znode.Op{}, custody: make([]jobPresence, len(l.custody.entries.rows)), rewroteBy: map[string]bool{},
	}
	if err := u.lookAtJobs(ctx); err != nil {
		return nil, err
	}
	if d := l.custody.damage; len(d) > 0 {
		return nil, &DamageError{d[0]}
	}
	if u.run, err = findRun(l.tree, id); err != nil {
		return nil, err
	}
	for _, later := range slices.Backward(l.runs) {
		if later.ID == id {
			break
		}
		if later.State != RunRolledBack || u.rewroteBy[later.ID] {
			return nil, fmt.Errorf("%w: %s came after %s; roll that back first", ErrNotNewest, later.ID, id)
		}
	}
	if u.run.Ledger.Void {
		u.jobs, u.Left = nil, []Kept{}
	} else {
		if err := u.lookAtBatches(ctx); err != nil {
			return nil, err
		}
		u.decide()
		u.keepCustody()
	}
	u.keepForeign()
	u.structure = withNew(nil, u.run.Made)
	slices.Reverse(u.structure)
	return u, nil
}

// keepCustody names the ledger entries that stay. This run created their jobs, and the
// jobs are gone. Or the jobs are those of earlier runs, and this run rewrote them.
func (u *Undo) keepCustody() {
	rewritten := 0
	for i := range u.custody {
		h := u.target.custody.entries.at(i)
		if h.run != u.Run {
			continue
		}
		switch u.custody[i] {
		case noJob: // it may also be a copy of a job that is gone
			u.keep(cmp.Or(h.root, h.record), u.target.whyGone(h)+"; its ledger entry stays, so that no migration recreates it")
			u.Twice.add(h.record, h.root, u.target.whyGone(h))
		case madeByOtherRun:
			rewritten++
		}
	}
	if u.run.Lost > 0 {
		u.keep(u.run.path(), fmt.Sprintf("this run made jobs from at least %s whose ledger entries were lost; the record of the run stays, so that every plan asks about them", counted(u.run.Lost, "record", "records")))
	}
	if rewritten > 0 {
		u.rewritten = rewritten
		u.Left = append(u.Left, Kept{u.run.path(), fmt.Sprintf("this run rewrote %s of earlier runs, which %s as it left them; the record of the run stays too", counted(rewritten, "job", "jobs"), stayVerb(rewritten))})
	}
}

// keepForeign names the znodes that others put below the run's record and its ledger.
func (u *Undo) keepForeign() {
	for _, root := range []string{u.run.path(), ledgerPath(u.Run)} {
		for _, path := range u.target.tree.Paths(root) {
			n, err := strconv.Atoi(znode.Name(path))
			if shard := err == nil && n < u.run.Ledger.Shards && path == shardPath(u.Run, n); path != root && !shard {
				u.keep(path, "no migration made it; the record of the run stays until it is removed")
			}
		}
	}
}

func stayVerb(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}

func (u *Undo) keep(path, why string) { u.Kept = append(u.Kept, Kept{path, why}) }

// Rollback rolls back a run. It keeps and lists what others changed, unless forced.
// Then the run's record stays too, as rolled back. If nothing is kept, the record is
// removed, and the target is as it was before the run. If Rollback was interrupted,
// call it again to finish. With an error, the Undo says what was removed before it; it
// is nil if that is nothing. Errors are those of [PlanRollback] and [Migrator.Migrate].
func (m *Migrator) Rollback(ctx context.Context, id string, force bool) (*Undo, error) {
	m.defaults()
	if err := CheckRun(ctx, m.Target.Side(nil), id); err != nil {
		return nil, interrupted(err)
	}
	acl, err := m.Target.runACL(ctx, id)
	if err != nil {
		return nil, interrupted(err)
	}
	phases(ctx)(AwaitingTurn, 0, 0)
	if err := m.Target.lead(ctx, m.owner, acl, nil, m.Say); err != nil {
		return nil, interrupted(err)
	}
	defer m.Target.resign()
	var total Done
	var u *Undo // the newest one, which says what was removed so far
	for retry := m.retries(); ; {
		if err := m.Target.Sync(ctx); err != nil {
			return u, interrupted(err)
		}
		now, err := PlanRollback(ctx, m.Target.Side(nil), id, force)
		if err != nil {
			return u, interrupted(err)
		}
		u = now
		steps, done, err := m.undo(ctx, u, retry.budget)
		total.add(done)
		u.Done = total
		var again *lookAgain
		if err == nil || !errors.As(err, &again) {
			return u, err
		}
		if err := retry.next(ctx, steps, again.err); err != nil {
			return u, err
		}
		m.Say(fmt.Sprintf("looking again: %v", again.err))
	}
}

// undo carries out one plan of a rollback. It returns the number of transactions that
// were done and counts what they removed.
func (m *Migrator) undo(ctx context.Context, u *Undo, budget int) (int, Done, error) {
	c := &chain{m: m, run: u.run, version: u.run.stat.Version, acl: u.run.ACL}
	c.trace, _ = readTrace(u.target.tree)
	tail, err := decodeTail(u.run)
	if err != nil {
		return 0, Done{}, err
	}
	c.log = ledgerLog{run: u.Run, acl: u.run.ACL, tail: tail}
	c.run.State, c.run.Owner = RunRollingBack, m.owner
	c.run.Copied = !u.target.spans[u.Run].known()
	holds, err := m.holdAgain(u)
	if err != nil {
		return 0, Done{}, err
	}
	if len(holds) > 0 {
		m.Say("the new queues were released; they are held again while " + u.Run + " is rolled back")
	}
	transactions := func(yield func(unit) bool) {
		// This marks the run as rolling back, and ends the part of its ledger that
		// the migration wrote. Nothing is removed before that.
		if !yield(unit{ops: holds, last: true}) {
			return
		}
		for t := range pack(u.units(), budget, m.MaxOps, m.Target.chrootLen()) {
			if !yield(t) {
				return
			}
		}
	}
	items, total := 0, u.Done.Jobs+u.Done.Access+u.Done.Batches
	report := phases(ctx)
	report(RollingBack, 0, total)
	err = c.send(ctx, transactions, func(t unit) {
		items += t.count
		m.Progress(items, total)
		report(RollingBack, items, total)
	})
	if err != nil {
		return c.steps, c.done, err
	}
	err = m.undoStructure(ctx, c, u)
	return c.steps, c.done, err
}

// undoStructure removes the run's holds, and the layout's znodes that the run made and
// that are empty now. If nothing of the run is kept, it also removes the run's ledger
// and record.
func (m *Migrator) undoStructure(ctx context.Context, c *chain, u *Undo) error {
	made := u.run.span(u.target.tree)
	var ops []znode.Op
	removed := map[string]bool{}
	ours := u.countStaying()
	heldAt := int64(-1) // the transaction in which the rollback made the folders for its holds
	nodes := withNew(u.structure, holdNodes())
	slices.Sort(nodes)
	for _, path := range slices.Backward(nodes) { // children before parents
		n, err := m.Target.Get(ctx, path)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return interrupted(err)
		}
		byRollback := setByRollback(u.Run, &n) || path == newqueue.LocksPath && n.Stat.Czxid == heldAt && n.Stat.Version == 0
		if path == newqueue.QueueLocksPath && byRollback && n.Stat.Czxid != 0 {
			heldAt = n.Stat.Czxid
		}
		if !byRollback && !slices.Contains(u.structure, path) {
			continue // it was there before the run
		}
		left := int(n.Stat.NumChildren) - ours[path]
		for child := range removed {
			if znode.Parent(child) == path {
				left--
			}
		}
		switch {
		case left > 0:
			u.Left = append(u.Left, Kept{path, fmt.Sprintf("it has %s that this run did not create", counted(left, "znode", "znodes"))})
		case ours[path] > 0: // something that the run made stays below it
		case byRollback:
			removed[path] = true
			ops = append(ops, znode.Delete(path, n.Stat.Version))
		case isHold(path) && !u.run.hasSet(&n):
			u.Left = append(u.Left, Kept{path, newHold(&n, u.target.runs).whyStays()})
		case setByAdministrator(&n):
			u.Left = append(u.Left, Kept{path, "another client recreated it for a hold"})
		case path == newqueue.JobsPath && (!u.removesAll() || len(u.target.runs) > 1):
			// It has the trace of the runs that stay.
		case made.known() && !made.contains(n.Stat.Czxid):
			u.Left = append(u.Left, Kept{path, "another client deleted and recreated it"})
		case n.Stat.Version != 0 && !hasOnlyTrace(n):
			u.Left = append(u.Left, Kept{path, "another client set it " + times(n.Stat.Version)})
		default:
			removed[path] = true
			ops = append(ops, znode.Delete(path, n.Stat.Version))
		}
		if !removed[path] {
			ours[znode.Parent(path)]++
		}
	}
	if !u.removesAll() {
		c.run.Made = slices.DeleteFunc(slices.Clone(c.run.Made), func(path string) bool { return removed[path] })
		c.run.Holds = []string{}
		return c.end(ctx, RunRolledBack, ops, func(t trace, r Run) trace { return t.with(r) })
	}
	if err := c.dropLedger(ctx); err != nil {
		return err
	}
	if !removed[newqueue.JobsPath] {
		jobs, err := m.Target.Get(ctx, newqueue.JobsPath)
		if err == nil {
			old, ok := parseTrace(jobs.Data)
			if !ok { // another client set it to something else meanwhile
				old = c.trace
			}
			ops = append(ops, setTrace(&jobs, old.without(u.Run))...)
		} else if !errors.Is(err, znode.ErrNoNode) {
			return interrupted(err)
		}
	}
	own, err := m.ownNodes(ctx, c.run, c.version)
	if err != nil {
		return interrupted(err)
	}
	err = <-m.Target.Start(ctx, append(ops, own...))
	var refused *znode.MultiError
	if errors.Is(err, zkconn.ErrUnknownOutcome) || errors.Is(err, zkconn.ErrThrottled) || errors.As(err, &refused) && isConflict(refused.Err) {
		if _, gerr := m.Target.Get(ctx, c.run.path()); errors.Is(gerr, znode.ErrNoNode) {
			return nil // it was done
		}
		return &lookAgain{err}
	}
	return err
}

// hasOnlyTrace reports whether the znode is /jobs and only runs have set its data.
func hasOnlyTrace(n znode.Node) bool {
	t, ok := parseTrace(n.Data)
	return ok && n.Path == newqueue.JobsPath && t.Sets == n.Stat.Version
}

// shardsAtOnce is how many shards go in one transaction.
const shardsAtOnce = 500

// dropLedger removes most of a long ledger, because everything in it was rolled
// back. The rest is removed with the run's record. The closing shard is part of that rest,
// because it shows until then which znodes the run created.
func (c *chain) dropLedger(ctx context.Context) error {
	shards, err := c.m.Target.Children(ctx, ledgerPath(c.run.ID))
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return interrupted(err)
	}
	if len(shards) <= shardsAtOnce {
		return nil
	}
	closing := znode.Name(shardPath(c.run.ID, c.run.Ledger.Closed-1))
	shards = slices.DeleteFunc(shards, func(name string) bool { return name == closing })
	c.run.Ledger.Void = true
	transactions := func(yield func(unit) bool) {
		if !yield(unit{}) { // the run's record says that the ledger is void before the first shard is removed
			return
		}
		for names := range slices.Chunk(shards, shardsAtOnce) {
			var t unit
			for _, name := range names {
				t.ops = append(t.ops, znode.Delete(znode.Join(ledgerPath(c.run.ID), name), -1))
			}
			if !yield(t) {
				return
			}
		}
	}
	return c.send(ctx, transactions, func(unit) {})
}

// ownNodes returns the operations that remove the run's record, with a check of its
// version. They also remove the migration's own folders if these hold no other
// run and no waiting migrator. They remove /migration only if a migrator
// created it.
func (m *Migrator) ownNodes(ctx context.Context, run Run, version int32) ([]znode.Op, error) {
	ops := []znode.Op{znode.Delete(run.path(), version)}
	shards, err := m.Target.Children(ctx, ledgerPath(run.ID))
	switch {
	case err == nil:
		for _, name := range shards {
			ops = append(ops, znode.Delete(znode.Join(ledgerPath(run.ID), name), -1))
		}
		ops = append(ops, znode.Delete(ledgerPath(run.ID), -1))
	case !errors.Is(err, znode.ErrNoNode):
		return nil, err
	}
	below := int32(0) // how many children of /migration are removed
	var election znode.Node
	for _, own := range []struct{ folder, child string }{{RunsPath, run.path()}, {LedgerPath, ledgerPath(run.ID)}, {ElectionPath, m.Target.place.Path()}} {
		n, err := m.Target.Get(ctx, own.folder)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n.Stat.NumChildren > 1 {
			return ops, nil
		}
		if own.folder == ElectionPath {
			election = n
			ops = append(ops, znode.Delete(own.child, -1))
		}
		ops = append(ops, znode.Delete(own.folder, -1))
		below++
	}
	n, err := m.Target.Get(ctx, MigrationPath)
	if err != nil {
		return nil, err
	}
	if n.Stat.NumChildren == below && ownMigration(n.Stat, election.Stat) {
		ops = append(ops, znode.Delete(MigrationPath, -1))
	}
	return ops, nil
}
