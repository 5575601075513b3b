package rehearse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"mrtq/harness"
	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// Options are the options of a rehearsal.
type Options struct {
	On     string                // an address with an empty chroot; "" is a server in this process
	Client harness.Client        // for the address
	Plan   migration.PlanOptions // dialect, choices, and what to call the source
	// Mishaps is how often a worker fails a record, is killed just after it has taken a record or batch, and loses
	// its session there: each of the three, from 0 to 0.3 of all turns.
	Mishaps float64
	Meter   Meter // nil shows nothing
	Hooks   Hooks
}

// Meter shows how far the rehearsal is.
type Meter interface {
	// Phases begins a step, and returns a context with which package migrate shows its phases.
	Phases(ctx context.Context, what string) (_ context.Context, finish func())
	// Progress begins a step of which the number done is shown.
	Progress(what, unit string) (show func(done, total int), finish func())
}

// Hooks let tests put in what a rehearsal must find: while the new queue of the first copy is held, and
// after it was released. A hook may change what the plan says, and the queue at root. Both may be nil.
type Hooks struct {
	Held, Released func(p *migration.Plan, session daemons.Session, root string) error
}

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
	if opt.Meter == nil {
		opt.Meter = noMeter{}
	}
	began := time.Now()
	r := &rehearsal{opt: opt, copy: c, keys: c.keys(), report: &Report{Backend: cmp.Or(opt.On, string(harness.Embedded)), Problems: []migration.Problem{}, Differences: []Difference{}}}
	if r.stage, err = start(ctx, opt); err != nil {
		return nil, err
	}
	defer func() {
		if stopErr := r.stage.stop(ctx); err == nil {
			err = stopErr
		}
	}()
	for _, part := range []func(context.Context) error{r.first, r.back} {
		if err := part(ctx); err != nil {
			return nil, err
		}
		if len(r.report.Problems) > 0 || r.report.Plan.Count(migration.ActionCreate) == 0 {
			break
		}
	}
	r.report.Seconds = time.Since(began).Seconds()
	switch {
	case len(r.report.Problems) > 0:
		r.report.Verdict = "blocked"
	case r.report.Plan.Count(migration.ActionCreate) == 0:
		r.report.Verdict = "nothing"
	case len(r.report.Differences) > 0:
		r.report.Verdict = "differs"
	default:
		r.report.Verdict = "ok"
	}
	return r.report, nil
}

func (r *rehearsal) step(ctx context.Context, name string, do func(context.Context) error) error {
	ctx, finish := r.opt.Meter.Phases(ctx, name)
	defer finish()
	began := time.Now()
	err := do(ctx)
	r.report.Steps = append(r.report.Steps, Step{name, time.Since(began).Seconds()})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
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
	options  migration.PlanOptions
	plan     *migration.Plan
	kept     map[string][][]byte // bytes of quarantined records
	records  []prediction        // those of the plan, and then those that came after the release
	planned  int                 // how many the plan has
	batches  map[string]*batch
	refused  bool // by release
}

// newAttempt puts a copy on the stage. The caller closes it.
func (r *rehearsal) newAttempt(ctx context.Context, folder string) (*attempt, error) {
	p := &attempt{rehearsal: r, folder: folder, options: r.opt.Plan, kept: map[string][][]byte{}}
	p.options.NewQueue, p.options.Target = true, "a copy, on a disposable server"
	var err error
	if p.old, err = r.stage.open(ctx, folder+oldFolder); err != nil {
		return nil, err
	}
	if p.new, err = r.stage.open(ctx, folder+newFolder); err != nil {
		p.old.Close()
		return nil, err
	}
	show, finish := r.opt.Meter.Progress("copying", "znodes")
	defer finish()
	if err = r.copy.put(ctx, p.old, show); err == nil {
		p.src, err = migrate.OpenSource(ctx, &p.old.Reader, r.copy.Queues, r.copy.Legacy)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *attempt) close() {
	p.old.Close()
	p.new.Close()
}

func (p *attempt) migrate(ctx context.Context) error {
	res, err := migrate.Migrate(ctx, p.src, p.new, migrate.MigrateOptions{PlanOptions: p.options, SaveQuarantined: func(records []migration.Record) error {
		for _, r := range records {
			p.kept[r.Path] = append(p.kept[r.Path], r.Data)
		}
		return nil
	}})
	p.report.Jobs = res.Created.Records()
	return err
}

func (p *attempt) verifyOptions() migrate.VerifyOptions {
	return migrate.VerifyOptions{Quarantined: p.kept}
}

func (p *attempt) makePlan(ctx context.Context) (err error) {
	p.plan, err = migrate.MakePlan(ctx, p.src, &p.new.Reader, p.options)
	return err
}

func (p *attempt) predict(ctx context.Context) error {
	became, err := migrate.ReadMigrated(ctx, &p.new.Reader)
	if err == nil {
		p.records, p.batches = predict(p.plan, p.keys, became)
		p.planned = len(p.records)
	}
	return err
}

func (p *attempt) run() (n int) {
	for i := range p.records[:p.planned] {
		if p.records[i].Runs {
			n++
		}
	}
	return n
}

// newCrew returns the workers of the copy, of the new queue and of the legacy one. A legacy worker has
// done the work of the records that were consumed: nobody knows, and that is the worst that can be.
func (p *attempt) newCrew(ctx context.Context, mishaps float64) *crew {
	c := &crew{mishaps: mishaps, random: rand.New(rand.NewPCG(1, 1)), failed: map[string]bool{}, newQueue: daemons.NewMirror(), old: daemons.NewMirror()}
	c.perRound = min(1+len(p.records)/rounds, mostPerRound)
	nodes := map[string][]string{}
	for kind, all := range p.copy.Queues.Nodes {
		nodes[string(kind)] = all
	}
	c.World = daemons.New(daemons.Options{
		Dialect: p.plan.Dialect, Unsized: unsized, New: p.stage.site(ctx, p.folder+newFolder, c.newQueue), Legacy: p.stage.site(ctx, p.folder+oldFolder, c.old),
		LegacyNodes: nodes, Fails: c.fails,
	})
	for _, f := range p.records {
		if f.Before {
			c.DoneBefore(f.Key)
		}
	}
	return c
}

func (p *attempt) verify(ctx context.Context) error {
	v, err := migrate.Verify(ctx, nil, &p.new.Reader, p.verifyOptions())
	if err != nil {
		return err
	}
	p.report.Workers.Checked++
	for _, d := range v.Differences {
		if slices.ContainsFunc(p.records, func(f prediction) bool { return f.Lost && strings.Contains(d.Path, znode.Name(f.Job)) }) {
			continue
		}
		p.differ(Difference{Layout, d.Path, fmt.Sprintf("%s: %s", d.Kind, d.Message)})
	}
	return nil
}

// release releases the copy. If it refuses, the target is not as it should be.
func (p *attempt) release(ctx context.Context) error {
	_, err := migrate.Release(ctx, p.new, migrate.ReleaseOptions{VerifyOptions: p.verifyOptions(), WorkersStopped: nobodyWorks})
	if errors.Is(err, migrate.ErrNotVerified) || errors.Is(err, migrate.ErrUndecided) {
		p.differ(Difference{Layout, p.folder + newFolder, "release refuses: " + err.Error()})
		p.refused, err = true, nil
	}
	return err
}

func (r *rehearsal) first(ctx context.Context) error {
	p, err := r.newAttempt(ctx, "/first")
	if err != nil {
		return err
	}
	defer p.close()
	if err := r.step(ctx, "plan", p.makePlan); err != nil {
		return err
	}
	r.report.Plan, r.report.Dialect, r.report.Records = p.plan, p.plan.Dialect, len(p.plan.Records)
	r.report.Skipped, r.report.Quarantined = p.plan.Count(migration.ActionSkip), p.plan.Count(migration.ActionQuarantine)
	if p.plan.Blocked() {
		r.report.Problems = p.plan.Problems
		return nil
	}
	if p.plan.Count(migration.ActionCreate) == 0 { // no worker would have anything to do
		return nil
	}
	if err := r.step(ctx, "migrate", p.migrate); err != nil {
		return err
	}
	if err := r.step(ctx, "verify", p.verify); err != nil {
		return err
	}
	if err := p.runHook(ctx, r.opt.Hooks.Held); err != nil {
		return err
	}
	if err := p.predict(ctx); err != nil {
		return err
	}
	crew := p.newCrew(ctx, r.opt.Mishaps)
	defer crew.World.Close()
	held, err := crew.whileHeld()
	if err != nil {
		return err
	}
	if r.differ(held...); len(r.report.Differences) > 0 {
		return nil // a release would refuse, or the rest would only repeat it
	}
	if err := r.step(ctx, "release", p.release); err != nil || p.refused {
		return err
	}
	r.report.Cutover = forecast(p.plan, p.batches, r.report.Steps)
	return p.workOff(ctx, crew)
}

func (p *attempt) runHook(ctx context.Context, hook func(*migration.Plan, daemons.Session, string) error) error {
	if hook == nil {
		return nil
	}
	s, err := session.Open(ctx, p.stage.cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	return hook(p.plan, s, p.stage.root+p.folder+newFolder)
}

func (p *attempt) workOff(ctx context.Context, crew *crew) error {
	if err := p.runHook(ctx, p.opt.Hooks.Released); err != nil {
		return err
	}
	crew.newQueue.Forget()
	if err := p.step(ctx, "check after the release", p.verify); err != nil {
		return err
	}
	if err := crew.Start(); err != nil {
		return err
	}
	show, finish := p.opt.Meter.Progress("the workers work", "records")
	defer finish()
	total, deposits := p.run(), p.newDepositor()
	late := len(deposits.models)
	working := func(enough func() bool) error {
		return p.step(ctx, "work", func(ctx context.Context) error {
			return crew.work(ctx, crew.Workers(), enough, func(done int) { show(done, total+late) })
		})
	}
	if err := working(func() bool { return len(crew.Begun) >= total/2 }); err != nil {
		return err
	}
	if err := p.arrive(ctx, crew, deposits, late-late/2); err != nil {
		return err
	}
	if err := p.step(ctx, "check half way", p.verify); err != nil {
		return err
	}
	if err := working(nil); err != nil {
		return err
	}
	if err := p.arrive(ctx, crew, deposits, late/2); err != nil { // their batches have been reported
		return err
	}
	if err := working(nil); err != nil {
		return err
	}
	if err := p.step(ctx, "check at the end", p.verify); err != nil {
		return err
	}
	seen, err := crew.result()
	if err != nil {
		return err
	}
	p.differ(crew.stuck...)
	p.differ(compareTimes(p.records, seen)...)
	p.differ(compareStates(p.records, seen)...)
	p.differ(compareReports(p.records, p.batches, seen)...)
	p.differ(compareOrder(p.records[:p.planned], seen.begun)...)
	emails := 0
	for _, m := range crew.Emails {
		if b := p.batches[m.Batch]; b == nil || !b.Late {
			emails++
		}
	}
	p.report.Workers = WorkReport{Done: p.done(crew), Submitted: len(p.records) - p.planned, Emails: emails, Removed: len(crew.Removed), Trouble: crew.did, Checked: p.report.Workers.Checked}
	return nil
}

type noMeter struct{}

func (noMeter) Phases(ctx context.Context, _ string) (context.Context, func()) { return ctx, func() {} }

func (noMeter) Progress(string, string) (func(int, int), func()) { return func(int, int) {}, func() {} }
