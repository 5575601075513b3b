package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// undoneJob is a job or request that a run made. It has everything that its removal
// needs, so that nothing is read again. It is small, because there may be a million.
type undoneJob struct {
	root, bid ref
	entry     int32 // its row of the ledger
	nodes     nodeSet
	stays     bool
}

// undoneBatch is a batch that a migration made, or one that has jobs of the run.
type undoneBatch struct {
	bid     ref
	own     bool // the run made it
	stays   bool
	nodes   nodeSet
	empty   [4]bool    // its folders that the run made and that become empty
	ops     []znode.Op // replace nodes if a znode is not as it was made
	why     string     // why it stays
	rewrote bool       // an earlier run made it, and this run wrote its status or submission
}

// namedBatch is an entry of /batch-uuids that names a batch of the run.
type namedBatch struct {
	bid     ref
	path    string
	version int32
}

// nodeSet says which znodes a job or batch has, of those that a migration makes for it.
// It has a bit for each, and all of them have version 0.
type nodeSet uint16

// jobNodeNames and batchNodeNames are the names of the znodes below a job, request or
// batch, parents first.
var (
	jobNodeNames   = []string{"bid", "priority", "space_needed", "configuration", "identifiers", "metadata", "status", "inventory", "token"}
	batchNodeNames = []string{"submission", "status", "status-report", "states",
		"states/" + string(newqueue.BatchFolders[0]), "states/" + string(newqueue.BatchFolders[1]), "states/" + string(newqueue.BatchFolders[2]), "states/" + string(newqueue.BatchFolders[3])}
)

// nodeSetOf returns the set of the znodes. ok is false if one has an unknown name or was
// set.
func nodeSetOf(root string, names []string, nodes []*znode.Node) (set nodeSet, ok bool) {
	for _, n := range nodes {
		i := slices.Index(names, strings.TrimPrefix(n.Path, root+"/"))
		if n.Stat.Version != 0 || i < 0 && n.Path != root {
			return 0, false
		}
		if i >= 0 {
			set |= 1 << i
		}
	}
	return set, true
}

// paths returns the paths of the root and of the znodes in the set.
func (s nodeSet) paths(root string, names []string) []string {
	paths := []string{root}
	for i, name := range names {
		if s&(1<<i) != 0 {
			paths = append(paths, root+"/"+name)
		}
	}
	return paths
}

// lookAtJobs finds the jobs and requests that the run made, and decides which of them
// stay.
func (u *Undo) lookAtJobs(ctx context.Context) error {
	l := u.target
	entries := &l.custody.entries
	doubtful := newJobRows(l.names)
	unrecorded := l.unrecorded()
	type known struct {
		migratedJob
		row int
	}
	var jobs []known
	wanted := func(sub side.Subtree) bool {
		c, claims := claimOf(sub)
		if !claims {
			return false
		}
		p := c.migratedJob
		i, there := entries.index(p.prov.Path)
		if !there || entries.at(i).root != p.root {
			doubtful.add(p)
			return false
		}
		unrecorded.see(p)
		u.custody[i] = madeByOtherRun
		if p.prov.Run == u.Run {
			u.custody[i] = madeByThisRun
			u.rewroteBy[entries.at(i).run] = true
			jobs = append(jobs, known{p, i})
		}
		return p.prov.Run == u.Run
	}
	report, read := phases(ctx), 0
	report(ReadingJobs, 0, len(l.roots))
	for p, err := range l.jobParts(ctx, l.allRoots(), wanted) {
		if err != nil {
			return err
		}
		read += len(p.roots)
		report(ReadingJobs, read, len(l.roots))
		ex := *l.existing
		ex.tree = p.tree
		for _, j := range jobs {
			u.lookAtJob(&ex, j.migratedJob, j.row)
		}
		jobs = jobs[:0]
	}
	l.eachCounting(&doubtful, func(p migratedJob) {
		unrecorded.see(p)
		if p.prov.Run == u.Run {
			u.Left = append(u.Left, Kept{p.root, "it says that this run made it, but the ledger has no entry for it"})
		}
	}, u.custody)
	l.custody.damage = append(l.custody.damage, unrecorded.damage()...)
	n := l.names
	slices.SortFunc(u.jobs, func(a, b undoneJob) int {
		if c := n.compare(b.bid, a.bid); c != 0 {
			return c
		}
		return n.compare(b.root, a.root)
	})
	return nil
}

// eachCounting calls use with each claim that counts although the ledger has no entry
// for it: one for each record that has no other job.
func (l *listing) eachCounting(claims *jobRows, use func(migratedJob), custody []jobPresence) {
	claims.sort()
	for i, row := range claims.rows {
		if i > 0 && claims.rows[i-1].record == row.record {
			continue
		}
		p := claims.job(row)
		if at, there := l.custody.entries.index(p.prov.Path); there && custody[at] != noJob {
			continue // the record's real job is there
		}
		use(p)
	}
}

// lookAtJob notes one job that the run made. The job's znodes are in ex's tree.
func (u *Undo) lookAtJob(ex *existing, p migratedJob, row int) {
	j := undoneJob{root: ex.names.ref(p.root), bid: ex.names.ref(p.bid), entry: int32(row)}
	why := ex.whyTouched(p)
	if u.force && !locked(ex.tree, p.root) {
		why = ""
	}
	if why == "" && !u.force {
		why = whyEntryStays(ex, p)
	}
	if why != "" {
		j.stays = true
		u.stay[j.root] = why
	} else if set, ok := u.plainJob(ex, p); ok {
		j.nodes = set
	} else {
		u.forced[j.root] = ex.removal(p)
	}
	u.jobs = append(u.jobs, j)
}

// whyEntryStays names a znode below one of the job's entries. Nothing should be there: then it
// returns "".
func whyEntryStays(ex *existing, p migratedJob) string {
	for _, path := range ex.nodesOf(p) {
		if names := ex.tree.Children(path); !znode.Within(path, p.root) && len(names) > 0 {
			return znode.Join(path, names[0]) + " was created by others"
		}
	}
	return ""
}

// plainJob returns the set of a job's znodes. ok is false if one of them, or of the job's
// entries, can't be removed at version 0.
func (u *Undo) plainJob(ex *existing, p migratedJob) (set nodeSet, ok bool) {
	for _, path := range ex.nodesOf(p) {
		if ex.tree.Get(path).Stat.Version != 0 {
			return 0, false
		}
	}
	return nodeSetOf(p.root, jobNodeNames, slices.Collect(ex.tree.All(p.root)))
}

func locked(tree *znode.Tree, root string) bool {
	n := tree.Get(root + "/lock")
	return n != nil && n.Stat.EphemeralOwner != 0
}

// jobsOf returns the run's jobs that name a batch, in the order of their removal.
func (u *Undo) jobsOf(bid ref) []undoneJob {
	n := u.target.names
	at, _ := slices.BinarySearchFunc(u.jobs, bid, func(j undoneJob, bid ref) int { return n.compare(bid, j.bid) })
	end := at
	for end < len(u.jobs) && u.jobs[end].bid == bid {
		end++
	}
	return u.jobs[at:end]
}

// lookAtBatches looks at the batches that a migration made, and at those that have jobs
// of the run.
func (u *Undo) lookAtBatches(ctx context.Context) error {
	report, read := phases(ctx), 0
	report(ReadingBatches, 0, len(u.target.batches))
	for p, err := range u.target.batchParts(ctx) {
		if err != nil {
			return err
		}
		read += len(p.roots)
		report(ReadingBatches, read, len(u.target.batches))
		ex := *u.target.existing
		ex.tree = p.tree
		for _, path := range p.roots {
			bid := u.target.names.ref(znode.Name(path))
			prov, ours := parseBatchProvenance(p.tree.Get(path).Data)
			mine := u.jobsOf(bid)
			if !ours && len(mine) == 0 {
				continue
			}
			b := undoneBatch{bid: bid, own: ours && prov.Run == u.Run}
			if b.own {
				u.lookAtOwn(&ex, &b, path, mine)
			} else {
				u.lookAtEarlier(&ex, &b, path, mine)
			}
			u.batches = append(u.batches, b)
		}
	}
	n := u.target.names
	slices.SortFunc(u.batches, func(a, b undoneBatch) int { return n.compare(b.bid, a.bid) })
	return u.lookAtUUIDs(ctx)
}

// lookAtOwn decides whether a batch of the run stays. If anything of it must stay, all of
// it does: without some of its jobs, a service would take it for done.
func (u *Undo) lookAtOwn(ex *existing, b *undoneBatch, path string, mine []undoneJob) {
	b.why = func() string {
		for _, j := range mine {
			if j.stays {
				return u.stay[j.root]
			}
		}
		stays := ""
		if u.removedEntries(b.bid, mine) != u.target.batch(b.bid).entries {
			stays = u.foreignEntry(b.bid, mine)
		}
		for _, at := range slices.Backward(ex.tree.Paths(path)) {
			if stays > at {
				break
			}
			if why := u.whyBatchStays(ex, znode.Name(path), ex.tree.Get(at)); why != "" {
				return why
			}
		}
		if stays != "" {
			return stays + " is a job that stays"
		}
		return ""
	}()
	b.stays = b.why != ""
	nodes := slices.Collect(ex.tree.All(path))
	set, plain := nodeSetOf(path, batchNodeNames, nodes)
	b.nodes = set
	if !plain && !b.stays {
		for _, n := range slices.Backward(nodes) {
			b.ops = append(b.ops, znode.Delete(n.Path, n.Stat.Version))
		}
	}
}

// removedEntries counts the entries that the jobs which are removed have in a batch, by folder.
func (u *Undo) removedEntries(bid ref, jobs []undoneJob) (n [4]int32) {
	for _, j := range jobs {
		if j.stays {
			continue
		}
		for _, e := range u.target.inBatch.of(znode.Name(u.target.names.text(j.root))) {
			if e.at == bid {
				n[e.in-1]++
			}
		}
	}
	return n
}

// foreignEntry returns the path of the last entry in a batch that belongs to none of
// those jobs.
func (u *Undo) foreignEntry(bid ref, jobs []undoneJob) (last string) {
	mine := map[string]bool{}
	for _, j := range jobs {
		mine[znode.Name(u.target.names.text(j.root))] = true
	}
	for _, e := range u.target.inBatch.rows {
		if e.at == bid && !mine[u.target.names.text(e.jid)] {
			last = max(last, u.target.inBatch.path(e))
		}
	}
	return last
}

// whyBatchStays says why a znode keeps its batch from being removed. It returns "" if it
// doesn't.
func (u *Undo) whyBatchStays(ex *existing, bid string, n *znode.Node) string {
	switch {
	case n.Stat.EphemeralOwner != 0:
		return n.Path + " is held by a worker"
	case znode.Parent(znode.Parent(n.Path)) == newqueue.BatchStatesPath(bid):
		return n.Path + " is a job that stays"
	case u.force:
		return ""
	}
	return ex.whyBatchTouched(bid, n)
}

// lookAtEarlier decides what becomes of the znodes that the run added to an earlier run's
// batch. A folder is removed if only jobs of the run are in it. The status and the
// submission stay, because only the source shows what they were before.
func (u *Undo) lookAtEarlier(ex *existing, b *undoneBatch, path string, mine []undoneJob) {
	made := u.run.span(u.target.tree)
	if !made.known() {
		return
	}
	// The transactions of a run whose record was rebuilt may include those of earlier
	// runs. So a znode that was created together with the batch doesn't count.
	cameLater := func(n *znode.Node) bool {
		return n != nil && made.contains(n.Stat.Czxid) && n.Stat.Czxid != ex.tree.Get(path).Stat.Czxid
	}
	bid := znode.Name(path)
	removed, all := u.removedEntries(b.bid, mine), u.target.batch(b.bid).entries
	for i, f := range newqueue.BatchFolders {
		folder := ex.tree.Get(newqueue.BatchFolderPath(bid, f))
		b.empty[i] = f != newqueue.FolderProcessing && cameLater(folder) && removed[i] == all[i] && ex.whyBatchTouched(bid, folder) == ""
	}
	for _, name := range []string{"status", "submission", "status-report"} {
		b.rewrote = b.rewrote || cameLater(ex.tree.Get(path+"/"+name))
	}
}

// lookAtUUIDs notes the entries of /batch-uuids that name batches of the run.
func (u *Undo) lookAtUUIDs(ctx context.Context) error {
	names, err := childrenOf(ctx, u.target.side, newqueue.BatchUUIDsPath)
	if err != nil {
		return err
	}
	paths := func(yield func(string) bool) {
		for _, name := range names {
			if !yield(znode.Join(newqueue.BatchUUIDsPath, name)) {
				return
			}
		}
	}
	for sub, err := range u.target.side.Subtrees(ctx, paths) {
		if err != nil {
			return err
		}
		if sub.Missing() {
			continue
		}
		if b := u.target.batchOf(string(sub.Nodes[0].Data)); b != nil && u.target.names.text(b.run) == u.Run {
			u.uuids = append(u.uuids, namedBatch{b.bid, sub.Root, sub.Nodes[0].Stat.Version})
		}
	}
	n := u.target.names
	slices.SortStableFunc(u.uuids, func(a, b namedBatch) int { return n.compare(a.bid, b.bid) })
	return nil
}

// keptBatch says why a batch stays, and how many jobs stay with it.
func keptBatch(why string, jobs int) string {
	return fmt.Sprintf("%s; the %d jobs that the run put into it stay too", why, jobs)
}

var knownBatchNode = map[string]bool{"submission": true, "status": true, "status-report": true, "states": true}
