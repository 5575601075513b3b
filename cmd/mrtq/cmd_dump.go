package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"mrtq/internal/zkconn"
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
	cmd.Flags().StringVar(&c.out, "out", "", "`file` to write, packed if its name ends in .gz; default stdout")
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
	tree, err := a.wholeTree(ctx, e)
	if err != nil {
		return failed("dump", source, err)
	}
	lacks := tree.Unreadable()
	for _, n := range lacks {
		a.say("%s: unreadable: %s; nor is known what is below it", n.Path, n.Unreadable)
	}
	var lacking error
	if len(lacks) > 0 && c.unreadable == unreadableFail {
		lacking = fmt.Errorf("%s could not be read, named above; give credentials that may, with --auth-file or $%s, or accept a dump without them with --unreadable %s",
			count(len(lacks), "znode", "znodes"), authVariable, unreadableAccept)
	}
	if info, err := os.Stat(c.out); lacking != nil && err == nil && info.Mode().IsRegular() {
		return failed("dump", source, fmt.Errorf("%w; %s is as it was", lacking, c.out))
	}
	if err := c.write(a, tree); err != nil {
		return failed("dump", source, err)
	}
	if lacking != nil {
		return failed("dump", source, lacking)
	}
	where := ""
	if c.out != "" {
		where = " in " + c.out
	}
	if len(lacks) > 0 {
		a.conclude(attention, "Dump: %s%s, without the data of %d.", count(tree.Len()-1, "znode", "znodes"), where, len(lacks))
	} else {
		a.conclude(good, "Dump: %s%s.", count(tree.Len()-1, "znode", "znodes"), where)
	}
	return nil
}

func (c *dumpCmd) write(a *app, tree *znode.Tree) error {
	if c.out == "" {
		return znode.WriteDump(a.stdout, tree)
	}
	return writeDump(c.out, tree)
}

// wholeTree reads everything; what may not be read is marked.
func (a *app) wholeTree(ctx context.Context, e endpoint) (*znode.Tree, error) {
	if e.file != "" {
		return readLackingDump(e.file)
	}
	if e.data != nil {
		d, err := a.readData(ctx, e)
		if err != nil {
			return nil, err
		}
		return d.Tree()
	}
	r, err := a.reader(ctx, e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, ok, err := r.Exists(ctx, "/"); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("the chroot %s is not there", e.addr.Chroot)
	}
	if err := r.Sync(ctx); err != nil {
		return nil, err
	}
	show, finish := a.progress("reading")
	defer finish()
	return r.MarkUnreadable().Tree(ctx, zkconn.TreeOptions{ACL: true, Progress: func(n int) { show(n, 0) }})
}
