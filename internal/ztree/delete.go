package ztree

import (
	"maps"
	"slices"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

func (db *Database) delete(tx Tx, who Caller, r *jute.Request) error {
	parentPath, err := split(r.Path)
	if err != nil {
		return err
	}
	if db.isSpecial(r.Path) {
		return jute.BadArguments
	}
	parent := db.lookup(parentPath)
	if parent == nil {
		return jute.NoNode
	}
	if err := allow(parent, znode.PermDelete, who.IDs); err != nil {
		return err
	}
	n := db.lookup(r.Path)
	if n == nil {
		return jute.NoNode
	}
	if r.Version != -1 && r.Version != n.Stat.Version {
		return jute.BadVersion
	}
	if len(n.Children()) > 0 {
		return jute.NotEmpty
	}
	db.unlink(tx, n)
	return nil
}

func (db *Database) unlink(tx Tx, n *znode.Node) {
	parent := db.nodes.Get(znode.Parent(n.Path))
	pzxid := parent.Stat.Pzxid
	ttl, reaped := db.reaped[n]
	db.detach(n)
	delete(db.reaped, n)
	parent.Stat.Pzxid = tx.Zxid
	db.onUndo(func() {
		db.attach(n)
		if reaped {
			db.reaped[n] = ttl
		}
		parent.Stat.Pzxid = pzxid
	})
	db.events = append(db.events, event{jute.EventDeleted, n}, event{jute.EventChildrenChanged, parent})
}

// CloseSession deletes the session's ephemeral nodes, in the order of their paths, all in one
// transaction.
func (db *Database) CloseSession(tx Tx, session int64) {
	for _, path := range db.EphemeralsOf(session) {
		db.unlink(tx, db.nodes.Get(path))
	}
	db.commit()
}

// EphemeralsOf lists the paths of a session's ephemeral nodes, sorted. The list is never nil.
func (db *Database) EphemeralsOf(session int64) []string {
	paths := slices.AppendSeq([]string{}, maps.Keys(db.ephemerals[session]))
	slices.Sort(paths)
	return paths
}

// Due returns the paths of the container and TTL nodes that the server would remove at time now, in
// milliseconds since 1970, sorted. They are the containers that have had children and have none
// now, and the TTL nodes without children whose data has not been set for longer than their time
// to live.
func (db *Database) Due(now int64) []string {
	var due []string
	for n, ttl := range db.reaped {
		old := now-n.Stat.Mtime > ttl
		if ttl == 0 {
			creates, _ := n.Stat.NextSequence()
			old = creates > 0
		}
		if old && len(n.Children()) == 0 {
			due = append(due, n.Path)
		}
	}
	slices.Sort(due)
	return due
}

// Reap deletes a container or TTL node that Due has returned.
func (db *Database) Reap(tx Tx, path string) {
	db.unlink(tx, db.nodes.Get(path))
	db.commit()
}
