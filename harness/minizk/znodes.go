package minizk

import "mrtq/internal/znode"

// A Tree is a tree of znodes in memory: what [StartWith] and [Server.Load] take and [Server.Snapshot]
// returns. A change to what Load took or Snapshot returned does not change the server.
type Tree = znode.Tree

// NewTree returns a tree with only a root.
func NewTree() *Tree { return znode.NewTree() }

// A Node is one znode of a [Tree].
type Node = znode.Node

// A Stat is what ZooKeeper says about a znode: its versions, its times, its owner.
type Stat = znode.Stat

// An ACL is one entry of a znode's access control list.
type ACL = znode.ACL
