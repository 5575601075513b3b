package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type planCmd struct {
	planFlags
	output string
	out    string
	force  bool
}

func (a *app) planCmd() *cobra.Command {
	c := &planCmd{}
	cmd := &cobra.Command{
		Use:   "plan SOURCE TARGET",
		Short: "preview a migration (read-only)",
		Long: `Read both queues and preview a migration: what it would create, the records that
block it, jobs that might run twice or never, what the deployed services would do, and
legacy locks. plan is read-only. Exit code 1 if the plan has problems.

The first migration to a TARGET needs --new-queue and --dialect. --out saves the plan
with all settings. mrtq migrate --plan applies it, unless a queue has changed since.

A choice applies to all records of a kind. If a choice is not given, plan takes that of
the newest run at TARGET. The same goes for --acl and --time. If one record needs
another choice, change the record in the legacy queue first, or its job afterwards.`,
		Example: `  mrtq plan zk1:2181 zk1:2181/new --new-queue --dialect mrt-zk
  mrtq plan zk1:2181 zk1:2181/new --new-queue --dialect mrt-zk --out plan.json`,
		Args: args("SOURCE", "TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	c.flags(f)
	a.conn.RateFlag(f)
	outputFlag(f, &c.output, "json")
	f.StringVar(&c.out, "out", "", "`file` to save the plan to, as JSON")
	f.BoolVar(&c.force, "force", false, "replace the file of --out if it exists; one of a plan that is not ready is replaced without it")
	return cmd
}

func (c *planCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := parsePair(args)
	if err != nil {
		return err
	}
	// A plan that is not ready can't be applied, so its file is free for the next one.
	replace := c.force
	if files.IsRegular(c.out) {
		old, _, _ := readPlan(c.out)
		replace = replace || old != nil && old.Blocked()
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out, New: !replace}}, s.source.named(), s.target.named()); err != nil {
		return err
	}
	plan, err := c.make(ctx, a, s)
	if err != nil {
		return err
	}
	if c.out != "" {
		if err := files.Write(c.out, plan.Write); err != nil {
			return err
		}
		a.Say("the plan is saved in %s", c.out)
	}
	if c.output == "json" {
		err = plan.Write(screen.Escaped(a.Out))
	} else {
		view.Plan(a.Screen, plan)
	}
	tone, word, text := view.PlanVerdict(plan)
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Plan: plan, PlanFile: c.out, Run: plan.Previous}
	if plan.Count(migration.ActionQuarantine) > 0 {
		at.Quarantine = defaultQuarantine(s.target)
	}
	if files.IsRegular(advice.RehearsalFile) {
		at.Rehearsal = advice.RehearsalFile
	}
	a.Conclude(tone, word, text+".", a.advice.Next(migrate.PlanStep(plan), at))
	if err == nil && plan.Blocked() {
		err = exit.Check(fmt.Errorf("%w: %s", migrate.ErrBlocked, screen.Count(len(plan.Problems), "problem", "problems")))
	}
	return err
}

func (c *planCmd) make(ctx context.Context, a *app, s pair) (*migration.Plan, error) {
	opt, err := c.options(s)
	if err != nil {
		return nil, err
	}
	ctx, finish := a.Phases(ctx, "reading both sides")
	defer finish()
	src, side, err := a.openSource(ctx, s, &c.legacyFlags)
	if err != nil {
		return nil, err
	}
	defer side.Close()
	at, done, err := a.openTargetOrEmpty(ctx, s.target)
	if err != nil {
		return nil, failed("target", s.target.Text, err)
	}
	defer done()
	plan, err := migrate.MakePlan(ctx, src, at, opt)
	if err != nil {
		return nil, withWayOut(a, whichSide(s, err), advice.Situation{Source: s.source.Text, Target: s.target.Text})
	}
	return plan, nil
}

func (a *app) openTargetOrEmpty(ctx context.Context, p place) (at *migrate.Reader, done func(), err error) {
	if p.File != "" {
		w, err := a.openWritable(ctx, p, 0)
		if err != nil {
			return nil, nil, err
		}
		return &w.Reader, w.Close, nil
	}
	side, err := a.open(ctx, p, true)
	if err != nil {
		return nil, nil, err
	}
	return side.Reader, side.Close, nil
}

func whichSide(s pair, err error) error {
	var target *migrate.TargetError
	switch {
	case errors.Is(err, migrate.ErrPlace):
		return exit.Usagef("TARGET %s: %w", s.target.Text, err)
	case errors.As(err, &target) || s.source.Text == "":
		return failed("target", s.target.Text, err)
	}
	return failed("source", s.source.Text, err)
}
