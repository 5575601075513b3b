package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Migrator carries out plans on a target. Target is required.
type Migrator struct {
	Target *Target
	Now    func() time.Time // nil: time.Now
	// Budget is the largest size of a transaction in bytes, and MaxOps the largest
	// number of its operations. 0 means the default. A job is never split.
	Budget, MaxOps int
	// Say is called with what the operator should know while the migration runs.
	// Progress is called with how many of the records have been sent; [WithPhases]
	// reports the other phases. Either may be nil.
	Say      func(string)
	Progress func(done, total int)
	// Keep is called with the records that can't be decoded and are quarantined,
	// before anything is written. It must keep their bytes, as [WriteQuarantine] does.
	// If Keep is nil, such a record ends the migration with [ErrNoKeep].
	Keep func([]Record) error
	// Plan, if not nil, was made for the target a moment ago, with the same options, and
	// its source is still open. Migrate carries it out as it is, so that nothing is read
	// and planned twice. But if another migrator was at work since, or is at work now,
	// Migrate plans again, because the source may have changed.
	Plan *Plan
	// HoldAgain lets a migration hold queues again that were released after an earlier
	// run; see [ErrReleased].
	HoldAgain bool

	owner      string
	finished   error         // not nil if another migrator finished this one's run while it waited
	firstPause time.Duration // the first pause after the server throttled; 0 means a second
}

func (m *Migrator) defaults() {
	if m.Now == nil {
		m.Now = time.Now
	}
	if m.Budget == 0 {
		m.Budget = defaultBudget
	}
	if m.MaxOps == 0 || m.MaxOps > maxOps {
		m.MaxOps = maxOps
	}
	if m.Say == nil {
		m.Say = func(string) {}
	}
	if m.Progress == nil {
		m.Progress = func(int, int) {}
	}
	if m.firstPause == 0 {
		m.firstPause = time.Second
	}
	if m.owner == "" {
		m.owner = OwnerName(m.Now())
	}
}

// Result is what a migration did.
type Result struct {
	Run  string `json:"run"`
	Plan *Plan  `json:"plan"` // the first plan
	Done Done   `json:"done"` // by this call
	// Steps is the number of transactions of this call.
	Steps int `json:"transactions"`
}

// ReadFunc opens the source as it is now. The caller calls done when it has read the
// queue.
type ReadFunc func(context.Context) (queue *LegacyQueue, done func(), err error)

// Expectation is what the first plan of a migration must decide. It is a digest of the
// plan that the operator looked at.
type Expectation struct{ id, source, decisions string }

// Expectation returns what the plan decides.
func (p *Plan) Expectation() *Expectation {
	return &Expectation{id: p.ID, source: p.Source.Hash, decisions: p.decisions()}
}

// Migrate plans and carries out the plan, until nothing is left to do. After a
// lost connection, or if another client created a job, it reads both sides again
// and plans the rest. It waits until no other migrator is at work, and then plans,
// or uses [Migrator.Plan].
//
// If expect is not nil and the first plan decides something else, the error wraps
// [ErrStale]. If another migrator rolled a run back while this one waited, it wraps
// [ErrRolledBack], and [ErrFinished] if the other one finished it and the source has
// changed since. Other errors wrap [ErrBlocked], [ErrReleased], [ErrNoKeep],
// [ErrInterrupted], [ErrTakenOver], [ErrContended], [ErrDropped] or [ErrLost]. The
// Result is never nil, and says what this call did.
func (m *Migrator) Migrate(ctx context.Context, read ReadFunc, opt Options, expect *Expectation) (*Result, error) {
	m.defaults()
	res := &Result{}
	if err := m.Target.checkPlace(ctx); err != nil {
		return res, interrupted(err)
	}
	phases(ctx)(AwaitingTurn, 0, 0)
	var before []Run
	acl := opt.ACL
	if m.Plan != nil {
		before, acl = m.Plan.ex.runs, m.Plan.opt.ACL
	}
	// A rollback that is ahead of this migrator joined before it, so its run shows now.
	joined := func() error {
		runs, err := m.Target.runs(ctx)
		before = append(slices.Clone(before), runs...)
		return err
	}
	if err := m.Target.lead(ctx, m.owner, acl, joined, m.Say); err != nil {
		return res, interrupted(err)
	}
	defer m.Target.resign()
	runs, err := m.Target.runs(ctx)
	if err != nil {
		return res, interrupted(err)
	}
	if err := rolledBackSince(before, runs); err != nil {
		return res, err
	}
	m.finished = finishedSince(before, runs, opt.Source)
	phases(ctx)(ReadingTarget, 0, 0)
	for retry := m.retries(); ; {
		steps, err := m.look(ctx, read, opt, expect, retry.budget, res)
		var again *lookAgain
		switch {
		case err == nil:
			return res, nil
		case !errors.As(err, &again):
			return res, err
		case expect != nil && errors.Is(err, ErrSourceChanged):
			return res, fmt.Errorf("%w: %w", ErrStale, err)
		}
		if err := retry.next(ctx, steps, again.err); err != nil {
			return res, err
		}
		m.Say(fmt.Sprintf("looking again: %v", again.err))
	}
}

// look reads both sides, plans what is left to do, and carries out the plan.
func (m *Migrator) look(ctx context.Context, read ReadFunc, opt Options, expect *Expectation, budget int, res *Result) (steps int, err error) {
	p, done, err := m.plan(ctx, read, opt, res)
	if errors.Is(err, ErrSourceChanged) {
		return 0, &lookAgain{err}
	}
	if err != nil {
		return 0, interrupted(err)
	}
	defer done()
	if res.Plan == nil {
		res.Plan, res.Run = p, p.Run
		if expect != nil && (p.Source.Hash != expect.source || p.decisions() != expect.decisions) {
			return 0, fmt.Errorf("%w: the source or the target changed while this migrator waited", ErrStale)
		}
		if expect != nil {
			p.ID = expect.id // the id that the operator approved
		}
	}
	if bad := p.Quarantined(); len(bad) > 0 {
		if m.Keep == nil {
			return 0, fmt.Errorf("%w: %d records can't be decoded, the first is %s", ErrNoKeep, len(bad), bad[0].Path)
		}
		if err := m.Keep(bad); err != nil {
			return 0, err
		}
	}
	if p.Blocked() {
		return 0, fmt.Errorf("%w: %d problems, the first: %s", ErrBlocked, len(p.Problems), p.Problems[0])
	}
	if p.Empty() {
		return 0, nil
	}
	if m.finished != nil && res.Steps == 0 {
		return 0, m.finished
	}
	if err := p.released(); err != nil && !m.HoldAgain {
		return 0, err
	}
	steps, created, err := m.apply(ctx, p, budget)
	res.Steps += steps
	res.Done.add(created)
	return steps, err
}

// plan returns the plan to carry out. The first time, that is [Migrator.Plan] if it is
// still good. Otherwise plan makes a new one. done closes the new plan's source.
func (m *Migrator) plan(ctx context.Context, read ReadFunc, opt Options, res *Result) (p *Plan, done func(), err error) {
	target, err := m.Target.side(ctx)
	if err != nil {
		return nil, nil, err
	}
	if m.Plan != nil && res.Plan == nil && !m.Target.waited {
		if err := m.Target.checkBeside(ctx, m.Plan.queue); err != nil {
			return nil, nil, err
		}
		if good, err := m.Plan.Undisturbed(ctx, target); err != nil || good {
			return m.Plan, func() {}, err
		}
	}
	queue, done, err := read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err = m.Target.checkBeside(ctx, queue); err == nil {
		p, err = MakePlan(ctx, queue, target, opt)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return p, done, nil
}

// Undisturbed reports whether no migrator has written to the target since the plan was
// made. It compares the runs' records, because each transaction of a migrator sets one.
// It need not look for other clients' writes: they make a transaction of the migration
// fail, before and after this call alike.
func (p *Plan) Undisturbed(ctx context.Context, target side.Side) (bool, error) {
	now := znode.NewTree()
	for n, err := range target.Walk(ctx, RunsPath) {
		if err == nil {
			err = now.Put(n)
		}
		if err != nil {
			return false, err
		}
	}
	if now.Hash(RunsPath) != p.ex.tree.Hash(RunsPath) {
		return false, nil
	}
	// A run's last transaction also sets the trace on /jobs. The plan read /jobs before
	// it read the runs.
	jobs, err := target.Get(ctx, newqueue.JobsPath)
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return false, err
	}
	if was := p.ex.tree.Get(newqueue.JobsPath); (was == nil) != (err != nil) || was != nil && was.Stat.Mzxid != jobs.Stat.Mzxid {
		return false, nil
	}
	// This migrator itself has created the election and its parent since then.
	for _, path := range []string{MigrationPath, ElectionPath} {
		n, err := target.Get(ctx, path)
		if err == nil {
			err = p.ex.tree.Put(n)
		}
		if err != nil && !errors.Is(err, znode.ErrNoNode) {
			return false, err
		}
	}
	return true, nil
}

// retries counts the plans that failed in a row before any of their work was done.
type retries struct {
	idle   int
	budget int // of a transaction, in bytes
	pause  time.Duration
}

func (m *Migrator) retries() retries { return retries{budget: m.Budget, pause: m.firstPause} }

// next counts a failed attempt. If the server throttles, it waits. After too many
// failures in a row it returns an error.
func (r *retries) next(ctx context.Context, steps int, err error) error {
	if steps > 1 {
		r.idle = 0
	}
	throttled := errors.Is(err, zkconn.ErrThrottled)
	if steps > 1 && !throttled {
		return nil
	}
	lost := errors.Is(err, zkconn.ErrUnknownOutcome)
	switch r.idle++; {
	case r.idle == maxIdle && throttled:
		return fmt.Errorf("%d transactions in a row: %w; run the same command again when the server has less to do, or with fewer operations a second", maxIdle, err)
	case throttled:
		select {
		case <-time.After(r.pause << (r.idle - 1)): // twice as long each time
			return nil
		case <-ctx.Done():
			return interrupted(context.Cause(ctx))
		}
	case r.idle == maxIdle && lost:
		return fmt.Errorf("%w: the connection was lost at %d transactions in a row, and the last had only one job or znode: %w", ErrDropped, maxIdle, err)
	case r.idle == maxIdle:
		return fmt.Errorf("%w: %w", ErrContended, err)
	case lost:
		// If a server's jute.maxbuffer is smaller than the transaction, the server
		// drops the connection without saying why.
		r.budget = max(r.budget/8, 1)
	}
	return nil
}

// interrupted wraps err if the user cancelled the wait.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w while nothing was being written; run the same command again (%w)", ErrInterrupted, err)
	}
	return err
}

// maxIdle is how many plans in a row may fail before any of their work was done.
const maxIdle = 6

// lookAgain says that the target has changed since the plan, or that the
// outcome of a transaction is unknown. Both need a new plan.
type lookAgain struct{ err error }

func (e *lookAgain) Error() string { return e.err.Error() }
func (e *lookAgain) Unwrap() error { return e.err }

// apply carries out one plan. It returns the number of transactions that were done
// and what they did.
func (m *Migrator) apply(ctx context.Context, p *Plan, budget int) (int, Done, error) {
	run, first := m.begin(p)
	c := &chain{m: m, run: run, version: first.base, acl: p.opt.ACL, trace: first.trace}
	tail, err := decodeTail(run)
	if err != nil {
		return 0, Done{}, err
	}
	c.log = ledgerLog{run: run.ID, acl: p.opt.ACL, tail: tail}
	if err := c.send(ctx, slices.Values([]unit{{ops: first.ops}}), func(unit) {}); err != nil {
		return c.steps, c.done, err
	}
	if err := m.make(ctx, c, p, budget); err != nil {
		return c.steps, c.done, err
	}
	err = c.end(ctx, RunDone, nil, func(t trace, r Run) trace { return t.with(r) })
	return c.steps, c.done, err
}

// make sends everything that the plan creates. If others take ids meanwhile, make
// renumbers what it has not created yet, and sends it again.
func (m *Migrator) make(ctx context.Context, c *chain, p *Plan, budget int) error {
	making := p.unitMaker()
	total, items, idle := p.plannedCount(), 0, 0
	report := phases(ctx)
	report(Sending, 0, total)
	for {
		err := c.send(ctx, pack(making.units(ctx), budget, m.MaxOps, m.Target.chrootLen()), func(t unit) {
			making.recordDone(t)
			idle = 0
			items += t.count
			m.Progress(items, total)
			report(Sending, items, total)
		})
		if err == nil {
			err = making.failed(ctx)
		}
		var taken *idTaken
		if !errors.As(err, &taken) {
			return err
		}
		if idle++; idle > maxTaken {
			return fmt.Errorf("%w: %d times in a row another client's new job or batch came first: %w", ErrContended, idle, taken.err)
		}
		if err := p.counters.catchUp(ctx, m.Target, making.rewind()); err != nil {
			return interrupted(err)
		}
	}
}

// maxTaken is how often in a row others may take the next id before this migrator
// creates a job. Each try takes a few round trips. A client that submits without
// pause wins some of them, but not a thousand in a row.
const maxTaken = 1000

// opening is the first transaction of an apply.
type opening struct {
	ops   []znode.Op
	base  int32 // the version that the run's znode must have; -1: the transaction creates it
	trace trace // on /jobs, after the transaction
}

// begin returns the run's record and the operations of the first transaction:
// the run, its ledger, the holds, the missing layout, and the trace on /jobs.
func (m *Migrator) begin(p *Plan) (Run, opening) {
	o := opening{base: -1}
	run := Run{
		ID: p.Run, State: RunRunning, Plan: p.ID, Source: p.opt.Source, Dialect: p.Dialect, Policies: p.Policies, Time: p.Settings.Time,
		Owner: m.owner, Started: m.Now().UTC(), Made: p.Structure, Holds: p.holds, ACL: p.opt.ACL,
	}
	if p.Resumes {
		run = p.unfinished
		o.base = run.stat.Version
		run.Owner = m.owner
		run.Copied = !p.ex.spans[run.ID].known()
		run.Made = withNew(run.Made, p.Structure)
		run.Holds = withNew(run.Holds, p.holds)
		run.HeldAgain = withNew(run.HeldAgain, p.holds)
	} else {
		own := []string{MigrationPath, RunsPath, ElectionPath, LedgerPath}
		for _, path := range append(own, ledgerPath(p.Run)) {
			if p.ex.tree.Get(path) == nil {
				o.ops = append(o.ops, creates([]leaf{{path, none}}, p.opt.ACL)...)
			}
		}
	}
	run.Total = run.Done.Records() + p.plannedCount()
	o.ops = append(o.ops, p.structure().ops...)
	// A hold that was there when the plan was made must still be there. Otherwise
	// another client released the queue, and its workers would start on half a migration.
	for _, h := range newqueue.QueueHolds {
		if n := p.ex.tree.Get(newqueue.QueueHoldPath(h)); n != nil && p.plannedCount() > 0 {
			o.ops = append(o.ops, znode.Op{Kind: znode.OpCheck, Path: n.Path, Version: n.Stat.Version})
		}
	}
	old, _ := readTrace(p.ex.tree)
	next := old.with(run)
	if slices.Contains(p.Structure, newqueue.JobsPath) {
		o.ops = append(o.ops, setTrace(&znode.Node{Path: newqueue.JobsPath, Data: none}, next)...)
	}
	o.ops = append(o.ops, setTrace(p.ex.tree.Get(newqueue.JobsPath), next)...)
	o.trace = next
	return run, o
}

// withNew adds the missing paths to a list. If another client removed something while a
// run was interrupted, the run creates it a second time.
func withNew(paths, more []string) []string {
	paths = slices.Clone(paths)
	for _, path := range more {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// chain sends transactions. Each succeeds only if the run's znode has the version that
// the one before gave it (see the package comment).
type chain struct {
	m       *Migrator
	run     Run
	log     ledgerLog
	version int32 // the version that the next transaction demands; -1: it creates the znode
	steps   int   // how many transactions were done
	done    Done  // what they did
	acl     []znode.ACL
	trace   trace // on /jobs, as this migrator last read or wrote it
}

// send sends the transactions in order and waits for all; see [Migrator.pipeline].
// It calls done for each one that succeeded.
func (c *chain) send(ctx context.Context, transactions iter.Seq[unit], done func(unit)) error {
	failed, err := c.m.pipeline(ctx, transactions, c.start, func(t unit) {
		c.steps++
		c.done.add(t.done)
		done(t)
	})
	if len(failed) > 0 {
		return c.lost(context.WithoutCancel(ctx), failed, err)
	}
	return err
}

// start sends one transaction, and with it the run's record, which is the link of the
// chain. The record also has the newest entries of the ledger.
func (c *chain) start(ctx context.Context, t unit) <-chan error {
	if c.run.State == RunRunning { // a rollback doesn't change what the run's record counts
		c.run.Done.add(t.done)
	}
	ops, err := c.log.add(&c.run.Ledger, t.ledger, t.last)
	if err != nil {
		failed := make(chan error, 1)
		failed <- err
		return failed
	}
	if t.last && c.run.Ledger.Closed == 0 {
		c.run.Ledger.Closed = c.run.Ledger.Shards
	}
	if c.version == -1 {
		// The run's znode comes after its parents, which t creates if they are missing.
		i := 0
		for i < len(t.ops) && znode.Within(RunsPath, t.ops[i].Path) {
			i++
		}
		c.run.Steps = 1
		ops = slices.Insert(slices.Clone(t.ops), i, c.run.creates(c.acl)...)
	} else {
		c.run.Steps = c.version + 1
		ops = slices.Concat([]znode.Op{znode.Set(c.run.path(), c.run.encode(), c.version)}, t.ops, ops)
	}
	c.version = c.run.Steps
	return c.m.Target.Start(ctx, ops)
}

// creates returns the operations that create the run's znode with version 1. In a copy
// every version is 0, so a copied record never has the version that it names.
func (r Run) creates(acl []znode.ACL) []znode.Op {
	return []znode.Op{{Kind: znode.OpCreate, Path: r.path(), Data: none, ACL: acl}, znode.Set(r.path(), r.encode(), 0)}
}

// end sends the last transaction of a run or of its rollback. That transaction also
// updates the trace on /jobs and creates the run's newest shard.
func (c *chain) end(ctx context.Context, state RunState, ops []znode.Op, traced func(trace, Run) trace) error {
	jobs, err := c.m.Target.Get(ctx, newqueue.JobsPath)
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return interrupted(err)
	}
	c.run.State, c.run.Finished = state, c.m.Now().UTC()
	if err == nil {
		// The transaction itself adds nothing to the ledger.
		old, ok := parseTrace(jobs.Data)
		if !ok { // another client set it to something else meanwhile
			old = c.trace
		}
		ops = append(ops, writeTrace(&jobs, traced(old, c.run))...)
	}
	return c.send(ctx, slices.Values([]unit{{ops: ops, last: true}}), func(unit) {})
}

// lost is called with a failed transaction and those after it. These also failed, or
// their outcome is unknown. lost counts from the run's version how many were done. If the
// migration has to look again, the error is a *lookAgain.
func (c *chain) lost(ctx context.Context, failed []unit, err error) error {
	var refused *znode.MultiError
	if !errors.As(err, &refused) && !errors.Is(err, zkconn.ErrUnknownOutcome) && !errors.Is(err, zkconn.ErrThrottled) {
		return err
	}
	first := c.version - int32(len(failed)) // version before the failed one
	n, gerr := c.m.Target.Get(ctx, c.run.path())
	switch {
	case errors.Is(gerr, znode.ErrNoNode):
		// The run has not begun, or was rolled back. The next look shows which.
	case gerr != nil:
		return fmt.Errorf("%w; then: %w", err, gerr)
	default:
		written := n.Stat.Version - first
		if written != 0 && !c.writtenByUs(n) {
			return fmt.Errorf("%w: %s", ErrTakenOver, n.Data)
		}
		if written == 0 && refused != nil && takenID(refused) && c.restore(n) {
			return &idTaken{err}
		}
		for i := int32(0); i < written && int(i) < len(failed); i++ {
			c.steps++
			c.done.add(failed[i].done)
		}
	}
	if refused != nil && !isConflict(refused.Err) {
		return err
	}
	return &lookAgain{err}
}

// idTaken says that another client created a znode with the id that the transaction was
// about to use, and that nothing else is known to have changed.
type idTaken struct{ err error }

func (e *idTaken) Error() string { return e.err.Error() }
func (e *idTaken) Unwrap() error { return e.err }

// takenID reports whether the server refused a transaction because a new id is taken,
// below a parent that numbers its children.
func takenID(refused *znode.MultiError) bool {
	if refused.Op.Kind != znode.OpCreate || !errors.Is(refused.Err, znode.ErrNodeExists) {
		return false
	}
	for _, c := range []struct{ parent, prefix string }{
		{newqueue.JobsPath, newqueue.JobPrefix},
		{newqueue.BatchesPath, newqueue.BatchPrefix},
		{newqueue.AccessQueuePath(newqueue.AccessSmall), newqueue.AccessPrefix},
		{newqueue.AccessQueuePath(newqueue.AccessLarge), newqueue.AccessPrefix},
	} {
		if _, ok := newqueue.ParseSequenceID(c.prefix, znode.Name(refused.Op.Path)); ok && znode.Parent(refused.Op.Path) == c.parent {
			return true
		}
	}
	return false
}

// restore resets the chain to the run as the target has it. It returns false if this
// migrator didn't write that.
func (c *chain) restore(n znode.Node) bool {
	r, err := parseRun(&n)
	if err != nil || r.Owner != c.m.owner {
		return false
	}
	tail, err := decodeTail(r)
	if err != nil {
		return false
	}
	c.run, c.version = r, r.stat.Version
	c.log.restart(tail)
	return true
}

// isConflict reports whether an error means that another client wrote first.
func isConflict(err error) bool {
	for _, e := range []error{znode.ErrNodeExists, znode.ErrNoNode, znode.ErrNotEmpty, znode.ErrBadVersion} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// writtenByUs reports whether the run's node was last written by this migrator.
func (c *chain) writtenByUs(n znode.Node) bool {
	r, err := parseRun(&n)
	return err == nil && r.Owner == c.m.owner
}
