package ztree

import (
	"fmt"
	"math"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// create does its checks in the server's order, because the order decides which error a request gets
// that has several mistakes.
func (db *Database) create(tx Tx, who Caller, r *jute.Request) (*znode.Node, error) {
	m, err := db.createMode(r)
	if err != nil {
		return nil, err
	}
	path := r.Path
	parentPath, err := split(path)
	if err != nil {
		return nil, err
	}
	acls, err := fixACL(r.ACL, who.IDs)
	if err != nil {
		return nil, err
	}
	parent := db.lookup(parentPath)
	if parent == nil {
		return nil, jute.NoNode
	}
	if err := allow(parent, znode.PermCreate, who.IDs); err != nil {
		return nil, err
	}
	if m.sequential {
		next, _ := parent.Stat.NextSequence()
		path = fmt.Sprintf("%s%010d", path, next)
	}
	if err := validatePath(path); err != nil {
		return nil, err
	}
	if db.lookup(path) != nil {
		return nil, jute.NodeExists
	}
	if parent.Stat.EphemeralOwner != 0 {
		return nil, jute.NoChildrenForEph
	}

	n := &znode.Node{Path: path, Data: r.Data, ACL: db.share(acls), Stat: znode.Stat{
		Czxid: tx.Zxid, Mzxid: tx.Zxid, Pzxid: tx.Zxid, Ctime: tx.Time, Mtime: tx.Time, DataLength: int32(len(r.Data)),
	}}
	// The operation decides the kind of node, not the flags: create with the container flag creates
	// a persistent node, and createContainer without the flag creates a container.
	switch {
	case r.Op == jute.OpCreateContainer:
		db.reaped[n] = 0
	case r.Op == jute.OpCreateTTL:
		db.reaped[n] = r.TTL
	case m.ephemeral:
		n.Stat.EphemeralOwner = who.Session
	}
	db.link(tx, parent, n)
	return n, nil
}

type mode struct{ ephemeral, sequential, container, ttl bool }

var modes = map[int32]mode{
	jute.ModePersistent:              {},
	jute.ModeEphemeral:               {ephemeral: true},
	jute.ModeSequential:              {sequential: true},
	jute.ModeEphemeralSequential:     {ephemeral: true, sequential: true},
	jute.ModeContainer:               {container: true},
	jute.ModePersistentTTL:           {ttl: true},
	jute.ModePersistentSequentialTTL: {ttl: true, sequential: true},
}

// maxTTL is the longest time to live, in milliseconds: the server has 40 bits for it.
const maxTTL = 1<<40 - 1

func (db *Database) createMode(r *jute.Request) (mode, error) {
	m, ok := modes[r.Flags]
	switch {
	case !ok:
		return m, jute.BadArguments
	case m.ttl && db.noTTL:
		return m, jute.Unimplemented
	case m.ttl && (r.TTL <= 0 || r.TTL > maxTTL):
		return m, jute.BadArguments
	case !m.ttl && r.Op == jute.OpCreateTTL:
		// If the time to live is negative, the real server accepts this and then exits. This
		// database always refuses it.
		return m, jute.BadArguments
	}
	return m, nil
}

func (db *Database) link(tx Tx, parent, n *znode.Node) {
	before := parent.Stat
	// At the largest int the counter does not change any more, and neither does pzxid.
	if creates, _ := parent.Stat.NextSequence(); creates < math.MaxInt32 {
		parent.Stat.Cversion += 2
		parent.Stat.Pzxid = tx.Zxid
	}
	db.attach(n)
	db.onUndo(func() {
		db.detach(n)
		delete(db.reaped, n)
		parent.Stat = before
	})
	db.events = append(db.events, event{jute.EventCreated, n}, event{jute.EventChildrenChanged, parent})
}

// attach adds a node to the tree. The parent's Cversion is twice the number of its creates less the
// number of its children, as clients see it.
func (db *Database) attach(n *znode.Node) {
	db.nodes.Insert(n)
	parent := db.nodes.Get(znode.Parent(n.Path))
	parent.Stat.NumChildren++
	parent.Stat.Cversion--
	db.own(n)
}

func (db *Database) detach(n *znode.Node) {
	db.nodes.Remove(n)
	parent := db.nodes.Get(znode.Parent(n.Path))
	parent.Stat.NumChildren--
	parent.Stat.Cversion++
	owner := n.Stat.EphemeralOwner
	delete(db.ephemerals[owner], n.Path)
	if len(db.ephemerals[owner]) == 0 {
		delete(db.ephemerals, owner)
	}
}

func (db *Database) own(n *znode.Node) {
	owner := n.Stat.EphemeralOwner
	if owner == 0 {
		return
	}
	if db.ephemerals[owner] == nil {
		db.ephemerals[owner] = map[string]*znode.Node{}
	}
	db.ephemerals[owner][n.Path] = n
}
