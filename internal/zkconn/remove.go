package zkconn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/part"
	"mrtq/internal/znode"
)

const (
	// removeBatch is how many znodes one transaction deletes. With usual paths, that is well under
	// ZooKeeper's packet limit of 1 MiB (apache/zookeeper #412 and #1716).
	removeBatch part.Size = 1000
	// removeRounds is how often RemoveBelow looks for znodes to delete. A worker may still
	// create some. A few rounds are enough if it is stopping.
	removeRounds = 5
)

// RemoveBelow deletes everything below root, except the server's /zookeeper. root itself
// stays. The error says so if another client keeps creating znodes there.
func (w *Writer) RemoveBelow(ctx context.Context, root string) error {
	var last error
	for range removeRounds {
		tree, err := w.Tree(ctx, root)
		if err != nil {
			return err
		}
		paths := tree.Paths(root)
		if len(paths) < 2 {
			return nil
		}
		last = w.deleteAll(ctx, paths[1:])
		switch {
		case last == nil, errors.Is(last, znode.ErrNotEmpty), errors.Is(last, znode.ErrNoNode), errors.Is(last, ErrUnknownOutcome):
			// The next round shows what is left.
		default:
			return last
		}
	}
	switch {
	case last == nil:
		last = errors.New("znodes keep appearing")
	case errors.Is(last, ErrUnknownOutcome):
		return fmt.Errorf("%d times in a row: %w", removeRounds, last)
	}
	return fmt.Errorf("a client is writing there: %w", last)
}

// RemoveTree deletes a znode with everything below it, if it exists. The errors are those of
// [Writer.RemoveBelow].
func (w *Writer) RemoveTree(ctx context.Context, root string) error {
	if _, there, err := w.Exists(ctx, root); err != nil || !there {
		return err
	}
	if err := w.RemoveBelow(ctx, root); err != nil {
		return err
	}
	if err := w.Multi(ctx, []znode.Op{znode.Delete(root, -1)}); !errors.Is(err, znode.ErrNoNode) {
		return err
	}
	return nil
}

// deleteAll deletes the znodes and returns the first error. In paths each znode comes after
// its parent.
func (w *Writer) deleteAll(ctx context.Context, paths []string) error {
	slices.Reverse(paths)
	for some := range slices.Chunk(paths, removeBatch.N()) {
		var ops []znode.Op
		for _, path := range some {
			ops = append(ops, znode.Delete(path, -1))
		}
		if err := w.Multi(ctx, ops); err != nil {
			return err
		}
	}
	return nil
}
