package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type completeCmd struct {
	yes    bool
	output string
}

func (a *app) completeCmd() *cobra.Command {
	c := &completeCmd{}
	cmd := &cobra.Command{
		Use:   "complete TARGET",
		Short: "end a migration, so that it can't be rolled back",
		Long: `Remove the bytes of the records that were handed over, in /mrtq-handed-over beside the
legacy queue. After that the migration can't be rolled back, and verify no longer
compares jobs with their records. Every migrated record must have been handed over. Wait
some days after the release, until you are sure that you won't go back. Jobs may still be
held or failed. complete refuses while a queue is held by a run, while somebody must
decide about a record, while follow runs or has left a record that can be moved, and
while TARGET is restored from a backup. It asks first. If it is interrupted, run it again.`,
		Example: `  mrtq complete zk1:2181/new`,
		Args:    args("TARGET"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	f.BoolVarP(&c.yes, "yes", "y", false, "don't ask for confirmation")
	outputFlag(f, &c.output, "json")
	return cmd
}

func (c *completeCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parseTarget(args)
	if err != nil {
		return err
	}
	opt := migrate.CompleteOptions{Limits: migration.TransactionLimits{Ops: a.conn.MaxRate}, Notify: func(text string) { a.Say("%s", text) }}
	if !c.yes {
		opt.Confirm = func(out *migrate.CompleteResult) error {
			return a.askToGoOn(ctx, fmt.Sprintf("the kept bytes of %s would be removed, and a rollback would no longer be possible%s", screen.Count(out.Removes, "record", "records"), waits(out)))
		}
	}
	out, err := c.complete(ctx, a, s, opt)
	if err != nil {
		return c.refused(ctx, a, s.target, failed("target", s.target.Text, err))
	}
	if c.output == "json" {
		a.JSON(out)
	}
	if len(out.Runs) == 0 {
		a.Conclude(screen.Good, "nothing to do", "Nothing is kept for a rollback.", advice.Next{})
		return nil
	}
	a.Conclude(screen.Good, "done", fmt.Sprintf("The kept bytes of %s were removed, and a rollback is no longer possible.", screen.Count(out.Removes, "record", "records")), advice.Next{})
	return nil
}

func waits(out *migrate.CompleteResult) string {
	text := ""
	if out.Pending > 0 {
		text = "; " + screen.Count(out.Pending, "job or request is", "jobs and requests are") + " still pending"
	}
	if !out.Begun {
		text += "; no service has begun any yet"
	}
	if len(out.Others) > 0 {
		text += fmt.Sprintf("; the same legacy queue was migrated to %s, too: roll that back or end it first, or it takes these records for vanished ones", strings.Join(out.Others, " and "))
	}
	return text
}

func (c *completeCmd) refused(ctx context.Context, a *app, target place, err error) error {
	for _, r := range []struct {
		is   error
		step migrate.NextStep
	}{{migrate.ErrRestored, migrate.StepRestored}, {migrate.ErrUndecided, migrate.StepDecideRecords}, {migrate.ErrHeld, migrate.StepRelease}, {migrate.ErrLeft, migrate.StepFollow}} {
		if !errors.Is(err, r.is) {
			continue
		}
		if status := a.statusOf(ctx, target); status != nil {
			return &advised{err, a.advice.Next(r.step, situationOf(target, status))}
		}
	}
	return a.wayOut(ctx, target, err)
}

func (c *completeCmd) complete(ctx context.Context, a *app, s pair, opt migrate.CompleteOptions) (out *migrate.CompleteResult, err error) {
	ctx, finish := a.Phases(ctx, "reading the target")
	defer finish()
	err = a.onTarget(ctx, s.target, func(w *migrate.WritableSide) error {
		if out, err = migrate.Complete(ctx, w.Writer, opt); err == nil && out.Transactions == 0 {
			return errUnchanged
		}
		return err
	})
	return out, err
}
