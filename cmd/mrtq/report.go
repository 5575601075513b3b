package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/planpage"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/rehearse"
	"mrtq/migrate"
)

type reportCmd struct {
	plan, out, rehearsal string
	force                bool
}

func (a *app) reportCmd() *cobra.Command {
	c := &reportCmd{}
	cmd := &cobra.Command{
		Use:   "report --plan FILE",
		Short: "write a report on a plan, for approvers",
		Long: `Make one HTML file about a plan that mrtq plan --out saved, for the people who must
approve it. It begins with the verdict and with what an approver asks: what stops, for
how long, until when it can be undone, and lines to sign. --rehearsal adds times and
emails. Then comes what could happen: records that might run twice or never, and what
the cleanup removes. Then come the choices, what is migrated, what is left out and why,
and each legacy record. The file needs no network, and can be printed and emailed.

Exit code 0 means that the page was made, and says nothing about the verdict.`,
		Example: `  mrtq report --plan plan.json --out plan.html`,
		Args:    args(),
		RunE:    func(_ *cobra.Command, _ []string) error { return c.run(a) },
	}
	f := cmd.Flags()
	f.StringVar(&c.plan, "plan", "", "`file` with a plan, as mrtq plan --out saved it")
	f.StringVar(&c.rehearsal, "rehearsal", "", "`file` with a rehearsal, as mrtq rehearse --out saved it")
	f.StringVar(&c.out, "out", "", "`file` to write the page to, instead of stdout; an earlier page is replaced")
	f.BoolVar(&c.force, "force", false, "replace the file of --out even if it is no report")
	return cmd
}

func (c *reportCmd) run(a *app) error {
	switch {
	case c.plan == "":
		return exit.Usagef("--plan FILE is missing; usage: mrtq report --plan FILE")
	case files.IsGzip(c.out):
		return exit.Usagef("--out %s: a browser can't open a gzip file; leave out .gz", c.out)
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out, New: !c.force && !planpage.IsPage(c.out)}},
		files.Named{By: "--plan", Path: c.plan}, files.Named{By: "--rehearsal", Path: c.rehearsal}); err != nil {
		return err
	}
	d, err := c.read()
	if err != nil {
		return err
	}
	d.Next = a.advice.Next(migrate.PlanStep(d.Plan), advice.Situation{Source: d.Source, Target: d.Target, Plan: d.Plan, PlanFile: c.plan, Settings: settingsOf(d.Plan)})
	d.Next.With = nil // this is the page
	if c.out == "" {
		return planpage.Write(a.Out, d)
	}
	if err := files.Write(c.out, func(w io.Writer) error { return planpage.Write(w, d) }); err != nil {
		return err
	}
	a.Conclude(screen.Good, "done", c.out+" is written.", d.Next)
	return nil
}

func (c *reportCmd) read() (*planpage.Data, error) {
	plan, text, err := readPlan(c.plan)
	if err != nil {
		return nil, err
	}
	d := &planpage.Data{Plan: plan, Made: time.Now(), PlanID: fmt.Sprintf("%x", sha256.Sum256(text)), Version: thisBuild().String()}
	if c.rehearsal == "" {
		return d, nil
	}
	data, err := files.Read(c.rehearsal)
	if err != nil {
		return nil, files.Unread("--rehearsal "+c.rehearsal, err)
	}
	d.Rehearsal = &rehearse.Report{}
	if err := json.Unmarshal(data, d.Rehearsal); err != nil || d.Rehearsal.Verdict == "" {
		return nil, exit.Usagef("--rehearsal %s: this is not what mrtq rehearse --out saves", c.rehearsal)
	}
	return d, nil
}
