package zkconn

import (
	"context"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// Stand-in until the client of our own lands.

type Subtree struct {
	Root  string
	Nodes []znode.Node
}

func (s Subtree) Missing() bool { return len(s.Nodes) == 0 }

func (r *Reader) GetAll(ctx context.Context, paths []string, acl func(string) bool) ([]znode.Node, error) {
	if acl == nil {
		acl = func(string) bool { return false }
	}
	return r.LookAll(ctx, paths, acl)
}

func (r *Reader) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return func(yield func(Subtree, error) bool) {
		var window []string
		flush := func() bool {
			subs, err := r.subtrees(ctx, window)
			if err != nil {
				yield(Subtree{}, err)
				return false
			}
			window = window[:0]
			for _, s := range subs {
				if !yield(s, nil) {
					return false
				}
			}
			return true
		}
		for root := range roots {
			if window = append(window, root); len(window) == 1000 && !flush() {
				return
			}
		}
		flush()
	}
}

func (r *Reader) subtrees(ctx context.Context, roots []string) ([]Subtree, error) {
	got := map[string][]znode.Node{}
	owner := map[string]string{}
	level := slices.Clone(roots)
	for _, p := range level {
		owner[p] = p
	}
	for len(level) > 0 {
		nodes, err := r.GetAll(ctx, level, nil)
		if err != nil {
			return nil, err
		}
		var parents []string
		for _, n := range nodes {
			o := owner[n.Path]
			got[o] = append(got[o], n)
			if n.Stat.NumChildren > 0 && n.Unreadable == "" {
				parents = append(parents, n.Path)
			}
		}
		lists, err := r.ChildrenAll(ctx, parents)
		if err != nil {
			return nil, err
		}
		level = nil
		for i, names := range lists {
			for _, name := range names {
				p := znode.Join(parents[i], name)
				owner[p] = owner[parents[i]]
				level = append(level, p)
			}
		}
	}
	var subs []Subtree
	for _, root := range roots {
		nodes := got[root]
		slices.SortFunc(nodes, func(a, b znode.Node) int { return strings.Compare(strings.ReplaceAll(a.Path, "/", "\x00"), strings.ReplaceAll(b.Path, "/", "\x00")) })
		subs = append(subs, Subtree{root, nodes})
	}
	return subs, nil
}
