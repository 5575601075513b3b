package migrate

import (
	"io"

	"mrtq/internal/znode"
)

// The types of this file are those in which this package speaks of znodes.

// A Znode is one node of a ZooKeeper: its path, its data (nil is null, which is not
// the same as empty), its access control list and its [Stat].
type Znode = znode.Node

// A Stat is what ZooKeeper counts of a znode: in which transactions it was made and
// changed, how often, by which session it is held, how many children it has. It has
// the fields of ZooKeeper's own Stat.
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list: who (a scheme such as world
// or digest, and an id of it) may do what (bits: 1 read, 2 write, 4 create children,
// 8 delete children, 16 administer). A nil list, where one is to be given to new
// znodes, lets everybody do everything.
type ACL = znode.ACL

// A Tree is a tree of znodes in memory.
type Tree = znode.Tree

// NewTree is a tree with nothing but its root.
func NewTree() *Tree { return znode.NewTree() }

// ReadDump reads a whole dump: one JSON object a line and znode, as mrtq dump and
// [WriteDump] write it. What is wrong with it is a [*DumpError]. For a large one,
// [OpenDump] keeps the znodes in the file.
func ReadDump(r io.Reader) (*Tree, error) { return znode.ReadDump(r) }

// WriteDump writes a tree as a dump.
func WriteDump(w io.Writer, t *Tree) error { return znode.WriteDump(w, t) }

// A DumpError says in which line of a dump something is wrong.
type DumpError = znode.DumpError

// An Op is one operation of a transaction: to create, set, delete or check a znode.
type Op = znode.Op

// An OpKind is what an [Op] does.
type OpKind = znode.OpKind

// A MultiError says which operation of a transaction the server refused, and why.
// Nothing of the transaction was done.
type MultiError = znode.MultiError

// Why a server refuses an operation: what errors of this package wrap.
var (
	ErrNoNode     = znode.ErrNoNode
	ErrNodeExists = znode.ErrNodeExists
	ErrNotEmpty   = znode.ErrNotEmpty
	ErrBadVersion = znode.ErrBadVersion
)
