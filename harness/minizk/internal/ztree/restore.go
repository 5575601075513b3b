package ztree

import (
	"fmt"
	"iter"
	"strings"

	"mrtq/internal/jute"
)

// systemRoot is where the server's own nodes are. All doesn't return them, and Restored ignores
// nodes with such paths.
const systemRoot = "/zookeeper"

// Node is a node as All returns it and Restored takes it, with the Stat that clients see.
type Node struct {
	Path string
	Data []byte // nil is null
	ACL  []jute.ACL
	Stat jute.Stat
}

// All returns the nodes except the server's own, parents first. Their data and ACLs must
// not be changed.
func (t *Tree) All() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		type place struct {
			path string
			n    *node
		}
		for stack := []place{{"/", t.root}}; len(stack) > 0; {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if at.path == systemRoot {
				continue
			}
			if !yield(Node{at.path, at.n.data, at.n.acl.acls, at.n.stat()}) {
				return
			}
			if at.n.kids != nil {
				for _, k := range at.n.kids.order {
					stack = append(stack, place{strings.TrimSuffix(at.path, "/") + "/" + k.name, k})
				}
			}
		}
	}
}

// Restored returns a tree with the server's own nodes and the given nodes. Parents must come before
// their children. The tree keeps the nodes' data and ACLs. A node's count of created children
// follows from its Stat: (cversion+children)/2. Containers and TTL nodes become persistent, because
// a Stat does not show their kind. The error names a path that is invalid or comes twice, or a node
// whose parent is missing or ephemeral.
func (t *Tree) Restored(nodes iter.Seq[Node]) (*Tree, error) {
	out := New(t.extendedTypes)
	for nd := range nodes {
		if nd.Path == systemRoot || strings.HasPrefix(nd.Path, systemRoot+"/") {
			continue
		}
		n := out.root
		if nd.Path != "/" {
			if err := validatePath(nd.Path); err != nil {
				return nil, fmt.Errorf("path %q: %w", nd.Path, err)
			}
			parentPath, name, err := split(nd.Path)
			if err != nil {
				return nil, fmt.Errorf("path %q: %w", nd.Path, err)
			}
			parent := out.lookup(parentPath)
			if parent == nil {
				return nil, fmt.Errorf("path %q comes before its parent: %w", nd.Path, jute.NoNode)
			}
			if kindOf(parent.owner) == kindEphemeral {
				return nil, fmt.Errorf("path %q is in an ephemeral node: %w", nd.Path, jute.NoChildrenForEph)
			}
			if parent.child(name) != nil {
				return nil, fmt.Errorf("path %q comes twice: %w", nd.Path, jute.NodeExists)
			}
			n = &node{name: strings.Clone(name), owner: nd.Stat.EphemeralOwner}
			parent.addChild(n)
			out.count++
			out.bytes += int64(len(nd.Path))
			out.own(nd.Path, n)
		}
		out.bytes += int64(len(nd.Data))
		n.data = nd.Data
		n.acl = openUnsafe
		if len(nd.ACL) > 0 {
			n.acl = share(nd.ACL, openUnsafe)
		}
		s := nd.Stat
		n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime = s.Czxid, s.Mzxid, s.Pzxid, s.Ctime, s.Mtime
		n.version, n.aversion = s.Version, s.Aversion
		n.cversion = int32((uint32(s.Cversion) + uint32(s.NumChildren)) / 2)
	}
	return out, nil
}

// Owners returns the sessions that own ephemeral nodes.
func (t *Tree) Owners() []int64 {
	ids := make([]int64, 0, len(t.ephemerals))
	for id := range t.ephemerals {
		ids = append(ids, id)
	}
	return ids
}
