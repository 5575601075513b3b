package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/migrate"
)

type releaseCmd struct {
	heldFlags
	force  bool
	output string
	// verify is mrtq verify with the flags that release was given, and where it
	// prints.
	verify   *cobra.Command
	verifies *app
}

func (a *app) releaseCmd() *cobra.Command {
	c := &releaseCmd{verifies: &app{}}
	cmd := &cobra.Command{
		Use:   "release TARGET [SOURCE]",
		Short: "lift the holds, once the target is verified",
		Long: `Lift the holds on the new queues, all in one transaction, so that the services
start. A hold that covers a migration is lifted only if the target is what the
source says. So give SOURCE: release then runs mrtq verify first, with its flags,
and lifts nothing if anything differs. To release without verifying, give --force
instead of SOURCE. If a migration or a rollback writes to the target meanwhile,
release lifts nothing.

release lifts the holds that mrtq migrate and mrtq hold set. Name a hold that
another tool set with --only, and a hold on a collection with --collection. Exit
code 1 if the target isn't verified.`,
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
	choice(f, &c.output, "output", "o", "format", "table", "json")
	c.verify = c.verifies.verifyCmd()
	c.verify.Flags().VisitAll(func(v *pflag.Flag) {
		if f.Lookup(v.Name) == nil {
			f.AddFlag(v)
		}
	})
	return cmd
}

// released is the -o json of release.
type released struct {
	Released []migrate.Hold `json:"released"`
	Left     []migrate.Hold `json:"left"` // set by another tool, and not named
	Verified bool           `json:"verified"`
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
		return usageError("--force releases without verifying, SOURCE is for verifying first: give only one of them")
	}
	holds, err := a.holds(ctx, e)
	if err != nil {
		return failed("release", target, err)
	}
	named := c.only != nil || c.collections != nil
	chosen, _ := pick(holds.Standing, func(h migrate.Hold) bool { return slices.Contains(paths, h.Path) })
	lift, left := pick(chosen, func(h migrate.Hold) bool { return h.By != "" || named })
	out := released{Released: lift, Left: left}
	proof, _ := pick(lift, func(h migrate.Hold) bool { return h.Proof })
	if len(proof) > 0 && len(args) < 2 && !c.force {
		return usageError("%s cover a migration (%s). To verify the target first, add SOURCE. To release without verifying, add --force. Nothing was released; usage: mrtq release TARGET SOURCE", count(len(proof), "hold", "holds"), holdNames(proof))
	}
	if len(lift) > 0 && len(args) > 1 {
		if err := c.check(ctx, a, args[1], target); err != nil {
			return err
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
	return c.print(a, out)
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
		return checkError(fmt.Errorf("release: %w. Nothing was released", err))
	}
	return err
}

func (c *releaseCmd) print(a *app, out released) error {
	if c.output == "json" {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.table("", holdHeader, append(holdRows(out.Released, "released"), holdRows(out.Left, "left: name it with --only")...))
	}
	switch {
	case len(out.Released) == 0 && len(out.Left) == 0:
		a.conclude(good, "Release: nothing to do: no hold is set there.")
	case len(out.Left) > 0:
		a.conclude(attention, "Release: %s lifted, %s left, which another tool set: %s.", count(len(out.Released), "hold", "holds"), count(len(out.Left), "hold", "holds"), holdNames(out.Left))
	case !out.Verified && c.force:
		a.conclude(attention, "Release: %s lifted, and nothing was verified: %s.", count(len(out.Released), "hold", "holds"), holdNames(out.Released))
	default:
		a.conclude(good, "Release: %s lifted: %s.", count(len(out.Released), "hold", "holds"), holdNames(out.Released))
	}
	return nil
}
