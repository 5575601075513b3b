package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/retire"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// Retired is what a retire does, or has done.
type Retired struct {
	Run   string   `json:"run"`   // the newest one; its record says that a retire runs
	State RunState `json:"state"` // of the run, before
	// Removes are the migrated records that are as they were then.
	Removes []RetireItem `json:"removes"`
	// Stays are the migrated records that are not. A legacy worker may be processing them, and they
	// could run twice.
	Stays []RetireItem `json:"stays"`
	// Earlier counts the records that an earlier retire removed, Gone those that no longer
	// exist although no retire removed them: a legacy worker finished them, or a person deleted them.
	Earlier int `json:"earlier"`
	Gone    int `json:"gone"`
	// Others counts the records that were never migrated, or whose jobs were rolled back. They stay.
	Others int `json:"others"`
	Steps  int `json:"transactions"` // of the target
	// Record is the run's record, before.
	Record *Run `json:"-"`
}

// RetireOptions are the options of a retire.
type RetireOptions struct {
	// Restored says that the operator knows that the target was restored from a backup.
	Restored bool
	// Confirm, if not nil, is called with what the retire would do, before anything is written.
	// If it returns an error, nothing is written, and Retire returns the error. The operator
	// should be asked.
	Confirm func(*Retired) error
	// SaveRemoved is called once, before anything is removed. dump writes a dump of the records: it
	// reads them again, and only what it has written is removed. If SaveRemoved returns an error,
	// nothing is removed, and Retire returns the error. nil refuses to remove anything.
	SaveRemoved func(dump func(io.Writer) error) error
	Limits      Limits
	Say         func(string)
	Now         func() time.Time // nil: time.Now
}

// PreviewRetire says what a retire would do. It writes nothing. The error is as that of
// [Retire].
func PreviewRetire(ctx context.Context, src *Source, at *Reader, opt RetireOptions) (*Retired, error) {
	r := retiring{src: src, at: at, opt: opt}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	return r.preview(ctx)
}

// Retire removes from the legacy queue the records that were migrated and not rolled back,
// so that no legacy worker can run them. It removes only those that are as they were when
// they were migrated, each by the version that it read. from is a session with src's server
// that can write. Retire waits until no other migrator works on the target. While it runs, the
// newest run is [Retiring], and only Retire can go on.
//
// The error wraps [ErrNoQueue], [ErrNoRun], [ErrUnfinished], [ErrNotReleased],
// [ErrOtherSource], [ErrNotSaved], [ErrDamaged], [ErrRestored] if opt.Restored is not set, or one
// of the errors of [Migrate]. The Retired is what was done; it is nil if nothing was written.
func Retire(ctx context.Context, src *Source, from, w *Writer, opt RetireOptions) (*Retired, error) {
	r := retiring{src: src, from: from, at: &w.Reader, w: w, opt: opt, owner: apply.OwnerName(now(opt.Now))}
	if r.opt.Say == nil {
		r.opt.Say = func(string) {}
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	report(ctx, AwaitingTurn, 0, 0)
	_, resign, err := apply.Lead(ctx, w, r.owner, r.run().ACL, r.opt.Say)
	if err != nil {
		return nil, cancelled(err)
	}
	defer resign()
	// Another migrator may have worked before this one had its place.
	if r.src, err = src.Again(ctx); err != nil {
		return nil, cancelled(err)
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	out, err := r.preview(ctx)
	if err != nil {
		return nil, err
	}
	if r.run().State != ledger.Retiring && len(out.Removes) == 0 {
		if !r.target.Ledger.AllBack() {
			return out, nil
		}
		return out, cancelled(r.carryOut(ctx, out, nil)) // the run's record says that nothing is left to retire
	}
	if opt.Confirm != nil {
		if err := opt.Confirm(out); err != nil {
			return nil, err
		}
	}
	deletes, err := r.save(ctx, out)
	if err != nil {
		return nil, cancelled(err)
	}
	return out, cancelled(r.carryOut(ctx, out, deletes))
}

// retiring is one call of Retire.
type retiring struct {
	src    *Source
	from   *Writer // to the source; nil for a preview
	at     *Reader
	w      *Writer // to the target; nil for a preview
	opt    RetireOptions
	owner  string
	target *target.Target
}

func (r *retiring) run() *ledger.Run { return r.target.Ledger.Newest() }

// read reads the target, and refuses a retire that may not be.
func (r *retiring) read(ctx context.Context) (err error) {
	if r.target, err = target.ReadWhole(ctx, r.at); err != nil {
		return cancelled(&TargetError{err})
	}
	return checkRetirable(r.target, r.src, r.opt)
}

// checkRetirable refuses while the legacy queue may still be needed.
func checkRetirable(t *target.Target, src *Source, opt RetireOptions) error {
	switch {
	case !t.HasQueue():
		return fmt.Errorf("%w: nothing was migrated to it", ErrNoQueue)
	case len(t.Ledger.Runs) == 0:
		return fmt.Errorf("%w: nothing was migrated", ErrNoRun)
	}
	for i := range t.Ledger.Runs {
		run := &t.Ledger.Runs[i]
		if run.Unfinished() && run.State != ledger.Retiring {
			return fmt.Errorf("%w: %s", ErrUnfinished, run.ID)
		}
		for _, q := range newqueue.QueueHolds {
			if !t.Released(run, q) {
				return fmt.Errorf("%w: %s, queue %s", ErrNotReleased, run.ID, q)
			}
		}
	}
	if t.Restored() && !opt.Restored {
		return fmt.Errorf("%w: it may not say which jobs were rolled back since", ErrRestored)
	}
	if why := retire.OtherSource(t, src); why != "" {
		return fmt.Errorf("%w: %s", ErrOtherSource, why)
	}
	return nil
}

// preview says what the retire would do.
func (r *retiring) preview(ctx context.Context) (*Retired, error) {
	out := &Retired{Run: r.run().ID, State: r.run().State, Record: r.run(), Removes: []RetireItem{}, Stays: []RetireItem{}}
	there := 0
	for e := range r.target.Ledger.All() {
		switch {
		case r.src.Has(e.Record):
			there++
		case e.Retired:
			out.Earlier++
		default:
			out.Gone++
		}
	}
	out.Others = r.src.Len() - there
	done := 0
	for f, err := range r.src.Fetch(ctx, r.migrated()) {
		if err != nil {
			return nil, cancelled(err)
		}
		report(ctx, ReadingSource, done, there)
		done++
		if !f.There {
			out.Gone++
			continue
		}
		if i := retire.Decide(r.target.Ledger.Find(f.Path), f); i.Why == "" {
			out.Removes = append(out.Removes, i)
		} else {
			out.Stays = append(out.Stays, i)
		}
	}
	return out, nil
}

// migrated yields the paths of the migrated records that are in the source.
func (r *retiring) migrated() iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range r.src.Paths() {
			if r.target.Ledger.Find(path) != nil && !yield(path) {
				return
			}
		}
	}
}

// save has the caller save the records that the preview would remove. It returns the deletes of
// those that were written, each with the version that it had then.
func (r *retiring) save(ctx context.Context, out *Retired) (deletes []znode.Op, err error) {
	if len(out.Removes) == 0 {
		return nil, nil
	}
	if r.opt.SaveRemoved == nil {
		return nil, fmt.Errorf("%w (number of records: %d)", ErrNotSaved, len(out.Removes))
	}
	kept := *out
	err = r.opt.SaveRemoved(func(w io.Writer) error {
		kept.Removes, kept.Stays, deletes = nil, slices.Clone(out.Stays), nil
		return r.dump(ctx, w, func(i RetireItem, version int32) {
			if i.Why != "" {
				kept.Stays = append(kept.Stays, i)
				return
			}
			kept.Removes, deletes = append(kept.Removes, i), append(deletes, znode.Delete(i.Record, version))
		}, out.Removes)
	})
	if err == nil && deletes == nil {
		kept.Removes = []RetireItem{}
	}
	*out = kept
	return deletes, err
}

// dump writes a dump of these records, with the znodes above them, and calls each with what is
// to be done with a record. A record that has changed since the preview is not in the dump.
func (r *retiring) dump(ctx context.Context, w io.Writer, each func(i RetireItem, version int32), items []RetireItem) error {
	var records []string
	above := map[string]bool{}
	for _, i := range items {
		records = append(records, i.Record)
		for at := znode.Parent(i.Record); at != "" && !above[at]; at = znode.Parent(at) {
			above[at] = true
		}
	}
	parents, err := r.src.Reader().GetAll(ctx, slices.Sorted(maps.Keys(above)), zkconn.AllACLs)
	if err != nil {
		return err
	}
	dump := znode.NewDumpWriter(w)
	for f, err := range r.src.WithACLs().Fetch(ctx, slices.Values(records)) {
		if err != nil {
			return err
		}
		if !f.There {
			continue
		}
		i := retire.Decide(r.target.Ledger.Find(f.Path), f)
		if each(i, f.Stat.Version); i.Why != "" {
			continue
		}
		for len(parents) > 0 && parents[0].Path < f.Path {
			if err := dump.Write(&parents[0]); err != nil {
				return err
			}
			parents = parents[1:]
		}
		if err := dump.Write(&znode.Node{Path: f.Path, Data: f.Data, Stat: f.Stat, ACL: f.ACL}); err != nil {
			return err
		}
	}
	return dump.Close()
}

// carryOut removes records, some at a time. The ledger says of them first that they are removed.
// So a rollback that comes later knows that their jobs are the only copies.
func (r *retiring) carryOut(ctx context.Context, out *Retired, deletes []znode.Op) error {
	chain := apply.NewChain(r.w, *r.run(), r.opt.Limits, nil)
	defer func() { out.Steps = chain.Steps() }()
	removes := out.Removes
	out.Removes = []RetireItem{}
	err := chain.Do(ctx, accepted(r.target, r.run().ID), func(next *ledger.Run) {
		next.State, next.Before, next.Owner = ledger.Retiring, next.Settled(), r.owner
		next.Restored = next.Restored || r.run().WasRestored()
		next.Retire = ledger.Retirement{By: r.owner}
	})
	if err != nil {
		return err
	}
	remover := apply.NewRemover(r.from, r.opt.Limits)
	for done := 0; done < len(deletes); {
		n := remover.Fits(deletes[done:])
		if err := chain.Send(ctx, r.marks(removes[done:done+n])); err != nil {
			return err
		}
		left, err := remover.Remove(ctx, deletes[done:done+n])
		if err != nil {
			return fmt.Errorf("removing from the legacy queue: %w", err)
		}
		out.add(removes[done:done+n], left)
		done += n
		report(ctx, Removing, done, len(deletes))
	}
	return chain.End(ctx, nil, func(next *ledger.Run) {
		next.State, next.Before = next.Before, ""
		next.Retire.At, next.Retire.Stay = now(r.opt.Now), len(out.Stays)
	})
}

// marks yields one piece: the lines that say that these records are removed. An interrupted
// retire may have written some of them.
func (r *retiring) marks(items []RetireItem) iter.Seq2[apply.Piece, error] {
	var lines []ledger.Line
	for _, i := range items {
		if !r.target.Ledger.Find(i.Record).Retired {
			lines = append(lines, ledger.Line{Kind: ledger.RecordRetired, Record: i.Record})
		}
	}
	piece := apply.Piece{Build: func([]string) ([]znode.Op, []ledger.Line) { return nil, lines }}
	return func(yield func(apply.Piece, error) bool) { yield(piece, nil) }
}

// add counts records that were to be removed. left are those that were not.
func (out *Retired) add(items []RetireItem, left []*znode.MultiError) {
	why := map[string]error{}
	for _, l := range left {
		why[l.Op.Path] = l.Err
	}
	for _, i := range items {
		switch err := why[i.Record]; {
		case err == nil:
			out.Removes = append(out.Removes, i)
		case errors.Is(err, znode.ErrNoNode):
			out.Gone++
		default:
			i.Why = fmt.Sprintf("it changed while it was being removed (%v)", err)
			out.Stays = append(out.Stays, i)
		}
	}
}
