package verify

import (
	"context"
	"slices"

	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// checkLists looks for znodes in the layout's own lists that no reader knows, whoever made
// them: a worker that meets one stops, and everything behind it waits.
func (v *verifier) checkLists(ctx context.Context) error {
	unknown := znode.NewTree()
	add := func(parent string, names []string) error {
		for _, name := range names {
			if err := unknown.Put(znode.Node{Path: znode.Join(parent, name), Data: []byte{}}); err != nil {
				return err
			}
		}
		return nil
	}
	for parent, prefix := range target.Numbered {
		strange := slices.DeleteFunc(slices.Clone(v.names.In(parent)), func(name string) bool {
			_, known := newqueue.ParseSequenceID(prefix, name)
			return known || znode.Join(parent, name) == newqueue.JobStatesPath
		})
		if err := add(parent, strange); err != nil {
			return err
		}
	}
	few := []string{newqueue.AccessPath, newqueue.JobStatesPath, newqueue.LocksPath, newqueue.QueueLocksPath}
	lists, err := v.t.Reader.ChildrenAll(ctx, few)
	if err != nil {
		return err
	}
	for i, names := range lists {
		if err := add(few[i], names); err != nil {
			return err
		}
	}
	for _, p := range merritt.Problems(unknown, v.dialect) {
		v.differ(Difference{Kind: Layout, Path: p.Path, Message: p.Message()})
	}
	return v.checkBatchNames(ctx)
}

// checkBatchNames looks at the names of batches that no run gave: none may lead to a batch
// that a run created, nor to one that is not there. A batch may be newer than the list of
// batches, or be in the middle of a cleanup.
func (v *verifier) checkBatchNames(ctx context.Context) error {
	var paths []string
	for _, name := range v.names.In(newqueue.BatchUUIDsPath) {
		if v.t.Ledger.BatchByUUID(name) == nil {
			paths = append(paths, znode.Join(newqueue.BatchUUIDsPath, name))
		}
	}
	return repeatedly(ctx, paths, func(paths []string, look int) (again []string, err error) {
		names, err := v.t.Reader.GetAll(ctx, paths, nil)
		if err != nil {
			return nil, err
		}
		var batches []string
		names = slices.DeleteFunc(names, func(n znode.Node) bool {
			bid := string(n.Data)
			_, isBatch := newqueue.ParseSequenceID(newqueue.BatchPrefix, bid)
			others := isBatch && v.batches[bid] == nil && v.names.Has(newqueue.BatchPath(bid))
			if isBatch && !others {
				batches = append(batches, newqueue.BatchPath(bid), newqueue.BatchPath(bid)+"/submission")
			}
			return others
		})
		nodes, err := v.t.Reader.GetAll(ctx, compactPaths(batches), nil)
		if err != nil {
			return nil, err
		}
		tree := znode.NewTree()
		for _, n := range append(names, nodes...) {
			if err := tree.Put(n); err != nil {
				return nil, err
			}
		}
		for _, p := range merritt.Problems(tree, v.dialect) {
			switch {
			case znode.Parent(p.Path) != newqueue.BatchUUIDsPath:
			case look < looks:
				again = append(again, p.Path)
			default:
				v.differ(Difference{Kind: Layout, Path: p.Path, Message: p.Message(), Queue: newqueue.HoldIngest})
			}
		}
		return again, nil
	})
}
