package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/report"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/rehearse"
	"mrtq/internal/openfile"
	"mrtq/migrate"
)

type reportCmd struct {
	verifyFlags
	plan, out, rehearsal string
	force                bool
}

func (a *app) reportCmd() *cobra.Command {
	c := &reportCmd{}
	cmd := &cobra.Command{
		Use:   "report {TARGET | --plan FILE}",
		Short: "write a report for approvers, about a plan or a migration",
		Long: `Make one HTML file about a migration, for the operator and for the people who must
approve it. It begins with the verdict and, for a plan, with what an approver asks: what
stops, for how long, until when it can be undone, and lines to sign. --rehearsal adds
times and emails. Then comes what could happen: records that might run twice or never,
and what the cleanup removes. Then come the choices, what is migrated and what is left out and why, each
legacy record and its job, the runs, and the number of jobs in each state. The file
needs no network, and can be searched, sorted, printed and mailed.

The page is about a plan that mrtq plan --out saved (--plan), or about a TARGET. It
shows what the plan says, or what mrtq status and mrtq verify say. Only the file is
written. Exit code 0 means that the page was made, and
says nothing about the verdict. If there is no new queue at TARGET, no page is made,
and the exit code is 1.`,
		Example: `  mrtq report --plan plan.json --out plan.html
  mrtq report zk1:2181/new --quarantine mrtq-quarantine-zk1-2181-new.ndjson --out cutover.html`,
		Args: func(cmd *cobra.Command, given []string) error {
			if c.plan != "" {
				return args()(cmd, given)
			}
			return args("TARGET")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.main(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	c.flags(f)
	f.StringVar(&c.plan, "plan", "", "`file` with a plan, as mrtq plan --out saved it")
	f.StringVar(&c.rehearsal, "rehearsal", "", "`file` with the JSON of a rehearsal (-o json), for the page of a plan")
	f.StringVar(&c.out, "out", "", "`file` to write the page to, instead of stdout; an earlier page is replaced")
	f.BoolVar(&c.force, "force", false, "replace the file of --out even if it is no report")
	return cmd
}

func (c *reportCmd) main(ctx context.Context, a *app, args []string) (err error) {
	switch {
	case c.plan == "" && c.rehearsal != "":
		return exit.Usagef("--rehearsal %s is for the page of a plan: give --plan, too", c.rehearsal)
	case c.plan != "" && c.quarantine != "":
		return exit.Usagef("--quarantine %s is compared with the legacy queue, and --plan reads none", c.quarantine)
	case files.IsGzip(c.out):
		return exit.Usagef("--out %s: a browser can't open a gzip file; leave out .gz", c.out)
	}
	var s pair
	if c.plan == "" {
		if s, err = parseTarget(args); err != nil {
			return err
		}
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out, New: !c.force && !report.IsPage(c.out)}}, s.target.named(), files.Named{By: "--plan", Path: c.plan},
		files.Named{By: "--quarantine", Path: c.quarantine}, files.Named{By: "--rehearsal", Path: c.rehearsal}); err != nil {
		return err
	}
	d := &report.Data{Made: time.Now(), Target: s.target.Text, QuarantineChecked: c.quarantine != ""}
	if c.plan != "" {
		err = c.readPlan(ctx, d)
	} else {
		err = c.readSides(ctx, a, s, d)
	}
	if err != nil {
		return err
	}
	at := c.situation(d, s)
	d.Next = func(step migrate.Step) advice.Next { return a.advice.Next(step, at) }
	if c.out == "" {
		return report.Write(a.Out, d)
	}
	if err := files.Write(c.out, func(w io.Writer) error { return report.Write(w, d) }); err != nil {
		return err
	}
	a.Conclude(screen.Good, "done", c.out+" is written.", advice.Next{})
	return nil
}

func (c *reportCmd) readPlan(ctx context.Context, d *report.Data) (err error) {
	if d.Plan, err = readPlan(c.plan); err != nil {
		return err
	}
	data, err := openfile.ReadAll(c.plan)
	if err != nil {
		return files.Unread("--plan "+c.plan, err)
	}
	d.Source, d.Target, d.PlanID, d.Version = d.Plan.Source, d.Plan.Target, fmt.Sprintf("%x", sha256.Sum256(data)), version()
	if c.rehearsal != "" {
		if data, err = openfile.ReadAll(c.rehearsal); err != nil {
			return files.Unread("--rehearsal "+c.rehearsal, err)
		}
		d.Rehearsal = &rehearse.Report{}
		if err := json.Unmarshal(data, d.Rehearsal); err != nil || d.Rehearsal.Verdict == "" {
			return exit.Usagef("--rehearsal %s: this is not what mrtq rehearse -o json prints", c.rehearsal)
		}
	}
	d.Records, err = migrate.ReadRecords(ctx, nil, d.Plan)
	return err
}

// readSides reads the sides that are given, over sessions that can't write.
func (c *reportCmd) readSides(ctx context.Context, a *app, s pair, d *report.Data) error {
	opt, err := c.options(s.target)
	if err != nil {
		return err
	}
	ctx, finish := a.Phases(ctx, "reading")
	defer finish()
	side, err := a.open(ctx, s.target, true)
	if err != nil {
		return failed("target", s.target.Text, err)
	}
	defer side.Close()
	if d.Status, err = migrate.ReadStatus(ctx, side.Reader); err != nil {
		return failed("target", s.target.Text, err)
	}
	if d.Status.NoQueue != nil {
		return a.onPlace(ctx, s.target, migrate.ErrNoQueue)
	}
	if d.Status.Damage != "" { // nothing else is known
		return nil
	}
	if newest := d.Status.Newest(); newest != nil {
		d.Source = newest.Source
		d.Verdict, err = migrate.Verify(ctx, nil, side.Reader, opt)
		if err != nil && !errors.Is(err, migrate.ErrTwoEnsembles) {
			return failed("target", s.target.Text, err)
		}
	}
	d.Records, err = migrate.ReadRecords(ctx, side.Reader, nil)
	return failed("target", s.target.Text, err)
}

// situation is what the page's advice can name.
func (c *reportCmd) situation(d *report.Data, s pair) advice.Situation {
	at := advice.Situation{Source: d.Source, Target: d.Target, Plan: d.Plan, PlanFile: c.plan, Quarantine: c.quarantine}
	if d.Status == nil {
		return at
	}
	at.Holds, at.Undecided = d.Status.Holds, d.Status.Undecided()
	if newest := d.Status.Newest(); newest != nil {
		at.Run = &newest.Run
	}
	if d.Verdict != nil {
		at.Quarantine = cmp.Or(c.quarantine, defaultQuarantine(s.target))
	}
	return at
}
