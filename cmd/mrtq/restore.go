package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/internal/restore"
	"mrtq/internal/sides"
	"mrtq/internal/znode"
	"mrtq/migrate"
)

type restoreCmd struct {
	in, below, output string
}

func (a *app) restoreCmd() *cobra.Command {
	c := &restoreCmd{}
	cmd := &cobra.Command{
		Use:   "restore TARGET --in FILE",
		Short: "load a dump",
		Long: `Create the znodes of a dump below the target's chroot. A znode that already exists
with the same data stays. If one exists with other data, nothing is written.
Ephemeral znodes are left out, because their sessions have ended, and so is the data
of the chroot itself. Containers and TTL znodes become ordinary ones, which the server does not remove,
because a dump does not tell them apart. ZooKeeper numbers a parent's sequential children with a counter, which nobody can set. restore names each
counter that is behind the dump's. restore refuses a dump that lacks znodes (see mrtq
dump). If it is interrupted, run it again.

What the target can't hold is named before anything is written, with the reason and what
to do: a znode above its jute.maxbuffer, an ACL that it does not take, a znode where it has
an ephemeral one. Only a quota may show later: raise it, and run the command again.

--below restores only a part of the dump. If the migration's own records were
damaged, restore --below /migration brings them back from a dump of the target that
was made after the last migrate, release or rollback.`,
		Example: `  mrtq restore localhost:2281/copy --in queue.ndjson.gz
  mrtq restore zk1:2181/new --in new.ndjson.gz --below /migration`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.in == "" {
				return exit.Usagef("--in FILE is missing; usage: mrtq %s", cmd.Use)
			}
			return c.run(cmd.Context(), a, args[0])
		},
	}
	a.conn.RateFlag(cmd.Flags())
	cmd.Flags().StringVar(&c.in, "in", "", "dump `file`, with gzip if its name ends in .gz")
	cmd.Flags().StringVar(&c.below, "below", "/", "restore only this `znode` and what is below it; its parents are created if they are missing")
	outputFlag(cmd.Flags(), &c.output, "json")
	return cmd
}

func (c *restoreCmd) run(ctx context.Context, a *app, target string) error {
	p, err := parsePlace("TARGET", target)
	switch {
	case err != nil:
		return err
	case p.File != "":
		return exit.Usagef("TARGET %q is a dump already", target)
	}
	if err := znode.ValidatePath(c.below); err != nil {
		return exit.Usagef("--below: %w", err)
	}
	tree, err := c.read(ctx, a)
	if err != nil {
		return err
	}
	res, err := c.restore(ctx, a, p, tree)
	if errors.Is(err, restore.ErrOtherData) || errors.Is(err, restore.ErrRefused) {
		err = exit.Check(err)
	}
	if err != nil {
		return failed("target", target, err)
	}
	tone, behind := screen.Good, ""
	if n := len(res.Counters); n > 0 {
		tone = screen.Attention
		behind = fmt.Sprintf(" %s behind the dump's: before clients write, create and delete as many children there as it is behind (see the table).", screen.Count(n, "sequence counter is", "sequence counters are"))
	}
	a.Conclude(tone, "done", fmt.Sprintf("%s created, %d already there, %d ephemeral left out.%s", screen.Count(res.Created, "znode", "znodes"), res.There, len(res.Ephemerals), behind), advice.Next{})
	a.printAs(c.output, res, func() { c.print(a, res) })
	return nil
}

func (c *restoreCmd) read(ctx context.Context, a *app) (*znode.Tree, error) {
	p, err := parsePlace("--in", "file:"+c.in)
	if err != nil {
		return nil, err
	}
	opt, finish, err := a.options(p)
	defer finish()
	if err != nil {
		return nil, err
	}
	opt.RequireComplete = true
	tree, err := sides.Load(ctx, p.Place, opt)
	if err != nil {
		return nil, files.Unread("--in "+c.in, err)
	}
	for _, path := range slices.Backward(tree.Paths("/")) {
		if !znode.Within(path, c.below) && !znode.Within(c.below, path) {
			tree.Remove(tree.Get(path))
		}
	}
	switch {
	case tree.Len() <= 1:
		return nil, fmt.Errorf("--in %s: it holds no znode", c.in)
	case tree.Get(c.below) == nil:
		return nil, exit.Check(fmt.Errorf("--in %s: it has no %s", c.in, c.below))
	}
	return tree, nil
}

func (c *restoreCmd) restore(ctx context.Context, a *app, p place, tree *znode.Tree) (res *restore.Result, err error) {
	show, finish := a.Progress("restoring", "znodes")
	defer finish()
	opt := restore.Options{Below: c.below, Ops: a.conn.MaxRate, Progress: show}
	err = a.onTarget(ctx, p, func(w *migrate.WritableSide) error {
		res, err = restore.Restore(ctx, tree, w.Writer, opt)
		if res != nil && res.Chroot != "" {
			a.Say("created the chroot %s", res.Chroot)
		}
		return err
	})
	return res, err
}

func (c *restoreCmd) print(a *app, r *restore.Result) {
	var rows []screen.Row
	for _, p := range r.Ephemerals {
		rows = append(rows, screen.Row{p, "ephemeral, left out"})
	}
	for _, c := range r.Counters {
		rows = append(rows, screen.Row{c.Path, fmt.Sprintf("its sequence counter is %d, and was %d when the dump was made: new sequential children get names that children of the dump had", c.Found, c.Wanted)})
	}
	screen.List(a.Screen, "", rows, []string{"ZNODE", "WHAT"}, func(r screen.Row) screen.Row { return r })
}
