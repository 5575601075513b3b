package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

type rollbackCmd struct {
	decisionFlags
	force, restored, dry, yes bool
	output                    string
}

func (a *app) rollbackCmd() *cobra.Command {
	c := &rollbackCmd{}
	cmd := &cobra.Command{
		Use:   "rollback TARGET",
		Short: "roll back the newest run, and give its records back",
		Long: `Remove the jobs, access requests and batches that a run created and that nobody has
begun. The legacy queue has their records then: those that a release had handed over
are given back, each in the transaction that removes its job, with the same name, bytes
and ACL. A job that was begun stays, and is the only copy. The layout, the run's record
and the rest of the target stay.

rollback first holds the queues. It can't end while a worker has a lock on a job that
stays. When it has ended, legacy workers can start. If any job stays, the queues stay
held, so that the workers of both queues don't work side by side: mrtq release lifts the
holds later. If the queues were released, workers may have worked on the jobs, so
rollback asks first. If it is interrupted, run it again. Exit code 1 if the rollback could not end.`,
		Example: `  mrtq rollback zk1:2181/new --dry-run
  mrtq rollback zk1:2181/new --yes`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.main(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.decisionFlags.flags(f)
	f.BoolVar(&c.force, "force", false, "also remove what was acted on, but never what a worker has locked")
	f.BoolVar(&c.restored, "restored", false, "continue although TARGET was restored from a backup: it is not known which jobs were begun before that")
	f.BoolVar(&c.dry, "dry-run", false, "only show what would be removed and kept")
	f.BoolVarP(&c.yes, "yes", "y", false, "don't ask for confirmation")
	outputFlag(f, &c.output, "json")
	return cmd
}

type rolledBack struct {
	*migrate.RollbackResult
	Done bool `json:"done"` // false: this is what would be done, or the rollback could not end
}

func (c *rollbackCmd) main(ctx context.Context, a *app, given []string) error {
	s, err := parseTarget(given)
	if err != nil {
		return err
	}
	undo, err := c.rollBack(ctx, a, s)
	undone := undo != nil && (errors.Is(err, migrate.ErrUndecided) || errors.Is(err, migrate.ErrAtWork))
	if err != nil && !undone {
		return c.fail(ctx, a, s, undo, err)
	}
	a.printAs(c.output, rolledBack{undo, !c.dry && !undone}, func() { view.Rollback(a.Screen, undo) })
	c.conclude(a, s, undo, err)
	if undone {
		return exit.Check(err)
	}
	return nil
}

func (c *rollbackCmd) rollBack(ctx context.Context, a *app, s pair) (undo *migrate.RollbackResult, err error) {
	opt := migrate.RollbackOptions{Force: c.force, Restored: c.restored, Limits: migration.TransactionLimits{Ops: a.conn.MaxRate},
		Notify: func(text string) { a.Say("%s", text) }}
	if !c.yes {
		opt.Confirm = func(u *migrate.RollbackResult) error { return c.confirm(ctx, a, u) }
	}
	if opt.Decisions, err = c.decisions(a, s.target); err != nil {
		return nil, err
	}
	defer c.sayKept(a)
	ctx, finish := a.Phases(ctx, "reading the run")
	defer finish()
	if c.dry {
		side, err := a.open(ctx, s.target, true)
		if err != nil {
			return nil, err
		}
		defer side.Close()
		return migrate.PreviewRollback(ctx, side.Reader, opt)
	}
	var left error // why it could not end
	err = a.onTarget(ctx, s.target, func(w *migrate.WritableSide) error {
		if undo, left = migrate.Rollback(ctx, w.Writer, opt); undo != nil && (errors.Is(left, migrate.ErrUndecided) || errors.Is(left, migrate.ErrAtWork)) {
			return nil // what was done stays
		}
		return left
	})
	return undo, cmp.Or(err, left)
}

func (c *rollbackCmd) confirm(ctx context.Context, a *app, u *migrate.RollbackResult) error {
	question := fmt.Sprintf("%s: %s. The rollback would remove %s", u.Run, u.Ask, view.Counts(u.Removes))
	if u.GivesBack > 0 {
		question += fmt.Sprintf(", and give back %s", screen.Count(u.GivesBack, "record", "records"))
	}
	if text := view.StaysText(u); text != "" {
		question += "; " + text
	}
	if len(u.Forced) > 0 {
		question += "; " + screen.Count(len(u.Forced), "job or request that it removes was acted on", "jobs and requests that it removes were acted on") + ": --dry-run shows which"
	}
	return a.askToGoOn(ctx, question)
}

func (c *rollbackCmd) fail(ctx context.Context, a *app, s pair, u *migrate.RollbackResult, err error) error {
	done := "nothing was removed"
	if u != nil && u.Transactions > 0 && s.target.isServer() {
		done = fmt.Sprintf("%s is not completely rolled back: this call removed %s. Run the same command again to finish", u.Run, view.Counts(u.Removes))
	}
	if wasCutShort(err) {
		return failed("target", s.target.Text, &partlyDone{err, done})
	}
	return a.wayOut(ctx, s.target, failed("target", s.target.Text, err))
}

func (c *rollbackCmd) conclude(a *app, s pair, u *migrate.RollbackResult, why error) {
	at := advice.Situation{Target: s.target.Text, Run: u.Record, Undecided: u.Undecided}
	word, removed, gave := "done", "removed", "given back"
	if c.dry {
		word, removed, gave = "dry run", "would be removed", "would be given back"
	}
	text := fmt.Sprintf("%s in %s: %s %s", u.Run, advice.Word(s.target.Text), view.Counts(u.Removes), removed)
	if u.GivesBack > 0 {
		text += ", " + screen.Count(u.GivesBack, "record", "records") + " " + gave
	}
	tone := screen.Good
	if stays := view.StaysText(u); stays != "" {
		tone, text = screen.Attention, text+"; "+stays
	}
	text += "."
	var next advice.Next
	switch {
	case c.dry:
		if next.Command = a.advice.Really(); u.Ask != "" { // this has shown what the question is about
			next.Command = a.advice.Really(advice.Switch("yes"))
		}
		if u.Record != nil && len(u.Record.Releases) > 0 {
			next.First = "stop the new services"
		}
	case why != nil:
		tone, word, next.Command = screen.Bad, "not finished", a.advice.Really()
		if len(u.Undecided) > 0 {
			next = a.advice.DecideRollback(at)
		}
		if len(u.AtWork) > 0 {
			next.First = "stop the services that have these locks"
		}
	default:
		if u.Held {
			at.Held = len(newqueue.QueueHolds)
			text += " The queues stay held for what was kept."
		}
		text += " The legacy workers can start."
		next = a.advice.Next(migrate.StepPlan, at)
	}
	a.Conclude(tone, word, text, next)
}
