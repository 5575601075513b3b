package side

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/znode"
)

// Tree is a tree in memory as a side. The tree must not be changed meanwhile.
func Tree(t *znode.Tree) Side { return tree{t} }

type tree struct{ t *znode.Tree }

func (s tree) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := ctx.Err(); err != nil {
		return znode.Node{}, err
	}
	n := s.t.Get(path)
	if n == nil {
		return znode.Node{}, fmt.Errorf("%s: %w", path, znode.ErrNoNode)
	}
	return *n, nil
}

func (s tree) Children(ctx context.Context, path string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.t.Get(path) == nil {
		return nil, fmt.Errorf("%s: %w", path, znode.ErrNoNode)
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
