package minizk

import "mrtq/internal/znode"

// A Tree is a tree of znodes in memory: what [Server.Load] takes and
// [Server.Snapshot] gives. It is not a server: clients don't see changes to it.
type Tree = znode.Tree

// NewTree returns a tree with only a root.
func NewTree() *Tree { return znode.NewTree() }

// A Node is one znode of a [Tree].
type Node = znode.Node

// A Stat has ZooKeeper's own fields about a znode.
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list.
type ACL = znode.ACL
