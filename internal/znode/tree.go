package znode

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
)

// Tree is a set of znodes with all their parents, so the root always exists. It
// is not safe for concurrent use while being changed.
type Tree struct {
	nodes map[string]*Node
}

// NewTree returns a tree that holds only the root.
func NewTree() *Tree {
	return &Tree{nodes: map[string]*Node{"/": {Path: "/", Data: []byte{}, madeUp: true}}}
}

// Get returns the node at path, or nil. The tree keeps ownership.
func (t *Tree) Get(path string) *Node { return t.nodes[path] }

// Len counts the nodes, the root included.
func (t *Tree) Len() int { return len(t.nodes) }

// Children returns the names of path's children in byte order; nil when it has none.
func (t *Tree) Children(path string) []string {
	n := t.nodes[path]
	if n == nil || len(n.children) == 0 {
		return nil
	}
	names := make([]string, 0, len(n.children))
	for _, c := range n.children {
		names = append(names, Name(c.Path))
	}
	sort.Strings(names)
	return names
}

// maxDepth is the depth of the deepest path that a tree accepts. Otherwise one
// long line of a dump could create half a million parents, and their paths would
// need the square of the line's length in memory. No server's tree is nearly so
// deep, because a server reads and writes its tree recursively.
const maxDepth = 1000

// validateTreePath is [ValidatePath], and also refuses a path that is deeper
// than any server's. The error wraps [ErrPath].
func validateTreePath(path string) error {
	if err := ValidatePath(path); err != nil {
		return err
	}
	if strings.Count(path, "/") > maxDepth {
		return fmt.Errorf("%w %.60q…: it is deeper than %d znodes", ErrPath, path, maxDepth)
	}
	return nil
}

// Put adds or replaces a node, and keeps its Stat unchanged. It adds missing
// parents as empty nodes, so nodes may come in any order. The error wraps
// [ErrPath].
func (t *Tree) Put(n Node) error {
	if err := validateTreePath(n.Path); err != nil {
		return err
	}
	t.put(n)
	return nil
}

func (t *Tree) put(n Node) {
	n.madeUp = false
	if old := t.nodes[n.Path]; old != nil {
		n.children, n.slot = old.children, old.slot
		*old = n
		return
	}
	n.children = nil // they belong to the tree that n comes from
	t.Insert(&n)
}

// Add is [Tree.Put] of a node that a server could have beside the others, and that nobody has put
// yet. The error wraps [ErrPath], [ErrDumpedTwice] or [ErrEphemeralParent].
func (t *Tree) Add(n Node) error {
	if err := validateTreePath(n.Path); err != nil {
		return err
	}
	if old := t.nodes[n.Path]; old != nil {
		switch {
		case !old.madeUp:
			return fmt.Errorf("%s: %w", n.Path, ErrDumpedTwice)
		case n.Stat.EphemeralOwner != 0 && len(old.children) > 0:
			return fmt.Errorf("%s: %w", old.children[0].Path, ErrEphemeralParent)
		}
	}
	above := Parent(n.Path)
	for above != "" && t.nodes[above] == nil {
		above = Parent(above)
	}
	if above != "" && t.nodes[above].Stat.EphemeralOwner != 0 {
		return fmt.Errorf("%s: %w", n.Path, ErrEphemeralParent)
	}
	t.put(n)
	return nil
}

// Clone returns a copy. It shares only data and ACL slices, which no code changes.
func (t *Tree) Clone() *Tree {
	c := NewTree()
	t.nodes["/"].Walk(func(n *Node) { c.put(*n) })
	return c
}

// Insert adds a node that is not in the tree, and its missing parents. Its path must be valid. The
// tree keeps the node.
func (t *Tree) Insert(n *Node) {
	parent := Parent(n.Path)
	p := t.nodes[parent]
	if p == nil {
		p = &Node{Path: parent, Data: []byte{}, madeUp: true}
		t.Insert(p)
	}
	n.slot = len(p.children)
	p.children = append(p.children, n)
	t.nodes[n.Path] = n
}

// Remove removes a node of the tree that has no children. The root cannot be removed.
func (t *Tree) Remove(n *Node) {
	p := t.nodes[Parent(n.Path)]
	last := len(p.children) - 1
	p.children[n.slot] = p.children[last]
	p.children[n.slot].slot = n.slot
	p.children = slices.Delete(p.children, last, last+1)
	delete(t.nodes, n.Path)
}

// Prune removes the node at a path and everything below it. The root cannot be removed.
func (t *Tree) Prune(path string) {
	for _, p := range slices.Backward(t.Paths(path)) {
		t.Remove(t.nodes[p])
	}
}

// Paths returns all paths at or below root in byte order, in which every node
// comes after its parent; none when root is not there.
func (t *Tree) Paths(root string) []string {
	n := t.nodes[root]
	if n == nil {
		return nil
	}
	var paths []string
	n.Walk(func(n *Node) { paths = append(paths, n.Path) })
	sort.Strings(paths)
	return paths
}

// All yields the nodes at or below root in the order of [Tree.Paths].
func (t *Tree) All(root string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for _, p := range t.Paths(root) {
			if !yield(t.nodes[p]) {
				return
			}
		}
	}
}

// SettleStats gives each node the Stat that a server with exactly this tree shows. The length of the
// data and the number of children are what they are, and the count of created children stays
// ([Stat.NextSequence]). A node without a Stat gets that of a tree that was just created
// ([DefaultStat]), by the transaction zxid. The Stat of an unreadable node stays as it is.
func (t *Tree) SettleStats(zxid int64) {
	for _, n := range t.nodes {
		children := int32(len(n.children))
		switch s := &n.Stat; {
		case *s == Stat{}:
			*s = DefaultStat(len(n.Data), int(children))
			s.Czxid, s.Mzxid, s.Pzxid = zxid, zxid, zxid
		case n.Unreadable == "":
			creates, _ := s.NextSequence()
			s.DataLength, s.NumChildren, s.Cversion = int32(len(n.Data)), children, 2*creates-children
		}
	}
}
