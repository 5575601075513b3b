package migrate

import (
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// existing is what a target already has: its runs, and the jobs that they made.
type existing struct {
	tree    *znode.Tree     // see [readSkeleton]
	runs    []Run           // the sound ones, oldest first
	spans   map[string]span // by the run's id
	names   *names
	custody *custody
	jobs    jobRows       // by the legacy record's path
	queued  entryRows     // the jobs' entries under /jobs/states
	twice   []string      // records that two jobs claim
	copies  []migratedJob // jobs that claim a record which another job was made from
}

// migratedJob is a migrated job or access request in the target.
type migratedJob struct {
	prov origin
	root string // /jobs/JID or /access/QUEUE/QID
	id   string
	bid  string // "" for an access request
}

// origin is the part of a job's [Provenance] that says which record it claims.
type origin struct{ Run, Path, SHA256, Consumed string }

func (p Provenance) origin() origin { return origin{p.Run, p.Path, p.SHA256, p.Consumed} }

// readOwn reads the migration's own records.
func readOwn(tree *znode.Tree) *existing {
	runs, damage := readRuns(tree)
	ex := &existing{tree: tree, runs: runs, spans: map[string]span{}, names: newNames()}
	ex.custody = readCustody(ex.names, tree, runs, damage)
	for _, r := range runs {
		ex.spans[r.ID] = r.span(tree)
	}
	ex.queued.names = ex.names
	return ex
}

// chooseJobs decides which job counts for each record. If two jobs claim one record, the job
// that the ledger has counts. The other one is a copy or a forgery.
func (ex *existing) chooseJobs(claims jobRows) {
	claims.sort()
	counting := claims.rows[:0]
	for _, row := range claims.rows {
		last := len(counting) - 1
		if last < 0 || counting[last].record != row.record {
			counting = append(counting, row)
			continue
		}
		before, now := claims.job(counting[last]), claims.job(row)
		ex.twice = append(ex.twice, now.prov.Path)
		if ex.known(now) && !ex.known(before) {
			counting[last] = row
			now = before
		}
		ex.copies = append(ex.copies, now)
	}
	claims.rows = counting
	ex.jobs = claims
}

// checkUnrecorded adds, as damage, the runs that only jobs mention. No ledger and no
// trace says what else these runs migrated.
func (ex *existing) checkUnrecorded() {
	u := ex.unrecorded()
	for p := range ex.jobs.all() {
		u.see(p)
	}
	ex.custody.damage = append(ex.custody.damage, u.damage()...)
}

// unrecorded collects the runs that only jobs mention, with the first job of each.
type unrecorded struct {
	recorded map[string]bool        // paths of runs that have a record or are listed as damage
	jobs     map[string]migratedJob // by the run's path
}

func (ex *existing) unrecorded() *unrecorded {
	u := &unrecorded{recorded: map[string]bool{}, jobs: map[string]migratedJob{}}
	for _, r := range ex.runs {
		u.recorded[r.path()] = true
	}
	for _, d := range ex.custody.damage {
		u.recorded[d.Path] = true
	}
	return u
}

// see looks at a job that counts for its record.
func (u *unrecorded) see(p migratedJob) {
	path := znode.Join(RunsPath, p.prov.Run)
	if other, there := u.jobs[path]; u.recorded[path] || there && other.root <= p.root {
		return
	}
	if _, ok := p.entry(); ok {
		u.jobs[path] = p
	}
}

func (u *unrecorded) damage() (damage []Problem) {
	for _, path := range slices.Sorted(maps.Keys(u.jobs)) {
		p := u.jobs[path]
		damage = append(damage, rebuildable(Problem{Kind: RunDamaged, Path: path,
			Message: fmt.Sprintf("%s says that %s made it, but there is no record and no trace of that run. Either they are gone, and with them the custody of what it migrated, or no migration made that job", p.root, p.prov.Run),
			Next:    "remove the job if no migration made it; else "}))
	}
	return damage
}

// entry is the job's entry in the ledger, as far as the job itself shows it. ok is false
// if the job has a name that no migration gives.
func (p migratedJob) entry() (e ledgerEntry, ok bool) {
	e = ledgerEntry{op: opMigrated, record: p.prov.Path, root: p.root, bid: p.bid, hash: p.prov.hash()}
	data, err := encodeLedger([]ledgerEntry{e})
	if _, run := newqueue.ParseSequenceID(runPrefix, p.prov.Run); err != nil || !run {
		return ledgerEntry{}, false
	}
	back, err := decodeLedger(data)
	return e, err == nil && back[0] == e
}

// known reports whether the ledger says that a run made this very job.
func (ex *existing) known(p migratedJob) bool {
	h, there := ex.custody.lookup(p.prov.Path)
	return there && h.root == p.root
}

// newest is the newest run, if there is one.
func (ex *existing) newest() (Run, bool) {
	if len(ex.runs) == 0 {
		return Run{}, false
	}
	return ex.runs[len(ex.runs)-1], true
}

// nodesOf are the znodes of a migrated job or access request: its subtree, and its
// entries in the queues and in its batch.
func (ex *existing) nodesOf(p migratedJob) []string {
	nodes := ex.tree.Paths(p.root)
	if p.bid == "" {
		return nodes
	}
	for _, f := range newqueue.BatchFolders {
		if e := newqueue.BatchEntryPath(p.bid, f, p.id); ex.tree.Get(e) != nil {
			nodes = append(nodes, e)
		}
	}
	return append(nodes, ex.queued.paths(p.id)...)
}

// whyTouched says how another client changed a migrated job or access request since a run
// created it, "" if nobody did (see "How versions and transactions show what was touched").
func (ex *existing) whyTouched(p migratedJob) string {
	czxid := ex.tree.Get(p.root).Stat.Czxid
	if why := ex.whyNotOurs(p); why != "" {
		return why
	}
	if h, _ := ex.custody.lookup(p.prov.Path); !ex.spans[h.run].known() {
		return p.root + " was restored from a dump, and a copy does not show what was changed before"
	}
	nodes := ex.nodesOf(p)
	for _, path := range nodes {
		n := ex.tree.Get(path)
		if n == nil {
			return path + " is gone"
		}
		switch s := n.Stat; {
		case s.EphemeralOwner != 0:
			return "a worker is at work on it: " + path + " is its lock"
		case s.Version != 0 && path == p.root+"/status":
			return fmt.Sprintf("a worker has started on it: %s was set %s", path, times(s.Version))
		case s.Version != 0:
			return fmt.Sprintf("%s was set %s", path, times(s.Version))
		case s.Aversion != 0:
			return path + " was given another ACL"
		case s.Czxid != czxid && !znode.Within(path, p.root):
			return "a worker has moved it: " + path + " was created later"
		case s.Czxid != czxid:
			return path + " was created later"
		case s.Cversion != s.NumChildren && path == p.root && ex.isComplete(p):
			return "a worker has started on it: a lock below " + path + " was acquired and released"
		case s.Cversion != s.NumChildren:
			return "a child of " + path + " was removed"
		}
	}
	if p.bid == "" {
		return ""
	}
	// A worker that moves a job deletes the entries that the job was created with.
	if n := len(nodes) - len(ex.tree.Paths(p.root)); n == 0 {
		return "its entries are gone"
	}
	return ""
}

// isComplete reports whether a job or request has all the children that every one has.
func (ex *existing) isComplete(p migratedJob) bool {
	need := []string{"status"}
	if p.bid != "" {
		need = []string{"bid", "configuration", "priority", "status"}
	}
	return !slices.ContainsFunc(need, func(name string) bool { return ex.tree.Get(p.root+"/"+name) == nil })
}

// whyNotOurs says why a job is not the one in the ledger, "" if it is. The job must have
// been created in a transaction that fits its ledger entry.
func (ex *existing) whyNotOurs(p migratedJob) string {
	h, there := ex.custody.lookup(p.prov.Path)
	czxid := ex.tree.Get(p.root).Stat.Czxid
	switch {
	case !there || h.root != p.root:
		return "the ledger does not say that a run made " + p.root
	case h.createdIn.known() && !h.createdIn.contains(czxid):
		return p.root + " was deleted and recreated"
	}
	return ""
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// removal are the operations that remove the job or access request. They fail if it has
// changed since the tree was read.
func (ex *existing) removal(p migratedJob) []znode.Op {
	nodes := ex.nodesOf(p)
	slices.Sort(nodes)
	slices.Reverse(nodes) // children before parents
	ops := make([]znode.Op, len(nodes))
	for i, path := range nodes {
		ops[i] = znode.Delete(path, ex.tree.Get(path).Stat.Version)
	}
	return ops
}
