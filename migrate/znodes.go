package migrate

import (
	"io"

	"mrtq/internal/znode"
)

// These types describe znodes. They are aliases, so that callers outside of this module can
// name them.

// A Znode is one node of a ZooKeeper: its path, its data (nil is null, which is not
// the same as empty), its access control list and its [Stat].
type Znode = znode.Node

// A Stat has the fields of ZooKeeper's own Stat: the transactions in which a znode was created
// and changed, its versions, the session that holds it, and its number of children.
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list: who (a scheme such as world or digest,
// and an id in it) may do what (bits: 1 read, 2 write, 4 create children, 8 delete children,
// 16 administer). For new znodes, a nil list lets everybody do everything.
type ACL = znode.ACL

// A Tree is a tree of znodes in memory.
type Tree = znode.Tree

// NewTree is a tree that has only its root.
func NewTree() *Tree { return znode.NewTree() }

// ReadDump reads a whole dump: one JSON object a line, for one znode each, as [WriteDump] and
// the command mrtq dump write it. If a line is wrong, the error is a [*DumpError]. For a
// large dump, [OpenDump] leaves the znodes in the file.
func ReadDump(r io.Reader) (*Tree, error) { return znode.ReadDump(r) }

// WriteDump writes a tree as a dump.
func WriteDump(w io.Writer, t *Tree) error { return znode.WriteDump(w, t) }

// A DumpError says what is wrong with a dump, and in which line.
type DumpError = znode.DumpError

// An Op is one operation of a transaction: to create, set, delete or check a znode.
type Op = znode.Op

// An OpKind is what an [Op] does.
type OpKind = znode.OpKind

// A MultiError says which operation of a transaction the server refused, and why.
// Nothing of the transaction was done.
type MultiError = znode.MultiError

// The reasons why a server refuses an operation. Errors of this package wrap them.
var (
	ErrNoNode     = znode.ErrNoNode
	ErrNodeExists = znode.ErrNodeExists
	ErrNotEmpty   = znode.ErrNotEmpty
	ErrBadVersion = znode.ErrBadVersion
)
