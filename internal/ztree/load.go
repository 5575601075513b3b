package ztree

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// A Loader makes a tree of the znodes of a dump, which may come in any order. The tree keeps their
// Stats, with two exceptions: the number of children and the length of the data are what they are.
// A node's count of created children follows from its Stat; see [znode.Stat.NextSequence]. A node
// without a Stat gets [znode.DefaultStat], and so does a missing parent, which is made up.
type Loader struct {
	t *Tree
	// incomplete has the nodes without a Stat until Tree is called. The value is true for a
	// parent that had to be made up.
	incomplete map[*node]bool
}

// NewLoader returns a Loader of an empty tree.
func NewLoader() *Loader {
	t := New()
	return &Loader{t: t, incomplete: map[*node]bool{t.root: true}}
}

// lost is what a dump knows of a node that could not be read.
type lost struct {
	why                     string
	dataLength, numChildren int32
}

// Add adds a znode. The tree keeps its data. Add leaves out ZooKeeper's own znodes, because each
// server makes its own. A znode that is marked as unreadable is in the tree, but nobody may read it.
//
// The error wraps [znode.ErrPath], [znode.ErrDumpedTwice] or [znode.ErrEphemeralParent].
func (l *Loader) Add(n znode.Node) error {
	if err := znode.ValidateTreePath(n.Path); err != nil {
		return err
	}
	if znode.Within(n.Path, SystemRoot) {
		return nil
	}
	at, err := l.place(n.Path)
	if err != nil {
		return err
	}
	if !l.incomplete[at] {
		return fmt.Errorf("%s: %w", n.Path, znode.ErrDumpedTwice)
	}
	return l.fill(at, n)
}

// place returns the node at a path. If there is none, it makes one up, and its parents.
func (l *Loader) place(path string) (*node, error) {
	if path == "/" {
		return l.t.root, nil
	}
	parentPath, name, _ := split(path) // the path is valid
	parent := l.t.lookup(parentPath)
	if parent == nil {
		var err error
		if parent, err = l.place(parentPath); err != nil {
			return nil, err
		}
	}
	if n := parent.child(name); n != nil {
		return n, nil
	}
	if kindOf(parent.owner) == kindEphemeral {
		return nil, fmt.Errorf("%s: %w", path, znode.ErrEphemeralParent)
	}
	n := &node{name: strings.Clone(name), data: []byte{}, acl: openUnsafe}
	l.t.attach(path, parent, n)
	l.incomplete[n] = true
	return n, nil
}

// fill gives a node that was made up what the dump says about it.
func (l *Loader) fill(at *node, n znode.Node) error {
	t, s := l.t, n.Stat
	if s == (znode.Stat{}) {
		l.incomplete[at] = false
	} else {
		delete(l.incomplete, at)
	}
	at.data = n.Data
	t.bytes += int64(len(n.Data))
	at.czxid, at.mzxid, at.pzxid, at.ctime, at.mtime = s.Czxid, s.Mzxid, s.Pzxid, s.Ctime, s.Mtime
	at.version, at.aversion = s.Version, s.Aversion
	at.cversion, _ = s.NextSequence()
	t.newest = max(t.newest, s.Czxid, s.Mzxid, s.Pzxid)
	switch {
	case n.Unreadable != "":
		at.acl = &accessList{lost: &lost{n.Unreadable, s.DataLength, s.NumChildren}}
	case !znode.IsOpenACL(n.ACL):
		at.acl = t.share(n.ACL, openUnsafe)
	}
	if n.Path == "/" {
		return nil
	}
	if at.owner = s.EphemeralOwner; kindOf(at.owner) == kindEphemeral && at.kids != nil {
		return fmt.Errorf("%s/%s: %w", n.Path, at.kids.list[0].name, znode.ErrEphemeralParent)
	}
	t.own(n.Path, at)
	return nil
}

// Tree returns the tree. Call it once, after the last Add.
func (l *Loader) Tree() *Tree {
	for n := range l.incomplete {
		n.cversion = int32(n.numChildren()) // one create for each child
	}
	if _, ok := l.incomplete[l.t.root]; ok {
		l.t.root.cversion-- // no transaction created /zookeeper
	}
	l.incomplete = nil
	return l.t
}

// Owners returns the sessions that own ephemeral nodes.
func (t *Tree) Owners() []int64 {
	return slices.DeleteFunc(slices.Collect(maps.Keys(t.owned)), func(key int64) bool { return kindOf(key) != kindEphemeral })
}
