package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// CompleteResult is what a completion does, or has done.
type CompleteResult struct {
	Runs         []string `json:"runs"`    // that have no way back any more
	Removes      int      `json:"removes"` // kept records
	Transactions int      `json:"transactions"`
	// Pending counts the migrated jobs and requests that wait for a service, and Begun reports whether anybody has done anything with
	// any of them. Others are other targets that were migrated from the same queue nodes, by their chroots, or else by the
	// folders of their kept bytes: when this target keeps nothing any more, they can't know that it has their records. Only Confirm is told.
	Pending int      `json:"-"`
	Begun   bool     `json:"-"`
	Others  []string `json:"-"`
}

// CompleteOptions are the options of a completion.
type CompleteOptions struct {
	// Confirm, if not nil, is called with what would be removed, before anything is written. If it returns an error,
	// nothing is, and Complete returns the error. The operator should be asked.
	Confirm func(*CompleteResult) error
	Limits  migration.TransactionLimits
	Notify  func(string)
}

// Complete ends a migration: it removes the kept bytes of the records that were handed over, so no rollback can give them back.
// Every record must have been handed over, no queue may be held by a run, and nothing undecided (docs/life.md, "The end"). It waits until no other migrator works on
// the target. If it is interrupted, the same call goes on.
//
// The error wraps [ErrNoRun], [ErrUnfinished], [ErrNotReleased], [ErrHeld], [ErrUndecided], [ErrRestored], [ErrDamaged], [ErrHoldsChanged] or [ErrNoQueue], or is one of the errors of [Migrate]. The
// CompleteResult is what was done; it is nil if nothing was written.
func Complete(ctx context.Context, dst *Writer, opt CompleteOptions) (*CompleteResult, error) {
	if opt.Notify == nil {
		opt.Notify = func(string) {}
	}
	c := completion{at: &dst.Reader}
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	out := c.out()
	if len(out.Runs) == 0 {
		for i := range c.t.Ledger.Runs { // a completion that was killed may have left them
			removeKeptParents(ctx, dst, &c.t.Ledger.Runs[i])
		}
		return out, nil
	}
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if opt.Confirm != nil { // not in the election, where others would wait for a person
		if err := c.waits(ctx, out); err != nil {
			return nil, err
		}
		if err := opt.Confirm(out); err != nil {
			return nil, err
		}
	}
	report(ctx, PhaseAwaitingTurn, 0, 0)
	turn, err := apply.Lead(ctx, dst, apply.OwnerName(now()), c.t.Ledger.Newest().ACL, opt.Notify)
	if err != nil {
		return nil, cancelled(err)
	}
	defer turn.Resign()
	if err := c.read(ctx); err != nil {
		return nil, err
	}
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if removes := c.out().Removes; opt.Confirm != nil && removes != out.Removes {
		return nil, fmt.Errorf("%w: the kept bytes of %d records would be removed now", ErrHoldsChanged, removes)
	}
	out.Removes = 0
	err = untilDone(ctx, dst, opt.Notify, c.read, func(ctx context.Context) (int, error) { return c.step(ctx, dst, out, opt) })
	return out, err
}

type completion struct {
	at   *Reader
	t    *target.Target
	kept map[string][]string // the paths of kept bytes, by run
}

func (c *completion) read(ctx context.Context) (err error) {
	c.t, c.kept = nil, map[string][]string{} // two ledgers of a large queue need much memory
	if c.t, err = readWhole(ctx, c.at); err != nil {
		return cancelled(&TargetError{err})
	}
	switch {
	case !c.t.HasQueue():
		return fmt.Errorf("%w: nothing was migrated to it", ErrNoQueue)
	case len(c.t.Ledger.Runs) == 0:
		return fmt.Errorf("%w: nothing was migrated", ErrNoRun)
	}
	var why error
	if run := c.t.Ledger.Current(); run.Unfinished() {
		why = fmt.Errorf("%w: %s", ErrUnfinished, run.ID)
	}
	for e := range c.t.Ledger.All() {
		if run := c.t.Ledger.Runs[e.Run]; !e.HandedOver && run.State == migration.RunDone {
			why = reasons.Join(why, fmt.Errorf("%w: %s", ErrNotReleased, e.Record))
			break
		}
	}
	if why != nil {
		return why
	}
	for i, run := range c.t.Ledger.Runs {
		if c.kept[run.ID], err = keptPaths(ctx, c.t, i); err != nil {
			return cancelled(err)
		}
	}
	return nil
}

// check refuses while anything is undecided or unfinished, as status sees it, because the kept bytes may be needed.
func (c *completion) check(ctx context.Context) error {
	s, err := ReadStatus(ctx, c.at)
	if err != nil {
		return cancelled(err)
	}
	var why error
	if undecided := s.Undecided(); len(undecided) > 0 {
		why = fmt.Errorf("%w: %s", ErrUndecided, undecided[0].Record)
	}
	if s.Followers > 0 {
		why = reasons.Join(why, ErrFollowed)
	}
	if left, err := c.left(ctx); err != nil {
		return err
	} else if left != "" {
		why = reasons.Join(why, fmt.Errorf("%w: %s", ErrLeft, left))
	}
	if s.Restored {
		why = reasons.Join(why, fmt.Errorf("%w: nothing shows which jobs were finished since", ErrRestored))
	}
	for _, h := range s.Holds {
		if h.OfRun() && !c.t.Ledger.AllRolledBack() {
			return reasons.Join(why, fmt.Errorf("%w: %s is held", ErrHeld, h.Path))
		}
	}
	return why
}

// left is a record that [Follow] moves; "" if there is none.
func (c *completion) left(ctx context.Context) (string, error) {
	if run := c.t.Ledger.Current(); run.State != migration.RunDone || !run.Origin.OneEnsemble || c.t.RestoredUnnoted() {
		return "", nil
	}
	first := ""
	f := newFollower(c.at, FollowOptions{Each: func(r migration.Followed) {
		if r.Fate == migration.FateMoves {
			first = cmp.Or(first, r.Record)
		}
	}})
	err := f.begin(ctx, c.t)
	if err == nil {
		err = f.preview(ctx)
	}
	return first, cancelled(err)
}

func (c *completion) waits(ctx context.Context, out *CompleteResult) error {
	var err error
	if out.Others, err = standing.OtherTargets(ctx, c.t); err != nil {
		return cancelled(err)
	}
	for part := range slices.Chunk(slices.Collect(c.t.Ledger.All()), maxRead.N()) {
		jobs, err := c.t.Jobs(ctx, part, false)
		if err != nil {
			return cancelled(err)
		}
		for _, j := range jobs {
			if state, _ := j.Status(); state == string(newqueue.JobPending) {
				out.Pending++
			}
			out.Begun = out.Begun || j.Gone() || j.ActedOn(c.t.Ledger.Runs[j.Of.Run].Restored) != ""
		}
	}
	return nil
}

func (c *completion) out() *CompleteResult {
	out := &CompleteResult{Runs: []string{}}
	for _, run := range c.t.Ledger.Runs {
		if run.State == migration.RunDone && run.Completed.IsZero() || len(c.kept[run.ID]) > 0 {
			out.Runs = append(out.Runs, run.ID)
			out.Removes += len(c.kept[run.ID])
		}
	}
	return out
}

// step completes the runs. It says so in a run's record first, so that no rollback begins on half of the kept bytes.
func (c *completion) step(ctx context.Context, w *Writer, out *CompleteResult, opt CompleteOptions) (steps int, err error) {
	defer func() { out.Transactions += steps }()
	for i := range c.t.Ledger.Runs {
		run := &c.t.Ledger.Runs[i]
		chain := apply.NewChain(w, *run, opt.Limits, nil)
		err := c.complete(ctx, chain, run, out, opt)
		if steps += chain.Transactions(); err != nil {
			return steps, err
		}
		removeKeptParents(ctx, w, run)
	}
	return steps, nil
}

func (c *completion) complete(ctx context.Context, chain *apply.Chain, run *migration.Run, out *CompleteResult, opt CompleteOptions) error {
	if run.Completed.IsZero() && run.State == migration.RunDone {
		if err := chain.Do(ctx, nil, func(next *migration.Run) { next.Completed = now() }); err != nil {
			return err
		}
	}
	total := len(c.kept[run.ID])
	report(ctx, PhaseRemoving, 0, total)
	chain.Progress = func(pieces int) { report(ctx, PhaseRemoving, pieces, total) }
	return chain.Send(ctx, func(yield func(apply.Piece, error) bool) {
		for _, path := range c.kept[run.ID] {
			ops := znode.Outside(znode.Delete(path, -1))
			piece := apply.Piece{Build: func([]string) ([]znode.Op, []ledger.Line) { return ops, nil }, Done: func() { out.Removes++ }}
			if !yield(piece, nil) {
				return
			}
		}
	})
}
