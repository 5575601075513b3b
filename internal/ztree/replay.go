package ztree

import (
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// A Change is what a logged transaction, or a part of a multi, does to the tree. Op decides which
// fields it uses.
type Change struct {
	Op   jute.OpCode
	Path string
	Data []byte     // of create, setData and reconfig; the tree keeps it
	ACL  []jute.ACL // of create and setACL; the tree keeps it
	// Version is the version, or of setACL the aversion, that the node gets.
	Version int32
	// ParentCversion is how many children the parent of a new node has then had. -1 is one more
	// than before, as servers before 3.4 logged it.
	ParentCversion int32
	Ephemeral      bool     // of create
	TTL            int64    // of createTTL, in milliseconds
	Paths          []string // of closeSession: the session's ephemeral nodes, if the log lists them
}

var (
	// ErrNoNode says that Replay did not find the node that a change is about, and ErrNoParent
	// that it did not find the parent of a new one.
	ErrNoNode   = errors.New("the znode does not exist")
	ErrNoParent = errors.New("the parent does not exist")
)

// skippedError says that a change can't follow the one before, even if the snapshot has the
// changes of later transactions.
type skippedError struct{ what string }

func (e *skippedError) Error() string { return e.what }

// Restore adds a node as a snapshot has it. Parents come before their children, and the root comes
// first, with the path "". Other paths must be absolute, without an empty name and without a zero
// byte; the same holds for Replay. The tree keeps data and acl. acl is nil if the snapshot does not list
// the ACL that the node refers to; see Unsound.
func (t *Tree) Restore(path string, data []byte, acl []jute.ACL, s *jute.StatPersisted) error {
	n := &node{
		data: data, acl: unlisted,
		czxid: s.Czxid, mzxid: s.Mzxid, pzxid: s.Pzxid, ctime: s.Ctime, mtime: s.Mtime,
		version: s.Version, cversion: s.Cversion, aversion: s.Aversion, owner: s.EphemeralOwner,
	}
	t.newest = max(t.newest, s.Czxid, s.Mzxid, s.Pzxid)
	if path == "" && t.root == nil {
		if acl != nil {
			n.acl = t.share(acl, openUnsafe)
		}
		t.root = n
		t.count = 2 // ZooKeeper counts the root twice, as "" and as "/"
		t.bytes = int64(len(data))
		return nil
	}
	if t.root == nil {
		return errors.New("comes before the root")
	}
	if path == "" {
		return errors.New("is there twice")
	}
	above, name, err := split(path)
	if err != nil {
		return err
	}
	parent := t.lookup(above)
	if parent == nil {
		return errors.New("comes before its parent")
	}
	if parent.child(name) != nil {
		return errors.New("is there twice")
	}
	if n.name = strings.Clone(name); acl != nil {
		n.acl = t.share(acl, parent.acl)
	}
	t.attach(path, parent, n)
	return nil
}

// unlisted is the ACL of a node whose ACL the snapshot doesn't list.
var unlisted = &accessList{}

// Unsound returns why a node at or below a path, which must exist, can't be a real server's. It
// returns nil if all can.
func (t *Tree) Unsound(path string) error {
	for at := range t.lookup(path).all(path) {
		if at.n.acl == unlisted {
			return fmt.Errorf("%s has an ACL that the snapshot doesn't list", at.path)
		}
		if err := znode.ValidatePath(at.path); err != nil {
			return err
		}
	}
	return nil
}

// Replay applies a change from a server's log (DataTree.processTxn). The server has checked it, so
// Replay does not check permissions. But a snapshot may have the changes of later transactions
// already, because the tree changes while a server writes it. Then these changes are found when
// they are replayed, and that is no error.
//
// The error is ErrNoNode or ErrNoParent, or says why transactions must be missing.
func (t *Tree) Replay(tx Tx, session int64, c *Change) error {
	t.newest = max(t.newest, tx.Zxid)
	switch c.Op {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL:
		return t.replayCreate(tx, c, ownerFor(c.Op, mode{ephemeral: c.Ephemeral}, c.TTL, session))
	case jute.OpDelete, jute.OpDeleteContainer:
		return t.replayDelete(tx, c.Path)
	case jute.OpSetData, jute.OpReconfig:
		return t.replaySetData(tx, c)
	case jute.OpSetACL:
		return t.replaySetACL(tx, c)
	case jute.OpCloseSession:
		return t.replayCloseSession(tx, session, c.Paths)
	}
	return nil // createSession, error and check change nothing
}

// isSystem reports whether a path is one of the server's own nodes or below it. A server also
// changes that part by itself, without transactions.
func isSystem(path string) bool { return znode.Within(path, SystemRoot) }

// replayCreate does what DataTree.createNode does. If the node exists, it gets the ACL, which the
// snapshot's list may lack, and the parent's counts advance.
func (t *Tree) replayCreate(tx Tx, c *Change, owner int64) error {
	parentPath, name, _ := split(c.Path)
	parent := t.lookup(parentPath)
	if parent == nil {
		return ErrNoParent
	}
	existing := parent.child(name)
	if existing != nil && existing.czxid < tx.Zxid && !isSystem(c.Path) {
		return &skippedError{fmt.Sprintf("it exists since transaction 0x%x, so its deletion is missing", existing.czxid)}
	}
	cversion := c.ParentCversion
	if cversion == -1 {
		cversion = parent.cversion + 1
	} else if parent.czxid <= tx.Zxid && cversion > parent.cversion && cversion-parent.cversion != 1 && !isSystem(c.Path) {
		return &skippedError{fmt.Sprintf("it is child %d of its parent, and %d were created before, so transactions are missing", cversion, parent.cversion)}
	}
	if cversion > parent.cversion {
		t.digest.leave(parentPath, parent)
		parent.cversion, parent.pzxid = cversion, tx.Zxid
		t.digest.enter(parentPath, parent)
	}
	acl := t.share(c.ACL, parent.acl)
	if existing != nil {
		existing.acl = acl
		return nil
	}
	n := &node{
		name: strings.Clone(name), data: c.Data, acl: acl, owner: owner,
		czxid: tx.Zxid, mzxid: tx.Zxid, pzxid: tx.Zxid, ctime: tx.Time, mtime: tx.Time,
	}
	t.attach(c.Path, parent, n)
	t.digest.enter(c.Path, n)
	return nil
}

// replayDelete does what DataTree.deleteNode does. The parent's pzxid advances even if the snapshot
// already lacks the node. If the node has children, later transactions created them, and will do so
// again.
func (t *Tree) replayDelete(tx Tx, path string) error {
	parentPath, name, _ := split(path)
	parent := t.lookup(parentPath)
	if parent == nil {
		return ErrNoNode
	}
	n := parent.child(name)
	if n != nil && n.kids != nil && n.czxid <= tx.Zxid && !isSystem(path) {
		return &skippedError{fmt.Sprintf("it has %d children, so their deletion is missing", n.numChildren())}
	}
	if tx.Zxid > parent.pzxid {
		t.digest.leave(parentPath, parent)
		parent.pzxid = tx.Zxid
		t.digest.enter(parentPath, parent)
	}
	if n == nil {
		return ErrNoNode
	}
	t.forget(path, n)
	parent.removeChild(n)
	return nil
}

// forget removes a node and everything below it from the tree's counts and tables.
func (t *Tree) forget(path string, n *node) {
	for at := range n.all(path) {
		t.digest.leave(at.path, at.n)
		t.count--
		t.bytes -= int64(len(at.path) + len(at.n.data))
		t.disown(at.path, at.n)
	}
}

// replaySetData does what DataTree.setData does.
func (t *Tree) replaySetData(tx Tx, c *Change) error {
	n := t.lookup(c.Path)
	if n == nil {
		return ErrNoNode
	}
	if err := follows(tx, c, n, n.version); err != nil {
		return err
	}
	t.digest.leave(c.Path, n)
	t.bytes += int64(len(c.Data) - len(n.data))
	n.data = c.Data
	n.mzxid, n.mtime, n.version = tx.Zxid, tx.Time, c.Version
	t.digest.enter(c.Path, n)
	return nil
}

// replaySetACL does what DataTree.setACL does.
func (t *Tree) replaySetACL(tx Tx, c *Change) error {
	n := t.lookup(c.Path)
	if n == nil {
		return ErrNoNode
	}
	if err := follows(tx, c, n, n.aversion); err != nil {
		return err
	}
	t.digest.leave(c.Path, n)
	n.acl, n.aversion = t.share(c.ACL, n.acl), c.Version
	t.digest.enter(c.Path, n)
	return nil
}

// follows checks that a change's version is at most one more than the current one. A node that a
// later transaction created says nothing about this one. A server that counts past -2 continues at
// 0, because no version may be -1.
func follows(tx Tx, c *Change, n *node, version int32) error {
	if n.czxid > tx.Zxid || c.Version-version <= 1 || version == -2 && c.Version == 0 || isSystem(c.Path) {
		return nil
	}
	return &skippedError{fmt.Sprintf("it goes from version %d to %d, so transactions are missing", version, c.Version)}
}

// replayCloseSession removes the ephemeral nodes of a session: those that the transaction lists,
// and those that the session owns (DataTree.killSession).
func (t *Tree) replayCloseSession(tx Tx, session int64, listed []string) error {
	for _, path := range append(listed, t.EphemeralsOf(session)...) {
		if err := t.replayDelete(tx, path); err != nil && !errors.Is(err, ErrNoNode) {
			return err
		}
	}
	return nil
}

// Prune removes everything but the node at a path, its parents, what is below it, and the server's
// own nodes. The tree must have the node. No watch fires for the nodes that it removes.
func (t *Tree) Prune(path string) {
	n, at := t.root, ""
	for rest := strings.TrimPrefix(path, "/"); rest != ""; {
		name, tail, _ := strings.Cut(rest, "/")
		all := n.kids.list
		n.kids = nil
		for _, k := range all {
			if p := at + "/" + k.name; k.name == name || p == SystemRoot {
				n.addChild(k)
			} else {
				t.forget(p, k)
			}
		}
		n, at, rest = n.child(name), at+"/"+name, tail
	}
}
