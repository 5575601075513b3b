package offline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Errors of operations. The server's own errors for these say less.
var (
	// ErrSystem says that an operation would change the root or one of ZooKeeper's
	// own znodes in a way that no server allows.
	ErrSystem = errors.New("no server allows this: it is the root, or one of ZooKeeper's own znodes")
	// ErrACL says that no server would accept an access control list.
	ErrACL = errors.New("the ACL is empty, or is for authenticated clients, and no client is authenticated")
)

// maxRequest is the most that a session with a server sends in one transaction.
const maxRequest = 16 << 20

// Multi carries out all operations or none. The error is a *[znode.MultiError] if one
// of them was refused. If the transaction is larger than the server would accept, the
// error is [zkconn.ErrUnknownOutcome]. A client would get the same, because the
// server would drop the connection.
func (t *Tree) Multi(ctx context.Context, ops []znode.Op) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("nothing was written: %w", context.Cause(ctx))
	}
	for i, op := range ops {
		if err := znode.ValidatePath(op.Path); err != nil {
			return &znode.MultiError{Index: i, Op: op, Err: err}
		}
	}
	const length = 4 // the packet's length field, which does not count
	switch n := znode.MultiSize(ops, 0); {
	case n > maxRequest:
		return fmt.Errorf("nothing was written: %d operations take %d bytes, more than the %d that one request can have", len(ops), n, maxRequest)
	case n-length > t.opt.Packet:
		return fmt.Errorf("%w (%d operations take %d bytes, and a jute.maxbuffer of %d has no room for them)", zkconn.ErrUnknownOutcome, len(ops), n, t.opt.Packet)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	return t.transaction(func(tx stamp) error {
		for i, op := range ops {
			if err := t.apply(tx, op); err != nil {
				if t.err != nil {
					return t.err
				}
				return &znode.MultiError{Index: i, Op: op, Err: err}
			}
		}
		return nil
	})
}

// Start calls Multi, so the transaction is done when Start returns.
func (t *Tree) Start(ctx context.Context, ops []znode.Op) <-chan error {
	done := make(chan error, 1)
	done <- t.Multi(ctx, ops)
	return done
}

// stamp is what a transaction writes to the Stat of each znode that it changes.
type stamp struct{ zxid, time int64 }

// undone is a place's state before the transaction under way.
type undone struct {
	place          *touched
	known          presence
	changed, fresh bool
	state
}

// transaction carries out all of a change or nothing of it. A refused transaction uses
// a zxid too, as on a server.
func (t *Tree) transaction(change func(stamp) error) error {
	t.zxid++
	t.undo = t.undo[:0]
	if err := change(stamp{t.zxid, t.opt.Now().UnixMilli()}); err != nil {
		for _, u := range slices.Backward(t.undo) {
			n := u.place
			t.recent.size += len(u.data) - len(n.data)
			n.known, n.changed, n.fresh, n.state = u.known, u.changed, u.fresh, u.state
		}
		return err
	}
	return t.spill()
}

// change records a place before it is changed.
func (t *Tree) change(n *touched) {
	t.undo = append(t.undo, undone{n, n.known, n.changed, n.fresh, n.state})
	n.changed = true
}

func (t *Tree) apply(tx stamp, op znode.Op) error {
	switch op.Kind {
	case znode.OpCreate:
		return t.create(tx, op, 0)
	case znode.OpSet:
		return t.set(tx, op)
	case znode.OpDelete:
		return t.delete(tx, op)
	}
	_, err := t.checked(op)
	return err
}

// get returns the place of a znode, with its current state.
func (t *Tree) get(path string) (*touched, error) {
	n, above := t.recent.place(path)
	if n.known != unknown {
		return n, nil
	}
	n.known = gone
	if above != nil && above.fresh && above.known == there {
		return n, nil
	}
	s, ok, err := t.lookBelow(path)
	if err != nil {
		n.known = unknown
		return nil, err
	}
	if ok {
		n.known, n.state = there, s
		t.recent.size += len(s.data)
	}
	return n, nil
}

// The checks are in the server's order (PrepRequestProcessor). The order decides which
// error a request with several faults gets.

func (t *Tree) create(tx stamp, op znode.Op, owner int64) error {
	acl, err := t.given(op.ACL)
	if err != nil {
		return err
	}
	if znode.Within(op.Path, systemRoot) {
		return ErrSystem
	}
	if op.Path == "/" {
		return znode.ErrNodeExists
	}
	parent, err := t.get(znode.Parent(op.Path))
	if err != nil {
		return err
	}
	if parent.known == gone {
		return znode.ErrNoNode
	}
	n, err := t.get(op.Path)
	switch {
	case err != nil:
		return err
	case n.known == there:
		return znode.ErrNodeExists
	case ephemeral(parent.stat.EphemeralOwner):
		return znode.ErrEphemeralParent
	}
	t.change(parent)
	addChild(&parent.stat, tx.zxid)
	t.change(n)
	n.fresh = true
	t.recent.put(n, state{
		data: bytes.Clone(op.Data), // the caller may use its slice again
		acl:  acl,
		stat: znode.Stat{Czxid: tx.zxid, Mzxid: tx.zxid, Pzxid: tx.zxid, Ctime: tx.time, Mtime: tx.time, EphemeralOwner: owner, DataLength: int32(len(op.Data))},
	})
	return nil
}

// given returns an operation's ACL as the tree keeps it: nil if it is open. It does not
// check whether a server knows the schemes.
func (t *Tree) given(acl []znode.ACL) ([]znode.ACL, error) {
	switch {
	case acl == nil:
		return nil, nil
	case len(acl) == 0, slices.ContainsFunc(acl, func(a znode.ACL) bool { return a.Scheme == "auth" }):
		return nil, ErrACL
	}
	if slices.Equal(acl, t.acl) {
		return t.acl, nil // share the slice, because most znodes have this ACL
	}
	var kept []znode.ACL
	for _, a := range acl {
		if !slices.Contains(kept, a) {
			kept = append(kept, a)
		}
	}
	if znode.IsOpenACL(kept) {
		return nil, nil
	}
	if len(kept) == len(acl) {
		t.acl = kept
	}
	return kept, nil
}

func (t *Tree) delete(tx stamp, op znode.Op) error {
	if op.Path == "/" || znode.Within(op.Path, systemRoot) {
		return ErrSystem
	}
	parent, err := t.get(znode.Parent(op.Path))
	if err != nil {
		return err
	}
	if parent.known == gone {
		return znode.ErrNoNode
	}
	n, err := t.checked(op)
	if err != nil {
		return err
	}
	if n.stat.NumChildren > 0 {
		return znode.ErrNotEmpty
	}
	t.change(parent)
	removeChild(&parent.stat, tx.zxid)
	t.change(n)
	t.recent.size -= len(n.data)
	n.known, n.fresh, n.state = gone, false, state{}
	return nil
}

func (t *Tree) set(tx stamp, op znode.Op) error {
	if znode.Within(op.Path, systemRoot) {
		return ErrSystem
	}
	n, err := t.checked(op)
	if err != nil {
		return err
	}
	t.change(n)
	s := n.state
	s.data = bytes.Clone(op.Data)
	s.stat.Version++
	s.stat.Mzxid, s.stat.Mtime, s.stat.DataLength = tx.zxid, tx.time, int32(len(op.Data))
	t.recent.put(n, s)
	return nil
}

// checked returns the place of a znode. The znode must exist and have the version
// that the operation requires.
func (t *Tree) checked(op znode.Op) (*touched, error) {
	n, err := t.get(op.Path)
	switch {
	case err != nil:
		return nil, err
	case n.known == gone:
		return nil, znode.ErrNoNode
	case op.Version != -1 && op.Version != n.stat.Version:
		return nil, znode.ErrBadVersion
	}
	return n, nil
}
