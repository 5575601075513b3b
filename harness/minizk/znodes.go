package minizk

import "mrtq/internal/znode"

// A Tree is a tree of znodes in memory: what [Server.Load] takes and [Server.Snapshot] returns. A
// change to it does not change a server.
type Tree = znode.Tree

// NewTree returns a tree with only a root.
func NewTree() *Tree { return znode.NewTree() }

// A Node is one znode of a [Tree].
type Node = znode.Node

// A Stat is what ZooKeeper says about a znode: its versions, its times, its owner.
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list.
type ACL = znode.ACL
