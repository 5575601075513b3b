package migrate

import (
	"context"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// RollbackResult is what a rollback does, or has done.
type RollbackResult struct {
	Run   string             `json:"run"`
	State migration.RunState `json:"state"` // of the run, before
	// Released are the queues whose workers may have worked on the run's jobs.
	Released []newqueue.QueueHold `json:"released"`
	// Removes counts what it removes, and GivesBack how many of the records come back to the legacy queue. The others never
	// left it.
	Removes   migration.Counts `json:"removes"`
	GivesBack int              `json:"gives_back"`
	// Keeps are the jobs and requests that stay, each as the only copy: they were begun, or their records can't be given back. Gone counts those that
	// other clients have removed: they were finished and cleaned up, or deleted.
	Keeps []migration.Note `json:"keeps"`
	Gone  int              `json:"gone"`
	// Unrelated counts the jobs, requests and batches that no run created. They stay.
	Unrelated int `json:"unrelated"`
	// Forced are the jobs and requests that Force removes although they were acted on: their records
	// run again.
	Forced []migration.Note `json:"forced"`
	// Undecided are the records that somebody must decide about before the rollback can end.
	Undecided []migration.Note `json:"undecided"`
	// AtWork are the jobs that stay and that a session has locked. The rollback can't end before their
	// workers have stopped.
	AtWork []migration.Note `json:"at_work"`
	// Held says that the queues stay held for the jobs that stay.
	Held         bool `json:"held"`
	Transactions int  `json:"transactions"`
	// Ask says why the operator should be asked before anything is removed; "" if there is no
	// reason.
	Ask string `json:"ask"`
	// Record is the run's record, before.
	Record *migration.Run `json:"-"`
}

// RollbackOptions are the options of a rollback.
type RollbackOptions struct {
	Decisions
	// Force also removes jobs and requests that were acted on, unless a session has locked
	// them. Those that an earlier rollback of the run kept, too.
	Force bool
	// Restored says that the operator knows that the target was restored from a backup.
	Restored bool
	// Confirm, if not nil, is called with what the rollback would do, before it writes, if there
	// is a reason to ask the operator (Ask of [RollbackResult]). If Confirm returns an error, nothing is
	// written, and Rollback returns the error. If there is another reason afterwards, nothing is written either.
	Confirm func(*RollbackResult) error
	Limits  migration.TransactionLimits
	Notify  func(string)
}

// PreviewRollback says what a rollback would do. It writes nothing. The error is as that of [Rollback].
func PreviewRollback(ctx context.Context, dst *Reader, opt RollbackOptions) (*RollbackResult, error) {
	r := rollbackOp{at: dst, opt: opt}
	if err := r.read(ctx, ""); err != nil {
		return nil, err
	}
	undo := r.result()
	return undo, r.predict(ctx, undo)
}

// Rollback removes the jobs and requests that the unfinished run, else the newest, created and that nobody has begun, and the run's batches that
// have no job then. Their records are in the legacy queue: those that a release had handed over are given back, each
// in the transaction that removes its job. A job that was begun stays, and is the only copy. The layout and the run's record
// stay. Rollback waits until no other migrator works on the target.
//
// Rollback first holds the queues. It can't end while a session has locked a job that stays. If any job stays, or has stayed before, the
// queues stay held, so that the workers of both queues do not work side by side; [Release] lifts the holds later.
//
// The error wraps [ErrUndecided] or [ErrAtWork] if the rollback could not end because of that: the same call ends
// it. It wraps [ErrNoRun], [ErrCompleted], [ErrDamaged], [ErrOtherSource], [ErrNoPermission], [ErrNotSaved], [ErrHoldsChanged], [ErrRestored] if
// opt.Restored is not set, or is one of the errors of [Migrate]. The RollbackResult is what was done; it is nil if nothing was
// written.
func Rollback(ctx context.Context, dst *Writer, opt RollbackOptions) (*RollbackResult, error) {
	r := rollbackOp{at: &dst.Reader, w: dst, opt: opt}
	if r.opt.Notify == nil {
		r.opt.Notify = func(string) {}
	}
	err := r.read(ctx, "")
	if r.src != nil {
		err = reasons.Join(err, cancelled(handover.MayHandOver(ctx, r.src, dst, r.run().Origin)))
	}
	if err != nil {
		return nil, err
	}
	r.owner = apply.OwnerName(now())
	asked := r.result()
	if opt.Confirm != nil && asked.Ask != "" { // not in the election, where others would wait for a person
		if err := r.predict(ctx, asked); err != nil {
			return nil, err
		}
		if err := opt.Confirm(asked); err != nil {
			return nil, err
		}
	}
	report(ctx, PhaseAwaitingTurn, 0, 0)
	turn, err := apply.Lead(ctx, dst, r.owner, r.run().ACL, r.opt.Notify)
	if err != nil {
		return nil, cancelled(err)
	}
	defer turn.Resign()
	reread := func(ctx context.Context) error { return r.read(ctx, r.run().ID) }
	if err := reread(ctx); err != nil {
		return nil, err
	}
	undo := r.result()
	if opt.Confirm != nil && undo.Ask != "" && undo.Ask != asked.Ask {
		return nil, fmt.Errorf("%w: %s", ErrHoldsChanged, undo.Ask)
	}
	err = untilDone(ctx, r.w, r.opt.Notify, reread, func(ctx context.Context) (int, error) {
		steps, err := r.step(ctx, undo)
		undo.Transactions += steps
		return steps, err
	})
	if undo.Transactions == 0 && err != nil && undo.State != migration.RunRollingBack {
		return nil, err
	}
	return undo, err
}

type rollbackOp struct {
	at     *Reader
	w      *Writer // nil for a preview
	opt    RollbackOptions
	owner  string
	target *target.Target
	src    *Source // the legacy queue; nil if it is in another ensemble
	index  int     // of the run
	// missing are the records that were not there at first, if somebody has decided about them.
	missing map[string]bool
}

func (r *rollbackOp) run() *migration.Run { return &r.target.Ledger.Runs[r.index] }

// read reads the target, and the legacy queue of a run; "" is the one to roll back.
func (r *rollbackOp) read(ctx context.Context, id string) error {
	r.target, r.src = nil, nil // two ledgers of a large queue need much memory
	t, err := readWhole(ctx, r.at)
	if err != nil {
		return cancelled(err)
	}
	r.target = t
	if current := t.Ledger.Current(); id == "" && current != nil {
		if kept := t.Ledger.LastKept(); r.opt.Force && current.State == migration.RunRolledBack && kept != nil {
			current = kept
		}
		id = current.ID
	}
	if r.index = t.Ledger.FindRun(id); r.index < 0 {
		return r.noRun()
	}
	run := r.run()
	if run.State == migration.RunRolledBack && (!r.opt.Force || run.Stayed == 0) { // what one kept can be forced later
		return fmt.Errorf("%w that can be rolled back: %s was rolled back already", ErrNoRun, run.ID)
	}
	if !run.Completed.IsZero() {
		return fmt.Errorf("%w: %s", ErrCompleted, run.ID)
	}
	why := r.opt.Decisions.check(t)
	if t.RestoredUnnoted() && !r.opt.Restored {
		why = reasons.Join(why, fmt.Errorf("%w: nothing shows which jobs were worked on before the backup was made", ErrRestored))
	}
	if !run.Origin.OneEnsemble {
		return why
	}
	if r.src, err = openOrigin(ctx, t, run, allQueues(t, run.Origin.Chroot)); err != nil {
		return reasons.Join(why, err)
	}
	if r.missing == nil {
		if r.missing, err = r.opt.Decisions.missing(ctx, t, r.src); err != nil {
			return err
		}
	}
	return reasons.Join(why, checkOrigin(ctx, r.src, t, r.entries(), r.opt.Decisions))
}

func (r *rollbackOp) noRun() error {
	if !r.target.HasQueue() {
		return fmt.Errorf("%w: nothing was migrated to it", ErrNoQueue)
	}
	return fmt.Errorf("%w that can be rolled back", ErrNoRun)
}

func (r *rollbackOp) result() *RollbackResult {
	undo := &RollbackResult{Run: r.run().ID, State: r.run().State, Released: []newqueue.QueueHold{}, Keeps: []migration.Note{}, Forced: []migration.Note{},
		Undecided: []migration.Note{}, AtWork: []migration.Note{}, Record: r.run()}
	for _, q := range newqueue.QueueHolds {
		if r.target.MayHaveBegun(r.run(), q) {
			undo.Released = append(undo.Released, q)
		}
	}
	switch {
	case len(undo.Released) > 0:
		undo.Ask = "its queues were released, so workers may have worked on its jobs"
	case r.opt.Force:
		undo.Ask = "with --force, jobs that were acted on are removed too, and their records would run again"
	}
	return undo
}

func (r *rollbackOp) caseReader() *standing.Reader {
	src := r.src
	if src != nil {
		src = src.WithACLs()
	}
	return &standing.Reader{Target: r.target, Src: src, ReadJobs: true, SearchEverywhere: r.opt.Force, Answers: r.opt.RecordIs, Vanished: r.opt.Vanished, Missing: r.missing,
		Decide: func(f standing.Facts, a migration.Answer) standing.Decision {
			return standing.DecideRollback(f, a, r.opt.Force)
		}}
}

func (r *rollbackOp) entries() []*ledger.Migrated {
	entries := slices.Collect(r.target.Ledger.OfRun(r.index))
	slices.Reverse(entries)
	return entries
}

func (r *rollbackOp) predict(ctx context.Context, undo *RollbackResult) error {
	done, total := 0, r.run().Created.Records()
	keeps := map[string]bool{} // batches with jobs that stay
	for e := range r.target.Ledger.All() {
		keeps[e.Batch] = keeps[e.Batch] || int(e.Run) != r.index
	}
	r.forget(undo)
	for c, err := range r.caseReader().All(ctx, r.entries()) {
		if err != nil {
			return cancelled(err)
		}
		report(ctx, PhaseReadingTarget, done, total)
		done++
		if c.Action == standing.Withdraw || c.Action == standing.GiveBack {
			r.count(undo, &c)
			continue
		}
		keeps[c.Entry.Batch] = keeps[c.Entry.Batch] || c.Job != standing.Gone
		r.stays(undo, &c)
	}
	names, err := r.target.ReadNames(ctx)
	if err != nil {
		return cancelled(err)
	}
	undo.Unrelated = r.target.CountUnrelated(names)
	for b := range r.target.Ledger.Batches() {
		if int(b.Run) == r.index && !keeps[b.ID] && names.Has(newqueue.BatchPath(b.ID)) {
			undo.Removes.Batches++
		}
	}
	return nil
}

func (r *rollbackOp) forget(undo *RollbackResult) {
	undo.Keeps, undo.Undecided, undo.AtWork, undo.Gone = []migration.Note{}, []migration.Note{}, []migration.Note{}, 0
}

func (r *rollbackOp) count(undo *RollbackResult, c *standing.Standing) {
	if znode.Within(c.Entry.Job, newqueue.AccessPath) {
		undo.Removes.Access++
	} else {
		undo.Removes.Jobs++
	}
	if c.Action == standing.GiveBack {
		undo.GivesBack++
	}
	if why := actedOn(c); why != "" && r.opt.Force {
		undo.Forced = append(undo.Forced, c.Note(why))
	}
}

func (r *rollbackOp) stays(undo *RollbackResult, c *standing.Standing) {
	switch {
	case c.Action == standing.Ask:
		undo.Undecided = append(undo.Undecided, c.Note(""))
	case c.Job == standing.Gone:
		undo.Gone++
	default:
		why := actedOn(c)
		switch {
		case why != "":
		case c.Another:
			why = "another record has its name, so it can't be given back"
		case c.HandedOver && c.Entry.Kept && !c.Kept:
			why = fmt.Sprintf("%s: %s", standing.KeptProblem(c.KeptNode.Path != ""), c.Run.KeptPath(c.Entry.Job))
		default:
			why = "its record is not there any more"
		}
		item := c.Note(why)
		undo.Keeps = append(undo.Keeps, item)
		if c.Locked {
			undo.AtWork = append(undo.AtWork, item)
		}
	}
}

func actedOn(c *standing.Standing) string {
	if c.Job != standing.Begun && c.Job != standing.NotBegun || c.JobRead.Gone() {
		return ""
	}
	if locked := c.JobRead.Locked(); locked != "" {
		return locked
	}
	return c.JobRead.ActedOn(c.Run.Restored)
}

// step does the next part of the rollback: it holds the queues, passes records and jobs, or ends. steps is 0 after the
// last part.
func (r *rollbackOp) step(ctx context.Context, undo *RollbackResult) (steps int, err error) {
	run := r.run()
	chain := apply.NewChain(r.w, *run, r.opt.Limits, nil)
	if run.State != migration.RunRollingBack || run.Owner != r.owner || !r.holds() {
		err := r.hold(ctx, chain)
		return chain.Transactions(), err
	}
	if err := r.pass(ctx, chain, undo); err != nil || chain.Transactions() > 0 {
		return chain.Transactions(), err
	}
	return 0, r.end(ctx, chain, undo)
}

func (r *rollbackOp) holds() bool {
	return !slices.ContainsFunc(newqueue.QueueHolds, func(q newqueue.QueueHold) bool {
		h := r.target.Hold(q)
		return h == nil || !h.Owners.Has(r.run().ID)
	})
}

func (r *rollbackOp) hold(ctx context.Context, chain *apply.Chain) error {
	run := r.run()
	var ops []znode.Op
	for _, path := range []string{newqueue.LocksPath, newqueue.QueueLocksPath} {
		if _, there := r.target.Layout[path]; !there {
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: []byte{}, ACL: run.ACL})
		}
	}
	holds, _ := holdAll(r.target, migration.HoldOwner{By: run.ID, At: now(), Why: "rollback"}, run.ACL)
	return chain.Do(ctx, slices.Concat(ops, holds, accepted(r.target, run.ID)), func(next *migration.Run) {
		next.State, next.Owner = migration.RunRollingBack, r.owner
		r.noteReleases(next)
	})
}

// noteReleases notes in the run's record the queues that somebody released without mrtq,
// because the rollback holds them again.
func (r *rollbackOp) noteReleases(next *migration.Run) {
	if next.State == migration.RunRunning {
		return
	}
	var queues []newqueue.QueueHold
	for _, q := range newqueue.QueueHolds {
		if h := r.target.Hold(q); next.ReleasedAt(q).IsZero() && (h == nil || !h.Owners.Has(next.ID)) {
			queues = append(queues, q)
		}
	}
	if len(queues) > 0 {
		next.Releases = append(slices.Clone(next.Releases), migration.Release{At: now(), By: migration.UnknownOwner, Queues: queues})
	}
}

func (r *rollbackOp) pass(ctx context.Context, chain *apply.Chain, undo *RollbackResult) error {
	r.forget(undo)
	entries := r.entries()
	done := 0
	report(ctx, PhaseRemoving, 0, len(entries))
	_, guards := holdAll(r.target, migration.HoldOwner{By: r.run().ID}, nil)
	chain.Guard(guards...)
	before := r.run().Removed.Batches
	defer func() { undo.Removes.Batches += chain.Run().Removed.Batches - before }()
	p := handoverPass{w: r.w, t: r.target, run: r.index, chain: chain, look: r.caseReader(), save: r.opt.Save,
		seen: func(c *standing.Standing) {
			if c.Action == standing.Ask || c.Action == standing.Stay {
				r.stays(undo, c)
			}
		},
		done: func(c *standing.Standing) {
			if c.Action == standing.Withdraw || c.Action == standing.GiveBack {
				r.count(undo, c)
			}
			done++
			report(ctx, PhaseRemoving, done, len(entries))
		}}
	if err := p.send(ctx, entries); err != nil {
		return err
	}
	var bids []string
	for b := range r.target.Ledger.Batches() {
		if int(b.Run) == r.index {
			bids = append(bids, b.ID)
		}
	}
	slices.Sort(bids)
	slices.Reverse(bids)
	return p.sendEmpty(ctx, bids)
}

// end ends the rollback, if nothing is undecided, and nobody is in the middle of a job that stays. Jobs that stay wait for
// [Release], because legacy workers can start now.
func (r *rollbackOp) end(ctx context.Context, chain *apply.Chain, undo *RollbackResult) error {
	var why error
	if len(undo.Undecided) > 0 {
		why = fmt.Errorf("%w: %s", ErrUndecided, undo.Undecided[0].Record)
	}
	if len(undo.AtWork) > 0 {
		why = reasons.Join(why, fmt.Errorf("%w: %s", ErrAtWork, undo.AtWork[0].Job))
	}
	if why != nil {
		return why
	}
	names, err := r.target.ReadNames(ctx)
	if err != nil {
		return cancelled(err)
	}
	var ops []znode.Op
	undo.Unrelated = r.target.CountUnrelated(names)
	last := r.isLast()
	undo.Held = last && r.stayed(names) || len(undo.Keeps) > 0
	for _, h := range r.target.Holds {
		owners := slices.DeleteFunc(slices.Clone(h.Owners), func(o migration.HoldOwner) bool { return o.By == r.run().ID || last && migration.IsRunID(o.By) })
		if !undo.Held && h.Queue != "" && len(owners) < len(h.Owners) {
			ops = append(ops, setOwners(h, owners))
		}
	}
	removeKeptParents(ctx, r.w, r.run()) // before the end, so that a killed rollback does it again
	err = chain.End(ctx, ops, func(next *migration.Run) {
		next.State, next.Stayed, next.Finished = migration.RunRolledBack, len(undo.Keeps), now()
	})
	if err != nil {
		return err
	}
	undo.Transactions++
	return nil
}

// isLast reports whether all other runs were rolled back, so that legacy workers can start when this rollback ends.
func (r *rollbackOp) isLast() bool {
	for i, run := range r.target.Ledger.Runs {
		if i != r.index && run.State != migration.RunRolledBack {
			return false
		}
	}
	return true
}

// stayed reports whether jobs of other runs stay. If a release had lifted their holds, this rollback has them now.
func (r *rollbackOp) stayed(names *target.Names) bool {
	for e := range r.target.Ledger.All() {
		if int(e.Run) != r.index && names.Has(e.Job) {
			return true
		}
	}
	return false
}

// removeKeptParents removes a run's folder for kept bytes, and the parent of all folders, if they are empty. If that fails, they do no harm.
func removeKeptParents(ctx context.Context, w *Writer, run *migration.Run) {
	if parent := run.Origin.KeptRunPath(); run.Origin.OneEnsemble {
		for _, path := range []string{parent, znode.Parent(parent)} {
			_ = w.Multi(ctx, znode.Outside(znode.Delete(path, -1)))
		}
	}
}
