// Package side is where znodes come from, seen the same way whatever it is: a
// session with a server, a dump, a ZooKeeper data directory, a tree in memory.
//
// A side is read in streams. Only lists of names are ever whole, because
// ZooKeeper has no other way to list a znode's children; znodes come one small
// subtree at a time, in the order in which they were asked for, with a bounded
// number of requests under way.
package side

import (
	"context"
	"fmt"
	"iter"

	"mrtq/internal/znode"
)

// Side is one side of a migration, to be read. It is safe for concurrent use.
// Errors wrap [znode.ErrNoNode] where a znode is not there; other errors are the
// session's or the file's own. Of a znode that is marked as unreadable nothing is
// known but that it is there: neither its data nor its children.
type Side interface {
	// Get is one znode, without its children. The caller owns it, but for its data
	// and ACL, which are only read.
	Get(ctx context.Context, path string) (znode.Node, error)
	// Children are the names of a znode's children in byte order. The caller owns
	// the slice.
	Children(ctx context.Context, path string) ([]string, error)
	// Subtrees reads the subtrees of roots. It yields one for each root, in the
	// order of roots, and ends after the first error. A root may be pulled well
	// ahead of its subtree, but never while the caller looks at another.
	Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error]
	// Walk yields root and all that is below it in path order, nothing if it is
	// not there, and ends after the first error. Unlike in a subtree, there can be
	// any number of them.
	Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error]
}

// Subtree is a znode and all that is below it, as each was at some moment of the
// call.
type Subtree struct {
	Root string
	// Nodes are in path order, Root's first; none if it is not there. The caller
	// owns them, but for their data and ACLs, which are only read.
	Nodes []znode.Node
}

// Missing reports whether the root is not there.
func (s Subtree) Missing() bool { return len(s.Nodes) == 0 }

func notThere(path string) error { return fmt.Errorf("%s: %w", path, znode.ErrNoNode) }

// below is what the paths of all znodes below a path begin with.
func below(path string) string {
	if path == "/" {
		return path
	}
	return path + "/"
}
