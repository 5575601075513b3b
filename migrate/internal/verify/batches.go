package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/newqueue"
	"mrtq/newqueue/lint"
)

// batch is a batch that a run created, as the records of that run say that it should be.
type batch struct {
	of                *ledger.Batch
	run               *ledger.Run
	want              rules.Batch
	failed, completed []string
	keyed             bool
}

func newBatch(of *ledger.Batch, run *ledger.Run) *batch {
	return &batch{of: of, run: run, want: rules.Batch{ID: of.ID, Run: run.ID}}
}

// add adds a record of the run that created the batch. Records come in the order in which
// they were migrated.
func (b *batch) add(it item, d newqueue.Dialect) {
	if !b.keyed {
		b.want.Key, b.keyed = rules.BatchOf(*it.record, b.run.ID, d), true
	}
	b.want.Add(*it.record, it.state, d)
	switch it.state.Job {
	case newqueue.JobFailed:
		b.failed = append(b.failed, znode.Name(it.entry.Job))
	case newqueue.JobCompleted:
		b.completed = append(b.completed, znode.Name(it.entry.Job))
	}
}

// isWhole reports whether all records of the run that created the batch are as they were.
// Otherwise nobody can say what its submission should be.
func (b *batch) isWhole() bool { return b.want.Jobs == b.of.Own }

// checkBatches compares the batches that runs created. Those of a done run that is held are
// compared exactly. The others must obey the layout, or be removed.
func (v *verifier) checkBatches(ctx context.Context) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(v.batches)), partSize) {
		if err := v.checkSomeBatches(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// batchSight is a batch without its jobs' entries, as it is.
type batchSight struct {
	nodes   []znode.Node
	folders []znode.Node
	uuid    *znode.Node
	others  []string // children that no reader knows
}

func (v *verifier) checkSomeBatches(ctx context.Context, ids []string) error {
	sights, tree, err := v.lookAtBatches(ctx, ids)
	if err != nil {
		return err
	}
	problems := map[string]lint.Problem{}
	for _, p := range lint.Check(tree, v.dialect) {
		if bid := v.batchAt(p.Path); bid != "" && problems[bid].Path == "" {
			problems[bid] = p
		}
	}
	for _, bid := range ids {
		v.concludeBatch(v.batches[bid], sights[bid], problems[bid])
	}
	return nil
}

// lookAtBatches reads the batches' own znodes, and returns them also as a tree.
func (v *verifier) lookAtBatches(ctx context.Context, ids []string) (map[string]*batchSight, *znode.Tree, error) {
	sights, tree := map[string]*batchSight{}, znode.NewTree()
	var paths, roots []string
	for _, bid := range ids {
		root := newqueue.BatchPath(bid)
		sights[bid] = &batchSight{}
		roots = append(roots, root, newqueue.BatchStatesPath(bid))
		paths = append(paths, root, newqueue.BatchUUIDsPath+"/"+v.batches[bid].of.UUID)
	}
	lists, err := v.t.Reader.ChildrenAll(ctx, roots)
	if err != nil {
		return nil, nil, err
	}
	for i, names := range lists {
		for _, name := range names {
			paths = append(paths, znode.Join(roots[i], name))
		}
	}
	nodes, err := v.t.Reader.GetAll(ctx, paths, v.sample.has)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range nodes {
		if err := tree.Put(n); err != nil {
			return nil, nil, err
		}
		v.verdict.Nodes++
		s := sights[v.batchAt(n.Path)]
		switch {
		case znode.Within(n.Path, newqueue.BatchUUIDsPath):
			s.uuid = &n
		case isFolder(n.Path):
			s.folders = append(s.folders, n)
		default:
			s.nodes = append(s.nodes, n)
		}
	}
	return sights, tree, nil
}

// batchAt is the bid of the batch that a znode belongs to; "" if it belongs to none that a
// run created.
func (v *verifier) batchAt(path string) string {
	if znode.Parent(path) == newqueue.BatchUUIDsPath {
		if b := v.t.Ledger.BatchByUUID(znode.Name(path)); b != nil {
			return b.ID
		}
		return ""
	}
	for ; path != "/"; path = znode.Parent(path) {
		if znode.Parent(path) == newqueue.BatchesPath && v.batches[znode.Name(path)] != nil {
			return znode.Name(path)
		}
	}
	return ""
}

// concludeBatch says how a batch differs from what its run made.
func (v *verifier) concludeBatch(b *batch, s *batchSight, p lint.Problem) {
	path := newqueue.BatchPath(b.of.ID)
	about := Difference{Path: path, Queue: newqueue.HoldIngest}
	exact := v.isExact(b.run, newqueue.HoldIngest)
	// A run that is unfinished has not made all of the batch.
	if !exact || b.run.State == ledger.Running {
		if p.Path != "" && len(s.nodes) > 0 && b.run.State == ledger.Done {
			about.Kind, about.Path, about.Message = Layout, p.Path, p.Message
			v.differ(about)
		}
		return
	}
	for i := range s.nodes {
		v.checkACL(&s.nodes[i], b.run, about)
	}
	differs := b.compare(s, v.dialect, v.expected)
	switch {
	case len(s.nodes) == 0 && s.uuid == nil:
		about.Kind, about.Message = ActedOn, "the batch was removed: cleaned up, or deleted"
	case p.Path != "":
		about.Kind, about.Path, about.Message = Layout, p.Path, p.Message
	case differs != "":
		about.Kind, about.Message = ActedOn, differs
	default:
		return
	}
	v.differ(about)
}

// compare returns the first difference from what the run made; "" if there is none.
// entries counts the entries of the runs' jobs, by their folders: a later run may have
// added a folder.
func (b *batch) compare(s *batchSight, d newqueue.Dialect, entries map[string]int) string {
	got := map[string]znode.Node{}
	for _, n := range slices.Concat(s.nodes, s.folders) {
		got[n.Path] = n
	}
	if s.uuid != nil {
		got[s.uuid.Path] = *s.uuid
	}
	if !b.isWhole() {
		return "" // its records are not all as they were, and verify says so
	}
	want := b.want.All(b.failed, b.completed, d)
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
		case n.Stat.EphemeralOwner != 0:
			return w.Path + " is ephemeral"
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if !isFolder(path) || entries[path] == 0 {
			return fmt.Sprintf("there is %s", path)
		}
	}
	return ""
}
