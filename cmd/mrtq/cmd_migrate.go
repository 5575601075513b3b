package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/migrate"
	"mrtq/newqueue"
)

type migrateCmd struct {
	planFlags
	output     string
	plan       string
	quarantine string
	metrics    string
	holdAgain  bool
	running    runMetrics
	released   []string // queues that somebody released while the migration ran
}

func (a *app) migrateCmd() *cobra.Command {
	c := &migrateCmd{}
	cmd := &cobra.Command{
		Use:   "migrate {SOURCE TARGET | --plan FILE}",
		Short: "carry a migration out, or finish one",
		Long: `Make a plan and carry it out. migrate refuses a plan with problems before it writes
anything. It never changes the legacy records. It holds the new queues first, so
that no worker that respects holds starts on half of a queue. The holds stay until
you release them. migrate does not change what the target already holds.

If migrate is interrupted, by Ctrl-C, kill -9 or a lost server, run it again to
finish. If there is nothing to do, it writes nothing.`,
		Example: `  mrtq migrate zk1:2181 zk1:2181/new --dialect mrt-zk --consumed failed --undecodable quarantine
  mrtq migrate --plan plan.json
  mrtq migrate file:queue.ndjson.gz file:new.ndjson.gz`,
		Args: func(cmd *cobra.Command, given []string) error {
			if c.plan != "" && len(given) == 0 {
				return nil
			}
			return args("SOURCE", "TARGET")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, a, args) },
	}
	c.flags(cmd.Flags())
	a.conn.rateFlag(cmd.Flags())
	choice(cmd.Flags(), &c.output, "output", "o", "format", "table", "json")
	cmd.Flags().StringVar(&c.plan, "plan", "", "saved plan `file` to carry out, with its own sides and settings; migrate refuses it if it is stale or was carried out before")
	cmd.Flags().StringVar(&c.quarantine, "quarantine", "", "`file` that keeps the bytes of undecodable records, with --undecodable quarantine; if it exists, they are added to it (default mrtq-quarantine-TARGET.ndjson)")
	cmd.Flags().BoolVar(&c.holdAgain, "hold-again", false, "hold queues again that were released after an earlier run; their workers wait until you release them")
	metricsFlag(cmd.Flags(), &c.metrics)
	return cmd
}

// migrated is the -o json of migrate.
type migrated struct {
	Run          string                 `json:"run"`
	Plan         string                 `json:"plan"` // its id
	Records      map[migrate.Action]int `json:"records"`
	Problems     []migrate.Problem      `json:"problems"` // if there is any, nothing was written
	Done         migrate.Done           `json:"done"`     // by this call
	Transactions int                    `json:"transactions"`
	Quarantine   string                 `json:"quarantine,omitempty"` // file, if any record is in it
	Seconds      float64                `json:"seconds"`
}

func (c *migrateCmd) run(cmd *cobra.Command, a *app, args []string) error {
	defer collectOften()()
	s, err := c.sides(a, args)
	if err != nil {
		return err
	}
	if c.approved != nil { // nobody typed the addresses here, so show them
		a.say("plan %s: from %s to %s", c.plan, s.source.text, s.target.text)
	}
	if isGzip(c.quarantine) {
		return usageError("--quarantine %s: mrtq adds to this file, so it can't be a gzip file; leave out .gz", c.quarantine)
	}
	writes := []namedFile{s.target.written("TARGET"), {by: "--quarantine", path: c.quarantine, kept: true}}
	if c.quarantine == "" && c.undecodable() == migrate.Quarantine {
		c.quarantine = quarantineFile(s.target)
		writes[1].path = c.quarantine
	}
	if err := a.checkFiles(writes, s.source.read("SOURCE"), namedFile{by: "--plan", path: c.plan}); err != nil {
		return err
	}
	stop, err := a.serveMetrics(c.metrics, &c.running)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer stop()
	started := time.Now()
	plan, opt, done, err := a.makePlan(cmd.Context(), s, &c.planFlags)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer done() // migrate reads the records again when it creates their jobs
	a.sayOtherSource(cmd.Context(), plan.NewestRun(), plan.EarlierSource(), s.source)
	out := migrated{Run: plan.Run, Plan: plan.ID, Records: map[migrate.Action]int{}, Problems: []migrate.Problem{}}
	for _, act := range migrate.Actions {
		if n := plan.Count(act); n > 0 {
			out.Records[act] = n
		}
	}
	var expect *migrate.Expectation
	if c.approved != nil {
		if err := plan.CheckApproved(*c.approved); err != nil {
			run, lacked, failed := c.refillQuarantine(plan, err)
			if failed != nil {
				return fmt.Errorf("migrate: %w", failed)
			}
			if lacked > 0 {
				out.Run, out.Quarantine = run, c.quarantine
				note := fmt.Sprintf("%s was carried out before, as %s. The quarantine file lacked %s, and has them again; nothing else was written.", c.plan, run, count(lacked, "record", "records"))
				return c.print(a, out, note, c.verifyNext(a, s, plan))
			}
			return c.staleError(a, s, err)
		}
		expect = plan.Expectation()
	}
	refused := plan.Blocked()
	if refused {
		// If another migrator wrote while the plan was made, the plan may show
		// only half of its writes. Then carryOut plans again when that one is done.
		if refused, err = a.undisturbed(cmd.Context(), s.target, plan); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
	if refused {
		out.Problems = plan.Problems
		if c.output == "json" {
			if err := a.printJSON(out); err != nil {
				return err
			}
		} else {
			a.printPlan(plan)
		}
		tone, text := planVerdict(plan)
		a.conclude(tone, "Migrate: %s; nothing was written.%s", text, afterBlank(a.unblock(plan, s, append(c.savedSettings(), savedIn(c.plan)...)...)))
		return checkError(fmt.Errorf("migrate: %w: %s, listed above; nothing was written", migrate.ErrBlocked, problems(len(plan.Problems))))
	}
	// Nothing is written before the bytes of undecodable records are safe.
	if bad := plan.Quarantined(); len(bad) > 0 {
		out.Quarantine = c.quarantine
		if err := migrate.WriteQuarantine(c.quarantine, bad, writeFile); err != nil {
			return fmt.Errorf("migrate: %w; nothing was written to the target", err)
		}
	}
	a.sayNotes(plan, c.planAgain(a, s))
	if plan.Empty() {
		if newest := plan.NewestRun(); newest != "" {
			out.Run = newest
		}
		others, err := a.migrators(cmd.Context(), s.target)
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		if others == 0 {
			return c.print(a, out, nothingToDo(plan), c.verifyNext(a, s, plan))
		}
		// The others may undo what this migrate found done, or leave it something to do.
		// So it waits for its turn, as it does if it has something to do.
	}
	res, err := c.carryOut(cmd.Context(), a, s, opt, plan, expect)
	if res != nil {
		out.Done, out.Transactions = res.Done, res.Steps
	}
	if err != nil {
		if errors.Is(err, migrate.ErrStale) {
			err = c.becameStale(a, s, err)
		}
		if errors.Is(err, migrate.ErrRolledBack) || errors.Is(err, migrate.ErrFinished) {
			err = fmt.Errorf("%w. If you want that, look at the plan: %s", err, c.planAgain(a, s))
		}
		if errors.Is(err, migrate.ErrReleased) {
			err = fmt.Errorf("%w; their workers would stop. To go ahead, add --hold-again, and release the queues afterwards. Nothing was written to the target", err)
		}
		if out.Transactions > 0 {
			a.say("%s: %s created, in %s", out.Run, countDone(out.Done), count(out.Transactions, "transaction", "transactions"))
		}
		for _, check := range []error{migrate.ErrBlocked, migrate.ErrStale, migrate.ErrTakenOver, migrate.ErrContended, migrate.ErrReleased, migrate.ErrRolledBack, migrate.ErrFinished} {
			if errors.Is(err, check) {
				err = checkError(err)
			}
		}
		return fmt.Errorf("migrate: %w", lostSession(err, out.Run, out.Done, out.Records[migrate.ActCreate]+out.Records[migrate.ActRewrite]))
	}
	if plan.Empty() && res.Steps == 0 {
		return c.print(a, out, nothingToDo(plan), c.verifyNext(a, s, plan))
	}
	if res.Steps > 0 { // otherwise another migrator has finished the run of the first plan
		out.Run = res.Run
	}
	out.Seconds = time.Since(started).Seconds()
	return c.print(a, out, "", c.verifyNext(a, s, plan))
}

// nothingToDo says that a plan has nothing to do, and that other policies change nothing
// that is migrated.
func nothingToDo(p *migrate.Plan) string {
	text := "nothing to do: every record is migrated, or left out by the plan."
	if other := p.OtherPolicies(); other != "" {
		text += " " + other + ". What it made stays as it is."
	}
	return text
}

// refillQuarantine writes the bytes of undecodable records to the quarantine file again
// if the run is done and the file lacks them. stale is why the saved plan can't be carried
// out. lacked is 0 if nothing was written.
func (c *migrateCmd) refillQuarantine(plan *migrate.Plan, stale error) (run string, lacked int, err error) {
	var used *migrate.PlanUsedError
	if !errors.As(stale, &used) || used.State != migrate.RunDone {
		return "", 0, nil
	}
	bad := plan.Quarantined()
	if len(bad) == 0 {
		return "", 0, nil
	}
	if lacked, err = migrate.QuarantineLacks(c.quarantine, bad); err != nil || lacked == 0 {
		return "", 0, err
	}
	return used.Run, lacked, migrate.WriteQuarantine(c.quarantine, bad, writeFile)
}

// sides returns the sides that were given, or else those of the saved plan. With a saved
// plan, it also adopts the plan's settings.
func (c *migrateCmd) sides(a *app, args []string) (s sides, err error) {
	if len(args) > 0 {
		if s, err = parseSides(args); err != nil {
			return s, err
		}
		writes := []namedFile{s.target.written("TARGET"), {by: "--quarantine", path: c.quarantine, kept: true}}
		if err := a.checkFiles(writes, s.source.read("SOURCE"), namedFile{by: "--plan", path: c.plan}); err != nil {
			return s, err
		}
	}
	if c.plan == "" {
		return s, nil
	}
	approved, err := readApproved(c.plan)
	if err != nil {
		return sides{}, fmt.Errorf("migrate: %w", err)
	}
	if s, err = planSides(c.plan, approved, args); err != nil {
		return s, fmt.Errorf("migrate: %w", err)
	}
	return s, c.adopt(c.plan, approved)
}

// undecodable is the policy for records that can't be decoded.
func (c *migrateCmd) undecodable() string {
	if c.approved != nil {
		return c.approved.Policies.Undecodable
	}
	return c.policies.Undecodable
}

// undisturbed reports whether no migrator has written to the target since the plan was
// made. If so, the plan's problems are real.
func (a *app) undisturbed(ctx context.Context, e endpoint, plan *migrate.Plan) (bool, error) {
	target, err := a.openTargetOrEmpty(ctx, e)
	if err != nil {
		return false, failed("target", e.text, err)
	}
	defer target.Close()
	same, err := plan.Undisturbed(ctx, target)
	if err != nil {
		return false, failed("target", e.text, err)
	}
	return same, nil
}

// migrators counts the migrators that are at work in a target or wait.
func (a *app) migrators(ctx context.Context, e endpoint) (int, error) {
	target, err := a.openTargetOrEmpty(ctx, e)
	if err != nil {
		return 0, failed("target", e.text, err)
	}
	defer target.Close()
	n, err := migrate.CountMigrators(ctx, target.Side)
	if err != nil {
		return 0, failed("target", e.text, err)
	}
	return n, nil
}

// countDone counts what a run created or a rollback removed.
func countDone(d migrate.Done) string {
	return fmt.Sprintf("%s, %s and %s", count(d.Jobs, "job", "jobs"), count(d.Access, "access request", "access requests"), count(d.Batches, "batch", "batches"))
}

// source opens the source. The migration calls it each time that it reads the source,
// because it may have waited for another migrator before.
func (c *migrateCmd) source(a *app, s sides) migrate.ReadFunc {
	return func(ctx context.Context) (*migrate.LegacyQueue, func(), error) {
		queue, done, err := a.openQueue(ctx, s.source, &c.legacyFlags)
		if err != nil {
			return nil, nil, failed("source", s.source.text, err)
		}
		return queue, done, nil
	}
}

func (c *migrateCmd) carryOut(ctx context.Context, a *app, s sides, opt migrate.Options, plan *migrate.Plan, expect *migrate.Expectation) (*migrate.Result, error) {
	m := &migrate.Migrator{Plan: plan, HoldAgain: c.holdAgain, MaxOps: a.conn.maxRate, Keep: func(bad []migrate.Record) error { return migrate.WriteQuarantine(c.quarantine, bad, writeFile) }}
	ctx, finish := a.phases(ctx, "migrating")
	defer finish()
	m.Say, m.Progress = c.running.hook(func(text string) { a.say("%s", text) })
	if s.target.file != "" {
		f, err := a.openFileTarget(ctx, s.target.file, opt.Packet)
		if err != nil {
			return nil, failed("target", s.target.text, err)
		}
		defer f.Close()
		m.Target = f.Target
		res, err := m.Migrate(ctx, c.source(a, s), opt, expect)
		if err != nil {
			return nil, f.unchanged(err)
		}
		if res.Steps == 0 {
			return res, nil
		}
		if err := f.save(ctx); err != nil {
			return nil, failed("target", s.target.text, unnamed(err))
		}
		return res, nil // no other process works on a file
	}
	w, err := a.writer(ctx, s.target)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	m.Target = migrate.NewTarget(w)
	res, err := m.Migrate(ctx, c.source(a, s), opt, expect)
	if err != nil {
		return res, err
	}
	for _, h := range newqueue.QueueHolds {
		_, held, err := m.Target.Exists(ctx, newqueue.QueueHoldPath(h))
		if err != nil {
			return res, err
		}
		if !held {
			c.released = append(c.released, string(h))
		}
	}
	return res, nil
}

// planAgain is the command that shows the plan again.
func (c *migrateCmd) planAgain(a *app, s sides) string {
	return a.command("plan", s.args(), c.savedSettings()...)
}

// savedSettings are the settings of the saved plan as flags. Without a saved plan
// there are none.
func (c *migrateCmd) savedSettings() []flagWords {
	if c.approved == nil {
		return nil
	}
	return planSettings(c.approved)
}

// verifyNext is the next step after a migration. It is "" if no run exists.
func (c *migrateCmd) verifyNext(a *app, s sides, plan *migrate.Plan) string {
	if plan.Empty() && plan.NewestRun() == "" {
		return ""
	}
	var flags []flagWords
	if plan.Count(migrate.ActQuarantine) > 0 {
		flags = append(flags, quarantineFlag(c.quarantine, s.target))
	}
	if c.approved != nil {
		flags = append(flags, queueSettings(c.approved)...)
	}
	return "Next: " + a.command("verify", s.args(), flags...)
}

func (c *migrateCmd) print(a *app, out migrated, note, next string) error {
	if note != "" {
		a.conclude(good, "Migrate: %s%s", note, afterBlank(next))
	} else {
		held := "and the new queues are held"
		tone := good
		if len(c.released) > 0 {
			held, tone = "but "+strings.Join(c.released, ", ")+" was released meanwhile: workers may be at work", attention
		}
		a.conclude(tone, "Migrate: done, %s.%s", held, afterBlank(next))
	}
	if c.output == "json" {
		return a.printJSON(out)
	}
	if note == "" {
		fmt.Fprintf(a.stdout, "%s: %s created, %s rewritten, in %s and %.1f s\n",
			out.Run, countDone(out.Done), count(out.Done.Rewritten, "job", "jobs"), count(out.Transactions, "transaction", "transactions"), out.Seconds)
	}
	if out.Quarantine != "" {
		fmt.Fprintf(a.stdout, "Undecodable records: %d, kept in %s\n", out.Records[migrate.ActQuarantine], cell(out.Quarantine))
	}
	return nil
}
