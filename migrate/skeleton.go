package migrate

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// readSkeleton reads a target's skeleton, the small part of it, as a tree: the migration's
// own records, the locks, and the layout's folders without their contents. It has no jobs,
// requests and batches, and no entries of them.
func readSkeleton(ctx context.Context, s side.Side) (*znode.Tree, error) {
	sk := skeleton{ctx: ctx, side: s, tree: znode.NewTree()}
	for _, path := range []string{"/", newqueue.BatchesPath, newqueue.BatchUUIDsPath, newqueue.JobsPath, newqueue.JobStatesPath, newqueue.AccessPath} {
		sk.readNode(path)
	}
	for _, path := range []string{MigrationPath, newqueue.LocksPath} {
		sk.readSubtree(path)
	}
	for _, path := range sk.children(newqueue.JobStatesPath) {
		sk.readNode(path)
	}
	for _, path := range sk.children(newqueue.AccessPath) {
		if slices.Contains(newqueue.AccessQueues, newqueue.AccessQueue(znode.Name(path))) {
			sk.readNode(path)
		} else {
			sk.readSubtree(path) // the layout doesn't know it
		}
	}
	return sk.tree, sk.err
}

// skeleton reads a skeleton. After the first error it reads nothing more.
type skeleton struct {
	ctx  context.Context
	side side.Side
	tree *znode.Tree
	err  error
}

func (s *skeleton) put(n znode.Node) {
	if s.err == nil {
		s.err = s.tree.Put(n)
	}
}

// readNode reads a znode, if it is there, without its children.
func (s *skeleton) readNode(path string) {
	if s.err != nil {
		return
	}
	n, err := s.side.Get(s.ctx, path)
	switch {
	case err == nil:
		s.put(n)
	case !errors.Is(err, znode.ErrNoNode):
		s.err = err
	}
}

// readSubtree reads a subtree.
func (s *skeleton) readSubtree(root string) {
	if s.err != nil {
		return
	}
	for n, err := range s.side.Walk(s.ctx, root) {
		if err != nil {
			s.err = err
			return
		}
		s.put(n)
	}
}

// children are the paths of a znode's children; none if it is not there.
func (s *skeleton) children(path string) []string {
	if s.err != nil || s.tree.Get(path) == nil {
		return nil
	}
	var names []string
	if names, s.err = childrenOf(s.ctx, s.side, path); s.err != nil {
		return nil
	}
	for i := range names {
		names[i] = znode.Join(path, names[i])
	}
	return names
}

// childrenOf are the names of a znode's children; none if it is not there.
func childrenOf(ctx context.Context, s side.Side, path string) ([]string, error) {
	names, err := s.Children(ctx, path)
	if errors.Is(err, znode.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// ReadNewestRun is [NewestRun] of a target of any size.
func ReadNewestRun(ctx context.Context, s side.Side) (r Run, ok bool, err error) {
	tree, err := readSkeleton(ctx, s)
	if err != nil {
		return Run{}, false, err
	}
	r, ok = NewestRun(tree)
	return r, ok, nil
}
