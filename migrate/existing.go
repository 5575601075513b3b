package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// existing is what a target holds already, seen through its provenance.
type existing struct {
	tree    *znode.Tree
	runs    []Run           // the sound ones, oldest first
	spans   map[string]span // of the runs, by id
	custody *custody
	jobs    map[string]placed   // by the legacy record's path
	twice   []string            // record paths that two jobs claim
	copies  []placed            // jobs that claim a record for which another counts
	queued  map[string][]string // a job's entries under /jobs/states, by jid
}

// placed is one migrated job or access request in the target.
type placed struct {
	prov Provenance
	root string // /jobs/JID or /access/QUEUE/QID
	id   string
	bid  string // "" for an access request
}

// readExisting finds what migrations made in the target.
func readExisting(tree *znode.Tree) *existing {
	runs, damage := readRuns(tree)
	ex := &existing{tree: tree, runs: runs, spans: map[string]span{}, custody: readCustody(tree, runs, damage), jobs: map[string]placed{}, queued: map[string][]string{}}
	for _, r := range runs {
		ex.spans[r.ID] = r.span(tree)
	}
	for _, jid := range tree.Children(newqueue.JobsPath) {
		root := newqueue.JobPath(jid)
		if p, ok := parseProvenance(tree.Get(root).Data); ok {
			pl := placed{prov: p, root: root, id: jid}
			if n := tree.Get(root + "/bid"); n != nil {
				pl.bid = string(n.Data)
			}
			ex.place(pl)
		}
	}
	for _, q := range []newqueue.AccessQueue{newqueue.AccessSmall, newqueue.AccessLarge} {
		for _, qid := range tree.Children(newqueue.AccessQueuePath(q)) {
			root := newqueue.AccessRequestPath(q, qid)
			if p, ok := parseProvenance(tree.Get(root).Data); ok {
				ex.place(placed{prov: p, root: root, id: qid})
			}
		}
	}
	ex.checkUnrecorded()
	for _, state := range tree.Children(newqueue.JobStatesPath) {
		folder := znode.Join(newqueue.JobStatesPath, state)
		for _, entry := range tree.Children(folder) {
			if _, jid, ok := strings.Cut(entry, "-"); ok {
				ex.queued[jid] = append(ex.queued[jid], znode.Join(folder, entry))
			}
		}
	}
	return ex
}

// place notes a job that says it was made from a record. One that the ledger
// does not know of is somebody's copy or forgery, beside which the real one, if
// it stands, counts.
func (ex *existing) place(p placed) {
	other, dup := ex.jobs[p.prov.Path]
	if dup {
		ex.twice = append(ex.twice, p.prov.Path)
	}
	switch {
	case !dup:
		ex.jobs[p.prov.Path] = p
	case ex.known(p) && !ex.known(other):
		ex.jobs[p.prov.Path] = p
		ex.copies = append(ex.copies, other)
	default:
		ex.copies = append(ex.copies, p)
	}
}

// checkUnrecorded names runs that nothing but jobs tells of: of what else those
// runs took over, no ledger and no trace is left.
func (ex *existing) checkUnrecorded() {
	told := map[string]bool{}
	for _, r := range ex.runs {
		told[r.path()] = true
	}
	for _, d := range ex.custody.damage {
		told[d.Path] = true
	}
	jobs := map[string]placed{} // that nothing else tells of: one for each such run
	for _, p := range ex.jobs {
		path := znode.Join(RunsPath, p.prov.Run)
		if other, there := jobs[path]; told[path] || there && other.root <= p.root {
			continue
		}
		if _, ok := p.entry(); ok {
			jobs[path] = p
		}
	}
	for _, path := range slices.Sorted(maps.Keys(jobs)) {
		p := jobs[path]
		ex.custody.damage = append(ex.custody.damage, Problem{Kind: RunDamaged, Path: path,
			Message: fmt.Sprintf("%s says that %s made it, and of that run there is no record and no trace: they are gone, and with them the custody of what it took over, or no migration made that job", p.root, p.prov.Run),
			Next:    "remove the job if no migration made it; else " + rebuildHint})
	}
}

// entry is what the ledger says of the job, as far as the job itself tells; ok is
// false for a job whose names are none that a migration gives.
func (p placed) entry() (e ledgerEntry, ok bool) {
	e = ledgerEntry{op: tookOver, record: p.prov.Path, root: p.root, bid: p.bid, hash: p.prov.hash()}
	data, err := encodeLedger([]ledgerEntry{e})
	if _, run := newqueue.ParseSequenceID(runPrefix, p.prov.Run); err != nil || !run {
		return ledgerEntry{}, false
	}
	back, err := decodeLedger(data)
	return e, err == nil && back[0] == e
}

// known reports whether the ledger says that a run made this very job.
func (ex *existing) known(p placed) bool {
	h, there := ex.custody.records[p.prov.Path]
	return there && h.root == p.root
}

// newest is the last run, if there is one.
func (ex *existing) newest() (Run, bool) {
	if len(ex.runs) == 0 {
		return Run{}, false
	}
	return ex.runs[len(ex.runs)-1], true
}

// placedNodes are the znodes that make up a migrated job or access request
// now: its subtree, its entries in the queues and in its batch.
func (ex *existing) placedNodes(p placed) []string {
	nodes := ex.tree.Paths(p.root)
	if p.bid == "" {
		return nodes
	}
	for _, f := range newqueue.BatchFolders {
		if e := newqueue.BatchEntryPath(p.bid, f, p.id); ex.tree.Get(e) != nil {
			nodes = append(nodes, e)
		}
	}
	return append(nodes, ex.queued[p.id]...)
}

// touched says what somebody changed of a migrated job or access request since
// a run made it, "" if nothing (see "Why versions tell what was touched").
func (ex *existing) touched(p placed) string {
	made := ex.tree.Get(p.root).Stat.Czxid
	if why := ex.madeAgain(p); why != "" {
		return why
	}
	if !ex.spans[ex.custody.records[p.prov.Path].run].known() {
		return p.root + " was restored from a dump, and a copy does not tell what somebody changed before"
	}
	nodes := ex.placedNodes(p)
	for _, path := range nodes {
		switch s := ex.tree.Get(path).Stat; {
		case s.EphemeralOwner != 0:
			return path + " is a worker's"
		case s.Version != 0:
			return fmt.Sprintf("%s was set %s", path, times(s.Version))
		case s.Aversion != 0:
			return path + " was given another ACL"
		case s.Czxid != made:
			return path + " was made later"
		case s.Cversion != s.NumChildren:
			return "a child of " + path + " was removed"
		}
	}
	if p.bid == "" {
		return ""
	}
	// A job that was moved leaves no entry of its own transaction behind.
	if n := len(nodes) - len(ex.tree.Paths(p.root)); n == 0 {
		return "its entries are gone"
	}
	return ""
}

// madeAgain says why a job is not the one that the ledger tells of, "" if it is:
// its transaction lies where the ledger has its entry.
func (ex *existing) madeAgain(p placed) string {
	h, there := ex.custody.records[p.prov.Path]
	czxid := ex.tree.Get(p.root).Stat.Czxid
	switch {
	case !there || h.root != p.root:
		return "the ledger does not say that a run made " + p.root
	case h.until != 0 && (czxid < h.after || czxid > h.until):
		return p.root + " was deleted and made again"
	}
	return ""
}

func times(n int32) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// removal are the operations that take the job or access request away, if it
// is as it was when the tree was read.
func (ex *existing) removal(p placed) []znode.Op {
	nodes := ex.placedNodes(p)
	slices.Sort(nodes)
	slices.Reverse(nodes) // children before parents
	ops := make([]znode.Op, len(nodes))
	for i, path := range nodes {
		ops[i] = znode.Delete(path, ex.tree.Get(path).Stat.Version)
	}
	return ops
}
