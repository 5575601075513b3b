package minizk

import "mrtq/internal/znode"

// A Tree is a tree of znodes in memory: what [Server.Load] takes and
// [Server.Snapshot] gives. It is no server: nothing that is done to it is seen by
// clients.
type Tree = znode.Tree

// NewTree is a tree with nothing but its root.
func NewTree() *Tree { return znode.NewTree() }

// A Node is one znode of a [Tree].
type Node = znode.Node

// A Stat is what ZooKeeper counts of a znode, with the fields of ZooKeeper's own.
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list.
type ACL = znode.ACL
