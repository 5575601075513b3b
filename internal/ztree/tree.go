// Package ztree is ZooKeeper without its protocol: a tree of znodes with their counters, access
// lists, ephemerals, containers and watches, and the rules by which operations change it. It has
// no sockets, session timeouts or clocks: the caller gives each change its zxid and its time. It is
// not safe for concurrent use. The server holds one lock around it.
//
// A tree begins empty ([New]), or with the znodes of a dump ([Loader]). It changes by requests of
// clients (Create, SetData, Multi, …), which it checks as a server does.
//
// The rules are those of Apache ZooKeeper 3.8 (PrepRequestProcessor, FinalRequestProcessor,
// DataTree, WatchManager), found by experiments with a running server. The conformance
// suite in harness/minizk repeats them.
//
// The errors of requests are jute.Code values.
package ztree

import (
	"mrtq/internal/jute"
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

// Tree is all znodes with their watches.
type Tree struct {
	root *node
	// count and bytes are what the four-letter word mntr reports: the number of znodes, and the
	// length of their data and paths.
	count int
	bytes int64

	// owned has the nodes that are not persistent, by ownerKey and by path.
	owned map[int64]map[string]*node

	lists  map[string]*accessList // by their bytes, to share them
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
}

// New returns the tree of a server that has never been used.
func New() *Tree {
	t := &Tree{
		root:  newSystemNode(""),
		owned: map[int64]map[string]*node{},
		lists: map[string]*accessList{},
		data:  newWatchTable(),
		child: newWatchTable(),
	}
	zk := newSystemNode("zookeeper")
	config := newSystemNode("config")
	config.acl = readUnsafe
	config.aversion = -1
	t.root.addChild(zk)
	zk.addChild(newSystemNode("quota"))
	zk.addChild(config)
	// ZooKeeper counts the root twice, as "" and as "/".
	t.count = 5
	t.bytes = int64(len("/zookeeper") + len("/zookeeper/quota") + len("/zookeeper/config"))
	return t
}

// SystemRoot is where the server's own nodes are.
const SystemRoot = "/zookeeper"

// RefuseTTL makes the tree refuse TTL nodes, as a server without the property
// extendedTypesEnabled does.
func (t *Tree) RefuseTTL() { t.noTTL = true }

// Zxid returns the newest transaction of a tree that was loaded: the newest that any node shows.
// Later requests of clients do not change it.
func (t *Tree) Zxid() int64 { return t.newest }

// newSystemNode returns one of the server's own nodes. No transaction has created it, so its
// counters are 0.
func newSystemNode(name string) *node {
	return &node{name: name, data: []byte{}, acl: openUnsafe}
}

// isSpecial reports whether path is one of the nodes that cannot be deleted.
func isSpecial(path string) bool {
	return path == "/" || path == "/zookeeper" || path == "/zookeeper/quota" || path == "/zookeeper/config"
}

// Count returns the number of znodes. It counts the root twice, as the server does.
func (t *Tree) Count() int { return t.count }

// Bytes returns roughly the size of all data and paths, as the server estimates it.
func (t *Tree) Bytes() int64 { return t.bytes }

// Ephemerals returns the number of ephemeral nodes.
func (t *Tree) Ephemerals() int {
	n := 0
	for _, session := range t.Owners() {
		n += len(t.owned[session])
	}
	return n
}

// commit delivers the events of an operation that has succeeded.
func (t *Tree) commit() {
	t.undo = nil
	for i := range t.events {
		t.trigger(&t.events[i])
		t.events[i] = event{}
	}
	t.events = t.events[:0]
}

// rollback reverses the changes of a multi that has failed.
func (t *Tree) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
	t.undo = nil
	clear(t.events)
	t.events = t.events[:0]
}

// onUndo records how to reverse the last change.
func (t *Tree) onUndo(f func()) {
	if t.recording {
		t.undo = append(t.undo, f)
	}
}
