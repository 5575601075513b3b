package znode

import (
	"fmt"
	"iter"
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
	return &Tree{nodes: map[string]*Node{"/": {Path: "/", Data: []byte{}}}}
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
	for name := range n.children {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// maxDepth is the depth of the deepest path that a tree accepts. Otherwise one
// long line of a dump could create half a million parents, and their paths would
// need the square of the line's length in memory. No server's tree is nearly so
// deep, because a server reads and writes its tree recursively.
const maxDepth = 1000

// ValidateTreePath is [ValidatePath], and also refuses a path that is deeper
// than any server's. The error wraps [ErrPath].
func ValidateTreePath(path string) error {
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
	if err := ValidateTreePath(n.Path); err != nil {
		return err
	}
	n.children = nil // they may belong to the tree that n comes from
	if old := t.nodes[n.Path]; old != nil {
		n.children = old.children
		*old = n
	} else {
		t.insert(&n)
	}
	return nil
}

// Clone returns a copy. It shares only data and ACL slices, which no code changes.
func (t *Tree) Clone() *Tree {
	c := NewTree()
	for _, n := range t.nodes {
		_ = c.Put(*n) // its path is valid
	}
	return c
}

func (t *Tree) insert(n *Node) {
	parent := Parent(n.Path)
	p := t.nodes[parent]
	if p == nil {
		p = &Node{Path: parent, Data: []byte{}}
		t.insert(p)
	}
	if p.children == nil {
		p.children = make(map[string]*Node)
	}
	p.children[Name(n.Path)] = n
	t.nodes[n.Path] = n
}

// Paths returns all paths at or below root in byte order, in which every node
// comes after its parent; none when root is not there.
func (t *Tree) Paths(root string) []string {
	n := t.nodes[root]
	if n == nil {
		return nil
	}
	var paths []string
	var walk func(*Node)
	walk = func(n *Node) {
		paths = append(paths, n.Path)
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(n)
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

// SetDefaultStats gives a Stat to every node that has none. It is the Stat of a
// tree that was just created: version 0, one create for each child. zxid is the
// transaction that it names.
func (t *Tree) SetDefaultStats(zxid int64) {
	for _, n := range t.nodes {
		if n.Stat != (Stat{}) {
			continue
		}
		n.Stat = DefaultStat(len(n.Data), len(n.children))
		n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid = zxid, zxid, zxid
	}
}
