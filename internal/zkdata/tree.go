package zkdata

import (
	"bytes"
	"errors"
	"fmt"

	"mrtq/internal/znode"
)

// node is one znode. It keeps its parent and its name, so that a million znodes
// don't keep a million paths.
type node struct {
	name     string
	parent   *node // nil for the root
	children map[string]*node
	data     []byte
	// acl is nil if the snapshot's list of ACLs doesn't have it: see
	// [tree.create].
	acl  *[]znode.ACL
	stat stat
}

// stat is what a server keeps of a Stat (StatPersisted), in its order. cversion
// counts creates. [node.clientStat] computes what clients see.
type stat struct {
	czxid, mzxid, ctime, mtime  int64
	version, cversion, aversion int32
	owner                       int64
	pzxid                       int64
}

// tree is a server's tree. It changes by the rules of DataTree.processTxn.
type tree struct {
	root     *node
	count    int
	sessions map[int64]int32 // those that are open, and their timeouts in milliseconds
	// owned are the ephemeral znodes of each session.
	owned  map[int64]map[*node]struct{}
	digest digest
}

// emptyTree returns a tree without even a root.
func emptyTree() *tree {
	return &tree{sessions: map[int64]int32{}, owned: map[int64]map[*node]struct{}{}}
}

// newTree returns the tree of a new server. It leaves out what is below
// /zookeeper, because nothing depends on that.
func newTree() *tree {
	t := emptyTree()
	t.root = &node{data: []byte{}, acl: &openACL}
	t.count = 1
	t.insert(t.root, &node{name: "zookeeper", data: []byte{}, acl: &openACL})
	return t
}

var openACL = znode.OpenACL()

// system reports whether path is ZooKeeper's own znode or below it. A server
// also changes that part by itself, without transactions.
func system(path []byte) bool {
	rest, ok := bytes.CutPrefix(path, []byte("/zookeeper"))
	return ok && (len(rest) == 0 || rest[0] == '/')
}

// find returns the node at a path, nil if there is none. The root is "/" or "".
func (t *tree) find(path []byte) *node {
	n := t.root
	for rest := path; len(rest) > 1; {
		var name []byte
		name, rest = nextName(rest)
		if n = n.children[string(name)]; n == nil {
			return nil
		}
	}
	return n
}

// nextName cuts the first name from a path that begins with a slash.
func nextName(path []byte) (name, rest []byte) {
	path = path[1:]
	if i := bytes.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, nil
}

// split returns the parent's path and the name, for a path with at least one
// name.
func split(path []byte) (parent, name []byte) {
	i := bytes.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}

// appendPath appends a node's path to b; the root's is "".
func (n *node) appendPath(b []byte) []byte {
	if n.parent == nil {
		return b
	}
	return append(append(n.parent.appendPath(b), '/'), n.name...)
}

func (t *tree) insert(parent, n *node) {
	n.parent = parent
	if parent.children == nil {
		parent.children = map[string]*node{}
	}
	parent.children[n.name] = n
	t.count++
	if t.isSession(n.stat.owner) {
		own := t.owned[n.stat.owner]
		if own == nil {
			own = map[*node]struct{}{}
			t.owned[n.stat.owner] = own
		}
		own[n] = struct{}{}
	}
}

// remove removes a node with everything below it, and their part of the digest.
func (t *tree) remove(n *node) {
	for _, c := range n.children {
		t.remove(c)
	}
	t.digest.leave(n)
	delete(n.parent.children, n.name)
	t.count--
	if own := t.owned[n.stat.owner]; own != nil {
		delete(own, n)
		if len(own) == 0 {
			delete(t.owned, n.stat.owner)
		}
	}
}

// The errors of a transaction that does not fit the tree. The tree changes while
// a server writes a snapshot. So the snapshot may have the changes of later
// transactions, and these find their own changes when they are replayed.
var (
	errNoNode   = errors.New("the znode does not exist")
	errNoParent = errors.New("the parent does not exist")
)

// skippedError says that a transaction can't follow the one before, even if the
// snapshot has the changes of later ones.
type skippedError struct{ what string }

func (e *skippedError) Error() string { return e.what }

// create creates a znode (DataTree.createNode). If it exists, the snapshot
// already has the changes of this transaction or of a later one. Then it gets
// the ACL, which the snapshot's list may lack, and the parent's counts advance.
func (t *tree) create(at moment, op *change, owner int64) error {
	parentPath, name := split(op.path)
	parent := t.find(parentPath)
	if parent == nil {
		return errNoParent
	}
	existing := parent.children[string(name)]
	if existing != nil && existing.stat.czxid < at.zxid && !system(op.path) {
		return &skippedError{fmt.Sprintf("it exists since transaction %s, so its deletion is missing", zx(existing.stat.czxid))}
	}
	cversion := op.parentCversion
	if cversion == -1 { // a server before 3.4
		cversion = parent.stat.cversion + 1
	} else if parent.stat.czxid <= at.zxid && cversion > parent.stat.cversion && cversion-parent.stat.cversion != 1 && !system(op.path) {
		return &skippedError{fmt.Sprintf("it is child %d of its parent, and %d were created before, so transactions are missing", cversion, parent.stat.cversion)}
	}
	if cversion > parent.stat.cversion {
		t.digest.leave(parent)
		parent.stat.cversion, parent.stat.pzxid = cversion, at.zxid
		t.digest.enter(parent)
	}
	if existing != nil {
		existing.acl = op.acl
		return nil
	}
	n := &node{name: string(name), data: bytes.Clone(op.data), acl: op.acl}
	n.stat = stat{czxid: at.zxid, mzxid: at.zxid, ctime: at.time, mtime: at.time, owner: owner, pzxid: at.zxid}
	t.insert(parent, n)
	t.digest.enter(n)
	return nil
}

// delete removes a znode (DataTree.deleteNode). The parent's pzxid advances
// even if the snapshot already lacks the znode. If it has children, later
// transactions created them, and the replay will recreate them.
func (t *tree) delete(at moment, path []byte) error {
	parentPath, name := split(path)
	parent := t.find(parentPath)
	if parent == nil {
		return errNoNode
	}
	n := parent.children[string(name)]
	if n != nil && len(n.children) > 0 && n.stat.czxid <= at.zxid && !system(path) {
		return &skippedError{fmt.Sprintf("it has %d children, so their deletion is missing", len(n.children))}
	}
	if at.zxid > parent.stat.pzxid {
		t.digest.leave(parent)
		parent.stat.pzxid = at.zxid
		t.digest.enter(parent)
	}
	if n == nil {
		return errNoNode
	}
	t.remove(n)
	return nil
}

// setData does what DataTree.setData does.
func (t *tree) setData(at moment, op *change) error {
	n := t.find(op.path)
	if n == nil {
		return errNoNode
	}
	if err := follows(at, op, n, n.stat.version); err != nil {
		return err
	}
	t.digest.leave(n)
	n.data = bytes.Clone(op.data)
	n.stat.mzxid, n.stat.mtime, n.stat.version = at.zxid, at.time, op.version
	t.digest.enter(n)
	return nil
}

// setACL does what DataTree.setACL does.
func (t *tree) setACL(at moment, op *change) error {
	n := t.find(op.path)
	if n == nil {
		return errNoNode
	}
	if err := follows(at, op, n, n.stat.aversion); err != nil {
		return err
	}
	t.digest.leave(n)
	n.acl, n.stat.aversion = op.acl, op.version
	t.digest.enter(n)
	return nil
}

// follows checks that a change's version is at most one more than the current
// one. A znode that a later transaction created says nothing about this one. A
// server that counts past -2 continues at 0, because no version may be -1.
func follows(at moment, op *change, n *node, version int32) error {
	if n.stat.czxid > at.zxid || op.version-version <= 1 || version == -2 && op.version == 0 || system(op.path) {
		return nil
	}
	return &skippedError{fmt.Sprintf("it goes from version %d to %d, so transactions are missing", version, op.version)}
}

// closeSession removes the ephemeral znodes of a session: those that the
// transaction lists (since 3.6), and those that the session owns
// (DataTree.killSession).
func (t *tree) closeSession(at moment, session int64, listed [][]byte) error {
	for _, path := range listed {
		if err := t.delete(at, path); err != nil && !errors.Is(err, errNoNode) {
			return err
		}
	}
	for n := range t.owned[session] {
		if err := t.delete(at, n.appendPath(nil)); err != nil {
			return err
		}
	}
	return nil
}

// The values of ephemeralOwner that are not sessions (EphemeralType).
const containerOwner = -1 << 63

// isSession reports whether an ephemeralOwner is a session's id. For a TTL
// znode it is 0xff and the TTL, or in 3.5.3 and with emulate353TTLNodes 0x80
// and the TTL. A session's id begins with the server's number. So the sessions
// of servers 0xff and 0x80 look like TTLs for some hours after their machine has
// started, but these sessions are in the list of open ones.
func (t *tree) isSession(owner int64) bool {
	if owner == 0 || owner == containerOwner {
		return false
	}
	const zeroInTTL = 0x00ffff0000000000
	mark := uint64(owner) >> 56
	if mark != 0xff && mark != 0x80 || owner&zeroInTTL != 0 {
		return true
	}
	_, open := t.sessions[owner]
	return open
}

// ttlOwner is the ephemeralOwner of a TTL znode.
func ttlOwner(ttl int64) int64 { return -1<<56 | ttl }

// clientStat is the Stat that a server shows (DataNode.copyStat).
func (t *tree) clientStat(n *node) znode.Stat {
	s := znode.Stat{
		Czxid: n.stat.czxid, Mzxid: n.stat.mzxid, Ctime: n.stat.ctime, Mtime: n.stat.mtime,
		Version: n.stat.version, Cversion: n.stat.cversion*2 - int32(len(n.children)), Aversion: n.stat.aversion,
		DataLength: int32(len(n.data)), NumChildren: int32(len(n.children)), Pzxid: n.stat.pzxid,
	}
	if t.isSession(n.stat.owner) {
		s.EphemeralOwner = n.stat.owner
	}
	return s
}
