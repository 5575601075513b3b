package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/newqueue"
)

type releaseCmd struct {
	holdFlags
	verifyFlags
	others, unverified, restored bool
	actedOn                      int
	output                       string
}

func (a *app) releaseCmd() *cobra.Command {
	c := &releaseCmd{}
	cmd := &cobra.Command{
		Use:   "release TARGET [SOURCE]",
		Short: "lift the holds, once the target is verified",
		Long: `Lift the holds that migrations have set, all in one transaction, so that the services
start. Give SOURCE: release verifies the target first, as mrtq verify does, and lifts
nothing if the target does not match the source. If a migration or a rollback writes
to the target meanwhile, release lifts nothing. If records are in quarantine, it
needs --quarantine, because it must see the file that keeps their bytes.

Three words lead out of a refusal, and each is kept in the run's record. --acted-on N
accepts that N jobs or batches were acted on since the migration. --unverified
releases without verifying, for example if the source does not exist any more.
--restored says that you know that the target was restored from a backup. While a run
or its rollback is unfinished, nothing is released.

A hold that has other owners stays. --others lifts the holds of people and other
clients, too. To lift a hold on a collection, name it with --collection. Exit code 1
if nothing was released because a check failed.`,
		Example: `  mrtq release zk1:2181/new zk1:2181 --quarantine mrtq-quarantine-zk1-2181-new.ndjson
  mrtq release zk1:2181/new zk1:2181 --only ingest
  mrtq release zk1:2181/new --collection merritt_content`,
		Args: args("TARGET", "[SOURCE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.holdFlags.flags(f)
	c.verifyFlags.flags(f)
	f.BoolVar(&c.others, "others", false, "lift also the holds of people and other clients")
	f.IntVar(&c.actedOn, "acted-on", 0, "accept that this `number` of jobs and batches were acted on since they were migrated")
	f.BoolVar(&c.unverified, "unverified", false, "release without verifying the target")
	f.BoolVar(&c.restored, "restored", false, "go on although TARGET was restored from a backup; jobs that were finished after the backup was made run again")
	outputFlag(f, &c.output, "json")
	return cmd
}

func (c *releaseCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parseSides(args)
	if err != nil {
		return err
	}
	opt := migrate.ReleaseOptions{Collections: c.collections, Others: c.others, ActedOn: c.actedOn, Unverified: c.unverified, Restored: c.restored}
	if opt.Queues, err = c.holdFlags.queues(); err != nil {
		return err
	}
	if c.actedOn < 0 {
		return exit.Usagef("--acted-on %d: expected 0 or more", c.actedOn)
	}
	if opt.VerifyOptions, err = c.options(s.target); err != nil {
		return err
	}
	res, err := c.release(ctx, a, s, opt)
	if err != nil {
		return c.refuse(ctx, a, s, res, err)
	}
	if c.output == "json" {
		a.JSON(res)
	}
	c.conclude(ctx, a, s, res)
	return nil
}

func (c *releaseCmd) release(ctx context.Context, a *app, s pair, opt migrate.ReleaseOptions) (res *migrate.Released, err error) {
	ctx, finish := a.Phases(ctx, "reading the target")
	defer finish()
	var src *migrate.Source
	if s.source.Text != "" && !opt.Unverified {
		var side *migrate.Side
		if src, side, err = a.openSource(ctx, s, &c.legacyFlags); err != nil {
			return nil, err
		}
		defer side.Close()
	}
	err = a.onTarget(ctx, s.target, func(w *migrate.WritableSide) error {
		res, err = migrate.Release(ctx, src, w.Writer, opt)
		if err == nil && len(res.Lifted) == 0 {
			return errUnchanged
		}
		return err
	})
	return res, err
}

// refuse says why nothing was released, and what to do.
func (c *releaseCmd) refuse(ctx context.Context, a *app, s pair, res *migrate.Released, err error) error {
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Quarantine: c.quarantine}
	switch {
	case exit.Is(err, exit.Usage):
		return err
	case errors.Is(err, migrate.ErrNoQueue):
		return a.onPlace(ctx, s.target, err)
	case res != nil && res.Verdict != nil && !res.Verdict.OK():
		if c.output == "json" {
			a.JSON(res)
		} else {
			view.Verdict(a.Screen, res.Verdict)
		}
		a.sayQuarantine(res.Verdict, c.quarantine, s.target)
		a.concludeVerdict(res.Verdict, s, c.quarantine, "Nothing was released. ")
		return exit.Check(err)
	case errors.Is(err, migrate.ErrNotKept):
		err = fmt.Errorf("%w. %s", err, wantQuarantine(s.target))
		at.Quarantine = defaultQuarantine(s.target)
	case errors.Is(err, migrate.ErrNoSource):
		c.aboutRun(a.currentRun(ctx, s.target), s, &at)
		err = fmt.Errorf("%w. To release without verifying, give --unverified. Next, to verify and release: %s", err, a.advice.CommandOf(migrate.StepRelease, at))
		return exit.Usagef("nothing was released: %w", err)
	case errors.Is(err, migrate.ErrUnfinished):
		if status := a.statusOf(ctx, s.target); status != nil && status.Current() != nil {
			at.Run = &status.Current().Run
			err = fmt.Errorf("%w. %s", err, a.advice.Next(status.Step, at))
		}
	}
	return fmt.Errorf("nothing was released: %w", withWayOut(a, failed("target", s.target.Text, err), at))
}

// statusOf reads where a migration stands, for the text of an error; nil if that can't be
// read.
func (a *app) statusOf(ctx context.Context, p place) *migrate.Status {
	side, err := a.open(ctx, p, true)
	if err != nil {
		return nil
	}
	defer side.Close()
	status, err := migrate.ReadStatus(ctx, side.Reader, nil)
	if err != nil {
		return nil
	}
	return status
}

// currentRun is the unfinished run of a target, else the newest; nil if there is none, or if it
// can't be read.
func (a *app) currentRun(ctx context.Context, p place) *migrate.Run {
	if status := a.statusOf(ctx, p); status != nil && status.Current() != nil {
		return &status.Current().Run
	}
	return nil
}

// conclude says what was released and what is still held.
func (c *releaseCmd) conclude(ctx context.Context, a *app, s pair, res *migrate.Released) {
	text, tone := fmt.Sprintf("Release: %s lifted", screen.Count(len(res.Lifted), "hold", "holds")), screen.Good
	if len(res.Lifted) > 0 {
		text += ": " + view.HoldNames(res.Lifted)
	}
	switch {
	case len(res.Lifted) == 0 && len(res.Left) == 0:
		text = "Release: nothing to do: nothing is held there"
	case len(res.Lifted) == 0:
		text, tone = "Release: no queue became free", screen.Attention
	case c.unverified:
		text, tone = text+"; nothing was verified", screen.Attention
	}
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Quarantine: c.quarantine}
	if len(res.Left) > 0 || c.unverified {
		c.aboutRun(a.currentRun(ctx, s.target), s, &at)
	}
	text += "."
	begin := len(res.Lifted) > 0 && !slices.ContainsFunc(res.Left, func(h migrate.HoldStatus) bool { return h.Collection == "" })
	if len(res.Left) > 0 {
		text += " Still held: " + view.HoldsText(res.Left) + "."
		if halfHeld(res) {
			tone, text = screen.Attention, text+" But the large access worker takes small requests too, so this hold does not stop them."
		}
	}
	switch { // To lift the rest, release verifies; and a line has one command.
	case c.unverified && begin && at.Run != nil:
		text += " To verify the target now: " + a.advice.CommandOf(migrate.StepVerify, at)
	case begin || len(res.Left) == 0:
		text += " " + a.advice.AfterRelease(at, s.target.isServer() && begin)
	default:
		text += " To lift the rest, when no longer needed: " + a.advice.Lift(at, res.Left)
	}
	a.Conclude(tone, "%s", text)
}

// aboutRun adds what is known of a run; nil if there is none.
func (c *releaseCmd) aboutRun(run *migrate.Run, s pair, at *advice.Situation) {
	if at.Run = run; run != nil {
		at.Quarantined = run.Choices.Quarantines()
		at.Quarantine = cmp.Or(c.quarantine, defaultQuarantine(s.target))
	}
}

// halfHeld reports whether small access requests are still held, and large ones no longer
// are. The large access worker acquires both, and respects only the hold on large ones.
func halfHeld(res *migrate.Released) bool {
	small := newqueue.QueueHoldPath(newqueue.HoldAccessSmall)
	return slices.Contains(res.Lifted, newqueue.QueueHoldPath(newqueue.HoldAccessLarge)) &&
		slices.ContainsFunc(res.Left, func(h migrate.HoldStatus) bool { return h.Path == small })
}
