package migrate

import (
	"context"
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// strayUUIDs looks at the entries of /batch-uuids that no record needs.
func (v *verifier) strayUUIDs(ctx context.Context) error {
	names, err := childrenOf(ctx, v.target.side, newqueue.BatchUUIDsPath)
	if err != nil {
		return err
	}
	v.uuids.sort()
	var stray []string
	for _, name := range names {
		if path := znode.Join(newqueue.BatchUUIDsPath, name); !v.uuids.has(path) {
			stray = append(stray, path)
		}
	}
	for chunk := range slices.Chunk(stray, v.target.part) {
		p := v.piece(newPart())
		if err := p.addUUIDs(ctx, chunk); err != nil {
			return err
		}
		var submissions []string
		for _, path := range chunk {
			if bid := string(dataOf(p.tree.Get(path))); v.target.batchOf(bid) != nil {
				submissions = append(submissions, newqueue.BatchPath(bid)+"/submission")
			}
		}
		if err := v.target.read(ctx, p.part, distinct(submissions)); err != nil {
			return err
		}
		p.compare(chunk...)
		p.layout(p.owns)
		p.services(p.owns, nil, nil)
	}
	return nil
}

// strayEntries looks at the entries in batches that no record needs, and at the entries
// whose job does not exist.
func (v *verifier) strayEntries(ctx context.Context) error {
	for chunk := range slices.Chunk(v.strays, v.target.part) {
		p := v.piece(newPart())
		if err := v.target.putEntries(ctx, p.part, chunk); err != nil {
			return err
		}
		p.compare(p.entries...)
	}
	rows, entries := v.entriesWithoutJob()
	for chunk := range slices.Chunk(rows, v.target.part) {
		if err := v.withoutJobs(ctx, chunk, entries); err != nil {
			return err
		}
	}
	return nil
}

// entriesWithoutJob returns the entries whose job did not exist when they were listed.
// oneEntry has one entry of each missing job, for a message.
func (v *verifier) entriesWithoutJob() (rows []entryRow, oneEntry map[string]string) {
	oneEntry = map[string]string{}
	for _, list := range []*entryRows{&v.target.queued, &v.target.inBatch} {
		for _, row := range list.rows {
			job := newqueue.JobPath(v.target.names.text(row.jid))
			if row.jid != (ref{}) && v.target.hasJob(job) {
				continue
			}
			row.incomplete = true // read it again: on a live target, it may be gone by now
			rows = append(rows, row)
			if _, found := oneEntry[job]; row.jid != (ref{}) && (!found || row.in > 0) {
				oneEntry[job] = list.path(row)
			}
		}
	}
	return rows, oneEntry
}

// withoutJobs looks again at entries whose job was not there, and reports the missing jobs.
func (v *verifier) withoutJobs(ctx context.Context, rows []entryRow, oneEntry map[string]string) error {
	p := v.piece(newPart())
	if err := v.target.putEntries(ctx, p.part, rows); err != nil {
		return err
	}
	var jobs, statuses []string // what happens depends on the batch's status
	for _, row := range rows {
		job := newqueue.JobPath(v.target.names.text(row.jid))
		p.own[job] = true
		if row.jid != (ref{}) && znode.ValidatePath(job) == nil {
			jobs = append(jobs, job)
		}
		if row.in > 0 {
			statuses = append(statuses, newqueue.BatchPath(v.target.names.text(row.at))+"/status")
		}
	}
	jobs = distinct(jobs)
	if err := v.target.read(ctx, p.part, slices.Concat(jobs, distinct(statuses))); err != nil {
		return err
	}
	for _, job := range jobs {
		if entry := oneEntry[job]; p.tree.Get(job) == nil && p.tree.Get(entry) != nil {
			p.differ(NodeMissing, job, entry+" names it, but it does not exist")
		}
	}
	p.compare(p.entries...)
	p.compare(jobs...) // those that were created since they were listed
	p.layout(p.owns)
	p.services(p.owns, nil, nil)
	return nil
}

// ownRecords looks at the layout's own znodes and at the migration's.
func (v *verifier) ownRecords() {
	p := v.piece(&part{tree: v.target.tree})
	if len(v.target.runs) > 0 || len(v.runs) > 0 {
		p.wantStructure()
	}
	p.compare(targetRoots...)
	isLayouts := func(path string) bool { return ownerOf(path) == "" }
	p.layout(isLayouts)
	p.services(isLayouts, nil, nil)
}

// wantStructure wants the layout's own znodes. Those that a run created must be as it created
// them. The others only have to be there.
func (p *piece) wantStructure() {
	runs := p.target.runs
	own := []string{RunsPath, ElectionPath, LedgerPath}
	if m, e := p.tree.Get(MigrationPath), p.tree.Get(ElectionPath); m == nil || e == nil || ownMigration(m.Stat, e.Stat) {
		own = append(own, MigrationPath)
	}
	for _, path := range own {
		p.wantNodes([]leaf{{path, none}}, "")
	}
	for _, run := range runs {
		for _, path := range run.Made {
			if setByAdministrator(p.tree.Get(path)) {
				p.wantThere(path)
				continue
			}
			p.wantNodes([]leaf{{path, none}}, "")
		}
		p.wantNodes([]leaf{{ledgerPath(run.ID), none}}, "")
	}
	for run := range p.runs {
		p.wantThere(znode.Join(RunsPath, run))
	}
	there := append(p.dialect.StartNodes(), MigrationPath, newqueue.LocksPath, newqueue.QueueLocksPath)
	for _, h := range newqueue.QueueHolds {
		there = append(there, newqueue.QueueHoldPath(h))
	}
	for folder := range p.folders {
		there = append(there, folder)
	}
	for _, path := range there {
		if _, ours := p.ours[path]; p.want.Get(path) == nil || !ours {
			p.wantThere(path)
		}
	}
	// The data of these is compared elsewhere; see [readCustody].
	p.wantThere(newqueue.JobsPath)
	for _, run := range runs {
		if slices.Contains(run.Made, newqueue.JobsPath) {
			p.checkOwn(newqueue.JobsPath)
		}
		p.wantThere(run.path())
		p.checkOwn(run.path())
		for i := range run.Ledger.Shards {
			if slices.Contains(run.Ledger.Missing, i) {
				continue
			}
			p.wantThere(shardPath(run.ID, i))
			p.checkOwn(shardPath(run.ID, i))
		}
		if run.Steps != run.stat.Version {
			p.differ(NodeTouched, run.path(), fmt.Sprintf("its version is %d, the run left it at %d: another client wrote to it", run.stat.Version, run.Steps))
		}
	}
}

// checkOwn looks at one of the migration's own records. Its data is compared elsewhere.
func (p *piece) checkOwn(path string) {
	n := p.tree.Get(path)
	switch {
	case n == nil:
	case n.Stat.EphemeralOwner != 0:
		p.differ(Recreated, path, fmt.Sprintf("it is ephemeral: it is deleted when session %#x ends", n.Stat.EphemeralOwner))
	case n.Stat.Aversion != 0:
		p.differ(OtherACL, path, "its ACL was changed since it was created")
	case n.Stat.Version != 0 && znode.Within(path, LedgerPath):
		p.differ(NodeTouched, path, fmt.Sprintf("it was set %s since it was created", times(n.Stat.Version)))
	case path == newqueue.JobsPath && p.target.dated() && !p.target.createdInRun(n.Stat.Czxid):
		p.differ(Recreated, path, "no run was at work when it was created: another client deleted and recreated it")
	}
}
