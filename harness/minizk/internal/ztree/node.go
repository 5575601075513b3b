package ztree

import (
	"slices"
	"strings"

	"mrtq/harness/minizk/wire"
)

// node is one znode. Its place in the tree gives its path, because a copy of the path in
// each node would cost memory.
type node struct {
	name string
	data []byte // nil is null

	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	owner               int64 // as encoded by owner.go
	kids                *children
	acl                 *accessList

	version int32
	// cversion counts creates only. Clients see 2*cversion-numChildren, which also rises
	// when a child is deleted, and this number only as the suffix of the next sequential
	// child.
	cversion int32
	aversion int32
	slot     int32 // index in the parent's order
}

// children are a node's children: by name, and in a list that holds them densely, so that
// listing is linear and a delete is constant.
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

// eachChild calls f with every child's name. The order is the same for the same history, so that
// a failing test fails again. It is neither sorted nor the order of creation, because the real
// server has the order of a hash table, and code that relies on an order must not pass by luck.
// It goes down from the middle and then down from the end, which suits the processor's cache.
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

// stat is the node as a client sees it.
func (n *node) stat() wire.Stat {
	kids := int32(n.numChildren())
	s := wire.Stat{
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

// lookup finds a node by its exact path: "/a/" and "//a" name nothing. The root is both "/" and
// "", as it is in the server's own map.
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
