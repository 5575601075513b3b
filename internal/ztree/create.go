package ztree

import (
	"fmt"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// create returns the node's path, with the sequence number if the request asks for one. The checks
// are in the server's order, because the order decides which error a request gets that has several
// mistakes.
func (t *Tree) create(tx Tx, who Caller, r *jute.Request) (string, *node, error) {
	m, err := t.createMode(r)
	if err != nil {
		return "", nil, err
	}
	path := r.Path
	parentPath, _, err := split(path)
	if err != nil {
		return "", nil, err
	}
	acls, err := fixACL(r.ACL, who.IDs)
	if err != nil {
		return "", nil, err
	}
	parent := t.lookup(parentPath)
	if parent == nil {
		return "", nil, jute.NoNode
	}
	if err := parent.acl.allow(znode.PermCreate, who.IDs); err != nil {
		return "", nil, err
	}
	if m.sequential {
		path = fmt.Sprintf("%s%010d", path, parent.cversion)
	}
	if err := validatePath(path); err != nil {
		return "", nil, err
	}
	if t.lookup(path) != nil {
		return "", nil, jute.NodeExists
	}
	if kindOf(parent.owner) == kindEphemeral {
		return "", nil, jute.NoChildrenForEph
	}

	n := &node{
		// Clone the name, so that the node does not keep the whole path in
		// memory.
		name:  strings.Clone(path[len(parentPath)+1:]),
		data:  r.Data,
		czxid: tx.Zxid, mzxid: tx.Zxid, pzxid: tx.Zxid, ctime: tx.Time, mtime: tx.Time,
		owner: ownerFor(r.Op, m, r.TTL, who.Session),
		acl:   t.share(acls, parent.acl),
	}
	t.link(tx, path, parentPath, parent, n)
	return path, n, nil
}

// createMode checks flags and TTL against each other and against what the server allows.
func (t *Tree) createMode(r *jute.Request) (mode, error) {
	m, ok := modes[r.Flags]
	switch {
	case !ok:
		return m, jute.BadArguments
	case m.ttl && t.noTTL:
		return m, jute.Unimplemented
	case m.ttl && (r.TTL <= 0 || r.TTL > maxTTL):
		return m, jute.BadArguments
	case !m.ttl && r.Op == jute.OpCreateTTL:
		// If the time to live is negative, the real server accepts this and then exits. This
		// tree always refuses it.
		return m, jute.BadArguments
	}
	return m, nil
}

func (t *Tree) link(tx Tx, path, parentPath string, parent, n *node) {
	oldC, oldP := parent.cversion, parent.pzxid
	// At the largest int the counter does not change any more, and neither does pzxid.
	if next := parent.cversion + 1; next > parent.cversion {
		parent.cversion = next
		parent.pzxid = tx.Zxid
	}
	t.attach(path, parent, n)
	t.onUndo(func() {
		t.detach(path, parent, n)
		parent.cversion, parent.pzxid = oldC, oldP
	})
	t.events = append(t.events,
		event{kind: jute.EventCreated, path: path, acl: n.acl},
		event{kind: jute.EventChildrenChanged, path: watchPath(parentPath), acl: parent.acl})
}

// attach adds a node to its parent, and to the tree's counts and tables.
func (t *Tree) attach(path string, parent, n *node) {
	parent.addChild(n)
	t.count++
	t.bytes += int64(len(path) + len(n.data))
	t.own(path, n)
}

// detach reverses attach.
func (t *Tree) detach(path string, parent, n *node) {
	parent.removeChild(n)
	t.count--
	t.bytes -= int64(len(path) + len(n.data))
	t.disown(path, n)
}

// ownerKey is the key of a node's owner in Tree.owned: its session, ownerContainer or ttlMark.
func ownerKey(owner int64) int64 {
	if kindOf(owner) == kindTTL {
		return ttlMark
	}
	return owner
}

// own adds a new node to its owner's set.
func (t *Tree) own(path string, n *node) {
	if n.owner == 0 {
		return
	}
	key := ownerKey(n.owner)
	if t.owned[key] == nil {
		t.owned[key] = map[string]*node{}
	}
	t.owned[key][path] = n
}

// disown removes a deleted node from its owner's set.
func (t *Tree) disown(path string, n *node) {
	if n.owner == 0 {
		return
	}
	key := ownerKey(n.owner)
	delete(t.owned[key], path)
	if len(t.owned[key]) == 0 {
		delete(t.owned, key)
	}
}
