// Package ztree is ZooKeeper without its protocol: a tree of znodes with their counters, access
// lists, ephemerals, containers and watches, and the rules by which operations change it. It has
// no sockets, session timeouts or clocks: the caller gives each change its zxid and its time. It is
// not safe for concurrent use. The server holds one lock around it.
//
// A [Database] begins with the znodes of a [znode.Tree]. It changes by requests of clients (Do,
// Multi), which it checks as a server does.
//
// The rules are those of Apache ZooKeeper 3.8 (PrepRequestProcessor, FinalRequestProcessor,
// DataTree, WatchManager), found by experiments with a running server. The conformance
// suite in harness/minizk repeats them.
//
// The errors of requests are jute.Code values.
package ztree

import (
	"maps"
	"slices"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Tx is the zxid and the time of a change.
type Tx struct {
	Zxid int64
	Time int64 // milliseconds since 1970
}

// Caller is who sends a request: the session that will own its ephemerals, and the identities that
// access lists are checked against.
type Caller struct {
	Session int64
	IDs     []jute.ID
}

// Database is all znodes with their watches.
type Database struct {
	nodes *znode.Tree
	// ephemerals has the ephemeral nodes, by session and by path.
	ephemerals map[int64]map[string]*znode.Node
	// reaped has the nodes that the server removes by itself. The value is a TTL node's time to live,
	// in milliseconds, and 0 for a container.
	reaped map[*znode.Node]int64

	lists  map[string][]znode.ACL // by their bytes, to share them
	newest int64                  // see Zxid

	data, child watchTable

	// events are what the current operation has changed. The watchers are notified when the
	// whole operation has succeeded.
	events []event
	// undo reverses the current operation, last entry first. Only a multi needs it,
	// because a single operation checks everything before it changes anything.
	undo      []func()
	recording bool

	noTTL bool
	bare  bool
}

// SystemRoot is where the server's own nodes are.
const SystemRoot = "/zookeeper"

// New returns the database of a server that begins with some znodes, which belong to it from now on. It
// settles their Stats ([znode.Tree.SettleStats]), and puts its own nodes in the place of
// ZooKeeper's. A bare server has none: what is at /zookeeper is its users', as in a chroot. Nobody may
// read a node that is marked as unreadable.
func New(nodes *znode.Tree, bare bool) *Database {
	db := &Database{
		nodes:      nodes,
		ephemerals: map[int64]map[string]*znode.Node{},
		reaped:     map[*znode.Node]int64{},
		lists:      map[string][]znode.ACL{},
		data:       newWatchTable(),
		child:      newWatchTable(),
		bare:       bare,
	}
	if !bare {
		nodes.Prune(SystemRoot)
	}
	nodes.SettleStats(0)
	nodes.Get("/").Walk(func(n *znode.Node) {
		db.newest = max(db.newest, n.Stat.Czxid, n.Stat.Mzxid, n.Stat.Pzxid)
		n.ACL = db.share(n.ACL)
		db.own(n)
	})
	if bare {
		return db
	}
	// No transaction has created these, so they count for no counter.
	db.attach(&znode.Node{Path: SystemRoot, Data: []byte{}, ACL: openUnsafe})
	db.attach(&znode.Node{Path: SystemRoot + "/quota", Data: []byte{}, ACL: openUnsafe})
	db.attach(&znode.Node{Path: SystemRoot + "/config", Data: []byte{}, ACL: readUnsafe, Stat: znode.Stat{Aversion: -1}})
	return db
}

// Snapshot returns a copy of the znodes without the server's own. It shares data and ACLs with the
// database, so these must not be changed.
func (db *Database) Snapshot() *znode.Tree {
	nodes := db.nodes.Clone()
	if !db.bare {
		nodes.Prune(SystemRoot)
	}
	return nodes
}

// lookup finds a node by its exact path, or returns nil. The root has the paths "/" and "", as in the
// server's own map.
func (db *Database) lookup(path string) *znode.Node {
	if path == "" {
		path = "/"
	}
	return db.nodes.Get(path)
}

// RefuseTTL makes the database refuse TTL nodes, as a server without the property
// extendedTypesEnabled does.
func (db *Database) RefuseTTL() { db.noTTL = true }

// Zxid returns the newest transaction that a node showed when the database began.
// Later requests of clients do not change it.
func (db *Database) Zxid() int64 { return db.newest }

func (db *Database) isSpecial(path string) bool {
	return path == "/" || !db.bare && (path == SystemRoot || path == SystemRoot+"/quota" || path == SystemRoot+"/config")
}

// Count returns the number of znodes. It counts the root twice, as "" and as "/", as the server does.
func (db *Database) Count() int { return db.nodes.Len() + 1 }

// Bytes returns roughly the size of all data and paths, as the server estimates it.
func (db *Database) Bytes() int64 {
	bytes := -len("/")
	db.lookup("/").Walk(func(n *znode.Node) { bytes += len(n.Path) + len(n.Data) })
	return int64(bytes)
}

// Ephemerals returns the number of ephemeral nodes.
func (db *Database) Ephemerals() int {
	n := 0
	for _, nodes := range db.ephemerals {
		n += len(nodes)
	}
	return n
}

// Owners returns the sessions that own ephemeral nodes.
func (db *Database) Owners() []int64 { return slices.Collect(maps.Keys(db.ephemerals)) }

func (db *Database) commit() {
	db.undo = nil
	for i := range db.events {
		db.trigger(&db.events[i])
		db.events[i] = event{}
	}
	db.events = db.events[:0]
}

func (db *Database) rollback() {
	for i := len(db.undo) - 1; i >= 0; i-- {
		db.undo[i]()
	}
	db.undo = nil
	clear(db.events)
	db.events = db.events[:0]
}

func (db *Database) onUndo(f func()) {
	if db.recording {
		db.undo = append(db.undo, f)
	}
}
