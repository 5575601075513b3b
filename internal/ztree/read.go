package ztree

import (
	"slices"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func (db *Database) permitted(who Caller, path string, perms int32) (*znode.Node, error) {
	n := db.lookup(path)
	if n == nil {
		return nil, jute.NoNode
	}
	return n, allow(n, perms, who.IDs)
}

// Exists returns a node's Stat. It needs no permission, and sets a watch whether or not the
// node exists.
func (db *Database) Exists(path string, w Watcher) (znode.Stat, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return znode.Stat{}, jute.BadArguments
	}
	if w != nil {
		db.data.add(path, w, watchOnce)
	}
	n := db.lookup(path)
	if n == nil {
		return znode.Stat{}, jute.NoNode
	}
	return n.Stat, nil
}

// GetData returns a node's data, which must not be changed, and Stat. A nil watcher sets no watch.
func (db *Database) GetData(who Caller, path string, w Watcher) ([]byte, znode.Stat, error) {
	n, err := db.permitted(who, path, znode.PermRead)
	if err != nil {
		return nil, znode.Stat{}, err
	}
	if w != nil {
		db.data.add(path, w, watchOnce)
	}
	return n.Data, n.Stat, nil
}

// AppendChildren appends the names of a node's children to b as a vector, and returns the node's Stat.
// The same operations always lead to the same order, so that a failing test fails again. The order is
// not sorted: the real server has the order of a hash table, and code that relies on an order must not
// pass by luck.
func (db *Database) AppendChildren(b []byte, who Caller, path string, w Watcher) ([]byte, znode.Stat, error) {
	n, err := db.permitted(who, path, znode.PermRead)
	if err != nil {
		return b, znode.Stat{}, err
	}
	if w != nil {
		db.child.add(path, w, watchOnce)
	}
	kids := n.Children()
	b = jute.AppendInt(b, int32(len(kids)))
	if len(kids) > 0 {
		b = slices.Grow(b, len(kids)*(jute.LenPrefix+len(znode.Name(kids[0].Path)))) // siblings have similar names
		for _, k := range slices.Backward(kids) {
			b = jute.AppendString(b, znode.Name(k.Path))
		}
	}
	return b, n.Stat, nil
}

// Descendants returns how many nodes are below path. The server counts the root twice, as "/" and
// as "". So for "/" it subtracts two from the number of all nodes, but for "" only one, and so does
// Descendants.
func (db *Database) Descendants(who Caller, path string) (int, error) {
	_, err := db.permitted(who, path, znode.PermRead)
	switch {
	case err != nil:
		return 0, err
	case path == "/":
		return db.Count() - 2, nil
	case path == "":
		return db.Count() - 1, nil
	}
	return len(db.nodes.Paths(path)) - 1, nil
}

// GetACL returns a node's access list, which must not be changed, and Stat. The caller needs READ
// or ADMIN. Without ADMIN, GetACL hides the hashes of digest identities.
func (db *Database) GetACL(who Caller, path string) ([]znode.ACL, znode.Stat, error) {
	n, err := db.permitted(who, path, znode.PermRead|znode.PermAdmin)
	if err != nil {
		return nil, znode.Stat{}, err
	}
	acls := n.ACL
	if allow(n, znode.PermAdmin, who.IDs) != nil {
		acls = redact(acls)
	}
	return acls, n.Stat, nil
}
