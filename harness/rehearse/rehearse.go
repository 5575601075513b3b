package rehearse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/harness"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// Options are the options of a rehearsal.
type Options struct {
	On     string                // an address with an empty chroot; "" is a server in this process
	Client harness.Client        // for the address
	Plan   migration.PlanOptions // dialect, choices, and what to call the source
	Fails  float64               // how often a worker of the first copy fails a record, from 0 to 1
	// Progress is told how far the rehearsal is, as [migrate.WithProgress] says; nil shows nothing.
	Progress func(p migrate.Phase, done, total int)

	// before lets tests put in what a rehearsal must find on the first copy, before a step. nil puts in nothing.
	before func(step string, p *attempt) error
}

// The phases of a rehearsal, besides those of package migrate.
const (
	PhaseCopying migrate.Phase = "copying"          // znodes
	PhaseWorking migrate.Phase = "the workers work" // records
)

const (
	oldFolder = "/legacy"
	newFolder = "/new"
)

type rehearsal struct {
	opt    Options
	copy   *Copy
	keys   map[string]string
	stage  *stage
	report *Report
}

// Run rehearses a migration on a disposable server, and removes it afterwards, whatever
// happens. It does not touch the source: the copy has all that it needs. What it finds is in the report.
// The error is that it could not be done: it comes from the server, or wraps the cause of ctx's end.
func Run(ctx context.Context, c *Copy, opt Options) (report *Report, err error) {
	if opt.Progress == nil {
		opt.Progress = func(migrate.Phase, int, int) {}
	}
	ctx = migrate.WithProgress(ctx, opt.Progress)
	opt.Plan.NewQueue, opt.Plan.Target = true, "a copy, on a disposable server"
	began := time.Now()
	r := &rehearsal{opt: opt, copy: c, keys: c.keys(), report: &Report{Differences: []Difference{}}}
	if r.stage, err = start(ctx, opt); err != nil {
		return nil, err
	}
	defer func() {
		if stopErr := r.stage.stop(ctx); err == nil {
			err = stopErr
		}
	}()
	if err := r.onCopy(ctx, "/first", (*attempt).workOff); err != nil {
		return nil, err
	}
	if r.report.Verdict = r.verdict(); r.report.Rehearsed() {
		r.opt.Fails, r.opt.before = 0, nil // nobody is disturbed on the second copy
		if err := r.onCopy(ctx, "/second", (*attempt).goBack); err != nil {
			return nil, err
		}
		r.report.Verdict = r.verdict()
	}
	r.report.Seconds = time.Since(began).Seconds()
	return r.report, nil
}

func (r *rehearsal) verdict() string {
	switch {
	case len(r.report.Problems) > 0:
		return "blocked"
	case r.report.Plan.Count(migration.ActionCreate) == 0: // no worker would have anything to do
		return "nothing"
	case len(r.report.Differences) > 0:
		return "differs"
	}
	return "ok"
}

func (r *rehearsal) differ(found ...Difference) {
	r.report.Differences = append(r.report.Differences, found...)
}

// attempt is one migration of a copy on the stage, with both sides of it open.
type attempt struct {
	*rehearsal
	folder   string
	old, new *migrate.Writer
	src      *migrate.Source
	plan     *migration.Plan
	kept     map[string][][]byte // bytes of quarantined records
	cutover  []Step
	records  []prediction // those of the plan, and then those that came after the release
	planned  int          // how many the plan has
	due      int          // how many run
	batches  map[string]*batch
	crew     *crew
}

// onCopy does all with a copy of its own. It ends at the first step that finds a difference, or that there is nothing to do: a release would refuse, or the rest would only
// repeat it.
func (r *rehearsal) onCopy(ctx context.Context, folder string, work func(*attempt, context.Context) error) (err error) {
	p := &attempt{rehearsal: r, folder: folder, kept: map[string][][]byte{}}
	if p.old, err = r.stage.open(ctx, folder+oldFolder); err != nil {
		return err
	}
	defer p.old.Close()
	if p.new, err = r.stage.open(ctx, folder+newFolder); err != nil {
		return err
	}
	defer p.new.Close()
	known := len(r.report.Differences)
	for _, step := range []struct {
		name string
		do   func(*attempt, context.Context) error
	}{
		{"copy", (*attempt).putCopy},
		{"plan", (*attempt).makePlan},
		{"migrate", (*attempt).migrate},
		{"verify", (*attempt).verify},
		{"release", (*attempt).release},
		{"work", work},
	} {
		if r.opt.before != nil {
			if err := r.opt.before(step.name, p); err != nil {
				return err
			}
		}
		began := time.Now()
		if err := step.do(p, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		p.cutover = append(p.cutover, Step{step.name, time.Since(began).Seconds()})
		if p.plan != nil && (p.plan.Blocked() || p.plan.Count(migration.ActionCreate) == 0) || len(r.report.Differences) > known {
			return nil
		}
	}
	return nil
}

func (p *attempt) putCopy(ctx context.Context) error {
	err := p.copy.put(ctx, p.old, func(done, total int) { p.opt.Progress(PhaseCopying, done, total) })
	if err == nil {
		p.src, err = migrate.OpenSource(ctx, &p.old.Reader, p.copy.Queues, p.copy.Legacy)
	}
	return err
}

func (p *attempt) makePlan(ctx context.Context) (err error) {
	if p.plan, err = migrate.MakePlan(ctx, p.src, &p.new.Reader, p.opt.Plan); err == nil {
		p.report.Plan, p.report.Records, p.report.Problems = p.plan, len(p.plan.Records), p.plan.Problems
	}
	return err
}

func (p *attempt) migrate(ctx context.Context) error {
	_, err := migrate.Migrate(ctx, p.src, p.new, migrate.MigrateOptions{PlanOptions: p.opt.Plan, SaveQuarantined: func(records []migration.Record) error {
		for _, r := range records {
			p.kept[r.Path] = append(p.kept[r.Path], r.Data)
		}
		return nil
	}})
	return err
}

func (p *attempt) verify(ctx context.Context) error {
	v, err := migrate.Verify(ctx, nil, &p.new.Reader, migrate.VerifyOptions{Quarantined: p.kept})
	if err != nil {
		return err
	}
	for _, d := range v.Differences {
		if !slices.ContainsFunc(p.records, func(f prediction) bool { return f.Lost && strings.Contains(d.Path, znode.Name(f.Job)) }) {
			p.differ(Difference{Layout, d.Path, fmt.Sprintf("%s: %s", d.Kind, d.Message)})
		}
	}
	return nil
}

// release releases the copy. If it refuses, the target is not as it should be.
func (p *attempt) release(ctx context.Context) error {
	_, err := migrate.Release(ctx, p.new, migrate.ReleaseOptions{VerifyOptions: migrate.VerifyOptions{Quarantined: p.kept}, WorkersStopped: nobodyWorks})
	if errors.Is(err, migrate.ErrNotVerified) || errors.Is(err, migrate.ErrUndecided) {
		p.differ(Difference{Layout, p.folder + newFolder, "release refuses: " + err.Error()})
		return nil
	}
	return err
}

// begin predicts what becomes of the records and batches, and starts the services.
func (p *attempt) begin(ctx context.Context) error {
	became, err := migrate.ReadMigrated(ctx, &p.new.Reader)
	if err != nil {
		return err
	}
	p.records, p.batches = predict(p.plan, p.keys, became)
	p.planned = len(p.records)
	for i := range p.records {
		if p.records[i].Runs {
			p.due++
		}
	}
	p.crew = p.newCrew(ctx)
	return p.crew.Start()
}

// workOff lets the services do all that is in the new queue. Half of what comes after the release comes midway, and half when all is done and all
// batches have been reported.
func (p *attempt) workOff(ctx context.Context) error {
	if err := p.verify(ctx); err != nil {
		return err
	}
	if err := p.begin(ctx); err != nil {
		return err
	}
	defer p.crew.Close()
	p.report.Cutover = forecast(p.batches, p.cutover[1:]) // without the copying
	deposits := p.newDepositor()
	late, midway := deposits.Models(), p.due/2
	all := func() error { return p.work(ctx, nil) }
	for _, do := range []func() error{
		func() error { return p.work(ctx, func() bool { return len(p.crew.Begun) >= midway }) },
		func() error { return p.arrive(ctx, deposits, late-late/2) },
		func() error { return p.verify(ctx) },
		all,
		func() error { return p.arrive(ctx, deposits, late/2) },
		all,
		func() error { return p.verify(ctx) },
	} {
		if err := do(); err != nil {
			return err
		}
	}
	seen, err := p.crew.result()
	if err != nil {
		return err
	}
	p.differ(p.crew.stuck...)
	p.differ(compareTimes(p.records, seen)...)
	p.differ(compareStates(p.records, seen)...)
	p.differ(compareReports(p.records, p.batches, seen)...)
	p.report.Done, p.report.Failed, p.report.Submitted = p.done(), len(p.crew.failed), len(p.records)-p.planned
	return nil
}

// done counts the records of the plan whose work was done. A record that a legacy ingest worker adds for inventory is none of them.
func (p *attempt) done() (n int) {
	all := p.crew.Executions()
	for i := range p.records[:p.planned] {
		if all[p.records[i].Key].Times() > 0 {
			n++
		}
	}
	return n
}

// work lets the services work until none finds anything, or until enough reports true.
func (p *attempt) work(ctx context.Context, enough func() bool) error {
	return p.crew.work(ctx, p.crew.Workers(), enough, p.show, p.crew.cleanSometimes)
}

func (p *attempt) show() { p.opt.Progress(PhaseWorking, len(p.crew.Begun), p.due) }
