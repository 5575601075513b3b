package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// batch is a batch that a run created, as the records of that run say that it should be.
type batch struct {
	of    *ledger.Batch
	run   *migration.Run
	want  rules.Batch
	keyed bool
	// changed says that any of its records may have been another one when the batch was made.
	changed bool
}

func newBatch(of *ledger.Batch, run *migration.Run) *batch {
	return &batch{of: of, run: run, want: rules.Batch{ID: of.ID, Run: run.ID}}
}

// add adds a record of the run that created the batch. Records come in the order in which
// they were migrated.
func (b *batch) add(it item, d newqueue.Dialect) {
	if !b.keyed {
		b.want.Key, b.keyed = rules.BatchOf(*it.record, b.run.ID, d), true
	}
	b.want.Add(*it.record, it.state, d)
	b.changed = b.changed || it.changed
}

// isWhole reports whether the records of the run that created the batch are all as they were
// then. Otherwise nobody can say what its submission should be. (A run that was interrupted
// may have found fewer or more of them later.)
func (b *batch) isWhole() bool {
	return !b.changed && b.want.Jobs == b.of.Own && b.want.Jobs == b.of.Jobs
}

// checkBatches compares the batches that runs created. Those of a done run that is held are
// compared exactly. The others must obey the layout, or be removed.
func (v *verifier) checkBatches(ctx context.Context) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(v.batches)), partSize.N()) {
		if err := v.checkSomeBatches(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

type batchObservation struct {
	nodes   []znode.Node   // with its name and its folders
	there   bool           // its own znode is
	problem layout.Finding // the first rule of the layout that it breaks
}

func (v *verifier) checkSomeBatches(ctx context.Context, ids []string) error {
	return repeatedly(ctx, ids, func(ids []string, look int) (again []string, err error) {
		sights, err := v.lookAtBatches(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, bid := range ids {
			b, s := v.batches[bid], sights[bid]
			if v.batchDamage(b, s) != nil && look < maxLooks {
				again = append(again, bid)
			} else {
				v.concludeBatch(b, s)
			}
		}
		return again, nil
	})
}

func (v *verifier) lookAtBatches(ctx context.Context, ids []string) (map[string]*batchObservation, error) {
	sights, tree := map[string]*batchObservation{}, znode.NewTree()
	var paths, roots, names []string
	for _, bid := range ids {
		root := newqueue.BatchPath(bid)
		sights[bid] = &batchObservation{}
		roots = append(roots, root, newqueue.BatchStatesPath(bid))
		paths = append(paths, root)
		names = append(names, newqueue.BatchUUIDsPath+"/"+v.batches[bid].of.UUID)
	}
	lists, err := v.t.Reader.ChildrenAll(ctx, roots)
	if err != nil {
		return nil, err
	}
	for i, children := range lists {
		for _, name := range children {
			paths = append(paths, znode.Join(roots[i], name))
		}
	}
	slices.Sort(names)
	paths = append(paths, slices.Compact(names)...) // batches of several runs can have one
	nodes, err := v.t.Reader.MarkUnreadable().GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if err := tree.Put(n); err != nil {
			return nil, err
		}
		if s := sights[v.batchOf(n)]; s != nil { // a name of another part's batch is judged with that
			s.nodes = append(s.nodes, n)
			s.there = s.there || znode.Parent(n.Path) == newqueue.BatchesPath
		}
	}
	for bid, s := range sights {
		if err := v.clearExpectedACLs(ctx, s.nodes, v.batches[bid].run); err != nil {
			return nil, err
		}
	}
	for _, p := range merritt.Problems(tree, v.dialect) {
		about := znode.Node{Path: cmp.Or(p.Item, p.Path)}
		if n := tree.Get(about.Path); n != nil {
			about = *n
		}
		if s := sights[v.batchOf(about)]; s != nil && s.problem.Path == "" {
			s.problem = p
		}
	}
	return sights, nil
}

// batchOf is the bid of the batch that a znode belongs to; "" if it belongs to none that a run created. The name of several runs'
// batches belongs to the one that it names. If it names none of them, it belongs to the newest.
func (v *verifier) batchOf(n znode.Node) string {
	if znode.Parent(n.Path) != newqueue.BatchUUIDsPath {
		return v.batchAt(n.Path)
	}
	name := znode.Name(n.Path)
	if b := v.batches[string(n.Data)]; b != nil && b.of.UUID == name {
		return b.of.ID
	}
	if b := v.t.Ledger.BatchByUUID(name); b != nil {
		return b.ID
	}
	return ""
}

func (v *verifier) batchAt(path string) string {
	for ; path != "/"; path = znode.Parent(path) {
		if znode.Parent(path) == newqueue.BatchesPath && v.batches[znode.Name(path)] != nil {
			return znode.Name(path)
		}
	}
	return ""
}

// batchDamage is the first damage of a batch; nil if there is none, or if the state of its
// run does not show what the batch should be.
func (v *verifier) batchDamage(b *batch, s *batchObservation) *migration.Difference {
	// A run that is unfinished has not made all of the batch. A cleanup removes its name
	// first and its own znode last.
	if b.run.State != migration.RunDone || !s.there {
		return nil
	}
	for _, n := range s.nodes {
		isParent := n.Path == newqueue.BatchPath(b.of.ID) || isFolder(n.Path) || n.Path == newqueue.BatchStatesPath(b.of.ID)
		if kind, says := oddity(n, isParent); says != "" {
			return &migration.Difference{Kind: kind, Path: n.Path, Message: says, Queue: newqueue.HoldIngest}
		}
	}
	if s.problem.Path != "" {
		return &migration.Difference{Kind: migration.DifferenceLayout, Path: s.problem.Path, Message: s.problem.Message(), Queue: newqueue.HoldIngest}
	}
	return nil
}

func (v *verifier) concludeBatch(b *batch, s *batchObservation) {
	v.verdict.Nodes += len(s.nodes)
	if damage := v.batchDamage(b, s); damage != nil {
		v.differ(*damage)
		return
	}
	if b.run.State != migration.RunDone || !v.isExact(b.run, newqueue.HoldIngest) {
		return
	}
	about := migration.Difference{Kind: migration.DifferenceActedOn, Path: newqueue.BatchPath(b.of.ID), Queue: newqueue.HoldIngest}
	if !s.there {
		about.Message = "the batch was removed: cleaned up, or deleted"
		v.differ(about)
		return
	}
	if about.Message = b.compare(s, v.dialect); about.Message != "" {
		v.differ(about)
	}
}

// compare returns the first difference from what the run made; "" if there is none. One more
// folder is none: a later run may have added it, and its rollback leaves it.
func (b *batch) compare(s *batchObservation, d newqueue.Dialect) string {
	if !b.isWhole() { // so it is not known what it should be, but that nobody has written it
		for _, n := range s.nodes {
			if n.Stat.Version != 0 && !isFolder(n.Path) && n.Path != newqueue.BatchStatesPath(b.of.ID) {
				return n.Path + " was written again"
			}
		}
		return ""
	}
	got := map[string]znode.Node{}
	for _, n := range s.nodes {
		got[n.Path] = n
	}
	want := b.want.All(d)
	for _, w := range want {
		n, there := got[w.Path]
		delete(got, w.Path)
		switch {
		case !there:
			return w.Path + " is not there"
		case isFolder(w.Path) || w.Path == newqueue.BatchStatesPath(b.of.ID):
		case !slices.Equal(n.Data, w.Data):
			return w.Path + " has other data"
		case n.Stat.Version != 0:
			return w.Path + " was written again, with the same data"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if !isFolder(path) {
			return fmt.Sprintf("there is %s", path)
		}
	}
	return ""
}
