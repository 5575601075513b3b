package migrate

import (
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// A record is migrated once, even if its job is gone. This file decides about records
// that are in the ledger but have no job in the target, and about records that a rebuilt
// ledger may lack.

// chosen reports whether the operator named a record, or all of them.
func chosen(paths []string, record string) bool {
	return slices.Contains(paths, record) || slices.Contains(paths, All)
}

// wantsNewJob reports whether the operator wants a new job for a record whose job is gone.
// If the plan finishes a run that already created one, it is false.
func (p *Plan) wantsNewJob(r Record, h custodyEntry) bool {
	return chosen(p.opt.Again, r.Path) && !(p.Resumes && h.run == p.Run)
}

// noteGone decides about a record that was migrated and whose job is gone.
func (p *Plan) noteGone(r Record, h custodyEntry, row *recordRow) {
	switch {
	case r.Err != nil && h.op != opDeclaredDone:
		row.change = notDecodable
	case r.Err == nil && h.hash != ledgerHash(r):
		row.change = changedSince
	}
	row.act(ActGone)
	p.Gone = append(p.Gone, GoneAt{Record: r.Path, Job: h.root, Run: h.run, What: p.target.whyGone(h) + goneSuffixes[row.change]})
}

// mayBeLost reports whether the custody of the record may have been lost: a rebuilt ledger
// lacks entries, and the record is not newer than those that the runs migrated.
func (p *Plan) mayBeLost(r Record) bool {
	highest, there := p.ex.custody.highest[znode.Parent(r.Path)]
	if p.ex.custody.lost == 0 || chosen(p.opt.Again, r.Path) {
		return false
	}
	return !there || uint32(r.Legacy.Key.Sequence) <= uint32(highest)
}

// decideMayBeLost decides about a record whose custody may have been lost.
func (p *Plan) decideMayBeLost(r Record, row *recordRow) {
	if chosen(p.opt.Done, r.Path) {
		row.act(ActGone)
		row.reason = p.reasons.of("declared done")
		p.declaredDone = append(p.declaredDone, ledgerEntry{op: opDeclaredDone, record: r.Path, hash: ledgerHash(r)})
		return
	}
	row.act(ActBlock)
	row.reason = p.reasons.of("it may have been migrated: the ledger that said so was lost")
	p.problem(Problem{Kind: CustodyLost, Path: r.Path,
		Message: fmt.Sprintf("it has no job, and it may be one of the records (%d at least) whose custody was lost with the ledger", p.ex.custody.lost),
		Next:    "find out whether it was done; then declare it done, or let a migration create a new job for it"})
}

// checkChoices names the paths in Again and Done that choose nothing, most often
// because they are misspelled. It also names the records that the operator declares
// done although a migration would create jobs for them.
func (p *Plan) checkChoices() {
	for pl := range p.plannedJobs() {
		if len(p.opt.Done) == 0 {
			break
		}
		if path := p.listed.path(pl.record); slices.Contains(p.opt.Done, path) {
			p.problem(Problem{Kind: NotGone, Path: path, Message: "it is declared done, but its custody was not lost: a migration would create a job for it",
				Next: "don't declare it done; if it is done, remove the record from the legacy queue"})
		}
	}
	for _, c := range []struct {
		what  string
		paths []string
	}{{"a new job is requested for it", p.opt.Again}, {"it is declared done", p.opt.Done}} {
		for _, path := range c.paths {
			if record, listed := p.listed.find(path); path != All && !(listed && p.rows[record].action != 0) {
				p.problem(Problem{Kind: NoSuchRecord, Path: path, Message: c.what + ", but the source has no such record", Next: "give the record's whole path"})
			}
		}
	}
}

// findOutdated finds batches that nobody touched but whose contents don't match their
// records. That happens after the rollback of a run that added to them, because a
// rollback can't know the earlier contents.
func (p *Plan) findOutdated() {
	var jobs map[ref]*existingJobs
	for _, b := range p.sortedBatches() {
		if b.dirty || b.bid == "" {
			continue
		}
		there := p.target.batchAt(b.bid)
		if there == nil || there.touched || !p.differs(b, there) {
			continue
		}
		if jobs == nil {
			jobs = p.ex.existingJobs()
		}
		// If a record was removed from the source, its job is still in the batch, but
		// what the record said of the batch can't be derived.
		if of := jobs[there.bid]; of != nil && !of.gone && !of.touched && of.count == b.count {
			b.dirty = true
			p.outdated = append(p.outdated, b)
		}
	}
}

// differs reports whether the batch's own znodes differ from what its jobs say.
func (p *Plan) differs(b *batch, there *existingBatch) bool {
	want := p.contents(b)
	for _, n := range want {
		if !p.target.hasData(there, znode.Name(n.path), n.data) {
			return true
		}
	}
	return there.has(statusReport) && !slices.ContainsFunc(want, func(n leaf) bool { return znode.Name(n.path) == statusReport })
}

const statusReport = "status-report"

// existingJobs counts a batch's migrated jobs that are in the target. If one is gone or
// was touched, a migration must not derive the batch's contents again.
type existingJobs struct {
	count         int
	gone, touched bool
}

// existingJobs counts them for each batch.
func (ex *existing) existingJobs() map[ref]*existingJobs {
	all := map[ref]*existingJobs{}
	of := func(bid ref) *existingJobs {
		if all[bid] == nil {
			all[bid] = &existingJobs{}
		}
		return all[bid]
	}
	for i := range ex.custody.entries.rows {
		row := &ex.custody.entries.rows[i]
		if _, exists := ex.jobs.index(ex.names.text(row.record)); !exists {
			of(row.bid).gone = true
		}
	}
	for i := range ex.jobs.rows {
		row := &ex.jobs.rows[i]
		of(row.bid).count++
		if row.touched {
			of(row.bid).touched = true
		}
	}
	return all
}

// whyBatchTouched says how another client changed a znode of a migrated batch, "" if nobody
// did.
func (ex *existing) whyBatchTouched(bid string, n *znode.Node) string {
	folder := znode.Parent(n.Path)
	switch {
	case znode.Parent(folder) == newqueue.BatchStatesPath(bid):
		return "" // a job's entry
	case n.Stat.EphemeralOwner != 0:
		return n.Path + " is held by a worker"
	case n.Stat.Version != 0:
		return fmt.Sprintf("%s was set %s", n.Path, times(n.Stat.Version))
	case n.Stat.Aversion != 0:
		return n.Path + " was given another ACL"
	case folder == newqueue.BatchPath(bid) && !knownBatchNode[znode.Name(n.Path)]:
		return n.Path + " was created by others"
	case !ex.createdInRun(n.Stat.Czxid):
		return n.Path + " was created while no run was at work"
	}
	return ""
}

// dated reports whether the znodes' transactions show which run created them. In a copy
// that was restored from a dump they don't.
func (ex *existing) dated() bool {
	for _, s := range ex.spans {
		if !s.known() {
			return false
		}
	}
	return len(ex.spans) > 0
}

// createdOutsideRuns reports whether a znode is one of the migration's own that a migrator
// created outside of any run: for the election, or to rebuild what was lost.
func (ex *existing) createdOutsideRuns(n *znode.Node) bool {
	switch n.Path {
	case MigrationPath, ElectionPath:
		return true
	case RunsPath, LedgerPath:
		// The run that created them may have been rolled back since. But they are older
		// than any run that is there.
		return len(ex.runs) > 0 && n.Stat.Czxid <= ex.runs[0].stat.Czxid
	}
	return znode.Within(n.Path, MigrationPath) && slices.ContainsFunc(ex.runs, func(r Run) bool { return r.From != 0 && n.Stat.Czxid <= r.stat.Czxid })
}

// createdInRun reports whether a znode was created while a run was at work, or whether that
// is not known.
func (ex *existing) createdInRun(czxid int64) bool {
	for _, s := range ex.spans {
		if !s.known() || s.contains(czxid) {
			return true
		}
	}
	return false
}
