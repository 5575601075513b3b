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

// Errors of operations that a server would have no better names for.
var (
	// ErrSystem says that the root, or a znode of ZooKeeper's own, was to be
	// changed in a way that can't be.
	ErrSystem = errors.New("it is ZooKeeper's own")
	// ErrACL says that an access control list is one that no server takes.
	ErrACL = errors.New("the ACL is empty, or names whoever is authenticated, and nobody is")
)

// maxRequest is the most that a session with a server sends in one transaction.
const maxRequest = 16 << 20

// Multi carries the operations out, all or none. The error is a
// *[znode.MultiError] when one of them was refused. One that is larger than the
// server would take has the outcome that its client would see, because it drops
// the connection: [zkconn.ErrUnknownOutcome].
func (t *Tree) Multi(ctx context.Context, ops []znode.Op) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("nothing was written: %w", context.Cause(ctx))
	}
	for i, op := range ops {
		if err := znode.ValidatePath(op.Path); err != nil {
			return &znode.MultiError{Index: i, Op: op, Err: err}
		}
	}
	const length = 4 // the packet's own, which does not count
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

// Start is Multi: what it was asked is done when it returns.
func (t *Tree) Start(ctx context.Context, ops []znode.Op) <-chan error {
	done := make(chan error, 1)
	done <- t.Multi(ctx, ops)
	return done
}

// stamp is what a transaction leaves on all that it changes.
type stamp struct{ zxid, time int64 }

// undone is what a place was before the transaction under way.
type undone struct {
	place          *touched
	known          standing
	changed, fresh bool
	state
}

// transaction does all of a change or nothing of it. One that is refused takes a
// zxid too.
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
	return t.relieve()
}

// change notes what a place is before it is changed.
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

// get is the place of a znode, with what is known of it.
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

// The order of the checks is the server's, which decides what error a request with
// several faults gets (PrepRequestProcessor).

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
		data: bytes.Clone(op.Data), // the caller may use its own again
		acl:  acl,
		stat: znode.Stat{Czxid: tx.zxid, Mzxid: tx.zxid, Pzxid: tx.zxid, Ctime: tx.time, Mtime: tx.time, EphemeralOwner: owner, DataLength: int32(len(op.Data))},
	})
	return nil
}

// given is an operation's ACL as it is kept: nil if it is open. Whether any server
// knows its schemes is for that server to say.
func (t *Tree) given(acl []znode.ACL) ([]znode.ACL, error) {
	switch {
	case acl == nil:
		return nil, nil
	case len(acl) == 0, slices.ContainsFunc(acl, func(a znode.ACL) bool { return a.Scheme == "auth" }):
		return nil, ErrACL
	}
	if slices.Equal(acl, t.acl) {
		return t.acl, nil // most have the run's
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

// checked is the place of a znode that must be there, with the version that the
// operation demands.
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
