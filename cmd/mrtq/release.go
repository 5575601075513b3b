package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type releaseCmd struct {
	holdFlags
	decisionFlags
	others, restored, ledgerDamaged bool
	workersStopped                  int
	output                          string
}

func (a *app) releaseCmd() *cobra.Command {
	c := &releaseCmd{}
	cmd := &cobra.Command{
		Use:   "release TARGET",
		Short: "hand the records over to their jobs, and lift the holds",
		Long: `Verify the target. Then hand each migrated record over to its job, in one ZooKeeper
transaction: the record leaves the legacy queue, and its bytes are kept beside it, in
/mrtq-handed-over, for a rollback. So a record is in one queue or in the other.
If a legacy worker has taken a record since, its job is withdrawn. A legacy worker that
was not stopped finds no records any more. A record that arrives later is moved by
mrtq follow.

Then release lifts the holds, and the services can start. It doesn't lift a queue's
hold while somebody must decide about a record in it, or while consumed records or
locks show that legacy workers may be at work: run it again when they are done. A worker
that died leaves these forever. After a rollback, pending records keep the holds, too.
When all legacy workers are stopped, --workers-stopped N lifts the holds despite N
consumed records, locks and pending records.

A hold that has other owners stays. --others lifts the holds of people and other
clients, too. To lift a hold on a collection, name it with --collection. If release is
interrupted, run it again. Exit code 1 if a run's hold could not be lifted.`,
		Example: `  mrtq release zk1:2181/new
  mrtq release zk1:2181/new --only ingest
  mrtq release zk1:2181/new --vanished legacy`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.holdFlags.flags(f)
	c.decisionFlags.flags(f)
	f.IntVar(&c.workersStopped, "workers-stopped", 0, "lift the holds despite this `number` of consumed records and locks, and after a rollback of pending records: all legacy workers are stopped")
	f.BoolVar(&c.others, "others", false, "also lift the holds of people and other clients")
	f.BoolVar(&c.restored, "restored", false, "continue although TARGET was restored from a backup: jobs that finished after the backup was made may run again")
	f.BoolVar(&c.ledgerDamaged, "ledger-damaged", false, "lift holds although the migration's records are damaged, and hand nothing over; stop the legacy workers first")
	outputFlag(f, &c.output, "json")
	return cmd
}

func (c *releaseCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parseTarget(args)
	if err != nil {
		return err
	}
	opt := migrate.ReleaseOptions{Collections: c.collections, Others: c.others, WorkersStopped: c.workersStopped,
		LedgerDamaged: c.ledgerDamaged, Restored: c.restored, Limits: migration.TransactionLimits{Ops: a.conn.MaxRate}, Notify: func(text string) { a.Say("%s", text) }}
	if c.workersStopped < 0 {
		return exit.Usagef("--workers-stopped %d: expected 0 or more", c.workersStopped)
	}
	if opt.Queues, err = c.holdFlags.queues(); err != nil {
		return err
	}
	if opt.Decisions, err = c.decisions(a, s.target); err != nil {
		return err
	}
	res, err := c.release(ctx, a, s, opt)
	undone := errors.Is(err, migrate.ErrUndecided) || errors.Is(err, migrate.ErrAtWork)
	if err != nil && !undone {
		return c.refuse(ctx, a, s, res, err)
	}
	a.printAs(c.output, res, func() { view.Release(a.Screen, res) })
	c.conclude(a, s, res, err)
	if undone {
		return exit.Check(err)
	}
	return nil
}

func (c *releaseCmd) release(ctx context.Context, a *app, s pair, opt migrate.ReleaseOptions) (res *migrate.ReleaseResult, err error) {
	defer c.sayKept(a)
	ctx, finish := a.Phases(ctx, "reading both queues")
	defer finish()
	var left error // why a queue was not lifted
	err = a.onTarget(ctx, s.target, func(w *migrate.WritableSide) error {
		res, left = migrate.Release(ctx, w.Writer, opt)
		if res == nil || res.Transactions == 0 {
			return cmp.Or(left, errUnchanged)
		}
		if errors.Is(left, migrate.ErrUndecided) || errors.Is(left, migrate.ErrAtWork) {
			return nil // what was done stays
		}
		return left
	})
	return res, cmp.Or(err, left)
}

func (c *releaseCmd) refuse(ctx context.Context, a *app, s pair, res *migrate.ReleaseResult, err error) error {
	switch {
	case exit.Is(err, exit.Usage):
		return err
	case errors.Is(err, migrate.ErrNoQueue):
		return a.wayOut(ctx, s.target, failed("target", s.target.Text, err))
	case (errors.Is(err, migrate.ErrNotVerified) || errors.Is(err, migrate.ErrRestored)) && res != nil && res.Verdict != nil:
		a.printAs(c.output, res, func() { view.Verdict(a.Screen, res.Verdict) })
		a.concludeVerdict(res.Verdict, s, "", "Nothing was released. ")
		return exit.Check(err)
	}
	err = failed("target", s.target.Text, err)
	if res != nil && res.Transactions > 0 {
		done := "this call: " + strings.Join(append(view.ReleaseDone(res), "no hold was lifted"), "; ")
		if wasCutShort(err) {
			return &partlyDone{err, done + "; run the same command again to finish"}
		}
		return a.wayOut(ctx, s.target, &partlyDone{err, done})
	}
	return fmt.Errorf("nothing was released: %w", a.wayOut(ctx, s.target, err))
}

func (c *releaseCmd) conclude(a *app, s pair, res *migrate.ReleaseResult, why error) {
	at := advice.Situation{Target: s.target.Text, Holds: res.Left, Undecided: res.Undecided, AtWork: len(res.AtWork),
		Waiting: slices.ContainsFunc(res.AtWork, func(w migration.LegacyActivity) bool { return w.What == migration.ActivityWaiting })}
	if v := res.Verdict; v != nil && v.Run != "" {
		at.Run = &v.Current
	}
	var next advice.Next
	free := !slices.ContainsFunc(res.Left, func(h migration.Hold) bool { return h.Collection == "" })
	switch begin := free && len(res.Lifted) > 0; {
	case errors.Is(why, migrate.ErrUndecided):
		next = a.advice.Next(migrate.StepDecideRecords, at)
	case errors.Is(why, migrate.ErrAtWork):
		next = a.advice.Next(migrate.StepAwaitLegacy, at)
	case begin || len(res.Left) == 0:
		next = a.advice.AfterRelease(at, res.Lifted, s.target.isServer() && begin)
	default:
		next = a.advice.StillHeld(at)
	}
	tone, word, text := view.ReleaseOutcome(res, why, c.restored)
	a.Conclude(tone, word, text, next)
}
