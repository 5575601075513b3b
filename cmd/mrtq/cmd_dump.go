package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

type dumpCmd struct{ out, unreadable string }

// What becomes of a dump that lacks something.
const (
	unreadableFail   = "fail"
	unreadableAccept = "accept"
)

func (a *app) dumpCmd() *cobra.Command {
	c := &dumpCmd{}
	cmd := &cobra.Command{
		Use:   "dump SOURCE",
		Short: "write a tree to a dump",
		Long: `Write every znode below the source's chroot, with data, Stat and ACL, as one
JSON object a line sorted by path. ZooKeeper's own /zookeeper is left out.
Nothing is written to the source.

A znode that may not be read is named, and marked in the dump as unreadable, so
that whatever reads the dump knows what it lacks. Such a dump is exit code 3 and
replaces no file, unless --unreadable accept.`,
		Example: `  mrtq dump zk1:2181,zk2:2181 --out queue.ndjson.gz
  mrtq dump snapshot:/var/lib/zookeeper,/var/log/zookeeper#/app --out queue.ndjson.gz`,
		Args: args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	a.conn.rateFlag(cmd.Flags())
	outFlag(cmd.Flags(), &c.out, "`file` to write, packed if its name ends in .gz; default stdout")
	choice(cmd.Flags(), &c.unreadable, "unreadable", "", "what a znode that may not be read makes of the dump: a failure, or a dump that lacks it", unreadableFail, unreadableAccept)
	return cmd
}

func (c *dumpCmd) run(ctx context.Context, a *app, source string) error {
	e, err := parseEndpoint("SOURCE", source)
	if err != nil {
		return err
	}
	if err := a.apart([]named{{by: "--out", path: c.out}}, e.read("SOURCE")); err != nil {
		return err
	}
	d := dumping{a: a}
	from, err := a.openSource(ctx, e, side.AllACLs)
	if err != nil {
		return failed("dump", source, err)
	}
	defer from.Close()
	if _, err := from.Get(ctx, "/"); errors.Is(err, znode.ErrNoNode) {
		return failed("dump", source, fmt.Errorf("the chroot %s is not there", e.addr.Chroot))
	} else if err != nil {
		return failed("dump", source, err)
	}
	var kept error // why a file that is there is not replaced
	write := func(w io.Writer) error {
		if err := d.write(ctx, from, w); err != nil {
			return err
		}
		if kept = d.lacking(c.unreadable); kept != nil && replaces(c.out) {
			kept = fmt.Errorf("%w; %s is as it was", kept, c.out)
			return kept
		}
		return nil
	}
	if c.out == "" {
		err = write(a.stdout)
	} else {
		err = writeFile(c.out, write)
	}
	if err == nil {
		err = kept
	}
	if err != nil {
		return failed("dump", source, err)
	}
	where := ""
	if c.out != "" {
		where = " in " + c.out
	}
	if d.lacks > 0 {
		a.conclude(attention, "Dump: %s%s, without the data of %d.", count(d.written, "znode", "znodes"), where, d.lacks)
	} else {
		a.conclude(good, "Dump: %s%s.", count(d.written, "znode", "znodes"), where)
	}
	return nil
}

// replaces reports whether a file is there that writing to path would replace.
func replaces(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// dumping is a dump while it is written.
type dumping struct {
	a       *app
	written int
	lacks   int // znodes that may not be read
}

// write writes all that is there as it is read, and names what may not be read.
func (d *dumping) write(ctx context.Context, from side.Side, w io.Writer) error {
	show, finish := d.a.progress("reading the tree", "znodes")
	defer finish()
	out := znode.NewDumpWriter(w)
	for n, err := range from.Walk(ctx, "/") {
		if err != nil {
			return err
		}
		if err := out.Write(&n); err != nil {
			return err
		}
		if n.Path != "/" {
			d.written++
		}
		if n.Unreadable != "" {
			d.lacks++
			d.a.say("%s: unreadable: %s; nor is known what is below it", n.Path, n.Unreadable)
		}
		if d.written%100 == 0 {
			show(d.written, 0)
		}
	}
	return out.Close()
}

// lacking is what is wrong with a dump that lacks something, if that is a failure.
func (d *dumping) lacking(unreadable string) error {
	if d.lacks == 0 || unreadable == unreadableAccept {
		return nil
	}
	return fmt.Errorf("%s could not be read, named above; give credentials that may, with --auth-file or $%s, or accept a dump without them with --unreadable %s",
		count(d.lacks, "znode", "znodes"), authVariable, unreadableAccept)
}
