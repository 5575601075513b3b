package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/internal/znode"
	"mrtq/migrate"
)

type releaseCmd struct {
	heldFlags
	force      bool
	unfinished bool
	output     string
	// verify is the command mrtq verify, which has the flags of release. checked holds
	// the values of its flags and its result. verifies is where it prints.
	verify   *cobra.Command
	checked  *verifyCmd
	verifies *app
}

func (a *app) releaseCmd() *cobra.Command {
	c := &releaseCmd{verifies: &app{}}
	cmd := &cobra.Command{
		Use:   "release TARGET [SOURCE]",
		Short: "lift the holds, once the target is verified",
		Long: `Lift the holds on the new queues, all in one transaction, so that the services
start. release lifts a hold that covers a migration only if the target is what the
source says it should be. So give SOURCE: release then runs mrtq verify first, with
its flags, and lifts nothing if anything differs. To release without verifying, give
--force instead of SOURCE. If a migration or a rollback writes to the target
meanwhile, release lifts nothing. If records are in quarantine, it lifts nothing
without --quarantine, because verify must see the file that keeps their bytes.

While a run or its rollback is unfinished, workers would see only half of the queue.
Then --force alone lifts nothing: finish the run, or add --unfinished.

release lifts the holds that mrtq migrate and mrtq hold set. To lift a hold that
another tool set, name its queue with --only. To lift a hold on a collection, name it
with --collection. Exit code 1 if the target isn't verified.`,
		Example: `  mrtq release zk1:2181/new zk1:2181 --quarantine mrtq-quarantine-zk1-2181-new.ndjson
  mrtq release zk1:2181/new --only ingest --force
  mrtq release zk1:2181/new --collection merritt_content`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 2 {
				return nil
			}
			return args("TARGET")(cmd, given)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args) },
	}
	f := cmd.Flags()
	c.flags(f)
	f.BoolVar(&c.force, "force", false, "lift the holds of a migration without verifying the target")
	f.BoolVar(&c.unfinished, "unfinished", false, "with --force: lift the holds although a run is unfinished; workers then see only half of the queue")
	choice(f, &c.output, "output", "o", "format", "table", "json")
	c.checked, c.verify = c.verifies.newVerify()
	c.verify.Flags().VisitAll(func(v *pflag.Flag) {
		if f.Lookup(v.Name) == nil {
			f.AddFlag(v)
		}
	})
	return cmd
}

// released is the -o json of release.
type released struct {
	Released   []migrate.Hold `json:"released"`
	Left       []migrate.Hold `json:"left"` // set by another tool, and not named with --only
	Held       []migrate.Hold `json:"held"` // all that are still set
	Verified   bool           `json:"verified"`
	Unfinished *unfinishedRun `json:"unfinished,omitempty"` // that the holds protected
}

// unfinishedRun is a run that has not ended, or whose rollback has not.
type unfinishedRun struct {
	Run     string           `json:"run"`
	State   migrate.RunState `json:"state"`
	Records int              `json:"records"` // migrated
	Total   int              `json:"total"`   // to migrate; 0 if that is not known
}

// unfinished returns the newest run if it is unfinished, and nil otherwise.
func unfinished(h *migrate.Holds) *unfinishedRun {
	r, ok := h.Newest()
	if !ok || r.State != migrate.RunRunning && r.State != migrate.RunRollingBack {
		return nil
	}
	return &unfinishedRun{r.ID, r.State, r.Done.Records(), r.Total}
}

func (u *unfinishedRun) String() string {
	switch {
	case u.State == migrate.RunRollingBack:
		return "the rollback of " + u.Run + " is unfinished"
	case u.Total == 0:
		return fmt.Sprintf("%s is unfinished: %s migrated", u.Run, count(u.Records, "record is", "records are"))
	}
	return fmt.Sprintf("%s is unfinished: %d of %s migrated", u.Run, u.Records, count(u.Total, "record is", "records are"))
}

// finish says how to finish the run or its rollback.
func (u *unfinishedRun) finish(a *app, target endpoint) string {
	if u.State == migrate.RunRollingBack {
		return "run " + a.command("rollback", []string{target.text}, newFlag("run", u.Run))
	}
	return "run the same mrtq migrate again"
}

func (c *releaseCmd) run(ctx context.Context, a *app, args []string) error {
	target := args[0]
	e, err := parseEndpoint("TARGET", target)
	if err != nil {
		return err
	}
	paths, err := c.paths()
	if err != nil {
		return err
	}
	if c.force && len(args) > 1 {
		return usageError("give either SOURCE, to verify first, or --force, to release without verifying, but not both")
	}
	if c.unfinished && !c.force {
		return usageError("--unfinished can only be used with --force. Nothing was released")
	}
	holds, err := a.holds(ctx, e)
	if err != nil {
		return failed("release", target, c.noNewQueue(ctx, a, e, args[1:], err))
	}
	named := c.only != nil || c.collections != nil
	chosen, _ := pick(holds.List, func(h migrate.Hold) bool { return slices.Contains(paths, h.Path) })
	if holds.Damaged && len(chosen) > 0 && len(args) < 2 && !c.force {
		return needsRebuild(a, e)
	}
	lift, left := pick(chosen, func(h migrate.Hold) bool { return h.By != "" || named })
	out := released{Released: lift, Left: left}
	_, out.Held = pick(holds.List, func(h migrate.Hold) bool {
		return slices.ContainsFunc(lift, func(l migrate.Hold) bool { return l.Path == h.Path })
	})
	proof, _ := pick(lift, func(h migrate.Hold) bool { return h.CoversRun })
	if len(proof) > 0 && len(args) < 2 {
		if out.Unfinished = unfinished(holds); out.Unfinished != nil && !c.unfinished {
			return usageError("%s. Workers would see only half of the queue. To finish it, %s. To release it as it is, give --force --unfinished. Nothing was released", out.Unfinished, out.Unfinished.finish(a, e))
		}
		if !c.force {
			return c.needsProof(a, e, holds, proof)
		}
	}
	if len(lift) > 0 && len(args) > 1 {
		if err := c.check(ctx, a, args[1], target); err != nil {
			return err
		}
		if n := c.checked.verdict.Records.Quarantined; n > 0 && c.checked.quarantine == "" {
			return c.needsQuarantine(a, e, args[1], n)
		}
		out.Verified = true
	}
	if len(lift) > 0 {
		err = a.onTarget(ctx, e, func(t *migrate.Target) error { return t.LiftHolds(ctx, lift, holds) })
	}
	if errors.Is(err, migrate.ErrHoldsChanged) {
		err = checkError(fmt.Errorf("%w; nothing was released", err))
	}
	if err != nil {
		return failed("release", target, err)
	}
	return c.print(a, out, c.next(a, e, args[1:], holds, out))
}

// noNewQueue is the error of a target without a new queue. It says so if SOURCE and TARGET
// are swapped, or if TARGET looks like the SOURCE.
func (c *releaseCmd) noNewQueue(ctx context.Context, a *app, target endpoint, sources []string, err error) error {
	queues, qerr := c.checked.queues()
	if !errors.Is(err, migrate.ErrNoQueue) || qerr != nil {
		return err
	}
	for _, text := range sources {
		source, perr := parseEndpoint("SOURCE", text)
		if perr != nil {
			return perr
		}
		err = cmp.Or(a.ifSwapped(ctx, sides{source, target}, queues), err)
	}
	if exitCode(err) == exitUsage {
		return err
	}
	return cmp.Or(a.ifSource(ctx, target, queues), err)
}

// check verifies the target as mrtq verify does.
func (c *releaseCmd) check(ctx context.Context, a *app, source, target string) error {
	*c.verifies = *a
	if c.output == "json" {
		c.verifies.stdout = &output{Writer: a.stderr}
	}
	c.verify.SetContext(ctx)
	err := c.verify.RunE(c.verify, []string{source, target})
	var coded *coded
	if errors.As(err, &coded) && coded.code == exitCheck {
		a.conclude(bad, "Nothing was released. %s", c.verifies.verdict.text)
		return checkError(fmt.Errorf("release: %w. Nothing was released", err))
	}
	return err
}

// print prints the holds, and then what to do next.
func (c *releaseCmd) print(a *app, out released, next string) error {
	if c.output == "json" {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		if u := out.Unfinished; u != nil {
			fmt.Fprintf(a.stdout, "%s\n\n", paint(a.stdout, bad, "WORKERS SEE ONLY HALF OF THE QUEUE"+": "+u.String()+"."))
		}
		a.table("", holdHeader, append(holdRows(out.Released, "released"), holdRows(out.Left, "not lifted: name it with --only")...))
	}
	lifted := count(len(out.Released), "hold", "holds") + " lifted"
	switch {
	case out.Unfinished != nil && len(out.Released) > 0:
		a.conclude(bad, "Release: %s, nothing was verified, and %s: workers see only half of the queue: %s.%s", lifted, out.Unfinished, holdNames(out.Released), afterBlank(next))
	case len(out.Released) == 0 && len(out.Left) == 0:
		a.conclude(good, "Release: nothing to do: no hold is set there.%s", afterBlank(next))
	case len(out.Released) == 0:
		a.conclude(attention, "Release: nothing was lifted.%s", afterBlank(next))
	case !out.Verified && c.force:
		a.conclude(attention, "Release: %s, and nothing was verified: %s.%s", lifted, holdNames(out.Released), afterBlank(next))
	default:
		tone := good
		if len(out.Left) > 0 || halfHeld(out) {
			tone = attention
		}
		a.conclude(tone, "Release: %s: %s.%s%s", lifted, holdNames(out.Released), afterBlank(besideRuns(out.Released)), afterBlank(next))
	}
	return nil
}

// besideRuns names the holds of people that were lifted together with a run's holds. It
// is "" if there were none.
func besideRuns(lifted []migrate.Hold) string {
	runs, people := pick(lifted, func(h migrate.Hold) bool { return migrate.IsRun(h.By) })
	if len(runs) == 0 || len(people) == 0 {
		return ""
	}
	var said []string
	for _, h := range people {
		said = append(said, znode.Name(h.Path)+" by "+setBy(h))
	}
	return "People had set some of these holds: " + strings.Join(said, ", ") + "."
}
