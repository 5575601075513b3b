package migrate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// knownJobs looks at the jobs and requests that the ledger has, and at those that claim no
// record. If a job claims a record and the ledger does not have the job, it is doubtful:
// whether it counts is known only when all jobs were seen.
func (v *verifier) knownJobs(ctx context.Context) error {
	entries := &v.target.custody.entries
	done, report := 0, phases(ctx)
	report(Comparing, 0, len(v.target.roots))
	known := func(c claimed) (counts, wanted bool) {
		i, there := entries.index(c.prov.Path)
		if !there || entries.at(i).root != c.root {
			v.claims.add(c.migratedJob)
			v.doubtful = append(v.doubtful, v.target.names.ref(c.root))
			return false, false
		}
		v.claimed[i] = true
		return true, true
	}
	return v.eachPartWithRecords(ctx, v.target.allRoots(), known, func(jobs int) {
		done += jobs
		report(Comparing, done, len(v.target.roots))
	})
}

// doubtfulJobs decides which doubtful jobs count, and looks at them all.
func (v *verifier) doubtfulJobs(ctx context.Context) error {
	v.chooseClaims()
	counts := func(c claimed) (counts, wanted bool) {
		other, there := v.claims.find(c.prov.Path)
		return there && other.root == c.root, true
	}
	if err := v.eachPartWithRecords(ctx, v.target.names.texts(v.doubtful), counts, func(int) {}); err != nil {
		return err
	}
	slices.SortFunc(v.jobs, func(a, b verifiedRow) int {
		x, _ := v.named(a)
		y, _ := v.named(b)
		return v.target.names.compare(x, y)
	})
	v.seen = true
	return nil
}

// claimed is what a job or request says it was made from.
type claimed struct {
	migratedJob
	provenance Provenance
	record     fetched // the record, if it is there
}

// claimOf reads from which record a job or request says that it was made. ok is false if it
// says nothing.
func claimOf(sub side.Subtree) (c claimed, ok bool) {
	c.provenance, ok = parseProvenance(sub.Nodes[0].Data)
	c.migratedJob = migratedJob{prov: c.provenance.origin(), root: sub.Root, id: znode.Name(sub.Root)}
	for _, n := range sub.Nodes {
		if n.Path == sub.Root+"/bid" && znode.Parent(sub.Root) == newqueue.JobsPath {
			c.bid = string(n.Data)
		}
	}
	return c, ok
}

// partWithRecords are the jobs and requests of a part while their records are being read.
type partWithRecords struct {
	part   *part
	claims []claimed
	read   chan error // gets a value when the records were read
}

// eachPartWithRecords compares jobs and requests with the records that they were made from.
// judge decides whether a claim counts, and whether the job is looked at now. While one part is
// looked at, the records of the next part and the jobs of the part after that are read.
func (v *verifier) eachPartWithRecords(ctx context.Context, roots iter.Seq[string], judge func(claimed) (counts, wanted bool), done func(jobs int)) error {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	var last *partWithRecords // the part whose records are being read
	compare := func(b *partWithRecords) error {
		if err := v.piece(b.part).compareJobs(ctx, b.claims); err != nil {
			return err
		}
		done(len(b.part.roots))
		return nil
	}
	var counting []claimed
	wanted := func(sub side.Subtree) bool {
		c, claims := claimOf(sub)
		if !claims {
			return true // no migration made it
		}
		counts, wanted := judge(c)
		if counts {
			counting = append(counting, c)
		}
		return wanted
	}
	for p, err := range v.target.jobParts(ctx, roots, wanted) {
		if err != nil {
			return err
		}
		b := &partWithRecords{part: p, claims: counting, read: make(chan error, 1)}
		counting = nil
		before := last
		if before != nil {
			if err := <-before.read; err != nil {
				return err
			}
		}
		last = b
		reading.Go(func() { b.read <- v.readRecords(ctx, b.claims) })
		if before != nil {
			if err := compare(before); err != nil {
				return err
			}
		}
	}
	if last == nil {
		return nil
	}
	if err := <-last.read; err != nil {
		return err
	}
	return compare(last)
}

// readRecords reads the claimed records.
func (v *verifier) readRecords(ctx context.Context, claims []claimed) error {
	var of []int // indexes into claims, in the order in which the records are read
	records := func(yield func(string) bool) {
		for i := range claims {
			if !v.isRecord(claims[i].prov.Path) {
				continue
			}
			of = append(of, i)
			if !yield(claims[i].prov.Path) {
				return
			}
		}
	}
	got := 0
	for f, err := range v.src.fetch(ctx, records) {
		if err != nil {
			return err
		}
		claims[of[got]].record = f
		got++
	}
	return nil
}

// chooseClaims keeps the doubtful claims that count: for each record the first, if the
// ledger's own job is not there.
func (v *verifier) chooseClaims() {
	v.claims.sort()
	entries := &v.target.custody.entries
	counting := v.claims.rows[:0]
	for _, row := range v.claims.rows {
		p := v.claims.job(row)
		root := ""
		if i, there := entries.index(p.prov.Path); there && v.claimed[i] {
			root = entries.at(i).root
		} else if last := len(counting) - 1; last >= 0 && counting[last].record == row.record {
			root = v.target.names.text(counting[last].root)
		}
		if root == "" {
			counting = append(counting, row)
			continue
		}
		v.differ(MigratedTwice, p.prov.Path, "two jobs in the target say that they were made from it")
		v.differ(Forged, p.root, fmt.Sprintf("it says that %s made it from %s, and so does %s", p.prov.Run, p.prov.Path, root))
	}
	v.claims.rows = counting
}

// isRecord reports whether a path can be a record's in the source.
func (v *verifier) isRecord(path string) bool {
	return v.src.kinds[znode.Parent(path)] != "" && znode.ValidatePath(path) == nil && !slices.Contains(v.src.Queues.Roots(), path)
}

// otherRecords counts the records that no job claims.
func (v *verifier) otherRecords(ctx context.Context) error {
	entries := &v.target.custody.entries
	there := make([]bool, len(entries.rows))
	unclaimed := func(yield func(string) bool) {
		for path := range v.src.Paths() {
			i, known := entries.index(path)
			if known {
				there[i] = true
			}
			if known && v.claimed[i] {
				continue
			}
			if _, claimed := v.claims.find(path); !claimed && !yield(path) {
				return
			}
		}
	}
	report, read := phases(ctx), 0
	report(ComparingRecords, 0, 0)
	for f, err := range v.src.fetch(ctx, unclaimed) {
		read++
		report(ComparingRecords, read, 0)
		if err != nil {
			return err
		}
		if f.there() {
			v.account(&f.Record, nil)
		}
	}
	for i, row := range entries.rows {
		if _, exists := v.claims.find(entries.names.text(row.record)); !there[i] && !v.claimed[i] && !exists && row.op != opDeclaredDone {
			v.verdict.Settled++
		}
	}
	return nil
}

// account counts one record by what became of it. old is the job that claims it, or nil.
// account returns the job that the record should be, or nil.
func (v *verifier) account(r *Record, old *migratedJob) *job {
	a := &v.verdict.Records
	a.Total++
	if h, migrated := v.target.custody.lookup(r.Path); migrated && old == nil {
		a.Gone++
		switch {
		case h.op == opDeclaredDone:
		case v.target.hasJob(h.root):
			v.noProvenance = append(v.noProvenance, h)
		default:
			v.differ(JobGone, r.Path, v.target.whyGone(h))
		}
		return nil
	}
	if old != nil && !v.target.known(*old) && v.target.custody.sound[old.prov.Run] {
		v.differ(Forged, old.root, fmt.Sprintf("it says that %s made it from %s, and the ledger does not say so", old.prov.Run, r.Path))
	}
	policies := v.policies
	if v.opt.Policies == nil && old != nil {
		policies = old.policies(*r, policies)
	}
	decided, initial, reason := decide(*r, policies)
	switch {
	case old != nil && (decided == Block || decided == Quarantine):
		a.Missing++
		v.differ(RecordChanged, r.Path, fmt.Sprintf("it changed since it became %s: %s", old.root, reason))
		return nil
	case decided == Block:
		a.Missing++
		v.differ(Undecided, r.Path, reason)
		return nil
	case decided == Quarantine:
		a.Quarantined++
		v.checkKept(*r)
		return nil
	case decided == Skip && old == nil:
		a.Skipped++
		return nil
	case decided == Skip:
		initial = initialStates[r.Queue][r.Legacy.Header.Status]
	case old == nil:
		a.Missing++
		v.differ(NotMigrated, r.Path, "no job or access request in the target is made from it: migrate again")
		return nil
	}
	a.Migrated++
	v.verdict.States[string(initial.job)+string(initial.access)]++
	if old.prov.SHA256 != hex.EncodeToString(r.Legacy.SHA256[:]) {
		v.differ(RecordChanged, r.Path, fmt.Sprintf("it changed since it became %s: migrate again", old.root))
	}
	return &job{rec: r, initial: initial, run: old.prov.Run, id: old.id, bid: old.bid}
}

func (v *verifier) checkKept(r Record) {
	if v.opt.Quarantined != nil && !isKept(v.opt.Quarantined, r) {
		v.differ(NotKept, r.Path, "the quarantine file doesn't hold its bytes")
	}
}

// compareJobs compares the jobs and requests of a part with the records that they were made
// from. claims are the claims that count.
func (p *piece) compareJobs(ctx context.Context, claims []claimed) error {
	jobs := p.expected(claims)
	if err := p.findBatches(ctx, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if !isAccess(j.rec.Queue) {
			b := p.batches[keyOf(*j.rec, j.run, p.dialect)]
			// The batch that the job should be in, not the one that it names.
			j.bid = b.bid
			b.addJobRefs(j, p.target.names, p.dialect)
			b.unfinishedInventory = b.unfinishedInventory || j.rec.Queue == Inventory && isUnfinished(j.initial)
		}
		p.wantNodes(j.nodes(p.dialect), j.root())
		p.readBack(*j)
		p.noteJob(j)
	}
	p.compare(p.roots...)
	p.compareEntries()
	p.layout(p.owns)
	return p.jobServices(ctx, jobs)
}

// expected returns what the jobs should be, by the records that they claim.
func (p *piece) expected(claims []claimed) []*job {
	var jobs []*job
	for i := range claims {
		c := &claims[i]
		p.runs[c.prov.Run] = true
		p.unrecorded.see(c.migratedJob)
		p.provenances[c.root] = &c.provenance
		if !c.record.there() {
			p.differ(NoRecord, c.root, fmt.Sprintf("it was made from %s, which is not in the source (any more): it could run twice", c.prov.Path))
		} else if j := p.account(&c.record.Record, &c.migratedJob); j != nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// compareEntries compares the jobs' entries with those that they should have. An entry in a
// batch that no record needs is kept in strays: whether a migration made its batch is
// known only when all jobs were seen.
func (p *piece) compareEntries() {
	places := slices.Clone(p.entries)
	for path, job := range p.ours {
		if job != "" && !znode.Within(path, job) {
			places = append(places, path)
		}
	}
	for _, path := range distinct(places) {
		if _, bid, _ := entryOf(path); bid != "" && p.want.Get(path) == nil {
			continue
		}
		p.compare(path)
	}
	for _, root := range p.roots {
		if znode.Parent(root) != newqueue.JobsPath {
			continue
		}
		for _, row := range p.target.inBatch.of(znode.Name(root)) {
			if p.want.Get(p.target.inBatch.path(row)) == nil {
				p.strays = append(p.strays, row)
			}
		}
	}
}

// verifiedRow is a job or request that was looked at. There is one for each record, so it is
// small.
type verifiedRow struct {
	claim int32 // its row in the ledger; if the ledger does not have it, the complement of its row among the claims
	lane  int32 // index into verifier.lanes
}

// rowOf is the row of a job that was looked at.
func (v *verifier) rowOf(j *job) verifiedRow {
	entries := &v.target.custody.entries
	if i, there := entries.index(j.rec.Path); there && entries.at(i).root == j.root() {
		return verifiedRow{claim: int32(i)}
	}
	i, _ := v.claims.index(j.rec.Path)
	return verifiedRow{claim: ^int32(i)}
}

// named are the job's and the record's paths.
func (v *verifier) named(row verifiedRow) (root, record ref) {
	if row.claim < 0 {
		c := v.claims.rows[^row.claim]
		return c.root, c.record
	}
	h := v.target.custody.entries.rows[row.claim]
	return h.root, h.record
}

// noteJob remembers a job that was looked at.
func (v *verifier) noteJob(j *job) {
	l := lane{queue: j.rec.Queue, job: j.initial.job, access: j.initial.access}
	if !isAccess(j.rec.Queue) {
		l.priority = j.rec.Legacy.Key.Priority
		if j.initial.job != newqueue.JobDeleted || v.dialect.KeepsDeleted() {
			v.folders[newqueue.JobStatePath(j.initial.job)] = true
		}
	} else {
		v.folders[newqueue.AccessQueuePath(accessQueue(j.rec.Queue))] = true
	}
	row := v.rowOf(j)
	row.lane = v.lanes.of(l, j.run)
	v.jobs = append(v.jobs, row)
}

// isOurJob reports whether a path is that of a job or request that was noted. It is false
// until all were seen.
func (v *verifier) isOurJob(path string) bool {
	r, known := v.target.names.find(path)
	if !known || !v.seen {
		return false
	}
	_, there := slices.BinarySearchFunc(v.jobs, r, func(row verifiedRow, r ref) int {
		root, _ := v.named(row)
		return v.target.names.compare(root, r)
	})
	return there
}

// lane is a queue of the new layout from which jobs or requests are acquired in order.
type lane struct {
	queue    QueueKind
	job      newqueue.JobState
	access   newqueue.AccessState
	priority int
}

// lanes are the lanes that verify has met, each with a run that made jobs in it.
type lanes struct {
	index map[laneOfRun]int32 // into all
	all   []laneOfRun
}

type laneOfRun struct {
	lane
	run string
}

func (l *lanes) of(lane lane, run string) int32 {
	key := laneOfRun{lane, run}
	i, known := l.index[key]
	if !known {
		i = int32(len(l.all))
		key.run = strings.Clone(run) // don't keep the text that it is part of
		l.index[key], l.all = i, append(l.all, key)
	}
	return i
}

// jobsWithoutProvenance looks at jobs that the ledger has but that claim no record. Either
// another client changed the job, or it is another job: if another client recreated the
// parent, it numbers its children from the start.
func (v *verifier) jobsWithoutProvenance(ctx context.Context) error {
	for _, h := range v.noProvenance {
		parent, err := v.target.side.Get(ctx, znode.Parent(h.root))
		switch {
		case err != nil && !errors.Is(err, znode.ErrNoNode):
			return err
		case err != nil, h.createdIn.known() && parent.Stat.Czxid > h.createdIn.to:
			v.differ(JobGone, h.record, v.target.whyGone(h))
		default:
			v.differ(NodeChanged, h.root, fmt.Sprintf("%s made it from %s, but it does not say so any more", h.run, h.record))
		}
	}
	return nil
}
