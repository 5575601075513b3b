package side

import (
	"context"
	"iter"
	"slices"

	"mrtq/internal/jute"
	"mrtq/internal/zkdata"
	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// Data is a server's data directory as a side.
func Data(d *zkdata.Data) Side { return data{d.Tree, d.Chroot} }

type data struct {
	tree   *ztree.Tree
	chroot string
}

// owner may read everything.
var owner = ztree.Caller{IDs: []jute.ID{ztree.Super}}

// absolute is the server's path of a path inside the chroot.
func (s data) absolute(path string) string {
	if path == "/" && s.chroot != "" {
		return s.chroot
	}
	return s.chroot + path
}

func (s data) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := ctx.Err(); err != nil {
		return znode.Node{}, err
	}
	for n := range s.tree.Nodes(s.absolute(path)) {
		n.Path = path
		return n, nil
	}
	return znode.Node{}, notThere(path)
}

func (s data) Children(ctx context.Context, path string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, _, err := s.tree.AppendChildren(nil, owner, s.absolute(path), nil)
	if err != nil {
		return nil, notThere(path)
	}
	names := jute.NewDecoder(list).Strings("children")
	names = slices.DeleteFunc(names, func(name string) bool { return s.absolute(znode.Join(path, name)) == ztree.SystemRoot })
	slices.Sort(names)
	return names, nil
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
		top := s.absolute(root)
		for n := range s.tree.Nodes(top) {
			if ctx.Err() != nil {
				break
			}
			if n.Path == top {
				n.Path = root
			} else {
				n.Path = n.Path[len(s.chroot):]
			}
			if !yield(n, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(znode.Node{}, err)
		}
	}
}
