package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// ReleaseOptions are the options of a release.
type ReleaseOptions struct {
	VerifyOptions
	Decisions
	Queues      []newqueue.QueueHold // to release; none means all, unless there are Collections
	Collections []string             // to release
	// Others also lifts the holds of people and other clients.
	Others bool
	// WorkersStopped is how many consumed records and locks of the legacy queue nobody works on any more, in all queues to release.
	WorkersStopped int
	// LedgerDamaged lifts holds although the migration's own records are damaged. No record is handed over then.
	LedgerDamaged bool
	// Restored says that the operator knows that the target was restored from a backup.
	Restored bool
	Limits   migration.TransactionLimits
	Notify   func(string)
}

// ReleaseResult is what a release did.
type ReleaseResult struct {
	// HandedOver counts the records that left the legacy queue, Absent those that were not there any more, and
	// Withdrawn the jobs that were removed because the legacy queue has their work.
	HandedOver int `json:"handed_over"`
	Absent     int `json:"absent"`
	Withdrawn  int `json:"withdrawn"`
	// Twice are records that were gone, and whose jobs were begun before: both queues may have done their work.
	Twice []migration.Note `json:"twice,omitempty"`
	// Undecided are the records that somebody must decide about, and AtWork shows who may be at work in the legacy
	// queue. The holds of their queues stay.
	Undecided    []migration.Note           `json:"undecided"`
	AtWork       []migration.LegacyActivity `json:"at_work"`
	Lifted       []string                   `json:"lifted"` // the holds that were removed
	Left         []migration.Hold           `json:"left"`   // the holds that remain
	Transactions int                        `json:"transactions"`
	// Verdict is that of the verification, without what the options accept; nil without one.
	Verdict *migration.Verdict `json:"verdict"`
}

// OnlySmallHeld reports whether small access requests are still held, and large ones no longer
// are. The large access worker acquires both, and respects only the hold on large ones.
func (r *ReleaseResult) OnlySmallHeld() bool {
	small := newqueue.QueueHoldPath(newqueue.HoldAccessSmall)
	return slices.Contains(r.Lifted, newqueue.QueueHoldPath(newqueue.HoldAccessLarge)) &&
		slices.ContainsFunc(r.Left, func(h migration.Hold) bool { return h.Path == small })
}

// Release hands records over to their jobs, and then lifts the holds that runs have set. It verifies the target first,
// and waits until no other migrator works on it. For each record there is one transaction: the record is
// deleted, its bytes are kept beside the legacy queue, and the ledger says so. A job whose record a legacy
// worker has taken since is withdrawn (docs/life.md, "The release"). A hold is lifted when no record of its queue is
// undecided, and nothing shows that legacy workers are at work. A hold that has other owners stays, unless
// opt.Others is set.
//
// The error wraps [ErrUndecided] or [ErrAtWork] if a queue was not lifted because of that: what could be handed over
// was, and other queues were lifted. It wraps [ErrUnfinished], [ErrNotVerified], [ErrTwoEnsembles], [ErrOtherSource],
// [ErrNoPermission], [ErrRestored], [ErrDamaged] or [ErrNoQueue] if nothing was released; or [ErrNotSaved], [ErrHoldsChanged] or one
// of the errors of [Migrate]. The result is nil if nothing was read.
func Release(ctx context.Context, dst *Writer, opt ReleaseOptions) (*ReleaseResult, error) {
	if opt.Notify == nil {
		opt.Notify = func(string) {}
	}
	r := release{w: dst, opt: opt, res: &ReleaseResult{Undecided: []migration.Note{}, AtWork: []migration.LegacyActivity{}, Lifted: []string{}, Left: []migration.Hold{}}}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if !r.t.HasQueue() && len(r.t.Holds) == 0 {
		return nil, fmt.Errorf("%w: nothing can be held", ErrNoQueue)
	}
	var err error
	if r.missing, err = opt.Decisions.missing(ctx, r.t, r.src); err != nil {
		return nil, err
	}
	err = r.check()
	switch {
	case r.t.Damage != nil && err != nil:
		return nil, err
	case r.liftsAtOnce():
		r.src = nil
		return r.res, r.lift(ctx)
	case r.t.Ledger.Newest() == nil: // the first run began after the runs were read
		return r.res, fmt.Errorf("%w: the run that holds the queues had no record yet; if that stays so, /migration was removed: restore it, or give --ledger-damaged", ErrHoldsChanged)
	}
	if err = reasons.Join(err, r.prepare(ctx)); err != nil {
		return r.res, err
	}
	report(ctx, PhaseAwaitingTurn, 0, 0)
	turn, err := apply.Lead(ctx, r.w, apply.OwnerName(now()), r.t.Ledger.Newest().ACL, r.opt.Notify)
	if err != nil {
		return r.res, cancelled(err)
	}
	defer turn.Resign()
	// Another migrator may have worked before this one had its place.
	if err := r.readAgain(ctx); err != nil {
		return r.res, err
	}
	if !r.concernsRuns() { // holds of others are lifted whoever works there
		r.src = nil
		return r.res, r.lift(ctx)
	}
	if r.res.Verdict, err = verifyTarget(ctx, r.src, r.t, r.opt.VerifyOptions); err != nil {
		return r.res, cancelled(err)
	}
	if r.opt.Restored { // the operator knows
		r.res.Verdict.Differences = slices.DeleteFunc(r.res.Verdict.Differences, func(d migration.Difference) bool { return d.Kind == migration.DifferenceRestored })
	}
	if err := r.checkVerdict(); err != nil {
		return r.res, errors.Join(err, r.whoWorks(ctx))
	}
	if err := untilDone(ctx, r.w, r.opt.Notify, r.readAgain, r.pass); err != nil {
		return r.res, err
	}
	return r.res, r.lift(ctx)
}

type release struct {
	w   *Writer
	opt ReleaseOptions
	res *ReleaseResult

	t     *target.Target
	src   *Source // the legacy queue; nil if it is not known
	apart error   // says that it is in another ensemble
	work  []migration.LegacyActivity
	waits []string // the records that legacy workers have
	// missing are the records that were not there at first, if somebody has decided about them.
	missing map[string]bool
}

func (r *release) read(ctx context.Context) (err error) {
	r.t, r.src, r.apart = nil, nil, nil // two ledgers of a large queue need much memory
	if r.t, err = readTarget(ctx, &r.w.Reader); err != nil {
		return cancelled(&TargetError{err})
	}
	if r.t.Damage != nil {
		return nil
	}
	if r.src, err = originOf(ctx, r.t); errors.Is(err, ErrTwoEnsembles) {
		r.src, r.apart, err = source.Empty(&r.w.Reader), err, nil
	}
	return err
}

func (r *release) readAgain(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.t.Damage != nil {
		return r.t.Damage
	}
	return reasons.Join(r.check(), r.prepare(ctx))
}

func (r *release) check() error {
	switch {
	case r.t.Damage != nil && !r.opt.LedgerDamaged:
		return r.t.Damage
	case r.t.Damage != nil || !r.concernsRuns():
		return nil
	}
	why := r.opt.Decisions.check(r.t)
	if r.unfinished() {
		why = reasons.Join(fmt.Errorf("%w: %s", ErrUnfinished, r.t.Ledger.Current().ID), why)
	}
	return why
}

// liftsAtOnce reports whether only holds are lifted, and follow can't be at work, with which the release would have to take turns.
func (r *release) liftsAtOnce() bool {
	switch {
	case r.t.Damage != nil:
		return true
	case r.t.Ledger.Newest() == nil:
		return r.opt.LedgerDamaged || !r.concernsRuns()
	}
	return !r.concernsRuns() && (r.unfinished() || !slices.ContainsFunc(r.t.Holds, r.opt.takesOwners))
}

func (r *release) unfinished() bool {
	run := r.t.Ledger.Current()
	return run != nil && run.Unfinished()
}

// concernsRuns reports whether the release is about jobs that runs created: it hands their records over, or lifts holds
// of runs, or notes that they were restored.
func (r *release) concernsRuns() bool {
	return len(r.due()) > 0 || r.t.RestoredUnnoted() && (len(r.opt.Queues) > 0 || len(r.opt.Collections) == 0) || len(r.opt.RecordIs) > 0 || slices.ContainsFunc(r.t.Holds, func(h migration.Hold) bool { return h.Queue != "" && h.OfRun() && r.opt.takesOwners(h) })
}

// due are the migrated records of the queues to release that were not handed over, or are in the legacy queue again.
func (r *release) due() (entries []*ledger.Migrated) {
	for e := range standing.Due(r.t, r.src) {
		if (e.HandedOver || r.t.Ledger.Runs[e.Run].State == migration.RunDone) && r.isAbout(rules.KindOf(e.Job).Hold()) {
			entries = append(entries, e)
		}
	}
	return entries
}

func (r *release) isAbout(q newqueue.QueueHold) bool {
	if len(r.opt.Queues) == 0 {
		return len(r.opt.Collections) == 0
	}
	return slices.ContainsFunc(target.ReleasedTogether(q), func(q newqueue.QueueHold) bool { return slices.Contains(r.opt.Queues, q) })
}

func (r *release) prepare(ctx context.Context) error {
	due := r.due()
	if len(due) == 0 {
		return nil // only holds are left of runs that were rolled back
	}
	if r.apart != nil {
		return r.apart
	}
	return reasons.Join(checkOrigin(ctx, r.src, r.t, due, r.opt.Decisions), cancelled(handover.MayHandOver(ctx, r.src, r.w, originRun(r.t).Origin)))
}

// whoWorks notes who is at work in the legacy queue, so that a refusal names that too.
func (r *release) whoWorks(ctx context.Context) error {
	if r.src == nil {
		return nil
	}
	work, err := r.legacyWork(ctx)
	if err == nil && !r.opt.acceptsWork(work) {
		r.res.AtWork = append(r.res.AtWork, work...)
	}
	return cancelled(err)
}

// checkVerdict refuses if the target was restored from a backup, or if anything is damaged in a queue whose records this call hands
// over, or whose hold it lifts. What is left of a job concerns it only if it would hand over that job's record.
func (r *release) checkVerdict() error {
	var why error
	if r.t.RestoredUnnoted() && !r.opt.Restored {
		why = fmt.Errorf("%w: a job that was finished after the backup was made would run again", ErrRestored)
	}
	concerned, due := map[newqueue.QueueHold]bool{"": true}, map[string]bool{}
	for _, e := range r.due() {
		concerned[rules.KindOf(e.Job).Hold()], due[e.Job] = true, true
	}
	for _, h := range r.t.Holds {
		concerned[h.Queue] = concerned[h.Queue] || r.opt.takesOwners(h)
	}
	for _, d := range r.res.Verdict.Differences {
		if len(d.Remove) > 0 && !due[d.Remove[0]] {
			continue // no worker takes it
		}
		if d.Kind.Group() == migration.DamageGroup && d.Kind != migration.DifferenceNotKept && d.Kind != migration.DifferenceLostRecord && concerned[d.Queue] {
			return errors.Join(fmt.Errorf("%w: %s", ErrNotVerified, d), why)
		}
	}
	return why
}

// pass does for each record that is due what the table says, run by run. The newest comes first, because its jobs can be in
// batches of older ones.
func (r *release) pass(ctx context.Context) (steps int, err error) {
	names, err := r.t.ReadNames(ctx)
	if err != nil {
		return 0, err
	}
	if r.opt.WorkersStopped > 0 {
		if r.work, err = r.legacyWork(ctx); err != nil {
			return 0, err
		}
	}
	due := r.due()
	r.res.Undecided, r.waits = []migration.Note{}, nil
	done := 0
	report(ctx, PhaseHandingOver, 0, len(due))
	for run := range slices.Backward(r.t.Ledger.Runs) {
		of := slices.DeleteFunc(slices.Clone(due), func(e *ledger.Migrated) bool { return int(e.Run) != run })
		empty := r.empty(run)
		if len(of)+len(empty) == 0 {
			continue
		}
		slices.Reverse(of) // legacy workers take the first ones
		p := handoverPass{w: r.w, t: r.t, run: run, save: r.opt.Save, chain: apply.NewChain(r.w, r.t.Ledger.Runs[run], r.opt.Limits, nil),
			look: &standing.Reader{Target: r.t, Names: names, Src: r.src.WithACLs(), Decide: standing.DecideRelease, Answers: r.opt.RecordIs, Vanished: r.opt.Vanished, Missing: r.missing, WorkersStopped: r.opt.acceptsWork(r.work)},
			seen: func(c *standing.Standing) {
				switch c.Action {
				case standing.Ask:
					r.res.Undecided = append(r.res.Undecided, c.Note(""))
				case standing.Wait:
					r.waits = append(r.waits, c.Entry.Record)
				}
			},
			done: func(c *standing.Standing) {
				r.count(c)
				done++
				report(ctx, PhaseHandingOver, done, len(due))
			}}
		p.chain.Guard(r.guards(run)...)
		if err = p.send(ctx, of); err == nil {
			err = p.sendEmpty(ctx, empty)
		}
		steps += p.chain.Transactions()
		r.res.Transactions += p.chain.Transactions()
		if err != nil {
			return steps, err
		}
		r.t.Ledger.Runs[run].Stat.Version = p.chain.Run().Stat.Version // for the guards of the next ones
	}
	return steps, nil
}

// guards are what each transaction of a run checks: that no other run's record has changed, and no hold.
func (r *release) guards(but int) (checks []znode.Op) {
	for i, run := range r.t.Ledger.Runs {
		if i != but {
			checks = append(checks, znode.Check(ledger.RunPath(run.ID), run.Stat.Version))
		}
	}
	for _, h := range r.t.Holds {
		if h.Queue != "" {
			checks = append(checks, znode.Check(h.Path, h.Stat.Version))
		}
	}
	return checks
}

func (r *release) empty(run int) (bids []string) {
	if r.t.Ledger.Runs[run].State != migration.RunDone {
		return nil
	}
	for b := range r.t.Ledger.Batches() {
		if int(b.Run) == run && b.Own == 0 {
			bids = append(bids, b.ID)
		}
	}
	slices.Sort(bids)
	return bids
}

func (r *release) count(c *standing.Standing) {
	switch c.Action {
	case standing.HandOver:
		r.res.HandedOver++
	case standing.Mark:
		r.res.Absent++
		if c.Twice() {
			r.res.Twice = append(r.res.Twice, c.Note(standing.TwiceSays))
		}
	case standing.Withdraw:
		r.res.Withdrawn++
	}
}

// legacyWork is what shows that legacy workers may be at work in the queues to release. If every run was rolled back, the records that wait are
// theirs, and the jobs that stayed can wait until these are done.
func (r *release) legacyWork(ctx context.Context) ([]migration.LegacyActivity, error) {
	work, err := findActivity(ctx, r.src, r.t.Ledger.AllRolledBack())
	return slices.DeleteFunc(work, func(w migration.LegacyActivity) bool { return !r.isAbout(w.Queue) }), err
}

// lift lifts the holds in one transaction. It succeeds only if the runs and the holds are as they were read.
func (r *release) lift(ctx context.Context) (err error) {
	if r.src != nil {
		if r.work, err = r.legacyWork(ctx); err != nil {
			return cancelled(err)
		}
	}
	l := planLift(r.opt, r.t.Holds, r.res.Undecided, r.work, r.waits)
	r.res.Left, r.res.AtWork = l.left, l.atWork
	if len(l.ops) == 0 && !r.notesRestore() {
		return l.stays
	}
	if err := r.commit(ctx, l.ops, l.queues); err != nil {
		return err
	}
	r.res.Lifted = l.lifted
	r.res.Transactions++
	return l.stays
}

func (r *release) notesRestore() bool {
	return r.opt.Restored && r.src != nil && r.t.RestoredUnnoted()
}

// commit lifts holds of these queues, and notes that in the record of each run, as well as that the operator knows that it was restored.
// It is one more transaction in the newest run's chain, which finds out what happened if the answer is lost.
func (r *release) commit(ctx context.Context, ops []znode.Op, queues []newqueue.QueueHold) error {
	runs := r.t.Ledger.Runs
	if r.t.Damage != nil || len(queues) == 0 && !r.notesRestore() || len(runs) == 0 {
		return r.changed(ctx, r.w.Multi(ctx, ops))
	}
	by := migration.Release{At: now(), By: apply.OwnerName(now()), Queues: queues}
	note := func(run *migration.Run) {
		if len(queues) > 0 {
			run.Releases = append(slices.Clone(run.Releases), by)
		}
	}
	for _, run := range runs[:len(runs)-1] {
		run.Version = run.Stat.Version + 1
		note(&run)
		ops = append(ops, znode.Set(ledger.RunPath(run.ID), ledger.EncodeRun(run), run.Stat.Version))
	}
	return r.changed(ctx, apply.NewChain(r.w, *r.t.Ledger.Newest(), r.opt.Limits, nil).Do(ctx, ops, note))
}

// changed says that holds or runs are not as they were read, if that is why a transaction was refused.
func (r *release) changed(ctx context.Context, err error) error {
	by := refusal(err)
	switch {
	case apply.IsRace(by), errors.Is(err, apply.ErrTakenOver):
		return fmt.Errorf("%w: %v", ErrHoldsChanged, err)
	case by != nil && !errors.Is(err, zkconn.ErrNoAuth):
		return refused(ctx, &r.w.Reader, by)
	case errors.Is(err, zkconn.ErrUnknownOutcome):
		return fmt.Errorf("whether the queues were released is not known; run the same command again: %w", err)
	}
	return cancelled(err)
}
