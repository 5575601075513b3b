package ztree

import (
	"iter"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// Nodes yields the node at a path and everything below it, in the byte order of the paths, which is
// the order of a dump. It yields nothing if there is no such node. It leaves out the server's own
// nodes, unless the path is within them. The nodes have full ACLs. Their data and ACLs must not be
// changed, nor may the tree while it yields.
func (t *Tree) Nodes(path string) iter.Seq[znode.Node] {
	return func(yield func(znode.Node) bool) {
		top := t.lookup(path)
		if top == nil {
			return
		}
		stack := []visit{{path, top, true}, {path, top, false}}
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if at.below {
				stack = at.n.appendVisits(stack, strings.TrimSuffix(at.path, "/"))
			} else if !yield(t.node(at.path, at.n)) {
				return
			}
		}
	}
}

// visit is a step of a walk: to a node itself, or to what is below it. Then its path ends with a slash.
type visit struct {
	path  string
	n     *node
	below bool
}

// appendVisits appends the visits of a node's children, the first one last. "a/x" comes after both
// "a" and "a-", because "-" is before the slash. So what is below "a" has the place of "a/".
func (n *node) appendVisits(stack []visit, path string) []visit {
	if n.kids == nil {
		return stack
	}
	from := len(stack)
	for _, k := range n.kids.list {
		below := path + "/" + k.name + "/"
		at := strings.TrimSuffix(below, "/")
		if at == SystemRoot {
			continue
		}
		stack = append(stack, visit{at, k, false})
		if k.kids != nil {
			stack = append(stack, visit{below, k, true})
		}
	}
	slices.SortFunc(stack[from:], func(a, b visit) int { return strings.Compare(b.path, a.path) })
	return stack
}

// node returns a node as Nodes yields it.
func (t *Tree) node(path string, n *node) znode.Node {
	z := znode.Node{Path: path, Data: n.data, Stat: t.stat(n)}
	if n.acl.lost != nil {
		z.Unreadable = n.acl.lost.why
		return z
	}
	z.ACL = n.acl.acls
	return z
}
