package minizk

import "mrtq/internal/znode"

// A Tree is a tree of znodes in memory: what [Server.Load] takes and [Server.Snapshot] returns. A
// change to it does not change a server. It has these methods:
//
//	Get(path string) *Node         // nil if there is none
//	Children(path string) []string // the names, sorted
//	Len() int                      // with the root
//	Paths(root string) []string    // all at or below root, parents first
//	All(root string) iter.Seq[*Node]
//	Clone() *Tree
//
//	Put(n Node) error  // adds or replaces a node, with its Stat, and adds missing parents
//	Add(n Node) error  // Put of a new node that a server could have
//	Insert(n *Node)    // Put of a new node whose path is valid; the tree keeps the node
//	Remove(n *Node)    // a node without children
//	Prune(path string) // a node with everything below it
//	SettleStats(zxid int64) // makes all Stats what a server's would be
type Tree = znode.Tree

// NewTree returns a tree with only a root.
func NewTree() *Tree { return znode.NewTree() }

// A Node is one znode of a [Tree]. It has these fields and methods:
//
//	Path string
//	Data []byte // nil is null data, which is not the same as empty data
//	Stat Stat
//	ACL  []ACL // nil if it was not read
//	Unreadable string // why its data and children are not known; "" if they are
//
//	Children() []*Node // in no order
//	Walk(visit func(*Node)) // the node and all below it, parents first
//	MadeUp() bool // only its path is known, because nodes below it were put into the tree
type Node = znode.Node

// A Stat is what ZooKeeper says about a znode: its versions, its times, its owner. It has these fields and methods:
//
//	Czxid, Mzxid, Pzxid int64 // of the transactions that created it, set its data, and changed its list of children
//	Ctime, Mtime int64 // of the first two, in milliseconds since 1970
//	Version, Cversion, Aversion int32 // of its data, its list of children, and its ACL
//	EphemeralOwner int64 // the session; 0 for a persistent znode
//	DataLength, NumChildren int32
//
//	NextSequence() (next int32, left int64) // the number of its next sequential child, and how many are left
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list. It has these fields and methods:
//
//	Perms int32 // ZooKeeper's bits
//	Scheme string // such as digest
//	ID string
//
//	Public() string // who may do what, without a digest's hash
type ACL = znode.ACL
