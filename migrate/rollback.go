package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rollback"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Undo is what a rollback does, or has done.
type Undo struct {
	Run   string   `json:"run"`
	State RunState `json:"state"` // of the run, before
	// Released are the queues whose workers may have worked on the run's jobs.
	Released []newqueue.QueueHold `json:"released"`
	Removes  Counts               `json:"removes"`
	// Keeps are the jobs and requests that stay, and those that other clients have removed. The
	// legacy records of all of them must not run again.
	Keeps []UndoItem `json:"keeps"`
	// Forced are the jobs and requests that Force removes although they were acted on: their records
	// may run again. It is only known if the operator is asked, or in a preview.
	Forced []UndoItem `json:"forced"`
	Steps  int        `json:"transactions"`
	// Ask says why the operator should be asked before anything is removed; "" if there is no
	// reason.
	Ask string `json:"ask"`
	// Record is the run's record, before.
	Record *Run `json:"-"`
	// keptEarlier says that the rollbacks of all other runs kept jobs, and that no retire has removed
	// their records.
	keptEarlier bool
}

// RollbackOptions are the options of a rollback.
type RollbackOptions struct {
	// Force also removes jobs and requests that were acted on, unless a session has locked
	// them.
	Force bool
	// Restored says that the operator knows that the target was restored from a backup.
	Restored bool
	// Source, if not nil, is the legacy queue. A job of a released queue is kept if its
	// record is not there any more, because the job is the only copy.
	Source *Source
	// Confirm, if not nil, is called with what the rollback would do, before it writes, if there
	// is a reason to ask the operator (Ask of [Undo]). If Confirm returns an error, nothing is
	// written, and Rollback returns the error.
	Confirm func(*Undo) error
	// Kept, if not nil, is called with what was kept, before the run counts as rolled back. If
	// it returns an error, Rollback returns that, and can be called again to finish.
	Kept   func(*Undo) error
	Limits Limits
	Say    func(string)
	Now    func() time.Time // nil: time.Now
}

// PreviewRollback says what a rollback would do. run is the id of a run; "" is the
// unfinished one, else the newest. It writes nothing. The error is as that of [Rollback].
func PreviewRollback(ctx context.Context, at *Reader, run string, opt RollbackOptions) (*Undo, error) {
	r := rolling{at: at, opt: opt}
	if err := r.read(ctx, run); err != nil {
		return nil, err
	}
	undo := r.undo()
	if err := r.foretell(ctx, undo); err != nil {
		return nil, err
	}
	return undo, nil
}

// Rollback removes the jobs and requests that a run created and nobody has changed since, and
// the run's batches that have no job then. It waits until no other migrator works on the target. It never removes the layout, nor the run's record.
//
// If the run was released, Rollback first holds the queues again. It leaves them held if
// the run was released, or if it kept anything.
//
// The error wraps [ErrNoRun], [ErrNotNewest], [ErrRetiring], [ErrDamaged], [ErrRestored] if opt.Restored is
// not set, or one of the errors of [Migrate]. The Undo is what was done; it is nil if
// nothing was written.
func Rollback(ctx context.Context, w *Writer, run string, opt RollbackOptions) (*Undo, error) {
	r := rolling{at: &w.Reader, w: w, opt: opt}
	if r.opt.Say == nil {
		r.opt.Say = func(string) {}
	}
	if err := r.read(ctx, run); err != nil {
		return nil, err
	}
	before := r.run().State
	report(ctx, AwaitingTurn, 0, 0)
	r.owner = apply.OwnerName(now(opt.Now))
	_, resign, err := apply.Lead(ctx, w, r.owner, r.run().ACL, r.opt.Say)
	if err != nil {
		return nil, cancelled(err)
	}
	defer resign()
	// Another migrator may have begun and ended before this one had its place.
	if err := r.read(ctx, r.run().ID); err != nil {
		return nil, err
	}
	undo := r.undo()
	if before == ledger.Running && undo.State == ledger.Done {
		undo.Ask = "another migration finished the run meanwhile"
	}
	if undo.Ask != "" {
		if err := r.ask(ctx, undo); err != nil {
			return nil, err
		}
	}
	return r.carryOut(ctx, undo)
}

// rolling is one call of Rollback.
type rolling struct {
	at     *Reader
	w      *Writer // nil for a preview
	opt    RollbackOptions
	owner  string
	target *target.Target
	index  int // of the run
}

func (r *rolling) run() *ledger.Run { return &r.target.Ledger.Runs[r.index] }

// read reads the target, and finds the run.
func (r *rolling) read(ctx context.Context, id string) error {
	t, err := target.ReadWhole(ctx, r.at)
	if err != nil {
		return cancelled(err)
	}
	r.target = t
	if current := t.Ledger.Current(); id == "" && current != nil {
		id = current.ID
	}
	r.index = t.Ledger.FindRun(id)
	if r.index < 0 {
		return r.noRun(id)
	}
	if newest := t.Ledger.Newest(); newest.State == ledger.Retiring {
		return fmt.Errorf("%w: %s; finish mrtq retire first", ErrRetiring, newest.ID)
	}
	if r.run().State == ledger.RolledBack {
		return fmt.Errorf("%w that can be rolled back: %s was rolled back already", ErrNoRun, r.run().ID)
	}
	for _, later := range t.Ledger.Runs[r.index+1:] {
		if later.State != ledger.RolledBack {
			return fmt.Errorf("%w: roll back %s first", ErrNotNewest, later.ID)
		}
	}
	if t.Restored() && !r.opt.Restored {
		return fmt.Errorf("%w: nothing shows which jobs were worked on before the backup was made", ErrRestored)
	}
	return nil
}

func (r *rolling) noRun(id string) error {
	if !r.target.HasQueue() {
		return fmt.Errorf("%w: nothing was migrated to it", ErrNoQueue)
	}
	return fmt.Errorf("%w: %q", ErrNoRun, id)
}

func (r *rolling) rollback() *rollback.Rollback {
	return rollback.New(r.target, r.index, rollback.Options{Force: r.opt.Force, Source: r.opt.Source})
}

// ask says what the rollback would do, and asks whether to go on.
func (r *rolling) ask(ctx context.Context, undo *Undo) (err error) {
	if r.opt.Confirm != nil {
		if err := r.foretell(ctx, undo); err != nil {
			return err
		}
		if err := r.opt.Confirm(undo); err != nil {
			return err
		}
	}
	if r.opt.Source != nil { // records may have been removed since it was listed
		r.opt.Source, err = r.opt.Source.Again(ctx)
	}
	return cancelled(err)
}

// undo is what is known of a rollback before the jobs are read.
func (r *rolling) undo() *Undo {
	undo := &Undo{Run: r.run().ID, State: r.run().State, Released: []newqueue.QueueHold{}, Keeps: []UndoItem{}, Forced: []UndoItem{}, Record: r.run(), keptEarlier: r.keptEarlier()}
	for _, q := range newqueue.QueueHolds {
		if r.target.Released(r.run(), q) {
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

// keptEarlier reports whether legacy workers, once this run is rolled back, may run records whose jobs the
// rollbacks of other runs kept.
func (r *rolling) keptEarlier() (kept bool) {
	for i, run := range r.target.Ledger.Runs {
		if i != r.index && run.State != ledger.RolledBack {
			return false
		}
	}
	for e := range r.target.Ledger.All() {
		there := r.opt.Source == nil || r.opt.Source.Has(e.Record)
		kept = kept || int(e.Run) != r.index && !e.Retired && there
	}
	return kept
}

// foretell reads the jobs, and finds what the rollback would remove and keep.
func (r *rolling) foretell(ctx context.Context, undo *Undo) error {
	done, total := 0, r.run().Created.Records()
	for item, err := range r.rollback().Items(ctx) {
		if err != nil {
			return cancelled(err)
		}
		report(ctx, ReadingTarget, done, total)
		done++
		switch {
		case item.Action != rollback.Remove:
			undo.Keeps = append(undo.Keeps, item)
			continue
		case znode.Within(item.Job, newqueue.AccessPath):
			undo.Removes.Access++
		default:
			undo.Removes.Jobs++
		}
		if item.Why != "" {
			undo.Forced = append(undo.Forced, item)
		}
	}
	names, err := r.target.ReadNames(ctx)
	if err != nil {
		return cancelled(err)
	}
	undo.Removes.Batches = r.emptied(undo, names)
	return nil
}

// emptied counts the run's batches that are there and of which no migrated job is left. If other clients
// have put entries into one, it stays all the same.
func (r *rolling) emptied(undo *Undo, names *target.Names) (n int) {
	keeps := map[string]bool{} // batches with jobs that stay
	for e := range r.target.Ledger.All() {
		keeps[e.Batch] = keeps[e.Batch] || int(e.Run) != r.index
	}
	for _, i := range undo.Keeps {
		if e := r.target.Ledger.Find(i.Record); e != nil && i.Action != rollback.RemovedByOthers {
			keeps[e.Batch] = true
		}
	}
	for b := range r.target.Ledger.Batches() {
		if int(b.Run) == r.index && !keeps[b.ID] && names.Has(newqueue.BatchPath(b.ID)) {
			n++
		}
	}
	return n
}

// carryOut removes what the preview says. If the target changes meanwhile, it looks again.
func (r *rolling) carryOut(ctx context.Context, undo *Undo) (*Undo, error) {
	before := r.run().Removed
	for idle := 0; ; {
		chain := apply.NewChain(r.w, *r.run(), r.opt.Limits, nil)
		err := r.apply(ctx, chain, undo)
		undo.Steps += chain.Steps()
		removed := chain.Run().Removed
		undo.Removes = Counts{Jobs: removed.Jobs - before.Jobs, Access: removed.Access - before.Access, Batches: removed.Batches - before.Batches}
		if !errors.Is(err, apply.ErrChanged) {
			return undo, cancelled(err)
		}
		if idle++; chain.Steps() > 1 {
			idle = 0
		}
		if idle == maxIdle {
			return undo, fmt.Errorf("%w: %w", ErrContended, err)
		}
		r.opt.Say(fmt.Sprintf("reading the target again: %v", err))
		if err := r.read(ctx, r.run().ID); err != nil {
			return undo, err
		}
	}
}

// apply carries out what is left of the rollback.
func (r *rolling) apply(ctx context.Context, chain *apply.Chain, undo *Undo) error {
	run := r.run()
	total := run.Created.Records()
	report(ctx, Removing, 0, total)
	var ops []znode.Op
	for _, path := range []string{newqueue.LocksPath, newqueue.QueueLocksPath} {
		if _, there := r.target.Layout[path]; !there {
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: path, Data: []byte{}, ACL: run.ACL})
		}
	}
	holds, guards := holdAll(r.target, ledger.Owner{By: run.ID, At: now(r.opt.Now), Why: "rollback"}, run.ACL)
	err := chain.Do(ctx, slices.Concat(ops, holds, accepted(r.target, run.ID)), func(next *ledger.Run) {
		next.State, next.Owner, next.Retire = ledger.RollingBack, r.owner, ledger.Retirement{} // what it keeps may have been restored since
		next.Restored = next.Restored || run.WasRestored()
		r.noteReleases(next)
	})
	if err != nil {
		return err
	}
	chain.Guard(guards...)
	chain.Progress = func(records int) { report(ctx, Removing, records, total) }
	rb := r.rollback()
	for _, pieces := range []iter.Seq2[apply.Piece, error]{rb.Pieces(ctx), rb.Folders(ctx), rb.Batches(ctx)} {
		if err := chain.Send(ctx, pieces); err != nil {
			return err
		}
	}
	if err := r.findKept(ctx, undo); err != nil {
		return err
	}
	if r.opt.Kept != nil {
		if err := r.opt.Kept(undo); err != nil {
			return err
		}
	}
	ops = nil
	if len(undo.Keeps) == 0 && len(chain.Run().Releases) == 0 {
		ops = r.liftOwn()
	}
	return chain.End(ctx, ops, func(next *ledger.Run) {
		next.State, next.Kept, next.Finished = ledger.RolledBack, len(undo.Keeps), now(r.opt.Now)
	})
}

// noteReleases notes in the run's record the queues that somebody released without mrtq,
// because the rollback holds them again.
func (r *rolling) noteReleases(next *ledger.Run) {
	if next.State == ledger.Running {
		return
	}
	var queues []newqueue.QueueHold
	for _, q := range newqueue.QueueHolds {
		if h := r.target.Hold(q); next.Released(q).IsZero() && (h == nil || !h.Owners.Has(next.ID)) {
			queues = append(queues, q)
		}
	}
	if len(queues) > 0 {
		next.Releases = append(slices.Clone(next.Releases), ledger.Release{At: now(r.opt.Now), By: ledger.Unknown, Queues: queues})
	}
}

// findKept finds what the rollback has kept, after all is removed that could be.
func (r *rolling) findKept(ctx context.Context, undo *Undo) error {
	if err := r.read(ctx, r.run().ID); err != nil {
		return err
	}
	undo.Keeps = []UndoItem{}
	for item, err := range r.rollback().Items(ctx) {
		if err != nil {
			return err
		}
		if item.Action == rollback.Remove {
			return fmt.Errorf("%w: %s", apply.ErrChanged, item.Job) // it was acted on while it was removed, and is not now
		}
		undo.Keeps = append(undo.Keeps, item)
	}
	return nil
}

// liftOwn are the operations that take the run from the owners of the holds.
func (r *rolling) liftOwn() (ops []znode.Op) {
	for _, h := range r.target.Holds {
		if h.Queue != "" && h.Owners.Has(r.run().ID) {
			ops = append(ops, leave(h, h.Owners.Without(r.run().ID)))
		}
	}
	return ops
}
