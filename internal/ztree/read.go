package ztree

import (
	"slices"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// permitted finds a node for which the caller has one of some permissions.
func (t *Tree) permitted(who Caller, path string, perms int32) (*node, error) {
	n := t.lookup(path)
	if n == nil {
		return nil, jute.NoNode
	}
	return n, n.acl.allow(perms, who.IDs)
}

// Exists returns a node's Stat. It needs no permission, and sets a watch whether or not the
// node exists.
func (t *Tree) Exists(path string, w Watcher) (znode.Stat, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return znode.Stat{}, jute.BadArguments
	}
	if w != nil {
		t.data.add(path, w, watchOnce)
	}
	n := t.lookup(path)
	if n == nil {
		return znode.Stat{}, jute.NoNode
	}
	return t.stat(n), nil
}

// GetData returns a node's data, which must not be changed, and Stat. A nil watcher sets no watch.
func (t *Tree) GetData(who Caller, path string, w Watcher) ([]byte, znode.Stat, error) {
	n, err := t.permitted(who, path, znode.PermRead)
	if err != nil {
		return nil, znode.Stat{}, err
	}
	if w != nil {
		t.data.add(path, w, watchOnce)
	}
	return n.data, t.stat(n), nil
}

// AppendChildren appends the names of a node's children to b as a vector, and returns the node's Stat.
// The same operations always lead to the same order, so that a failing test fails again. The order is
// not sorted: the real server has the order of a hash table, and code that relies on an order must not
// pass by luck.
func (t *Tree) AppendChildren(b []byte, who Caller, path string, w Watcher) ([]byte, znode.Stat, error) {
	n, err := t.permitted(who, path, znode.PermRead)
	if err != nil {
		return b, znode.Stat{}, err
	}
	if w != nil {
		t.child.add(path, w, watchOnce)
	}
	b = jute.AppendInt(b, int32(n.numChildren()))
	if n.kids != nil {
		b = slices.Grow(b, len(n.kids.list)*(jute.LenPrefix+len(n.kids.list[0].name))) // siblings have similar names
		for _, k := range slices.Backward(n.kids.list) {
			b = jute.AppendString(b, k.name)
		}
	}
	return b, t.stat(n), nil
}

// Descendants returns how many nodes are below path. The server counts the root twice, as "/" and
// as "". So for "/" it subtracts two from the number of all nodes, but for "" only one, and so does
// Descendants.
func (t *Tree) Descendants(who Caller, path string) (int, error) {
	_, err := t.permitted(who, path, znode.PermRead)
	switch {
	case err != nil:
		return 0, err
	case path == "/":
		return t.count - 2, nil
	case path == "":
		return t.count - 1, nil
	}
	below := -1 // without the node itself
	for range t.Nodes(path) {
		below++
	}
	return below, nil
}

// GetACL returns a node's access list, which must not be changed, and Stat. The caller needs READ
// or ADMIN. Without ADMIN, GetACL hides the hashes of digest identities.
func (t *Tree) GetACL(who Caller, path string) ([]znode.ACL, znode.Stat, error) {
	n, err := t.permitted(who, path, znode.PermRead|znode.PermAdmin)
	if err != nil {
		return nil, znode.Stat{}, err
	}
	acls := n.acl.acls
	if n.acl.allow(znode.PermAdmin, who.IDs) != nil {
		acls = redact(acls)
	}
	return acls, t.stat(n), nil
}
