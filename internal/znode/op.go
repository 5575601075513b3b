package znode

import (
	"errors"
	"fmt"
)

// OpKind is what an [Op] does.
type OpKind uint8

// The operations of a multi.
const (
	OpCreate OpKind = iota + 1 // a persistent node
	OpSet
	OpDelete
	OpCheck // only checks the version
)

// Op is one operation of a multi. ZooKeeper applies all operations of a multi
// or none.
type Op struct {
	Kind OpKind
	Path string
	Data []byte // OpCreate, OpSet; nil is null data
	// Version is the version that OpSet, OpDelete and OpCheck demand; -1 means
	// any.
	Version int32
	ACL     []ACL // OpCreate; nil is OpenACL
	// Outside says that Path is the server's, whatever the session's chroot.
	Outside bool
}

// Outside returns the same operations, with paths that are the server's.
func Outside(ops ...Op) []Op {
	for i := range ops {
		ops[i].Outside = true
	}
	return ops
}

// Create returns the Op that creates a persistent node.
func Create(path string, data []byte) Op { return Op{Kind: OpCreate, Path: path, Data: data} }

// Set returns the Op that replaces a node's data if its version is the given one.
func Set(path string, data []byte, version int32) Op {
	return Op{Kind: OpSet, Path: path, Data: data, Version: version}
}

// Delete returns the Op that removes a childless node if its version is the given one.
func Delete(path string, version int32) Op {
	return Op{Kind: OpDelete, Path: path, Version: version}
}

// Check returns the Op that fails the multi unless the node exists with the given version.
func Check(path string, version int32) Op {
	return Op{Kind: OpCheck, Path: path, Version: version}
}

func (o Op) String() string { return o.Kind.String() + " " + o.Path }

func (k OpKind) String() string {
	switch k {
	case OpCreate:
		return "create"
	case OpSet:
		return "set"
	case OpDelete:
		return "delete"
	case OpCheck:
		return "check"
	}
	return fmt.Sprintf("OpKind(%d)", uint8(k))
}

// Sizes of a multi on the wire, in bytes (jute encoding).
const (
	opHeaderSize = 4 + 1 + 4                // type, done, err
	multiSize    = 4 + 4 + 4 + opHeaderSize // length, xid, type; closing op header
)

// Size returns the number of bytes that the operation takes on the wire, for a
// session with a chroot of that many bytes.
func (o Op) Size(chroot int) int {
	if o.Outside {
		chroot = 0
	}
	n := opHeaderSize + 4 + chroot + len(o.Path)
	if chroot > 0 && o.Path == "/" {
		n-- // the path is the chroot itself, without a slash at its end
	}
	switch o.Kind {
	case OpCreate:
		acl := o.ACL
		if acl == nil {
			acl = OpenACL()
		}
		n += 4 + len(o.Data) + 4 + 4 // data, ACL count, flags
		for _, a := range acl {
			n += 4 + 4 + len(a.Scheme) + 4 + len(a.ID)
		}
	case OpSet:
		n += 4 + len(o.Data) + 4
	case OpDelete, OpCheck:
		n += 4
	}
	return n
}

// MultiSize returns the number of bytes that the operations take on the wire as one
// multi.
func MultiSize(ops []Op, chroot int) int {
	n := multiSize
	for _, o := range ops {
		n += o.Size(chroot)
	}
	return n
}

// The errors that an operation can fail with. They mean the same as the
// server's errors of these names.
var (
	ErrNoNode     = errors.New("no such znode")
	ErrNodeExists = errors.New("the znode exists")
	ErrNotEmpty   = errors.New("the znode has children")
	ErrBadVersion = errors.New("the znode has another version")
	// ErrEphemeralParent: an ephemeral node can't have children.
	ErrEphemeralParent = errors.New("the parent znode is ephemeral")
)

// MultiError says which operation made a multi fail. No operation of the multi
// was done.
type MultiError struct {
	Index int // of the operation in the multi
	Op    Op
	Err   error // one of the sentinels above, or the server's own error
}

func (e *MultiError) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

func (e *MultiError) Unwrap() error { return e.Err }
