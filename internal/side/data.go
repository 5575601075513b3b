package side

import (
	"context"
	"iter"

	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
)

// Data is a server's data directory as a side.
func Data(d *zkdata.Data) Side { return data{d} }

type data struct{ d *zkdata.Data }

func (s data) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := ctx.Err(); err != nil {
		return znode.Node{}, err
	}
	n, ok := s.d.Get(path)
	if !ok {
		return znode.Node{}, notThere(path)
	}
	return n, s.d.Check(n)
}

func (s data) Children(ctx context.Context, path string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, ok := s.d.Get(path); !ok {
		return nil, notThere(path)
	}
	return s.d.Children(path), nil
}

func (s data) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return func(yield func(Subtree, error) bool) {
		for root := range roots {
			sub := Subtree{Root: root}
			for n, err := range s.Walk(ctx, root) {
				if err != nil {
					yield(Subtree{}, err)
					return
				}
				sub.Nodes = append(sub.Nodes, n)
			}
			if !yield(sub, nil) {
				return
			}
		}
	}
}

func (s data) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		self := func(path string) bool {
			n, err := s.Get(ctx, path)
			if err != nil {
				yield(znode.Node{}, err)
				return false
			}
			return yield(n, nil)
		}
		var children func(path string) bool
		children = func(path string) bool {
			siblings := func(yield func(name, path string) bool) {
				for _, name := range s.d.Children(path) {
					if !yield(name, znode.Join(path, name)) {
						return
					}
				}
			}
			return inPathOrder(siblings, self, children)
		}
		if _, ok := s.d.Get(root); ok && self(root) {
			children(root)
		} else if err := ctx.Err(); err != nil {
			yield(znode.Node{}, err)
		}
	}
}
