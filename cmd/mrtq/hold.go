package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/help"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

type holdFlags struct{ only, collections []string }

func (h *holdFlags) flags(f *pflag.FlagSet) {
	f.StringSliceVar(&h.only, "only", nil, "only this `queue`: ingest, accessSmall or accessLarge; can be repeated")
	settings.Offer(f, "only", help.Texts(newqueue.QueueHolds)...)
	f.StringSliceVar(&h.collections, "collection", nil, "this collection, by its `profile`; can be repeated")
}

func (h *holdFlags) queues() (queues []newqueue.QueueHold, err error) {
	for _, name := range h.only {
		q := newqueue.QueueHold(name)
		if !slices.Contains(newqueue.QueueHolds, q) {
			return nil, exit.Usagef("--only %s: expected ingest, accessSmall or accessLarge", advice.Word(name))
		}
		queues = append(queues, q)
	}
	for _, c := range h.collections {
		if err := znode.ValidatePath("/" + c); err != nil || strings.Contains(c, "/") {
			return nil, exit.Usagef("--collection %s: a collection's name must be a valid znode name", advice.Word(c))
		}
	}
	return queues, nil
}

type holdCmd struct {
	holdFlags
	by, why, output string
}

func (a *app) holdCmd() *cobra.Command {
	c := &holdCmd{}
	cmd := &cobra.Command{
		Use:   "hold TARGET",
		Short: "hold queues and collections, so that services start no new work",
		Long: `Hold all new queues, or only the queues and collections that you name. Services that
respect holds start no new work on what is held. They finish the work that they have
started. A hold has a list of owners: who set it, when, and why. mrtq status shows
them. If somebody else holds a queue already, hold adds you as one more owner, and
the queue stays held until each owner has let go. If no batch is of a collection
that you name, hold says so, and names those that are there.

mrtq release lifts the holds of a migration, and with --others those of people. It lifts
a hold on a collection only if --collection names it.`,
		Example: `  mrtq hold zk1:2181/new --why maintenance
  mrtq hold zk1:2181/new --only ingest
  mrtq hold zk1:2181/new --collection merritt_content`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	f := cmd.Flags()
	c.flags(f)
	f.StringVar(&c.by, "by", "", "`name` of the person who holds (default your user name and host)")
	f.StringVar(&c.why, "why", "", "`reason` for the hold, for other operators to read")
	outputFlag(f, &c.output, "json")
	return cmd
}

func (c *holdCmd) run(ctx context.Context, a *app, target string) error {
	p, err := parsePlace("TARGET", target)
	if err != nil {
		return err
	}
	queues, err := c.queues()
	if err != nil {
		return err
	}
	opt := migrate.HoldOptions{Queues: queues, Collections: c.collections, By: cmp.Or(c.by, whoami()), Why: c.why}
	var held *migrate.HoldResult
	err = a.onTarget(ctx, p, func(w *migrate.WritableSide) error {
		held, err = migrate.Hold(ctx, w.Writer, opt)
		return err
	})
	if err != nil {
		return a.wayOut(ctx, p, failed("target", p.Text, err))
	}
	if c.output == "json" {
		a.JSON(held)
	}
	text := fmt.Sprintf("Held by %s: %s.", opt.By, view.HoldNames(held.Held))
	if len(c.collections) > 0 {
		text += " A collection stays held until mrtq release --collection names it."
	}
	tone := screen.Good
	if len(held.Unknown) > 0 {
		tone = screen.Attention
		text += fmt.Sprintf(" No batch is of %s: look whether it is misspelt. Those that are there: %s.", strings.Join(held.Unknown, ", "), cmp.Or(strings.Join(held.Profiles, ", "), "none"))
	}
	a.Conclude(tone, "done", text, advice.Next{})
	return nil
}

func whoami() string {
	name := os.Getenv("SUDO_USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	name = cmp.Or(name, "unknown")
	if host, err := os.Hostname(); err == nil {
		return name + "@" + host
	}
	return name
}
