package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"mrtq/internal/openfile"
	"mrtq/internal/plainjson"
	"mrtq/internal/report"
	"mrtq/internal/side"
	"mrtq/migrate"
)

type reportCmd struct {
	verifyCmd
	run, plan, accept, check, out string
}

func (a *app) reportCmd() *cobra.Command {
	c := &reportCmd{}
	cmd := &cobra.Command{
		Use:   "report [TARGET [SOURCE]]",
		Short: "make a page about a plan or a migration",
		Long: `Make one HTML file about a migration, for the operator and for the people who must
approve it: the verdict, what was migrated, what was not and why, what the operator
decided, each record's legacy path and new ids, how fast the migration was, and the
state machines with the number of jobs in each state. The file needs no network, and
can be searched, sorted, printed and mailed.

The page is about a plan that mrtq plan --out saved (--plan), about a TARGET, or
about both. With SOURCE, report compares both sides as mrtq verify does. The page can
also show the results of mrtq accept --coverage and of a check of the tree. Only the
file is written. Exit code 0 means that the page was made, and says nothing about the
verdict. If there is no new queue at TARGET and no plan is given, no page is made, and
the exit code is 1.`,
		Example: `  mrtq report --plan plan.json --out plan.html
  mrtq report zk1:2181/new zk1:2181 --plan plan.json --quarantine mrtq-quarantine-zk1-2181-new.ndjson --out night.html
  mrtq report file:new.ndjson --run run0000000001 --accept coverage.json --check findings.json >night.html`,
		Args: reportArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.main(cmd, a, args) },
	}
	f := cmd.Flags()
	c.flags(f)
	f.BoolVar(&c.others, "others", false, "allow jobs, batches and locks that others have created since the migration began")
	f.StringVar(&c.quarantine, "quarantine", "", "quarantine `file` that must hold the bytes of every undecodable record")
	f.StringVar(&c.run, "run", "", "show what the run with this `ID` migrated; if not given, all runs")
	f.StringVar(&c.plan, "plan", "", "`file` with a plan, as mrtq plan --out saved it")
	f.StringVar(&c.accept, "accept", "", "`file` with the coverage that mrtq accept --coverage wrote")
	f.StringVar(&c.check, "check", "", "`file` with the findings of a check of the tree, as JSON")
	outFlag(f, &c.out, "`file` to write the page to, instead of stdout")
	return cmd
}

// reportArgs allows a TARGET and a SOURCE. Both can be left out.
func reportArgs(cmd *cobra.Command, given []string) error {
	if len(given) > 2 {
		return usageError("%q is one argument too many; usage: mrtq %s", given[2], cmd.Use)
	}
	return nil
}

func (c *reportCmd) main(cmd *cobra.Command, a *app, args []string) error {
	switch {
	case len(args) == 0 && c.plan == "":
		return usageError("there is nothing to report: give a TARGET, or a saved plan with --plan")
	case len(args) == 0 && c.run != "":
		return usageError("--run %s: runs are in a TARGET, and none is given", c.run)
	case len(args) < 2 && c.quarantine != "":
		return usageError("--quarantine %s is compared with the source, and no SOURCE is given", c.quarantine)
	case isGzip(c.out):
		return usageError("--out %s: a browser can't open a gzip file; leave out .gz", c.out)
	}
	in := reportInput{made: time.Now(), only: c.run}
	var target, source endpoint
	var err error
	if len(args) > 0 {
		if target, err = parseEndpoint("TARGET", args[0]); err != nil {
			return err
		}
		in.target = args[0]
	}
	if len(args) > 1 {
		if source, err = parseEndpoint("SOURCE", args[1]); err != nil {
			return err
		}
		in.source = args[1]
	}
	if err := a.checkFiles([]namedFile{{by: "--out", path: c.out}}, target.read("TARGET"), source.read("SOURCE"), namedFile{by: "--plan", path: c.plan},
		namedFile{by: "--accept", path: c.accept}, namedFile{by: "--check", path: c.check}, namedFile{by: "--quarantine", path: c.quarantine}); err != nil {
		return err
	}
	if err := c.readFiles(&in); err != nil {
		return err
	}
	done, err := c.readSides(cmd, a, target, source, &in)
	if err != nil {
		return err
	}
	defer done()
	in.next = func(s *migrate.Status) report.Next { return c.next(a, s, target, source, &in) }
	data, err := in.data(cmd.Context())
	if errors.Is(err, errNothingToReport) {
		return checkError(fmt.Errorf("report: %s; no page was made. %s", noQueueAt(target, in.noQueue), checkPlace))
	}
	if errors.Is(err, migrate.ErrNoRun) || errors.Is(err, migrate.ErrLedger) {
		err = checkError(err)
	}
	if err != nil {
		return failed("report", in.target, err)
	}
	if in.noQueue != nil { // the page shows a plan, which may not have been carried out yet
		a.conclude(attention, "Report: %s. If the plan has already been carried out: %s.", noQueueAt(target, in.noQueue), checkPlace)
	}
	if c.out == "" {
		return report.Write(a.stdout, data)
	}
	if err := writeFile(c.out, func(w io.Writer) error { return report.Write(w, data) }); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if in.noQueue != nil {
		a.say("the page is written to %s", c.out)
	} else {
		a.conclude(good, "Report: written to %s.", c.out)
	}
	return nil
}

// errNothingToReport says that there is no new queue at the target, and that no plan was
// given.
var errNothingToReport = errors.New("there is nothing to report")

// readFiles reads the files that flags name.
func (c *reportCmd) readFiles(in *reportInput) (err error) {
	if in.plan, err = fromFile("--plan", c.plan, "mrtq plan --out FILE", readPlan); err != nil {
		return err
	}
	if in.coverage, err = fromFile("--accept", c.accept, "mrtq accept --coverage FILE", report.ReadCoverage); err != nil {
		return err
	}
	in.check, err = fromFile("--check", c.check, "mrtq check -o json", report.ReadFindings)
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
		return nil, cmp.Or(noFile(flag+" "+path, path, err, "check the path; "+command+" makes such a file"), fmt.Errorf("report: %s: %w", flag, err))
	}
	v, err := read(bytes.NewReader(data))
	if err != nil {
		return nil, usageError("%s %s: %w; make a new one with %s", flag, path, err, command)
	}
	return v, nil
}

// savedPlan is a saved plan with its settings.
type savedPlan struct {
	migrate.Plan
	approved migrate.Approved
}

// readPlan reads a whole saved plan. It refuses a plan that was edited.
func readPlan(r io.Reader) (*savedPlan, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var p savedPlan
	if p.approved, err = migrate.ReadApproved(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &p.Plan); err != nil {
		return nil, fmt.Errorf("%w: %w", migrate.ErrPlanFile, plainjson.Error(err))
	}
	return &p, nil
}

// readSides opens the target and the source, if they are given, over sessions that
// cannot write, and compares them if both are given. done closes them.
func (c *reportCmd) readSides(cmd *cobra.Command, a *app, target, source endpoint, in *reportInput) (done func(), err error) {
	ctx, done := cmd.Context(), func() {}
	queues, err := c.queues()
	if err != nil {
		return nil, err
	}
	in.queues = map[string]string{}
	for kind, nodes := range queues.Nodes {
		for _, n := range nodes {
			in.queues[n] = string(kind)
		}
	}
	if in.target == "" {
		return done, nil
	}
	from, err := a.openTarget(ctx, target, nil)
	if err != nil {
		return nil, failed("report: target", in.target, err)
	}
	defer func() {
		if err != nil {
			from.Close()
		}
	}()
	in.from, done = from.Side, from.Close
	if in.source == "" {
		return done, nil
	}
	opt := migrate.VerifyOptions{Others: c.others}
	if opt.Quarantined, err = c.kept(target); err != nil {
		return nil, err
	}
	if in.verdict, err = c.verify(cmd, a, sides{source: source, target: target}, opt); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	in.kept = opt.Quarantined != nil
	in.options = migrate.Options{Next: nextStep, Source: in.source, Target: in.target}
	queue, closeQueue, err := a.openQueue(ctx, source, &c.legacyFlags)
	if err != nil {
		return nil, failed("report: source", in.source, err)
	}
	in.queue = queue
	return func() { closeQueue(); from.Close() }, nil
}

// reportInput is everything that a page is made from.
type reportInput struct {
	made           time.Time
	target, source string // as given; "" if not
	only           string // the run that --run names, "" for all
	plan           *savedPlan
	from           side.Side            // the target; nil if none is given
	queue          *migrate.LegacyQueue // the source's; nil if none is given
	verdict        *migrate.Verdict
	kept           bool // the quarantine file was checked
	options        migrate.Options
	queues         map[string]string // the kinds of the legacy queues, by znode
	noQueue        *migrate.NoQueue  // what is at the target instead of a queue; nil if there is a queue
	next           func(*migrate.Status) report.Next
	coverage       *report.Coverage
	check          *report.Check
}

// runs are the target's runs that the page is about.
func (in *reportInput) runs(ctx context.Context, status *migrate.Status) ([]migrate.Run, error) {
	var ids []string
	for _, s := range status.Runs {
		if in.only == "" || s.Run == in.only {
			ids = append(ids, s.Run)
		}
	}
	if in.only != "" && len(ids) == 0 {
		ids = append(ids, in.only) // FindRuns then says that there is no such run
	}
	return migrate.FindRuns(ctx, in.from, ids...)
}
