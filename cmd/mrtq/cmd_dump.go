package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

func (a *app) dumpCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "dump SOURCE",
		Short: "write a tree to a dump",
		Long: `Write every znode below the source's chroot, with data, Stat and ACL, as one
JSON object a line sorted by path. ZooKeeper's own /zookeeper is left out.
Nothing is written to the source.`,
		Example: `  mrtq dump zk1:2181,zk2:2181 --out queue.ndjson.gz`,
		Args:    args("SOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := parseEndpoint("SOURCE", args[0])
			if err != nil {
				return err
			}
			tree, err := a.wholeTree(cmd.Context(), e)
			if err != nil {
				return failed("dump", args[0], err)
			}
			if out == "" {
				return znode.WriteDump(a.stdout, tree)
			}
			if err := writeDump(out, tree); err != nil {
				return failed("dump", args[0], err)
			}
			a.say("%s in %s", count(tree.Len()-1, "znode", "znodes"), out)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`file` to write, packed if its name ends in .gz; default stdout")
	return cmd
}

func (a *app) wholeTree(ctx context.Context, e endpoint) (*znode.Tree, error) {
	if e.file != "" {
		return readDump(e.file)
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
	return r.Tree(ctx, zkconn.TreeOptions{ACL: true, Progress: func(n int) { show(n, 0) }})
}
