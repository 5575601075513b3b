package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type migrateCmd struct {
	planFlags
	output     string
	plan       string
	quarantine string
}

func (a *app) migrateCmd() *cobra.Command {
	c := &migrateCmd{}
	cmd := &cobra.Command{
		Use:   "migrate {SOURCE TARGET | TARGET | --plan FILE}",
		Short: "run or resume a migration",
		Long: `Make a plan and apply it. migrate refuses a plan with problems before it writes
anything. It first holds the new queues, until you release them. It changes neither the
legacy records nor what is already in the target.

The first migration to a TARGET needs --new-queue and --dialect. If a choice is not
given, that of the newest run applies. mrtq migrate TARGET finishes a migration that was
interrupted. If there is nothing to do, migrate writes nothing to the
target.`,
		Example: `  mrtq migrate zk1:2181 zk1:2181/new --new-queue --dialect mrt-zk
  mrtq migrate zk1:2181/new
  mrtq migrate --plan plan.json
  mrtq migrate file:q.ndjson file:q.ndjson --new-queue --dialect design`,
		Args: func(cmd *cobra.Command, given []string) error {
			if c.plan != "" {
				return args()(cmd, given)
			}
			if len(given) == 1 {
				return args("TARGET")(cmd, given)
			}
			return args("SOURCE", "TARGET")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	c.flags(f)
	a.conn.RateFlag(f)
	outputFlag(f, &c.output, "json")
	f.StringVar(&c.plan, "plan", "", "apply the saved plan in this `file`, unless a new plan would differ")
	f.StringVar(&c.quarantine, "quarantine", "", "`file` to add the bytes of undecodable records to (default mrtq-quarantine-TARGET.ndjson)")
	return cmd
}

type migrated struct {
	Run          string                   `json:"run"`
	Records      map[migration.Action]int `json:"records"`
	Problems     []migration.Problem      `json:"problems"` // if there is any, nothing was written
	Created      migration.Counts         `json:"created"`  // by this call
	Transactions int                      `json:"transactions"`
	Note         string                   `json:"note,omitempty"`       // of the run
	CarriedOut   bool                     `json:"carried_out"`          // the saved plan was carried out before
	Quarantine   string                   `json:"quarantine,omitempty"` // file, if any record is in it
	Seconds      float64                  `json:"seconds"`
}

func (c *migrateCmd) run(ctx context.Context, a *app, args []string) error {
	s, err := c.sides(a, args)
	if err != nil {
		return err
	}
	if c.saved != nil { // nobody typed the addresses here, so show them
		a.Say("plan %s: from %s to %s", c.plan, s.source.Text, s.target.Text)
	}
	if c.quarantine == "" && c.choices.Undecodable == "quarantine" {
		c.quarantine = quarantineFile(s.target)
	}
	writes := []files.Named{s.target.written(), {By: "--quarantine", Path: c.quarantine, Regular: true}}
	source := s.source.named()
	if s.inOneFile() {
		source = files.Named{}
	}
	if err := a.checkFiles(writes, source, files.Named{By: "--plan", Path: c.plan}); err != nil {
		return err
	}
	started := time.Now()
	res, err := c.carryOut(ctx, a, &s)
	if res == nil {
		return err
	}
	return c.print(a, s, res, err, time.Since(started))
}

func (c *migrateCmd) sides(a *app, args []string) (pair, error) {
	switch {
	case c.plan == "" && len(args) == 1:
		return parseTarget(args)
	case c.plan == "":
		return parsePair(args)
	}
	saved, _, err := readPlan(c.plan)
	if err != nil {
		return pair{}, err
	}
	s, err := parsePair([]string{saved.Source, saved.Target})
	if err != nil {
		return s, exit.Usagef("--plan %s was not saved by mrtq plan: %w", c.plan, err)
	}
	if n := len(saved.Problems); n > 0 {
		first := saved.Problems[0]
		return s, exit.Check(fmt.Errorf("%w: %s has %s, the first: %s: %s; %s. Make another plan; nothing was read or written",
			migrate.ErrBlocked, c.plan, screen.Count(n, "problem", "problems"), first.Path, first.Message, first.Next))
	}
	return s, c.adopt(saved, a.advice.Given)
}

// carryOut migrates. If no source was given, s gets that of the run that it finishes. The result is nil if nothing was read.
func (c *migrateCmd) carryOut(ctx context.Context, a *app, s *pair) (res *migrate.MigrateResult, err error) {
	opt := migrate.MigrateOptions{Approved: c.saved, Limits: migration.TransactionLimits{Ops: a.conn.MaxRate}, Notify: func(text string) { a.Say("%s", text) }}
	if opt.PlanOptions, err = c.options(*s); err != nil {
		return nil, err
	}
	opt.SaveQuarantined = func(bad []migration.Record) error {
		if c.quarantine == "" { // the run that is finished has decided so
			c.quarantine = quarantineFile(s.target)
		}
		return writeQuarantine(c.quarantine, bad)
	}
	ctx, finish := a.Phases(ctx, "reading both sides")
	defer finish()
	var src *migrate.Source // nil until the target is open
	if s.source.Text != "" && !s.inOneFile() {
		var side *migrate.Side
		if src, side, err = a.openSource(ctx, *s, &c.legacyFlags); err != nil {
			return nil, err
		}
		defer side.Close()
	}
	var run *migration.Run // that is finished, if no source was given
	err = a.onTargetOrNew(ctx, s.target, c.packet, func(w *migrate.WritableSide) error {
		switch {
		case s.source.Text == "":
			if run, err = unfinished(ctx, w, s.target); err != nil {
				return err
			}
			s.source.Text, opt.Source = run.Source, run.Source
			if src, err = migrate.OpenOrigin(ctx, &w.Reader); err != nil {
				return err
			}
		case s.inOneFile():
			queues, how, err := c.reads()
			if err != nil {
				return err
			}
			if src, err = migrate.OpenSource(ctx, &w.Reader, queues, how); err != nil {
				return err
			}
		}
		res, err = migrate.Migrate(ctx, src, w.Writer, opt)
		if err == nil && res.Transactions == 0 {
			return errUnchanged
		}
		return err
	})
	switch {
	case errors.Is(err, migrate.ErrPlace):
		return nil, whichSide(*s, err)
	case res == nil || res.Plan == nil:
		return nil, withWayOut(a, whichSide(*s, err), advice.Situation{Source: s.source.Text, Target: s.target.Text, Run: run})
	}
	return res, err
}

func unfinished(ctx context.Context, w *migrate.WritableSide, target place) (*migration.Run, error) {
	status, err := migrate.ReadStatus(ctx, &w.Reader)
	if err != nil {
		return nil, err
	}
	run := status.Current()
	if run == nil || run.State != migration.RunRunning {
		return nil, exit.Usagef("SOURCE is missing: no migration to %s was interrupted, so there is none to finish; usage: mrtq migrate SOURCE TARGET", advice.Word(target.Text))
	}
	return &run.Run, nil
}

func (c *migrateCmd) print(a *app, s pair, res *migrate.MigrateResult, err error, took time.Duration) error {
	plan := res.Plan
	out := migrated{Run: res.Run, Records: plan.Counts(), Problems: append([]migration.Problem{}, plan.Problems...), Created: res.Created, Transactions: res.Transactions, CarriedOut: res.CarriedOut, Note: plan.Settings.Note, Seconds: took.Seconds()}
	if plan.Count(migration.ActionQuarantine) > 0 {
		out.Quarantine = c.quarantine
	}
	at := advice.Situation{Source: s.source.Text, Target: s.target.Text, Plan: plan, PlanFile: c.plan, Run: plan.Previous, Quarantine: out.Quarantine}
	if c.saved != nil {
		at.Settings = settingsOf(c.saved)
	}
	if err != nil {
		return c.fail(a, out, at, err)
	}
	if res.Origin.Chroot != "" { // this call has seen where the source is
		at.Run = &migration.Run{Source: s.source.Text, Dialect: plan.Dialect, Choices: plan.Choices, Time: plan.Settings.Time, Origin: res.Origin}
	}
	c.conclude(a, out, plan, at)
	if c.output == "json" {
		a.JSON(out)
		return nil
	}
	if res.Transactions > 0 {
		a.Prose("", fmt.Sprintf("%s: %s created, in %s and %.1f s", out.Run, view.Counts(out.Created), screen.Count(out.Transactions, "transaction", "transactions"), out.Seconds))
	}
	if out.Quarantine != "" {
		a.Prose("", fmt.Sprintf("Undecodable records: %d, kept in %s", plan.Count(migration.ActionQuarantine), out.Quarantine))
	}
	return nil
}

func (c *migrateCmd) conclude(a *app, out migrated, plan *migration.Plan, at advice.Situation) {
	word, text := "nothing to do", "Every record is migrated, or left out by the plan."
	switch {
	case out.CarriedOut:
		text = fmt.Sprintf("%s was applied before, as %s.", c.plan, out.Run)
	case out.Transactions > 0:
		word, text = "done", "The new queues are held."
	}
	tone := screen.Good
	if notes := append(view.PlanNotes(plan), view.ChangedSince(plan)...); len(notes) > 0 {
		tone, text = screen.Attention, text+" Note: "+strings.Join(notes, "; ")+"."
	}
	a.Conclude(tone, word, text, a.advice.Next(migrate.StepVerify, at))
}

func (c *migrateCmd) fail(a *app, out migrated, at advice.Situation, err error) error {
	if errors.Is(err, migrate.ErrBlocked) {
		a.printAs(c.output, out, func() { view.Plan(a.Screen, at.Plan) })
		_, word, text := view.PlanVerdict(at.Plan)
		wrote := "nothing was written"
		if out.Transactions > 0 {
			wrote = c.wrote(out)
		}
		a.Conclude(screen.Bad, word, fmt.Sprintf("%s; %s.", text, wrote), a.advice.Next(migrate.StepDecide, at))
		return exit.Check(err)
	}
	done, again := "nothing was written", "; run the same command again"
	if out.Transactions > 0 {
		done, again = c.wrote(out), runAgain
	}
	if errors.Is(err, migrate.ErrInterrupted) {
		return &partlyDone{err, done + again}
	}
	return withWayOut(a, &partlyDone{err, screen.Sentence(done)}, at)
}

func (c *migrateCmd) wrote(out migrated) string {
	return fmt.Sprintf("%s is not finished: this call created %s, in %s", out.Run, view.Counts(out.Created), screen.Count(out.Transactions, "transaction", "transactions"))
}
