package ztree

import (
	"maps"
	"slices"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func (t *Tree) delete(tx Tx, who Caller, r *jute.Request) error {
	parentPath, _, err := split(r.Path)
	if err != nil {
		return err
	}
	if isSpecial(r.Path) {
		return jute.BadArguments
	}
	parent := t.lookup(parentPath)
	if parent == nil {
		return jute.NoNode
	}
	if err := parent.acl.allow(znode.PermDelete, who.IDs); err != nil {
		return err
	}
	n := t.lookup(r.Path)
	if n == nil {
		return jute.NoNode
	}
	if r.Version != -1 && r.Version != n.version {
		return jute.BadVersion
	}
	if n.numChildren() > 0 {
		return jute.NotEmpty
	}
	t.unlink(tx, r.Path, parentPath, parent, n)
	return nil
}

func (t *Tree) unlink(tx Tx, path, parentPath string, parent, n *node) {
	oldP := parent.pzxid
	t.detach(path, parent, n)
	parent.pzxid = tx.Zxid
	t.onUndo(func() {
		t.attach(path, parent, n)
		parent.pzxid = oldP
	})
	t.events = append(t.events,
		event{kind: jute.EventDeleted, path: path, acl: n.acl},
		event{kind: jute.EventChildrenChanged, path: watchPath(parentPath), acl: parent.acl})
}

// CloseSession deletes the session's ephemeral nodes, in the order of their paths, all in one
// transaction.
func (t *Tree) CloseSession(tx Tx, session int64) {
	for _, path := range t.EphemeralsOf(session) {
		parentPath, _, _ := split(path) // the path was checked when the node was created
		t.unlink(tx, path, parentPath, t.lookup(parentPath), t.lookup(path))
	}
	t.commit()
}

// EphemeralsOf lists the paths of a session's ephemeral nodes, sorted. The list is never nil.
func (t *Tree) EphemeralsOf(session int64) []string {
	paths := slices.AppendSeq([]string{}, maps.Keys(t.owned[session]))
	slices.Sort(paths)
	return paths
}

// Due returns the paths of the container and TTL nodes that the server would remove at time now, in
// milliseconds since 1970, sorted. They are the containers that have had children and have none
// now, and the TTL nodes without children whose data has not been set for longer than their time
// to live.
func (t *Tree) Due(now int64) []string {
	var due []string
	for p, n := range t.owned[ownerContainer] {
		if n.cversion > 0 && n.numChildren() == 0 {
			due = append(due, p)
		}
	}
	for p, n := range t.owned[ttlMark] {
		if n.numChildren() == 0 && now-n.mtime > ttlOf(n.owner) {
			due = append(due, p)
		}
	}
	slices.Sort(due)
	return due
}

// Reap deletes a container or TTL node that Due has returned.
func (t *Tree) Reap(tx Tx, path string) {
	parentPath, _, _ := split(path) // the path was checked when the node was created
	t.unlink(tx, path, parentPath, t.lookup(parentPath), t.lookup(path))
	t.commit()
}
