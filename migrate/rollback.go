package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	Kept []Kept `json:"kept"` // jobs and batches, and records of what is gone
	Left []Kept `json:"left"` // what else is not as it was before the run

	units     []unit
	structure []string // the run's own nodes of the layout, children first
	run       Run
	tree      *znode.Tree
	ex        *existing
	force     bool
	rewritten int // jobs of earlier runs that this one made anew
}

// whole reports whether nothing of the run is left to tell of, once the rest is
// removed.
func (u *Undo) whole() bool { return len(u.Kept) == 0 && u.rewritten == 0 && u.run.Lost == 0 }

// PlanRollback says what taking back a run would remove and keep: jobs, access
// requests and batches that it made and that nobody changed since. With force
// only a worker's lock protects them. Ours is what the run's own transactions
// made: what somebody deleted and made again is theirs. It is a pure function.
// The error wraps [ErrNoRun], [ErrNotNewest] or [ErrLedger].
func PlanRollback(tree *znode.Tree, id string, force bool) (*Undo, error) {
	ex := readExisting(tree)
	if d := ex.custody.damage; len(d) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrLedger, d[0])
	}
	run, err := FindRun(tree, id)
	if err != nil {
		return nil, err
	}
	for _, later := range slices.Backward(ex.runs) {
		if later.ID == id {
			break
		}
		if later.State != RunRolledBack || ex.rewrote(later.ID, id) {
			return nil, fmt.Errorf("%w: %s came after %s; roll that back first", ErrNotNewest, later.ID, id)
		}
	}
	u := &Undo{Run: id, Kept: []Kept{}, Left: []Kept{}, run: run, tree: tree, ex: ex, force: force}
	if !run.Ledger.Void {
		u.undoJobsAndBatches()
		u.keepCustody()
	}
	u.keepForeign()
	u.structure = withNew(nil, run.Made)
	slices.Reverse(u.structure)
	return u, nil
}

// rewrote reports whether a run made jobs of an earlier one anew that stand.
func (ex *existing) rewrote(run, earlier string) bool {
	for h := range ex.custody.held.all() {
		if p, stands := ex.job(h.record); h.run == run && stands && p.prov.Run == earlier {
			return true
		}
	}
	return false
}

// keepCustody names what the ledger goes on to tell of: records of which the run
// made jobs that are gone, and jobs of earlier runs that it made anew.
func (u *Undo) keepCustody() {
	rewritten := 0
	for h := range u.ex.custody.held.all() {
		if h.run != u.Run {
			continue
		}
		switch p, stands := u.ex.job(h.record); {
		case !stands || !u.ex.known(p): // or it is a copy of one that is gone
			u.keep(cmp.Or(h.root, h.record), u.ex.gone(h)+"; the ledger keeps it, so that it is not made again")
		case p.prov.Run != u.Run:
			rewritten++
		}
	}
	if u.run.Lost > 0 {
		u.keep(u.run.path(), fmt.Sprintf("%s of which this run made jobs (at least) were lost with its ledger; its record stays, so that a plan goes on asking about them", counted(u.run.Lost, "record", "records")))
	}
	if rewritten > 0 {
		u.rewritten = rewritten
		u.Left = append(u.Left, Kept{u.run.path(), fmt.Sprintf("%s of earlier runs %s rewritten by this one and stay as it left them; the record of the run stays with them", counted(rewritten, "job", "jobs"), wasWere(rewritten))})
	}
}

// keepForeign names what others put below the run's record and its ledger.
func (u *Undo) keepForeign() {
	for _, root := range []string{u.run.path(), ledgerPath(u.Run)} {
		for _, path := range u.tree.Paths(root) {
			n, err := strconv.Atoi(znode.Name(path))
			if shard := err == nil && n < u.run.Ledger.Shards && path == shardPath(u.Run, n); path != root && !shard {
				u.keep(path, "no migration made it; the record of the run stays as long as it does")
			}
		}
	}
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func (u *Undo) keep(path, why string) { u.Kept = append(u.Kept, Kept{path, why}) }

// undoJobsAndBatches plans what goes. Jobs go newest first, so that what is
// left after an interruption is a beginning; a batch goes after its last job,
// and stays whole if anything of it must stay: with some of its jobs gone, it
// would be taken for done.
func (u *Undo) undoJobsAndBatches() {
	jobs := map[string][]placed{} // by BID; "" are access requests
	for p := range u.ex.jobs.all() {
		switch {
		case p.prov.Run != u.Run:
		case !u.ex.known(p):
			u.Left = append(u.Left, Kept{p.root, "it says that this run made it, and the ledger knows nothing of it"})
		default:
			jobs[p.bid] = append(jobs[p.bid], p)
		}
	}
	for _, bid := range u.tree.Children(newqueue.BatchesPath) {
		if _, ok := u.batchOf(bid); ok && jobs[bid] == nil {
			jobs[bid] = []placed{} // its jobs are gone, or it is an earlier run's that this one may have written to
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
			ahead := len(u.units)
			u.undoEach(mine)
			u.undoFolders(bid, u.units[ahead:])
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

// undoFolders plans the removal of folders that the run made in a batch of an
// earlier one, if all that is in them goes with its jobs.
func (u *Undo) undoFolders(bid string, jobs []unit) {
	made := u.run.span(u.tree)
	if !made.known() {
		return
	}
	removed := map[string]bool{}
	for _, j := range jobs {
		for _, op := range j.ops {
			removed[op.Path] = true
		}
	}
	for _, f := range newqueue.BatchFolders {
		folder := u.tree.Get(newqueue.BatchFolderPath(bid, f))
		if f == newqueue.FolderProcessing || folder == nil || !made.holds(folder.Stat.Czxid) || !u.madeLater(bid, folder) || u.ex.batchNodeTouched(bid, folder) != "" {
			continue
		}
		stays := func(jid string) bool { return !removed[newqueue.BatchEntryPath(bid, f, jid)] }
		if !slices.ContainsFunc(u.tree.Children(folder.Path), stays) {
			u.units = append(u.units, unit{ops: []znode.Op{znode.Delete(folder.Path, 0)}})
		}
	}
}

// madeLater reports whether a node of a batch did not come with the batch. A run
// whose record was rebuilt can't tell its time from that of earlier runs.
func (u *Undo) madeLater(bid string, n *znode.Node) bool {
	return n.Stat.Czxid != u.tree.Get(newqueue.BatchPath(bid)).Stat.Czxid
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
	h, _ := u.ex.custody.lookup(p.prov.Path)
	back := h.ledgerEntry
	back.op = tookBack
	u.units = append(u.units, unit{ops: u.ex.removal(p), done: done, count: 1, ledger: []ledgerEntry{back}})
	u.Done.add(done)
	return &u.units[len(u.units)-1]
}

// noteRewritten names a batch of an earlier run that this run added to: what
// its znodes said before can't be known without the source.
func (u *Undo) noteRewritten(bid string) {
	made := u.run.span(u.tree)
	for _, name := range []string{"status", "submission", "status-report"} {
		if n := u.tree.Get(newqueue.BatchPath(bid) + "/" + name); n != nil && made.known() && made.holds(n.Stat.Czxid) && u.madeLater(bid, n) {
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
		if why := u.batchTouched(bid, n); why != "" {
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
func (u *Undo) batchTouched(bid string, n *znode.Node) string {
	switch {
	case n.Stat.EphemeralOwner != 0:
		return n.Path + " is a worker's"
	case znode.Parent(znode.Parent(n.Path)) == newqueue.BatchStatesPath(bid):
		return n.Path + " is a job that stays"
	case u.force:
		return ""
	}
	return u.ex.batchNodeTouched(bid, n)
}

var knownBatchNode = map[string]bool{"submission": true, "status": true, "status-report": true, "states": true}

// Rollback takes back a run. What others touched is kept and listed, unless
// forced; the run's record then stays too, as rolled back. When nothing is kept
// the record goes, and the target holds what it held before. Interrupted, it is finished by calling it again.
// Errors are those of [PlanRollback] and [Migrator.Migrate].
func (m *Migrator) Rollback(ctx context.Context, id string, force bool) (*Undo, error) {
	m.defaults()
	acl, err := m.Target.runACL(ctx, id)
	if err != nil {
		return nil, interrupted(err)
	}
	if err := m.Target.lead(ctx, m.owner, acl, m.Say); err != nil {
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
	c := &chain{m: m, run: u.run, base: u.run.stat.Version, acl: u.run.ACL}
	c.trace, _ = readTrace(u.tree)
	tail, err := decodeTail(u.run)
	if err != nil {
		return 0, Done{}, err
	}
	c.log = ledgerLog{run: u.Run, acl: u.run.ACL, tail: tail}
	c.run.State, c.run.Owner = RunRollingBack, m.owner
	c.run.Copied = !u.ex.spans[u.Run].known()
	transactions := func(yield func(unit) bool) {
		// Marks the run before anything goes, and where its making ended.
		if !yield(unit{ends: true}) {
			return
		}
		for t := range pack(slices.Values(u.units), budget, m.Target.chrootLen()) {
			if !yield(t) {
				return
			}
		}
	}
	items := 0
	err = c.send(ctx, transactions, func(t unit) {
		items += t.count
		m.Progress(items, len(u.units))
	})
	if err != nil {
		return c.steps, c.done, err
	}
	err = m.undoStructure(ctx, c, u)
	return c.steps, c.done, err
}

// undoStructure removes the run's own znodes of the layout that are empty now,
// and its holds. When nothing of the run is left to tell of, its ledger and its
// record go too.
func (m *Migrator) undoStructure(ctx context.Context, c *chain, u *Undo) error {
	made := u.run.span(u.tree)
	var ops []znode.Op
	removed := map[string]bool{}
	for _, path := range u.structure {
		n, err := m.Target.Get(ctx, path)
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return interrupted(err)
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
		case path == newqueue.JobsPath && (!u.whole() || len(u.ex.runs) > 1):
			// The trace of what stays is on it.
		case made.known() && !made.holds(n.Stat.Czxid):
			u.Left = append(u.Left, Kept{path, "somebody deleted it and made it again"})
		case n.Stat.Version != 0 && !onlyTraced(n):
			u.Left = append(u.Left, Kept{path, "it was set " + times(n.Stat.Version)})
		default:
			removed[path] = true
			ops = append(ops, znode.Delete(path, n.Stat.Version))
		}
	}
	if !u.whole() {
		c.run.Made = slices.DeleteFunc(slices.Clone(c.run.Made), func(path string) bool { return removed[path] })
		c.run.Holds = []string{}
		return c.end(ctx, RunRolledBack, ops, func(t trace, r Run) trace { return t.with(r) })
	}
	if err := c.dropLedger(ctx); err != nil {
		return err
	}
	if !removed[newqueue.JobsPath] {
		jobs, err := m.Target.Get(ctx, newqueue.JobsPath)
		if err == nil {
			old, ok := parseTrace(jobs.Data)
			if !ok { // somebody set it to something else meanwhile
				old = c.trace
			}
			ops = append(ops, setTrace(&jobs, old.without(u.Run))...)
		} else if !errors.Is(err, znode.ErrNoNode) {
			return interrupted(err)
		}
	}
	own, err := m.ownNodes(ctx, c.run, c.base)
	if err != nil {
		return interrupted(err)
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

// onlyTraced reports whether it is /jobs, and nobody but runs set its data.
func onlyTraced(n znode.Node) bool {
	t, ok := parseTrace(n.Data)
	return ok && n.Path == newqueue.JobsPath && t.Sets == n.Stat.Version
}

// shardsAtOnce is how many shards go in one transaction.
const shardsAtOnce = 500

// dropLedger removes most of a long ledger, of which nothing counts any more
// because all that it tells of was taken back. What is left goes with the run's
// record; the closing shard is among it, which tells until then what is ours.
func (c *chain) dropLedger(ctx context.Context) error {
	shards, err := c.m.Target.Children(ctx, ledgerPath(c.run.ID))
	if err != nil && !errors.Is(err, znode.ErrNoNode) {
		return interrupted(err)
	}
	if len(shards) <= shardsAtOnce {
		return nil
	}
	closing := znode.Name(shardPath(c.run.ID, c.run.Ledger.Closed-1))
	shards = slices.DeleteFunc(shards, func(name string) bool { return name == closing })
	c.run.Ledger.Void = true
	transactions := func(yield func(unit) bool) {
		if !yield(unit{}) { // says so before the first goes
			return
		}
		for names := range slices.Chunk(shards, shardsAtOnce) {
			var t unit
			for _, name := range names {
				t.ops = append(t.ops, znode.Delete(znode.Join(ledgerPath(c.run.ID), name), -1))
			}
			if !yield(t) {
				return
			}
		}
	}
	return c.send(ctx, transactions, func(unit) {})
}

// ownNodes are the operations that remove the run's record, demanding its
// version, and the migration's own folders if nothing else is in them: no
// other run, and no other migrator standing by. Of /migration only the one that
// a migrator made goes.
func (m *Migrator) ownNodes(ctx context.Context, run Run, version int32) ([]znode.Op, error) {
	ops := []znode.Op{znode.Delete(run.path(), version)}
	shards, err := m.Target.Children(ctx, ledgerPath(run.ID))
	switch {
	case err == nil:
		for _, name := range shards {
			ops = append(ops, znode.Delete(znode.Join(ledgerPath(run.ID), name), -1))
		}
		ops = append(ops, znode.Delete(ledgerPath(run.ID), -1))
	case !errors.Is(err, znode.ErrNoNode):
		return nil, err
	}
	below := int32(0) // children of /migration that go
	var election znode.Node
	for _, own := range []struct{ folder, child string }{{RunsPath, run.path()}, {LedgerPath, ledgerPath(run.ID)}, {ElectionPath, m.Target.leader}} {
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
			election = n
			ops = append(ops, znode.Delete(own.child, -1))
		}
		ops = append(ops, znode.Delete(own.folder, -1))
		below++
	}
	n, err := m.Target.Get(ctx, MigrationPath)
	if err != nil {
		return nil, err
	}
	if n.Stat.NumChildren == below && ownMigration(n.Stat, election.Stat) {
		ops = append(ops, znode.Delete(MigrationPath, -1))
	}
	return ops, nil
}
