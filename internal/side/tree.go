package side

import (
	"context"
	"iter"
	"slices"

	"mrtq/internal/znode"
)

// Tree is a tree in memory as a side. The tree must not change while the side is
// used.
func Tree(t *znode.Tree) Side { return tree{t} }

type tree struct{ t *znode.Tree }

func (s tree) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := ctx.Err(); err != nil {
		return znode.Node{}, err
	}
	n := s.t.Get(path)
	if n == nil {
		return znode.Node{}, notThere(path)
	}
	return *n, nil
}

func (s tree) Children(ctx context.Context, path string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.t.Get(path) == nil {
		return nil, notThere(path)
	}
	return slices.Clone(s.t.Children(path)), nil
}

func (s tree) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return func(yield func(Subtree, error) bool) {
		for root := range roots {
			if err := ctx.Err(); err != nil {
				yield(Subtree{}, err)
				return
			}
			sub := Subtree{Root: root}
			for n := range s.t.All(root) {
				sub.Nodes = append(sub.Nodes, *n)
			}
			if !yield(sub, nil) {
				return
			}
		}
	}
}

func (s tree) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		for n := range s.t.All(root) {
			if err := ctx.Err(); err != nil {
				yield(znode.Node{}, err)
				return
			}
			if !yield(*n, nil) {
				return
			}
		}
	}
}
