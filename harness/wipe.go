package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

const (
	// wipeBatch and wipeBytes are how many paths one transaction has at most, and
	// how many bytes these have: well under ZooKeeper's packet limit of 1 MiB
	// (apache/zookeeper #412 and #1716).
	wipeBatch = 1000
	wipeBytes = 256 << 10
	// wipeRounds is how often wipe looks for znodes to delete. A worker may still
	// create some. A few rounds are enough if it is stopping.
	wipeRounds = 5
)

// wipe deletes everything below root, except the server's /zookeeper. root
// itself stays.
func wipe(ctx context.Context, w *zkconn.Writer, root string) error {
	var last error
	for range wipeRounds {
		tree, err := w.Tree(ctx, root)
		if err != nil {
			return err
		}
		paths := tree.Paths(root)
		if len(paths) < 2 {
			return nil
		}
		last = deleteAll(ctx, w, paths[1:])
		switch {
		case last == nil, errors.Is(last, znode.ErrNotEmpty), errors.Is(last, znode.ErrNoNode), errors.Is(last, zkconn.ErrUnknownOutcome):
			// The next round shows what is left.
		default:
			return last
		}
	}
	if last == nil {
		last = errors.New("znodes keep appearing")
	}
	return fmt.Errorf("a client is writing there: %w", last)
}

// removeTree deletes a znode with everything below it, if it exists.
func removeTree(ctx context.Context, w *zkconn.Writer, root string) error {
	if _, there, err := w.Exists(ctx, root); err != nil || !there {
		return err
	}
	if err := wipe(ctx, w, root); err != nil {
		return err
	}
	if err := w.Multi(ctx, []znode.Op{znode.Delete(root, -1)}); !errors.Is(err, znode.ErrNoNode) {
		return err
	}
	return nil
}

// deleteAll deletes the znodes and returns the first error. In paths each znode
// must come after its parent.
func deleteAll(ctx context.Context, w *zkconn.Writer, paths []string) error {
	paths = slices.Clone(paths)
	slices.Reverse(paths)
	for batch := range batches(paths) {
		ops := make([]znode.Op, len(batch))
		for i, path := range batch {
			ops[i] = znode.Delete(path, -1)
		}
		if err := w.Multi(ctx, ops); err != nil {
			return err
		}
	}
	return nil
}

// batches splits paths into the paths of one transaction each.
func batches(paths []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		start, size := 0, 0
		for i, p := range paths {
			if i-start == wipeBatch || size+len(p) > wipeBytes && i > start {
				if !yield(paths[start:i]) {
					return
				}
				start, size = i, 0
			}
			size += len(p)
		}
		if start < len(paths) {
			yield(paths[start:])
		}
	}
}
