package zkconn

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"mrtq/internal/part"
	"mrtq/internal/znode"
)

// Subtree is a znode and everything below it. Each znode is as it was at some
// moment of the call.
type Subtree struct {
	Root string
	// Nodes are in path order, Root's first. There are none if Root doesn't
	// exist. The caller owns them, but must not change their data.
	Nodes []znode.Node
}

// Missing reports whether the root doesn't exist.
func (s Subtree) Missing() bool { return len(s.Nodes) == 0 }

const (
	// together is how many subtrees are read together, one generation after the other.
	together part.Size = 64
	// lookahead is how many such groups are read at once. So the window has always enough
	// to send, although each group waits for one generation before the next.
	lookahead = 2
)

// Subtrees reads the subtrees of roots. It yields one for each root, in the
// order of roots, and ends after the first error. It may pull a root long
// before it yields the root's subtree, but it pulls none while the caller
// uses a subtree. A leaf costs one read, because its Stat says that it has no children.
func (r *Reader) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return func(yield func(Subtree, error) bool) {
		for group, err := range r.groups(ctx, roots, math.MaxInt) {
			for _, g := range group {
				if !yield(Subtree{g.root, g.nodes}, nil) {
					return
				}
			}
			if err != nil {
				yield(Subtree{}, err)
				return
			}
		}
	}
}

// Tree reads whole subtrees into memory. A missing one is left out. Without roots, it reads
// everything below the chroot. Of the parents of roots the tree has only the paths.
func (r *Reader) Tree(ctx context.Context, roots ...string) (*znode.Tree, error) {
	if len(roots) == 0 {
		roots = []string{"/"}
	}
	tree := znode.NewTree()
	for sub, err := range r.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return nil, err
		}
		for _, n := range sub.Nodes {
			if err := tree.Put(n); err != nil {
				return nil, err
			}
		}
	}
	return tree, nil
}

type branch struct {
	root  string
	nodes []znode.Node // in path order; none if the root doesn't exist
	wide  []string     // the nodes whose children are not in the branch, in the path order of the children
}

// groups reads the branches that begin at roots, group by group, several groups at once.
// No branch has more than most znodes. It pulls from roots only between two yields, so
// nothing piles up while the caller is busy. It ends after the first error.
func (r *Reader) groups(ctx context.Context, roots iter.Seq[string], most int) iter.Seq2[[]branch, error] {
	type result struct {
		group []branch
		err   error
	}
	return func(yield func([]branch, error) bool) {
		next, stop := iter.Pull(roots)
		defer stop()
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var pending []chan result
		for more := true; ; {
			for more && len(pending) < lookahead {
				var group []string
				for root, ok := next(); ok; root, ok = next() {
					if group = append(group, root); len(group) == together.N() {
						break
					}
				}
				if more = len(group) == together.N(); len(group) == 0 {
					break
				}
				done := make(chan result, 1)
				running.Go(func() {
					branches, err := r.branches(ctx, group, most)
					done <- result{branches, err}
				})
				pending = append(pending, done)
			}
			if len(pending) == 0 {
				return
			}
			got := <-pending[0]
			pending = pending[1:]
			if !yield(got.group, got.err) || got.err != nil {
				return
			}
		}
	}
}

func (r *Reader) branches(ctx context.Context, roots []string, most int) ([]branch, error) {
	branches := make([]branch, len(roots))
	of := make([]*branch, len(roots)) // of each path of this generation
	for i, root := range roots {
		branches[i].root = root
		of[i] = &branches[i]
	}
	for paths := roots; len(paths) > 0; {
		nodes, err := r.getAll(ctx, paths)
		if err != nil {
			return nil, err
		}
		for i, n := range nodes {
			if n.Path != "" {
				of[i].nodes = append(of[i].nodes, n)
			}
		}
		var parents []string
		var ofParents []*branch
		expected := map[*branch]int{} // the znodes of the next generation
		for i, n := range nodes {
			if children := int(n.Stat.NumChildren); children > 0 && n.Unreadable == "" {
				if b := of[i]; children > most-len(b.nodes)-expected[b] {
					b.wide = append(b.wide, n.Path)
				} else {
					expected[b] += children
					b.nodes = slices.Grow(b.nodes, expected[b])
					parents, ofParents = append(parents, n.Path), append(ofParents, b)
				}
			}
		}
		lists, err := r.ChildrenAll(ctx, parents)
		if err != nil {
			return nil, err
		}
		paths, of = nil, nil
		for k, names := range lists {
			for _, name := range names {
				paths, of = append(paths, znode.Join(parents[k], name)), append(of, ofParents[k])
			}
		}
	}
	for _, b := range branches {
		slices.SortFunc(b.nodes, func(a, b znode.Node) int { return strings.Compare(a.Path, b.Path) })
		slices.SortFunc(b.wide, func(a, b string) int { return strings.Compare(below(a), below(b)) })
	}
	return branches, nil
}

func below(path string) string {
	if path == "/" {
		return path
	}
	return path + "/"
}
