package zkdata

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"mrtq/internal/znode"
)

// Paths are as clients see them, inside the chroot. ZooKeeper's own /zookeeper
// is left out, but the Stat of the root counts it.

// Get is the znode at a path. Its data and ACL belong to the tree and must not
// be changed.
func (d *Data) Get(path string) (znode.Node, bool) {
	n := d.find(path)
	if n == nil {
		return znode.Node{}, false
	}
	return d.znode(n, path), true
}

// Children are the names of a znode's children in byte order.
func (d *Data) Children(path string) []string {
	n := d.find(path)
	if n == nil {
		return nil
	}
	names := make([]string, 0, len(n.children))
	for name := range n.children {
		if !n.owns(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Nodes yields the znodes at and below a path: a parent before its children,
// and siblings in byte order of their names.
func (d *Data) Nodes(path string) iter.Seq[znode.Node] {
	return func(yield func(znode.Node) bool) {
		if n := d.find(path); n != nil {
			d.walk(n, path, yield)
		}
	}
}

func (d *Data) walk(n *node, path string, yield func(znode.Node) bool) bool {
	if !yield(d.znode(n, path)) {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		if !n.owns(name) && !d.walk(n.children[name], znode.Join(path, name), yield) {
			return false
		}
	}
	return true
}

// owns reports whether a child is ZooKeeper's own znode.
func (n *node) owns(child string) bool { return n.parent == nil && child == "zookeeper" }

// Tree is the tree below the given roots, or the whole tree, as a session with
// a server would read it. It has the parents of roots, but not their other
// children. It leaves out a root that doesn't exist.
func (d *Data) Tree(roots ...string) (*znode.Tree, error) {
	if len(roots) == 0 {
		roots = []string{"/"}
	}
	t := znode.NewTree()
	for _, root := range roots {
		for p := znode.Parent(root); p != ""; p = znode.Parent(p) {
			if n, ok := d.Get(p); ok {
				if err := d.put(t, n); err != nil {
					return nil, err
				}
			}
		}
		for n := range d.Nodes(root) {
			if err := d.put(t, n); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

func (d *Data) put(t *znode.Tree, n znode.Node) error {
	if err := d.Check(n); err != nil {
		return err
	}
	if err := t.Put(n); err != nil {
		return &Error{Kind: ErrCorrupt, File: d.place.Dir, Offset: -1, What: err.Error(), Do: readAnother}
	}
	return nil
}

// Check refuses a znode that no sound data directory has. The error is an
// [*Error].
func (d *Data) Check(n znode.Node) error {
	if n.ACL == nil {
		return &Error{Kind: ErrCorrupt, File: d.snapshot, Offset: -1, What: fmt.Sprintf("%s has an ACL that the snapshot doesn't list", n.Path), Do: readAnother}
	}
	if err := znode.ValidatePath(n.Path); err != nil {
		return &Error{Kind: ErrCorrupt, File: d.place.Dir, Offset: -1, What: err.Error(), Do: readAnother}
	}
	return nil
}

func (d *Data) absolute(path string) string {
	if path == "/" {
		return d.place.Chroot
	}
	return d.place.Chroot + path
}

func (d *Data) find(path string) *node {
	abs := []byte(d.absolute(path))
	if system(abs) {
		return nil
	}
	return d.tree.find(abs)
}

// znode is the node as a client sees it; its ACL is nil if it is not known.
func (d *Data) znode(n *node, path string) znode.Node {
	z := znode.Node{Path: path, Data: n.data, Stat: d.tree.clientStat(n)}
	if n.acl != nil {
		z.ACL = *n.acl
	}
	return z
}
