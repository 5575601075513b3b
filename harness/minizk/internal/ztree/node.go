package ztree

import (
	"slices"
	"strings"

	"mrtq/internal/jute"
)

// node is one znode. It does not have its path, which would cost memory: its place in the tree says
// what the path is.
type node struct {
	name string
	data []byte // nil is null

	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	owner               int64 // as encoded by owner.go
	kids                *children
	acl                 *accessList

	version int32
	// cversion counts only how many children were created. Clients see it as the number in the
	// next sequential child's name. The Cversion in a Stat is 2*cversion-numChildren, which also
	// rises when a child is deleted.
	cversion int32
	aversion int32
	slot     int32 // this node's index in the parent's children.order
}

// children has a node's children by name, and in a list without gaps, so that listing takes time in
// proportion to their number, and a delete always takes the same time.
type children struct {
	byName map[string]*node
	order  []*node
}

func (n *node) child(name string) *node {
	if n.kids == nil {
		return nil
	}
	return n.kids.byName[name]
}

func (n *node) numChildren() int {
	if n.kids == nil {
		return 0
	}
	return len(n.kids.order)
}

func (n *node) addChild(c *node) {
	if n.kids == nil {
		n.kids = &children{byName: map[string]*node{}}
	}
	c.slot = int32(len(n.kids.order))
	n.kids.byName[c.name] = c
	n.kids.order = append(n.kids.order, c)
}

func (n *node) removeChild(c *node) {
	k := n.kids
	last := k.order[len(k.order)-1]
	k.order[c.slot] = last
	last.slot = c.slot
	k.order[len(k.order)-1] = nil
	k.order = k.order[:len(k.order)-1]
	delete(k.byName, c.name)
	if len(k.order) == 0 {
		n.kids = nil
	}
}

// eachChild calls f with every child's name. The same operations always lead to the same order, so
// that a failing test fails again. The order is neither sorted nor that of creation: the real
// server has the order of a hash table, and code that relies on an order must not pass by luck.
// eachChild goes from the middle to the beginning, then from the end to the middle, which suits the
// processor's cache.
func (n *node) eachChild(f func(name string)) {
	if n.kids == nil {
		return
	}
	middle := len(n.kids.order) / 2
	for _, k := range slices.Backward(n.kids.order[:middle+1]) {
		f(k.name)
	}
	for _, k := range slices.Backward(n.kids.order[middle+1:]) {
		f(k.name)
	}
}

// stat returns the node's Stat as a client sees it.
func (n *node) stat() jute.Stat {
	kids := int32(n.numChildren())
	s := jute.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: 2*n.cversion - kids, Aversion: n.aversion,
		DataLength: int32(len(n.data)), NumChildren: kids,
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
