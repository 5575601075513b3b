package ztree

import (
	"strings"

	"mrtq/internal/znode"
)

// node is one znode. There may be ten million, so it is small: 128 bytes, besides its name and its
// data. It does not have its path: its place in the tree says what the path is.
type node struct {
	name string
	data []byte // nil is null
	kids *children
	acl  *accessList

	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	owner               int64 // as encoded by owner.go

	version int32
	// cversion counts only how many children were created. Clients see it as the number in the
	// next sequential child's name. The Cversion in a Stat is 2*cversion-numChildren, which also
	// rises when a child is deleted.
	cversion int32
	aversion int32
	slot     int32 // this node's index in the parent's list of children
}

// children has a node's children in a list without gaps, so that listing takes time in proportion
// to their number, and a delete always takes the same time. If there are many, it also has them by
// name. Most nodes with children have few, and a map would cost more than its nodes.
type children struct {
	list   []*node
	byName map[string]*node // nil until there were more than few
}

// few is how many children are found by looking at each.
const few = 16

func (n *node) child(name string) *node {
	if n.kids == nil {
		return nil
	}
	if n.kids.byName != nil {
		return n.kids.byName[name]
	}
	for _, k := range n.kids.list {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (n *node) numChildren() int {
	if n.kids == nil {
		return 0
	}
	return len(n.kids.list)
}

func (n *node) addChild(c *node) {
	if n.kids == nil {
		n.kids = &children{}
	}
	k := n.kids
	c.slot = int32(len(k.list))
	k.list = append(k.list, c)
	switch {
	case k.byName != nil:
		k.byName[c.name] = c
	case len(k.list) > few:
		k.byName = make(map[string]*node, 2*few)
		for _, sibling := range k.list {
			k.byName[sibling.name] = sibling
		}
	}
}

func (n *node) removeChild(c *node) {
	k := n.kids
	last := k.list[len(k.list)-1]
	k.list[c.slot] = last
	last.slot = c.slot
	k.list[len(k.list)-1] = nil
	k.list = k.list[:len(k.list)-1]
	delete(k.byName, c.name)
	if len(k.list) == 0 {
		n.kids = nil
	}
}

// stat returns the node's Stat as a client sees it (DataNode.copyStat).
func (t *Tree) stat(n *node) znode.Stat {
	kids := int32(n.numChildren())
	s := znode.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: 2*n.cversion - kids, Aversion: n.aversion,
		DataLength: int32(len(n.data)), NumChildren: kids,
	}
	if lost := n.acl.lost; lost != nil {
		s.DataLength, s.NumChildren = lost.dataLength, lost.numChildren
		s.Cversion = 2*n.cversion - s.NumChildren
	}
	// The owner codes of container and TTL nodes stay inside the server.
	if kindOf(n.owner) == kindEphemeral {
		s.EphemeralOwner = n.owner
	}
	return s
}

// lookup finds a node by its exact path, or returns nil: no node has the path "/a/" or "//a". The
// root has the paths "/" and "", as in the server's own map.
func (t *Tree) lookup(path string) *node {
	if path == "" || path == "/" {
		return t.root
	}
	if path[0] != '/' {
		return nil
	}
	n, rest := t.root, path[1:]
	for n != nil {
		name, tail, more := strings.Cut(rest, "/")
		n = n.child(name)
		if !more {
			break
		}
		rest = tail
	}
	return n
}
