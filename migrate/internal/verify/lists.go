package verify

import (
	"context"
	"fmt"
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
// that a run created, nor to one that is not there.
func (v *verifier) checkBatchNames(ctx context.Context) error {
	var paths []string
	for _, name := range v.names.In(newqueue.BatchUUIDsPath) {
		if v.t.Ledger.BatchByUUID(name) == nil {
			paths = append(paths, znode.Join(newqueue.BatchUUIDsPath, name))
		}
	}
	nodes, err := v.t.Reader.GetAll(ctx, paths, nil)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		bid := string(n.Data)
		_, isBatch := newqueue.ParseSequenceID(newqueue.BatchPrefix, bid)
		about := Difference{Kind: Layout, Path: n.Path, Queue: newqueue.HoldIngest}
		switch {
		case v.batches[bid] != nil:
			about.Message = fmt.Sprintf("a second name of batch %s", bid)
		case !isBatch:
			about.Message = fmt.Sprintf("it holds %.40q, which is no batch", bid)
		case v.names.Has(newqueue.BatchPath(bid)):
			continue
		default: // it may be newer than the list of batches, or be in the middle of a cleanup
			removed, err := v.staysWithout(ctx, n.Path, newqueue.BatchPath(bid))
			if err != nil {
				return err
			}
			if !removed {
				continue
			}
			about.Message = fmt.Sprintf("it holds %s, a batch that does not exist", bid)
		}
		v.differ(about)
	}
	return nil
}

// staysWithout reports whether a znode stays although the one that it needs is not there.
func (v *verifier) staysWithout(ctx context.Context, path, needs string) (bool, error) {
	for look := 1; ; look++ {
		nodes, err := v.t.Reader.GetAll(ctx, []string{path, needs}, nil)
		if err != nil || len(nodes) != 1 || nodes[0].Path != path {
			return false, err
		}
		if look == looks {
			return true, nil
		}
		if err := wait(ctx); err != nil {
			return false, err
		}
	}
}

// checkOrphans looks at entries that no run made. Their jobs must be there.
func (v *verifier) checkOrphans(ctx context.Context, folder string, names []string) error {
	for _, name := range names {
		id, path := idIn(name), znode.Join(folder, name)
		about := Difference{Kind: Layout, Path: path, Queue: newqueue.HoldIngest}
		_, isJob := newqueue.ParseSequenceID(newqueue.JobPrefix, id)
		switch {
		case !isJob:
			about.Message = "no reader knows what it is an entry of"
		case v.names.Has(newqueue.JobPath(id)):
			continue
		default:
			removed, err := v.staysWithout(ctx, path, newqueue.JobPath(id))
			if err != nil {
				return err
			}
			b := v.batches[v.batchAt(path)]
			if held := b != nil && v.isExact(b.run, newqueue.HoldIngest); !removed || !held && v.isBeingCleaned(ctx, path) {
				continue
			}
			about.Message = fmt.Sprintf("an entry of job %s, which does not exist", id)
		}
		v.differ(about)
	}
	return nil
}
