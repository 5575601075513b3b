package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mrtq/migrate"
)

type restoreCmd struct {
	in, output string
	packet     int
}

func (a *app) restoreCmd() *cobra.Command {
	c := &restoreCmd{}
	cmd := &cobra.Command{
		Use:   "restore TARGET --in FILE",
		Short: "load a dump",
		Long: `Create the znodes of a dump below the target's chroot. A znode that already exists
with the same data stays. If one exists with other data, nothing is written.
Ephemeral znodes are left out, because their sessions have ended. restore advances
the sequence counters to their values in the dump, so that new sequential children
sort after the restored ones. It refuses a dump that lacks znodes (see mrtq dump).
If it is interrupted, run it again.`,
		Example: `  mrtq restore localhost:2281/copy --in queue.ndjson.gz`,
		Args:    args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.in == "" {
				return usageError("--in FILE is missing; usage: mrtq %s", cmd.Use)
			}
			return c.run(cmd.Context(), a, args[0])
		},
	}
	a.conn.rateFlag(cmd.Flags())
	cmd.Flags().StringVar(&c.in, "in", "", "dump `file`, with gzip if its name ends in .gz")
	cmd.Flags().IntVar(&c.packet, "packet", 0, "the servers' jute.maxbuffer in `bytes`: if a znode is larger, restore says so and writes nothing; give it if it is less than its default (0: not known)")
	choice(cmd.Flags(), &c.output, "output", "o", "format", "table", "json")
	return cmd
}

// leastPacket leaves room for a znode and for what a server adds to it.
const leastPacket = 16 << 10

func (c *restoreCmd) run(ctx context.Context, a *app, target string) error {
	e, err := parseEndpoint("TARGET", target)
	switch {
	case err != nil:
		return err
	case e.file != "":
		return usageError("TARGET %q is a dump already", target)
	case c.packet != 0 && c.packet < leastPacket:
		return usageError("--packet %d: want at least %d, or 0", c.packet, leastPacket)
	}
	tree, err := readDump(c.in)
	if err != nil {
		return cmp.Or(noFile("--in "+c.in, c.in, err, makeDump), fmt.Errorf("restore: --in %s: %w", c.in, err))
	}
	if tree.Len() == 1 {
		return fmt.Errorf("restore: --in %s: it holds no znode", c.in)
	}
	m := &migrate.Migrator{MaxOps: a.conn.maxRate, Say: func(s string) { a.say("%s", s) }}
	if c.packet > 0 {
		if err := migrate.CheckPacket(tree, c.packet, len(e.addr.Chroot)); err != nil {
			return checkError(fmt.Errorf("restore: --in %s: %w", c.in, err))
		}
		m.Budget = migrate.PacketBudget(c.packet)
	}
	w, err := a.writer(ctx, e)
	if err != nil {
		return failed("restore", target, err)
	}
	defer w.Close()
	ctx, finish := a.phases(ctx, "restoring")
	res, err := m.Restore(ctx, w, tree)
	finish()
	if errors.Is(err, migrate.ErrOtherData) {
		err = checkError(err)
	}
	if err != nil {
		return failed("restore", target, err)
	}
	t := good
	if len(res.Warnings) > 0 {
		t = attention
	}
	a.conclude(t, "Restore: %s created, %d already there, %d ephemeral left out, sequence counters advanced by %d.",
		count(res.Created, "znode", "znodes"), res.There, len(res.Ephemerals), res.Counters)
	if c.output == "json" {
		return a.printJSON(res)
	}
	a.printRestored(res)
	return nil
}

func (a *app) printRestored(r *migrate.Restored) {
	for i, p := range r.Ephemerals {
		if i == mostRows {
			a.say("… and %d more; -o json has all", len(r.Ephemerals)-mostRows)
			break
		}
		a.say("%s: ephemeral, left out", p)
	}
	for i, w := range r.Warnings {
		if i == mostRows {
			a.say("… and %d more; -o json has all", len(r.Warnings)-mostRows)
			break
		}
		a.say("%s: %s", w.Path, w.Message)
	}
}
