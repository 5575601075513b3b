package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/report"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/internal/openfile"
	"mrtq/migrate"
	"mrtq/newqueue"
)

type reportCmd struct {
	verifyFlags
	run, plan, accept, check, out string
}

func (a *app) reportCmd() *cobra.Command {
	c := &reportCmd{}
	cmd := &cobra.Command{
		Use:   "report [TARGET [SOURCE]]",
		Short: "make a page about a plan or a migration",
		Long: `Make one HTML file about a migration, for the operator and for the people who must
approve it: the verdict, what was migrated, what was not and why, what the operator
chose, each legacy record and its job, the runs, and the number of jobs in each
state. The file needs no network, and can be searched, sorted,
printed and mailed.

The page is about a plan that mrtq plan --out saved (--plan), about a TARGET, or
about both. It shows what mrtq status, mrtq verify and the plan say. With SOURCE,
report compares both sides as mrtq verify does. The page can also show the results of
mrtq accept --coverage and of a check of the tree. Only the file is written. Exit
code 0 means that the page was made, and says nothing about the verdict. If there is
no new queue at TARGET and no plan is given, no page is made, and the exit code is 1.`,
		Example: `  mrtq report --plan plan.json --out plan.html
  mrtq report zk1:2181/new zk1:2181 --plan plan.json --quarantine mrtq-quarantine-zk1-2181-new.ndjson --out cutover.html
  mrtq report file:new.ndjson --run run0000000001 --accept coverage.json --check findings.json >cutover.html`,
		Args: args("[TARGET]", "[SOURCE]"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.main(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.flags(f)
	f.StringVar(&c.run, "run", "", "show what the run with this `ID` migrated; if not given, all runs")
	f.StringVar(&c.plan, "plan", "", "`file` with a plan, as mrtq plan --out saved it")
	f.StringVar(&c.accept, "accept", "", "`file` with the coverage that mrtq accept --coverage wrote")
	f.StringVar(&c.check, "check", "", "`file` with the findings of a check of the tree, as JSON")
	f.StringVar(&c.out, "out", "", "`file` to write the page to, instead of stdout")
	return cmd
}

func (c *reportCmd) main(ctx context.Context, a *app, args []string) error {
	switch {
	case len(args) == 0 && c.plan == "":
		return exit.Usagef("there is nothing to report: give a TARGET, or a saved plan with --plan")
	case len(args) == 0 && c.run != "":
		return exit.Usagef("--run %s: runs are in a TARGET, and none is given", c.run)
	case len(args) < 2 && c.quarantine != "":
		return exit.Usagef("--quarantine %s is compared with the source, and no SOURCE is given", c.quarantine)
	case files.IsGzip(c.out):
		return exit.Usagef("--out %s: a browser can't open a gzip file; leave out .gz", c.out)
	}
	var s pair
	if len(args) > 0 {
		var err error
		if s, err = parseSides(args); err != nil {
			return err
		}
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out}}, s.target.named(), s.source.named(), files.Named{By: "--plan", Path: c.plan},
		files.Named{By: "--accept", Path: c.accept}, files.Named{By: "--check", Path: c.check}, files.Named{By: "--quarantine", Path: c.quarantine}); err != nil {
		return err
	}
	d := &report.Data{Made: time.Now(), Source: s.source.Text, Target: s.target.Text, Only: c.run, QuarantineChecked: c.quarantine != ""}
	if err := c.readFiles(d); err != nil {
		return err
	}
	if err := c.readSides(ctx, a, s, d); err != nil {
		return err
	}
	return c.write(a, s, d)
}

// readFiles reads the files that flags name.
func (c *reportCmd) readFiles(d *report.Data) (err error) {
	if c.plan != "" {
		if d.Plan, err = readPlan(c.plan); err != nil {
			return err
		}
	}
	if d.Coverage, err = fromFile("--accept", c.accept, "mrtq accept --coverage FILE", report.ReadCoverage); err != nil {
		return err
	}
	d.Check, err = fromFile("--check", c.check, "mrtq check -o json", report.ReadFindings)
	return err
}

// fromFile reads the file that a flag names, or returns nil if it names none. A
// file of another format is a usage error. The command makes such a file.
func fromFile[T any](flag, path, command string, read func(io.Reader) (*T, error)) (*T, error) {
	if path == "" {
		return nil, nil
	}
	data, err := openfile.ReadAll(path)
	if err != nil {
		return nil, files.Unread(flag+" "+path, err)
	}
	v, err := read(bytes.NewReader(data))
	if err != nil {
		return nil, exit.Usagef("%s %s: %w; make a new one with %s", flag, path, err, command)
	}
	return v, nil
}

// readSides reads the sides that are given, over sessions that can't write.
func (c *reportCmd) readSides(ctx context.Context, a *app, s pair, d *report.Data) (err error) {
	ctx, finish := a.Phases(ctx, "reading")
	defer finish()
	var at *migrate.Reader
	var src *migrate.Source
	if d.Target != "" {
		var done func()
		if src, at, done, err = a.openBoth(ctx, s, &c.legacyFlags); err != nil {
			return err
		}
		defer done()
		if d.Status, err = migrate.ReadStatus(ctx, at, src); err != nil {
			return whichSide(s, err)
		}
		if d.Status.NoQueue != nil && d.Plan == nil {
			return exit.Check(fmt.Errorf("%s; no page was made. Check the address and its chroot", view.NoQueue(d.Target, d.Status.NoQueue)))
		}
	}
	if src != nil && d.Status.Newest() != nil && d.Status.Damage == "" {
		opt, err := c.options(s.target)
		if err != nil {
			return err
		}
		if d.Verdict, err = migrate.Verify(ctx, src, at, opt); err != nil {
			return whichSide(s, err)
		}
	}
	if d.Status != nil && d.Status.Damage != "" {
		at, src = nil, nil // only the damage is known
	}
	if d.Records, err = migrate.ReadRecords(ctx, at, src, d.Plan); err != nil {
		return whichSide(s, err)
	}
	return c.complete(d)
}

// complete adds what follows from what was read.
func (c *reportCmd) complete(d *report.Data) error {
	if c.run != "" {
		if d.Status == nil || !slices.ContainsFunc(d.Status.Runs, func(r migrate.RunStatus) bool { return r.ID == c.run }) {
			return exit.Check(fmt.Errorf("%w: %q; mrtq status %s shows the runs", migrate.ErrNoRun, c.run, advice.Word(d.Target)))
		}
		d.Records = slices.DeleteFunc(d.Records, func(r migrate.RecordStatus) bool { return r.Run != c.run })
	}
	dialect := newqueue.Design
	switch {
	case d.Plan != nil:
		dialect = d.Plan.Dialect
	case d.Status.Newest() != nil:
		dialect = d.Status.Newest().Dialect
	}
	d.Dialect = string(dialect)
	if d.Coverage != nil {
		d.Coverage = d.Coverage.In(d.Dialect)
	}
	return nil
}

func (c *reportCmd) write(a *app, s pair, d *report.Data) (err error) {
	at := advice.Situation{Source: d.Source, Target: d.Target, Plan: d.Plan, PlanFile: c.plan, Quarantine: c.quarantine}
	if d.Plan != nil && d.Target == "" {
		at.Source, at.Target = d.Plan.Source, d.Plan.Target
	}
	if d.Status != nil {
		at.Holds = d.Status.Holds
		if newest := d.Status.Newest(); newest != nil {
			at.Run = &newest.Run
		}
	}
	if d.Verdict != nil {
		at.ActedOn, at.Quarantined = d.Verdict.CountGroup(migrate.ActedOnIn), d.Verdict.Records.Quarantined > 0
		at.Quarantine = cmp.Or(c.quarantine, defaultQuarantine(s.target))
	}
	d.Next = func(step migrate.Step) string { return a.advice.Next(step, at) }
	if c.out == "" {
		err = report.Write(a.Out, d)
	} else if err = files.Write(c.out, func(w io.Writer) error { return report.Write(w, d) }); err == nil {
		a.Conclude(screen.Good, "Report: written to %s.", c.out)
	}
	if d.Status != nil && d.Status.NoQueue != nil { // the page shows a plan, which may not have been carried out yet
		a.Conclude(screen.Attention, "Report: %s. If the plan has already been carried out: check the address and its chroot.", view.NoQueue(d.Target, d.Status.NoQueue))
	}
	return err
}
