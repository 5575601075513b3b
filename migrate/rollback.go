package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Kept is something that a run made and a rollback leaves.
type Kept struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Undo is what a rollback would do, or did.
type Undo struct {
	Run  string `json:"run"`
	Done Done   `json:"removed"`
	Kept []Kept `json:"kept"` // jobs and batches
	Left []Kept `json:"left"` // what else is not as it was before the run

	units     []unit
	structure []string // the run's own nodes of the layout, children first
	run       Run
	tree      *znode.Tree
	ex        *existing
	force     bool
}

// PlanRollback says what taking back a run would remove and keep: jobs, access
// requests and batches that it made and that nobody changed since. With force
// only a worker's lock protects them. It is a pure function. The error wraps
// [ErrNoRun] or [ErrNotNewest].
func PlanRollback(tree *znode.Tree, id string, force bool) (*Undo, error) {
	run, err := FindRun(tree, id)
	if err != nil {
		return nil, err
	}
	ex, err := readExisting(tree)
	if err != nil {
		return nil, err
	}
	if newest, _ := ex.newest(); newest.ID != id {
		return nil, fmt.Errorf("%w: %s came after %s; roll that back first", ErrNotNewest, newest.ID, id)
	}
	u := &Undo{Run: id, Kept: []Kept{}, Left: []Kept{}, run: run, tree: tree, ex: ex, force: force}
	u.undoJobsAndBatches()
	if run.Done.Rewritten > 0 {
		u.Left = append(u.Left, Kept{run.path(), fmt.Sprintf("%d jobs of earlier runs were rewritten by this one and stay as it left them", run.Done.Rewritten)})
	}
	u.structure = slices.Clone(run.Made)
	slices.Reverse(u.structure)
	return u, nil
}

func (u *Undo) keep(path, why string) { u.Kept = append(u.Kept, Kept{path, why}) }

// undoJobsAndBatches plans what goes. Jobs go newest first, so that what is
// left after an interruption is a beginning; a batch goes after its last job,
// and stays whole if anything of it must stay: with some of its jobs gone, it
// would be taken for done.
func (u *Undo) undoJobsAndBatches() {
	jobs := map[string][]placed{} // by BID; "" are access requests
	for _, p := range u.ex.jobs {
		if p.prov.Run == u.Run {
			jobs[p.bid] = append(jobs[p.bid], p)
		}
	}
	for _, bid := range u.tree.Children(newqueue.BatchesPath) {
		if prov, ok := parseBatchProvenance(u.tree.Get(newqueue.BatchPath(bid)).Data); ok && prov.Run == u.Run && jobs[bid] == nil {
			jobs[bid] = []placed{} // a batch whose jobs are gone
		}
	}
	uuids := map[string][]*znode.Node{} // by BID
	for _, name := range u.tree.Children(newqueue.BatchUUIDsPath) {
		n := u.tree.Get(znode.Join(newqueue.BatchUUIDsPath, name))
		uuids[string(n.Data)] = append(uuids[string(n.Data)], n)
	}
	for _, bid := range slices.Backward(slices.Sorted(maps.Keys(jobs))) {
		mine := jobs[bid]
		slices.SortFunc(mine, func(a, b placed) int { return strings.Compare(b.root, a.root) })
		switch prov, ok := u.batchOf(bid); {
		case bid == "":
			u.undoEach(mine)
		case !ok || prov.Run != u.Run:
			u.undoEach(mine)
			u.noteRewritten(bid)
		default:
			u.undoBatch(bid, mine, uuids[bid])
		}
	}
}

func (u *Undo) batchOf(bid string) (batchProvenance, bool) {
	n := u.tree.Get(newqueue.BatchPath(bid))
	if bid == "" || n == nil {
		return batchProvenance{}, false
	}
	return parseBatchProvenance(n.Data)
}

// undoEach plans the removal of jobs one by one: access requests, and jobs
// that the run added to somebody else's batch.
func (u *Undo) undoEach(mine []placed) {
	for _, p := range mine {
		if why := u.stays(p); why != "" {
			u.keep(p.root, why)
			continue
		}
		u.remove(p)
	}
}

// stays says why a job must stay, "" if it can go.
func (u *Undo) stays(p placed) string {
	why := u.ex.touched(p)
	if u.force && !locked(u.tree, p.root) {
		return ""
	}
	return why
}

func (u *Undo) remove(p placed) *unit {
	done := Done{Jobs: 1}
	if p.bid == "" {
		done = Done{Access: 1}
	}
	u.units = append(u.units, unit{ops: u.ex.removal(p), done: done, count: 1})
	u.Done.add(done)
	return &u.units[len(u.units)-1]
}

// noteRewritten names a batch of an earlier run that this run added to: what
// its znodes said before can't be known without the source.
func (u *Undo) noteRewritten(bid string) {
	for _, name := range []string{"status", "submission", "status-report"} {
		if n := u.tree.Get(newqueue.BatchPath(bid) + "/" + name); n != nil && n.Stat.Czxid > u.run.stat.Czxid {
			u.keep(newqueue.BatchPath(bid), "an earlier run made it and this one added to it: its status and submission stay as this run wrote them, until mrtq migrate derives them again")
			return
		}
	}
}

// undoBatch plans the removal of a batch of this run with its jobs.
func (u *Undo) undoBatch(bid string, mine []placed, uuids []*znode.Node) {
	goes := map[string]bool{} // nodes that go with the jobs
	for _, p := range mine {
		if why := u.stays(p); why != "" {
			u.keepBatch(bid, mine, why)
			return
		}
		for _, path := range u.ex.placedNodes(p) {
			goes[path] = true
		}
	}
	processing := newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)
	var ops []znode.Op
	for _, path := range slices.Backward(u.tree.Paths(newqueue.BatchPath(bid))) {
		if goes[path] {
			continue
		}
		n := u.tree.Get(path)
		if why := batchTouched(bid, n, u.force); why != "" {
			u.keepBatch(bid, mine, why)
			return
		}
		ops = append(ops, znode.Delete(path, n.Stat.Version))
	}
	for _, n := range uuids {
		ops = append(ops, znode.Delete(n.Path, n.Stat.Version))
	}
	// With the last job that stands in it goes batch-processing itself: there
	// and empty, it would mean that the batch is done.
	standing := len(u.tree.Children(processing))
	for _, p := range mine {
		job := u.remove(p)
		if goes[newqueue.BatchEntryPath(bid, newqueue.FolderProcessing, p.id)] {
			if standing--; standing == 0 {
				job.ops = append(job.ops, znode.Delete(processing, u.tree.Get(processing).Stat.Version))
				ops = slices.DeleteFunc(ops, func(o znode.Op) bool { return o.Path == processing })
			}
		}
	}
	u.units = append(u.units, unit{ops: ops, done: Done{Batches: 1}, count: 1})
	u.Done.Batches++
}

// keepBatch keeps a batch whole.
func (u *Undo) keepBatch(bid string, mine []placed, why string) {
	u.keep(newqueue.BatchPath(bid), fmt.Sprintf("%s; with it stay the %d jobs that the run put into it", why, len(mine)))
}

func locked(tree *znode.Tree, root string) bool {
	n := tree.Get(root + "/lock")
	return n != nil && n.Stat.EphemeralOwner != 0
}

// batchTouched says why a node keeps its batch from being removed.
func batchTouched(bid string, n *znode.Node, force bool) string {
	folder := znode.Parent(n.Path)
	switch {
	case n.Stat.EphemeralOwner != 0:
		return n.Path + " is a worker's"
	case znode.Parent(folder) == newqueue.BatchStatesPath(bid):
		return n.Path + " is a job that stays"
	case force:
		return ""
	case n.Stat.Version != 0:
		return fmt.Sprintf("%s was set %s", n.Path, times(n.Stat.Version))
	case n.Stat.Aversion != 0:
		return n.Path + " was given another ACL"
	case folder == newqueue.BatchPath(bid) && !knownBatchNode[znode.Name(n.Path)]:
		return n.Path + " was made by somebody else"
	}
	return ""
}

var knownBatchNode = map[string]bool{"submission": true, "status": true, "status-report": true, "states": true}

// Rollback takes back a run. What others touched is kept and listed, unless
// forced; the run's record then stays too, as rolled back. When nothing is kept
// the record goes, and the target holds what it held before. Interrupted, it is finished by calling it again.
// Errors are those of [PlanRollback] and [Migrator.Migrate].
func (m *Migrator) Rollback(ctx context.Context, id string, force bool) (*Undo, error) {
	m.defaults()
	if err := m.Target.lead(ctx, m.owner, nil, m.Say); err != nil {
		return nil, interrupted(err)
	}
	defer m.Target.resign()
	var total Done
	for retry := (retries{budget: m.Budget}); ; {
		tree, err := m.Target.Tree(ctx)
		if err != nil {
			return nil, interrupted(err)
		}
		u, err := PlanRollback(tree, id, force)
		if err != nil {
			return nil, err
		}
		steps, done, err := m.undo(ctx, u, retry.budget)
		total.add(done)
		u.Done = total
		var again *lookAgain
		if err == nil || !errors.As(err, &again) {
			return u, err
		}
		if err := retry.next(steps, again.err); err != nil {
			return u, err
		}
		m.Say(fmt.Sprintf("looking again: %v", again.err))
	}
}

// undo carries one look's plan out. It returns the number of transactions that
// were done and what they took back.
func (m *Migrator) undo(ctx context.Context, u *Undo, budget int) (int, Done, error) {
	c := &chain{m: m, run: u.run, base: u.run.stat.Version}
	c.run.State, c.run.Owner = RunRollingBack, m.owner
	transactions := func(yield func(unit) bool) {
		if !yield(unit{}) { // marks the run before anything goes
			return
		}
		for t := range pack(slices.Values(u.units), budget, m.Target.chrootLen()) {
			if !yield(t) {
				return
			}
		}
	}
	if err := c.send(ctx, transactions, func(n int) { m.Progress(n, len(u.units)) }); err != nil {
		return c.steps, c.done, err
	}
	err := m.undoStructure(ctx, c, u)
	return c.steps, c.done, err
}

// undoStructure removes the run's own znodes of the layout that are empty now,
// its holds, and its record, in one transaction.
func (m *Migrator) undoStructure(ctx context.Context, c *chain, u *Undo) error {
	var ops []znode.Op
	removed := map[string]bool{}
	for _, path := range u.structure {
		n, err := m.Target.Get(ctx, path)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return err
		}
		left := int(n.Stat.NumChildren)
		for child := range removed {
			if znode.Parent(child) == path {
				left--
			}
		}
		switch {
		case left > 0:
			u.Left = append(u.Left, Kept{path, fmt.Sprintf("others have made what is in it (%d)", left)})
		case n.Stat.Version != 0:
			u.Left = append(u.Left, Kept{path, "it was set " + times(n.Stat.Version)})
		default:
			removed[path] = true
			ops = append(ops, znode.Delete(path, 0))
		}
	}
	if len(u.Kept) > 0 {
		c.run.State, c.run.Finished = RunRolledBack, m.Now().UTC()
		c.run.Made = slices.DeleteFunc(slices.Clone(c.run.Made), func(path string) bool { return removed[path] })
		c.run.Holds = []string{}
		return c.send(ctx, slices.Values([]unit{{ops: ops}}), func(int) {})
	}
	own, err := m.ownNodes(ctx, c.run.path(), c.base)
	if err != nil {
		return err
	}
	err = <-m.Target.Start(ctx, append(ops, own...))
	var refused *znode.MultiError
	if errors.Is(err, zkconn.ErrUnknownOutcome) || errors.As(err, &refused) && overtaken(refused.Err) {
		if _, gerr := m.Target.Get(ctx, c.run.path()); errors.Is(gerr, znode.ErrNoNode) {
			return nil // it was done
		}
		return &lookAgain{err}
	}
	return err
}

// ownNodes are the operations that remove the run's record, demanding its
// version, and the migration's own folders if nothing else is in them: no
// other run, and no other migrator standing by.
func (m *Migrator) ownNodes(ctx context.Context, run string, version int32) ([]znode.Op, error) {
	ops := []znode.Op{znode.Delete(run, version)}
	below := int32(0) // children of /migration that go
	for _, own := range []struct{ folder, child string }{{RunsPath, run}, {ElectionPath, m.Target.leader}} {
		n, err := m.Target.Get(ctx, own.folder)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n.Stat.NumChildren > 1 {
			return ops, nil
		}
		if own.folder == ElectionPath {
			ops = append(ops, znode.Delete(own.child, -1))
		}
		ops = append(ops, znode.Delete(own.folder, -1))
		below++
	}
	n, err := m.Target.Get(ctx, MigrationPath)
	if err != nil {
		return nil, err
	}
	if n.Stat.NumChildren == below {
		ops = append(ops, znode.Delete(MigrationPath, -1))
	}
	return ops, nil
}
