package zkconn

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"mrtq/internal/pace"
	"mrtq/internal/znode"
)

// TreeOptions says what [Reader.Tree] reads.
type TreeOptions struct {
	// Roots are the subtrees to read. A missing one is left out. None means
	// everything below the chroot.
	Roots []string
	ACL   bool // read the ACLs too, which costs one more request for each node
	// Progress, if not nil, is called with the number of nodes read so far. It
	// is never called concurrently.
	Progress func(nodes int)
}

// readsInFlight is how many znodes are read at once, which is as many as the pace can ever
// allow.
var readsInFlight = pace.Reads.Most

// Tree reads subtrees, many requests at a time. Nodes that vanish meanwhile are
// left out. If the tree changes, the result is not the tree of one moment, but
// each node is as it was at some moment of the call. The parents of roots are
// read as nodes too, without their other children. ZooKeeper's own /zookeeper
// is left out. A node that the client may not read is an error, unless the Reader comes
// from [Reader.MarkUnreadable].
func (r *Reader) Tree(ctx context.Context, opt TreeOptions) (*znode.Tree, error) {
	roots := opt.Roots
	if len(roots) == 0 {
		roots = []string{"/"}
	}
	rd := &treeReader{r: r, opt: opt, tree: znode.NewTree(), got: make(chan znode.Node, readsInFlight)}
	collected := make(chan error, 1)
	go func() { collected <- rd.collect() }()
	err := rd.readAll(ctx, roots)
	close(rd.got)
	if perr := <-collected; err == nil {
		err = perr
	}
	if err != nil {
		return nil, err
	}
	return rd.tree, nil
}

type treeReader struct {
	r    *Reader
	opt  TreeOptions
	tree *znode.Tree
	got  chan znode.Node
}

// collect is the only writer of the tree.
func (rd *treeReader) collect() error {
	var first error
	for n := range rd.got {
		if err := rd.tree.Put(n); err != nil && first == nil {
			first = err
		}
		if rd.opt.Progress != nil {
			rd.opt.Progress(rd.tree.Len())
		}
	}
	return first
}

// readAll reads level by level, so one list of paths is all its state.
func (rd *treeReader) readAll(ctx context.Context, roots []string) error {
	if err := rd.readParents(ctx, roots); err != nil {
		return err
	}
	level := roots
	for len(level) > 0 {
		next := make([][]string, len(level))
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(readsInFlight)
		for i, path := range level {
			g.Go(func() (err error) {
				next[i], err = rd.readOne(gctx, path)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		level = level[:0:0]
		for _, paths := range next {
			level = append(level, paths...)
		}
	}
	return nil
}

func (rd *treeReader) readParents(ctx context.Context, roots []string) error {
	seen := map[string]bool{}
	for _, root := range roots {
		for p := znode.Parent(root); p != "" && !seen[p]; p = znode.Parent(p) {
			seen[p] = true
			n, err := rd.r.Look(ctx, p, false)
			if errors.Is(err, znode.ErrNoNode) {
				continue
			}
			if err != nil {
				return err
			}
			rd.got <- n
		}
	}
	return nil
}

// readOne reads a node and returns its children's paths.
func (rd *treeReader) readOne(ctx context.Context, path string) ([]string, error) {
	n, err := rd.r.Look(ctx, path, rd.opt.ACL)
	var names []string
	if err == nil && n.Stat.NumChildren > 0 && n.Unreadable == "" {
		names, err = rd.r.Children(ctx, path)
	}
	if errors.Is(err, znode.ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rd.got <- n
	paths := make([]string, 0, len(names))
	for _, name := range names {
		if p := znode.Join(path, name); !rd.r.System(p) {
			paths = append(paths, p)
		}
	}
	return paths, nil
}
