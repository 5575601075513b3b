// Package side reads znodes in one way from every kind of place: a session with
// a server, a dump, a ZooKeeper data directory, a tree in memory.
//
// A side is read in streams. Only a list of children is read as a whole,
// because ZooKeeper has no other way to list them. Znodes come one small
// subtree at a time, in the order of the caller's list, with a bounded number
// of requests under way.
package side

import (
	"context"
	"fmt"
	"iter"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Side is one side of a migration, for reading. It is safe for concurrent use.
// An error wraps [znode.ErrNoNode] if a znode doesn't exist. Other errors come
// from the session or the file. A znode that is marked as unreadable exists,
// but neither its data nor its children are known.
type Side interface {
	// Get returns one znode, without its children. The caller owns it, but must
	// not change its data and ACL.
	Get(ctx context.Context, path string) (znode.Node, error)
	// Children returns the names of a znode's children in byte order. The
	// caller owns the slice.
	Children(ctx context.Context, path string) ([]string, error)
	// Subtrees reads the subtrees of roots. It yields one for each root, in the
	// order of roots, and ends after the first error. It may pull a root long
	// before it yields the root's subtree, but it pulls none while the caller
	// uses a subtree.
	Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error]
	// Walk yields root and everything below it in path order, or nothing if
	// root doesn't exist. It ends after the first error. Unlike in a subtree,
	// there can be any number of znodes.
	Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error]
}

// Subtree is a znode and everything below it.
type Subtree = zkconn.Subtree

func notThere(path string) error { return fmt.Errorf("%s: %w", path, znode.ErrNoNode) }

// below is the common beginning of the paths of all znodes below a path.
func below(path string) string {
	if path == "/" {
		return path
	}
	return path + "/"
}
