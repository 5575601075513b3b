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
	return nil
}
