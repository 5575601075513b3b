package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/znode"
)

type dumpCmd struct {
	out   string
	force bool
}

func (a *app) dumpCmd() *cobra.Command {
	c := &dumpCmd{}
	cmd := &cobra.Command{
		Use:   "dump SOURCE",
		Short: "write a tree to a dump",
		Long: `Write every znode below the source's chroot to a dump, which has one line for each
znode, sorted by path: a JSON object with its data, Stat and ACL. dump leaves out
ZooKeeper's own /zookeeper, at the server's root only: below a chroot a znode of that name
is an ordinary one. It does not say which znodes are containers or have a TTL. It writes nothing to the source.

If you have no permission to read a znode, dump names it, and marks it in the dump as
unreadable, so that nobody takes the dump for a complete one. Then the exit code is 3.
With --out, no file is written.`,
		Example: `  mrtq dump zk1:2181,zk2:2181 --out queue.ndjson.gz
  mrtq dump zk1:2181/app --out app.ndjson`,
		Args: args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	a.conn.RateFlag(cmd.Flags())
	cmd.Flags().StringVar(&c.out, "out", "", "`file` to write, with gzip if its name ends in .gz, instead of stdout")
	cmd.Flags().BoolVar(&c.force, "force", false, "replace the file of --out if it exists")
	return cmd
}

func (c *dumpCmd) run(ctx context.Context, a *app, source string) error {
	p, err := parsePlace("SOURCE", source)
	if err != nil {
		return err
	}
	if err := a.checkFiles([]files.Named{{By: "--out", Path: c.out, New: !c.force}}, p.named()); err != nil {
		return err
	}
	all, done, err := a.znodes(ctx, p)
	if err != nil {
		return failed("source", source, err)
	}
	defer done()
	d := dumpOp{a: a}
	write := func(w io.Writer) error { return cmp.Or(d.write(all, w), d.lacking(c)) }
	where := ""
	if c.out == "" {
		err = write(a.Out)
	} else {
		where = " in " + c.out
		err = files.Write(c.out, write)
	}
	if err != nil {
		return failed("source", source, err)
	}
	a.Conclude(screen.Good, "done", screen.Count(d.written, "znode", "znodes")+where+".", advice.Next{})
	return nil
}

type dumpOp struct {
	a       *app
	written int
	lacks   int // znodes that may not be read
}

func (d *dumpOp) write(all iter.Seq2[znode.Node, error], w io.Writer) error {
	show, finish := d.a.Progress("reading the tree", "znodes")
	defer finish()
	out := znode.NewDumpWriter(w)
	for n, err := range all {
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
			d.a.Say("%s is unreadable: %s; what is below it is not known either", n.Path, n.Unreadable)
		}
		if d.written%100 == 0 {
			show(d.written, 0)
		}
	}
	return out.Close()
}

// lacking is the error if the dump lacks the data of znodes. Then the file of --out stays as it was, but a
// pipe or a device has got it.
func (d *dumpOp) lacking(c *dumpCmd) error {
	if d.lacks == 0 {
		return nil
	}
	unchanged := ""
	if _, err := os.Stat(c.out); c.out != "" && (err != nil || files.IsRegular(c.out)) {
		unchanged = c.out + " was not written; "
	}
	return fmt.Errorf("%s, listed above, could not be read; %sgive credentials that may read them, with --auth-file or $%s",
		screen.Count(d.lacks, "znode", "znodes"), unchanged, settings.AuthVariable)
}
