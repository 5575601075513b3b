package migrate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// MigrateOptions are the options of a migration, beside those of its plan.
type MigrateOptions struct {
	migration.PlanOptions
	// Approved, if not nil, is a plan that was made before, and approved. The migration does the same
	// or nothing: see [ErrStale]. Records that came since are left to [Follow].
	Approved *migration.Plan
	// SaveQuarantined is called with the records that can't be decoded and are quarantined, before
	// anything is written. It must save their bytes. nil refuses such records.
	SaveQuarantined func([]migration.Record) error
	// Limits say how large a transaction may be.
	Limits migration.TransactionLimits
	// Notify is called with what the operator should know while the migration runs; nil
	// ignores it.
	Notify func(string)
}

// MigrateResult is what a migration did.
type MigrateResult struct {
	Run     string           `json:"run"`
	Plan    *migration.Plan  `json:"plan"`    // that was carried out first
	Created migration.Counts `json:"created"` // by this call
	// Transactions is the number of transactions of this call.
	Transactions int `json:"transactions"`
	// CarriedOut says that the approved plan was carried out before. Then only the bytes of
	// quarantined records were kept again.
	CarriedOut bool `json:"carried_out"`
	// Origin is where the legacy queue is; it is zero if nothing was to be done.
	Origin migration.Origin `json:"origin"`
}

// Migrate carries out a plan, or finishes an interrupted run. It waits until no other
// migrator works on the target. If the target changes meanwhile, it plans the rest again.
// It creates the chroot of the target's address, if that is missing.
//
// The error wraps [ErrBlocked] if the plan has problems: then nothing was written.
// [ErrStale] and [ErrRolledBack] say what happened while it waited. Others
// wrap [ErrDamaged], [ErrPlace], [ErrOtherSource], [ErrNoPermission], [ErrNotSaved], [ErrInterrupted], [ErrTakenOver],
// [ErrContended], [ErrDropped] or [ErrSessionLost]. The result is never nil.
func Migrate(ctx context.Context, src *Source, dst *Writer, opt MigrateOptions) (*MigrateResult, error) {
	m := &migrator{src: src, w: dst, opt: opt, result: &MigrateResult{}, owner: apply.OwnerName(now())}
	if m.opt.Notify == nil {
		m.opt.Notify = func(string) {}
	}
	if opt.Approved != nil {
		planned := map[string]bool{}
		for i := range opt.Approved.Records {
			planned[opt.Approved.Records[i].Path] = true
		}
		if m.src = src.Only(planned); m.src.Len() < src.Len() {
			m.opt.Notify(fmt.Sprintf("records that came since the plan was made: %d; after the release, follow moves them", src.Len()-m.src.Len()))
		}
	}
	err := m.prepare(ctx)
	if err != nil || m.plan.Empty() {
		return m.result, err
	}
	made, err := dst.MakeChroot(ctx)
	if err != nil {
		return m.result, cancelled(&TargetError{err})
	}
	if len(made) > 0 {
		m.opt.Notify("created the chroot " + made[len(made)-1])
	}
	report(ctx, PhaseAwaitingTurn, 0, 0)
	turn, err := apply.Lead(ctx, dst, m.owner, m.plan.Settings.ACL, m.opt.Notify)
	if err != nil {
		return m.result, cancelled(err)
	}
	defer turn.Resign()
	if err := m.checkAfterWait(ctx); err != nil || m.plan.Empty() {
		return m.result, err
	}
	if m.origin, err = m.findOrigin(ctx, turn.Place); err != nil {
		return m.result, err
	}
	defer func() { m.result.Origin = m.origin }()
	return m.result, untilDone(ctx, m.w, m.opt.Notify, m.planAgain, m.carryOut)
}

type migrator struct {
	src    *Source
	w      *Writer
	opt    MigrateOptions
	owner  string
	plan   *plan.Made
	origin migration.Origin
	seen   int64 // the newest transaction of the source before its records were first read
	result *MigrateResult
}

// findOrigin says where the legacy queue is. If both queues are in one ensemble, a release must be able to hand its records over,
// so the session is refused now if it may not. place is the migrator's own znode in the target.
func (m *migrator) findOrigin(ctx context.Context, place string) (o migration.Origin, err error) {
	o = migration.Origin{Chroot: cmp.Or(m.src.Reader().Address().Chroot, "/"), Queues: m.src.Queues, Czxids: m.src.Czxids()}
	if o.OneEnsemble, err = sharesEnsemble(ctx, m.src, m.w, place); err != nil {
		return o, cancelled(err)
	}
	for _, run := range m.plan.Target.Ledger.Runs {
		if run.State != migration.RunRolledBack && run.Origin.OneEnsemble != o.OneEnsemble {
			err = fmt.Errorf("%w: %s took its records from a different ensemble, not that of this source", ErrOtherSource, run.ID)
		}
	}
	if !o.OneEnsemble {
		return o, err
	}
	return o, reasons.Join(err, cancelled(handover.MayHandOver(ctx, m.src, m.w, o)))
}

var clock = time.Now

func now() time.Time { return clock().UTC() }

func cancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w while nothing was being written; run the same command again: %w", ErrInterrupted, err)
	}
	return err
}

func (m *migrator) prepare(ctx context.Context) error {
	if err := target.CheckPlaces(ctx, m.src.Reader(), &m.w.Reader, m.src.Queues); err != nil {
		return &TargetError{err}
	}
	t, err := m.read(ctx)
	if err != nil {
		return err
	}
	m.src = withTimes(m.src, t)
	m.seen = m.src.Reader().LastZxid()
	if m.plan, err = makePlan(ctx, m.src, t, m.opt.PlanOptions); err != nil {
		return cancelled(err)
	}
	m.result.Plan, m.result.Run = m.plan.Plan, m.plan.Run
	err = m.check()
	if errors.Is(err, ErrBlocked) {
		// If another migrator wrote while the plan was made, the plan may show only half of
		// a transaction. Then the plan that is made after the wait counts.
		now, readErr := m.read(ctx)
		if readErr != nil || !sameRuns(m.plan.Target.Ledger.Runs, now.Ledger.Runs) {
			return readErr
		}
	}
	return err
}

func (m *migrator) read(ctx context.Context) (*target.Target, error) {
	t, err := readWhole(ctx, &m.w.Reader)
	if err != nil {
		return nil, cancelled(&TargetError{err})
	}
	return t, nil
}

func (m *migrator) check() error {
	p := m.plan
	if approved := m.opt.Approved; approved != nil {
		if differences := approved.Differences(p.Plan); len(differences) > 0 {
			return fmt.Errorf("%w: %s", ErrStale, differences[0])
		}
		if approved.IsDone(p.Plan) {
			m.result.CarriedOut, m.result.Run = true, approved.Run
		}
	}
	if p.Blocked() {
		return fmt.Errorf("%w: %d problems, the first: %s", ErrBlocked, len(p.Problems), p.Problems[0])
	}
	if len(p.Quarantined) == 0 {
		return nil
	}
	if m.opt.SaveQuarantined == nil {
		return fmt.Errorf("%w: %d records can't be decoded, the first is %s", ErrNotSaved, len(p.Quarantined), p.Quarantined[0].Path)
	}
	return m.opt.SaveQuarantined(p.Quarantined)
}

func (m *migrator) checkAfterWait(ctx context.Context) error {
	t, err := m.read(ctx)
	if err != nil || sameRuns(m.plan.Target.Ledger.Runs, t.Ledger.Runs) {
		return err
	}
	return m.planFor(ctx, t)
}

// sameRuns reports whether no migrator has written between two readings: each of its
// transactions sets the record of a run.
func sameRuns(a, b []migration.Run) bool {
	return slices.EqualFunc(a, b, func(a, b migration.Run) bool { return a.ID == b.ID && a.Stat.Mzxid == b.Stat.Mzxid })
}

func (m *migrator) planAgain(ctx context.Context) error {
	t, err := m.read(ctx)
	if err != nil {
		return err
	}
	return m.planFor(ctx, t)
}

// planFor reads the source again, and plans for the target as it is now. If other
// migrators have rolled a run back, the operator decides again.
func (m *migrator) planFor(ctx context.Context, t *target.Target) (err error) {
	before := m.plan.Target.Ledger.Runs
	for i, run := range t.Ledger.Runs {
		undone := run.State == migration.RunRollingBack || run.State == migration.RunRolledBack
		if was := i < len(before) && before[i].State == run.State; undone && !was {
			return fmt.Errorf("%w: %s", ErrRolledBack, run.ID)
		}
	}
	report(ctx, PhaseReadingSource, 0, 0)
	if m.src, err = m.src.Relist(ctx); err != nil {
		return cancelled(err)
	}
	if m.plan, err = makePlan(ctx, m.src, t, m.opt.PlanOptions); err != nil {
		return cancelled(err)
	}
	if !m.plan.Empty() {
		m.result.Run = m.plan.Run
	}
	return m.check()
}

func (m *migrator) carryOut(ctx context.Context) (steps int, err error) {
	if m.plan.Empty() {
		return 0, nil
	}
	steps, err = m.apply(ctx)
	m.result.Transactions += steps
	if err == nil {
		return 0, nil
	}
	return steps - 1, err
}

func (m *migrator) apply(ctx context.Context) (steps int, err error) {
	p := m.plan
	run := m.beginRun()
	before := run.Created
	counts, parents, err := p.Target.Counters(ctx)
	if err != nil {
		return 0, err
	}
	if jobs := counts[newqueue.JobsPath]; slices.Contains(p.Layout, newqueue.JobStatesPath) {
		jobs.Next++ // the opening transaction creates this child, which takes a number
		jobs.Free = max(jobs.Free, jobs.Next)
		counts[newqueue.JobsPath] = jobs
	}
	chain := apply.NewChain(m.w, run, p.Limits(m.opt.Limits), counts)
	defer func() {
		created := chain.Run().Created
		m.result.Created.Add(migration.Counts{Jobs: created.Jobs - before.Jobs, Access: created.Access - before.Access, Batches: created.Batches - before.Batches})
	}()
	total := p.Count(migration.ActionCreate)
	report(ctx, PhaseSending, 0, total)
	chain.Progress = func(records int) { report(ctx, PhaseSending, records, total) }
	folder, err := m.reserve(ctx)
	if err != nil {
		return 0, err
	}
	ops, guards := m.opening()
	ops = append(ops, folder...)
	if err := chain.Do(ctx, ops, func(r *migration.Run) {
		r.Owner, r.Origin, r.Total = m.owner, m.origin, r.Created.Records()+total
	}); err != nil {
		return chain.Transactions(), err
	}
	chain.Guard(guards...)
	if err := chain.AdvanceCounters(ctx, parents); err != nil {
		return chain.Transactions(), err
	}
	if err := chain.Send(ctx, p.Pieces(m.src.Fetch(ctx, p.ToCreate()))); err != nil {
		return chain.Transactions(), err
	}
	err = chain.End(ctx, nil, func(r *migration.Run) { r.State, r.Finished = migration.RunDone, now() })
	return chain.Transactions(), err
}

// reserve are the operations that create the folder for the bytes of the run's records. No other run has it: other targets
// can be migrated from the same legacy queue at the same time, and their runs have the same ids.
func (m *migrator) reserve(ctx context.Context) (ops []znode.Op, err error) {
	p := m.plan
	switch {
	case !m.origin.OneEnsemble:
		return nil, nil
	case p.Resumes:
		m.origin.KeptFolder = p.Unfinished.Origin.KeptFolder
		return nil, nil
	}
	m.origin.KeptFolder = p.Run + "-" + strings.ToLower(rand.Text()[:8])
	folder := m.origin.KeptRunPath()
	ops, err = toCreate(ctx, m.w, p.Settings.ACL, znode.Parent(folder))
	return append(ops, znode.Op{Kind: znode.OpCreate, Path: folder, Data: keptOwner(m.w, p.Run), ACL: p.Settings.ACL, Outside: true}), err
}

func (m *migrator) beginRun() migration.Run {
	p := m.plan
	if p.Resumes {
		run := p.Unfinished
		run.Choices = p.Choices // with what was decided since
		run.Note = cmp.Or(p.Settings.Note, run.Note)
		return run
	}
	return migration.Run{
		ID: p.Run, State: migration.RunRunning, Source: p.Source, Dialect: p.Dialect, Choices: p.Choices, Time: p.Settings.Time, ACL: p.Settings.ACL, Note: p.Settings.Note,
		Started: now(), Next: m.src.NextNumbers(), Read: m.seen, Stat: znode.Stat{Version: -1},
	}
}

// opening are the operations of the first transaction: the layout, the holds, and what the
// migration records about itself. guards are checked by all later transactions.
func (m *migrator) opening() (ops, guards []znode.Op) {
	p, t := m.plan, m.plan.Target
	create := func(path string, data []byte) {
		ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: data, ACL: p.Settings.ACL})
	}
	for _, path := range []string{ledger.RunsPath, ledger.EntriesPath} {
		if _, there := t.Layout[path]; !there {
			create(path, rules.None)
		}
	}
	if !p.Resumes {
		create(ledger.RunEntriesPath(p.Run), rules.None)
	}
	for _, path := range p.Layout {
		if path == newqueue.JobsPath {
			create(path, ledger.Newest(p.Run))
		} else {
			create(path, rules.None)
		}
	}
	if t.JobsVersion >= 0 && !p.Resumes {
		ops = append(ops, znode.Set(newqueue.JobsPath, ledger.Newest(p.Run), t.JobsVersion))
	}
	holds, guards := holdAll(t, migration.HoldOwner{By: p.Run, At: now(), Why: "migration"}, p.Settings.ACL)
	return append(append(ops, holds...), accepted(t, p.Unfinished.ID)...), guards
}

func holdAll(t *target.Target, owner migration.HoldOwner, acl []znode.ACL) (ops, checks []znode.Op) {
	for _, q := range newqueue.QueueHolds {
		path, version := newqueue.QueueHoldPath(q), int32(0)
		switch h := t.Hold(q); {
		case h == nil:
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: ledger.EncodeOwners(migration.HoldOwners{owner}), ACL: acl})
		case h.Owners.Has(owner.By):
			version = h.Stat.Version
		default:
			ops = append(ops, znode.Set(path, ledger.EncodeOwners(h.Owners.With(owner)), h.Stat.Version))
			version = h.Stat.Version + 1
		}
		checks = append(checks, znode.Check(path, version))
	}
	return ops, checks
}

// accepted are the operations that note in the records of all runs but one that the
// operator knows that they were restored from a backup. The chain writes that one.
func accepted(t *target.Target, but string) (ops []znode.Op) {
	for _, run := range t.Ledger.Runs {
		if run.ID != but && run.RestoredUnnoted() {
			run.Version = run.Stat.Version + 1
			ops = append(ops, znode.Set(ledger.RunPath(run.ID), ledger.EncodeRun(run), run.Stat.Version))
		}
	}
	return ops
}
