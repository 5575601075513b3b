package verify

import (
	"context"
	"slices"
	"strings"

	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// checkEntries looks for entries of the runs' jobs that are in the wrong place, and for
// folders that nobody needs. If a folder has as many entries as jobs that were seen to
// have theirs in it, there is nothing to look for.
func (v *verifier) checkEntries(ctx context.Context) error {
	if len(v.t.Ledger.Runs) == 0 {
		return nil
	}
	folders, err := v.folders(ctx)
	if err != nil {
		return err
	}
	var where map[string]*ledger.Migrated // the runs' jobs, by id; made only if it is needed
	for _, folder := range folders {
		if int(folder.Stat.NumChildren) == v.expected[folder.Path] {
			continue
		}
		if where == nil {
			where = map[string]*ledger.Migrated{}
			for e := range v.t.Ledger.All() {
				where[znode.Name(e.Job)] = e
			}
		}
		if err := v.checkFolder(ctx, folder.Path, where); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) folders(ctx context.Context) ([]znode.Node, error) {
	var paths []string
	states, err := v.t.Reader.ChildrenAll(ctx, []string{newqueue.JobStatesPath})
	if err != nil {
		return nil, err
	}
	for _, name := range states[0] {
		paths = append(paths, znode.Join(newqueue.JobStatesPath, name))
	}
	for bid := range v.batches {
		for _, f := range newqueue.BatchFolders {
			paths = append(paths, newqueue.BatchFolderPath(bid, f))
		}
	}
	slices.Sort(paths)
	return v.t.Reader.GetAll(ctx, paths)
}

// checkFolder looks at the entries of a folder that are not where their jobs' states say, and at those whose jobs are not
// there. where has the runs' jobs, by id.
func (v *verifier) checkFolder(ctx context.Context, folder string, where map[string]*ledger.Migrated) error {
	names, err := v.t.Reader.Children(ctx, folder)
	if err != nil {
		return err
	}
	var foreign []candidate
	for _, name := range names {
		path, id := znode.Join(folder, name), name[strings.IndexByte(name, '-')+1:] // in the queue of a state, it follows the priority
		s := candidate{item: item{entry: where[id], run: &v.t.Ledger.Runs[0], queue: newqueue.HoldIngest}, foreignEntry: path}
		_, isJob := newqueue.ParseSequenceID(newqueue.JobPrefix, id)
		switch {
		case s.entry != nil:
			s.run = &v.t.Ledger.Runs[s.entry.Run]
		case !isJob:
			s.entry = &ledger.Migrated{Job: path}
		case v.names.Has(newqueue.JobPath(id)):
			continue
		default:
			s.entry = &ledger.Migrated{Job: newqueue.JobPath(id)}
		}
		foreign = append(foreign, s)
	}
	for some := range slices.Chunk(foreign, partSize.N()) {
		if err := v.account(ctx, some, v.observeEntries, v.concludeEntry); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) concludeEntry(ctx context.Context, of candidate, s observation) {
	switch {
	case s.problem == "", s.Gone() && isCleaned(v.batch(ctx, v.batchAt(of.foreignEntry))):
	case s.isWorkedOn():
		v.noticeWork(of.item, s)
	default:
		d := migration.Difference{Kind: migration.DifferenceLayout, Path: of.foreignEntry, Record: of.entry.Record, Queue: of.queue, Message: s.problem, By: canCause[s.rule]}
		if state := newqueue.JobState(znode.Name(znode.Parent(d.Path))); s.rule == orphanEntry && state.Folder() != newqueue.FolderProcessing {
			d.Remove = []string{d.Path} // no worker takes it
		}
		v.differ(d)
	}
}

// batch reads a batch, for what somebody may have removed of it. One that can't be read counts as whole.
func (v *verifier) batch(ctx context.Context, bid string) target.Batch {
	if bid != "" {
		if there, err := v.t.Batches(ctx, []string{bid}, v.dialect); err == nil {
			return there[bid]
		}
	}
	return target.Batch{There: true, State: newqueue.BatchProcessing, Folders: newqueue.BatchFolders}
}

// isCleaned reports whether the services' cleanup removes a batch, or has removed it or a part of it: the batch's jobs first, and their entries with the batch.
func isCleaned(b target.Batch) bool {
	return b.State == "" || b.State == newqueue.BatchCompleted || b.State == newqueue.BatchDeleted
}

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
		strange := slices.DeleteFunc(slices.Clone(v.names.Children(parent)), func(name string) bool {
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
		v.differ(migration.Difference{Kind: migration.DifferenceLayout, Path: p.Path, Message: p.Message()})
	}
	return nil
}
