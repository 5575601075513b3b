package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// knownJobs looks at all jobs and requests but those that claim a record of
// which the ledger does not say that they were made from it: whether such a one
// counts is known when all were seen.
func (v *verifier) knownJobs(ctx context.Context) error {
	held := &v.target.custody.held
	done, tell := 0, phases(ctx)
	tell(Comparing, 0, len(v.target.roots))
	var known []placed
	take := func(sub side.Subtree) bool {
		p, claims := claimOf(sub)
		if !claims {
			return true // somebody else's
		}
		i, there := held.index(p.prov.Path)
		if !there || held.at(i).root != p.root {
			v.claims.add(p)
			v.doubtful = append(v.doubtful, v.target.names.ref(p.root))
			return false
		}
		v.claimed[i] = true
		known = append(known, p)
		return true
	}
	for p, err := range v.target.jobParts(ctx, v.target.allRoots(), take) {
		if err != nil {
			return err
		}
		if err := v.piece(p).beside(ctx, known); err != nil {
			return err
		}
		known = known[:0]
		done += len(p.roots)
		tell(Comparing, done, len(v.target.roots))
	}
	return nil
}

// claimOf is what a job or request says it was made from; ok is false if it says
// nothing.
func claimOf(sub side.Subtree) (p placed, ok bool) {
	prov, ok := parseProvenance(sub.Nodes[0].Data)
	p = placed{prov: prov.origin(), root: sub.Root, id: znode.Name(sub.Root)}
	for _, n := range sub.Nodes {
		if n.Path == sub.Root+"/bid" && znode.Parent(sub.Root) == newqueue.JobsPath {
			p.bid = string(n.Data)
		}
	}
	return p, ok
}

// doubtfulJobs settles which of the others count, and looks at them.
func (v *verifier) doubtfulJobs(ctx context.Context) error {
	v.settleClaims()
	var counting []placed
	take := func(sub side.Subtree) bool {
		if p, claims := claimOf(sub); claims {
			if c, there := v.claims.find(p.prov.Path); there && c.root == p.root {
				counting = append(counting, p)
			}
		}
		return true
	}
	roots := func(yield func(string) bool) {
		for _, r := range v.doubtful {
			if !yield(v.target.names.text(r)) {
				return
			}
		}
	}
	for p, err := range v.target.jobParts(ctx, roots, take) {
		if err != nil {
			return err
		}
		if err := v.piece(p).beside(ctx, counting); err != nil {
			return err
		}
		counting = counting[:0]
	}
	slices.SortFunc(v.jobs, func(a, b verifiedRow) int { return v.target.names.compare(a.root, b.root) })
	v.seen = true
	return nil
}

// settleClaims leaves of the doubtful claims those that count: the first of each
// record, if no job is known to be made from it.
func (v *verifier) settleClaims() {
	v.claims.sort()
	held := &v.target.custody.held
	counting := v.claims.rows[:0]
	for _, row := range v.claims.rows {
		p := v.claims.placed(row)
		root := ""
		if i, there := held.index(p.prov.Path); there && v.claimed[i] {
			root = held.at(i).root
		} else if last := len(counting) - 1; last >= 0 && counting[last].record == row.record {
			root = v.target.names.text(counting[last].root)
		}
		if root == "" {
			counting = append(counting, row)
			continue
		}
		v.differ(MigratedTwice, p.prov.Path, "two jobs in the target claim it")
		v.differ(Forged, p.root, fmt.Sprintf("it says that %s made it from %s, and so does %s", p.prov.Run, p.prov.Path, root))
	}
	v.claims.rows = counting
}

// isRecord reports whether a path can be that of a record in the source.
func (v *verifier) isRecord(path string) bool {
	return v.src.kinds[znode.Parent(path)] != "" && znode.ValidatePath(path) == nil && !slices.Contains(v.src.Queues.Roots(), path)
}

// otherRecords accounts for the records that no job claims.
func (v *verifier) otherRecords(ctx context.Context) error {
	held := &v.target.custody.held
	there := make([]bool, len(held.rows))
	unclaimed := func(yield func(string) bool) {
		for path := range v.src.Paths() {
			i, known := held.index(path)
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
	tell, read := phases(ctx), 0
	tell(ComparingRecords, 0, 0)
	for f, err := range v.src.fetch(ctx, unclaimed) {
		read++
		tell(ComparingRecords, read, 0)
		if err != nil {
			return err
		}
		if f.there() {
			v.account(&f.Record, nil)
		}
	}
	for i, row := range held.rows {
		if _, stands := v.claims.find(held.names.text(row.record)); !there[i] && !v.claimed[i] && !stands && row.op != settled {
			v.verdict.Settled++
		}
	}
	return nil
}

// account says what became of one record. It is the job that it should be, if it
// is to be one: old is the one that claims it.
func (v *verifier) account(r *Record, old *placed) *job {
	a := &v.verdict.Records
	a.Total++
	if h, migrated := v.target.custody.lookup(r.Path); migrated && old == nil {
		a.Gone++
		switch {
		case h.op == settled:
		case v.target.stands(h.root):
			v.silent = append(v.silent, h)
		default:
			v.differ(JobGone, r.Path, v.target.gone(h))
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
	fate, land, reason := decide(*r, policies)
	switch {
	case old != nil && (fate == FateBlock || fate == FateQuarantine):
		a.Missing++
		v.differ(RecordChanged, r.Path, fmt.Sprintf("it changed since it became %s: %s", old.root, reason))
		return nil
	case fate == FateBlock:
		a.Missing++
		v.differ(Undecided, r.Path, reason)
		return nil
	case fate == FateQuarantine:
		a.Quarantined++
		v.checkKept(*r)
		return nil
	case fate == FateSkip && old == nil:
		a.Skipped++
		return nil
	case fate == FateSkip:
		land = landings[r.Queue][r.Legacy.Header.Status]
	case old == nil:
		a.Missing++
		v.differ(NotMigrated, r.Path, "no job or access request in the target is made from it: run mrtq migrate")
		return nil
	}
	a.Migrated++
	v.verdict.States[string(land.job)+string(land.access)]++
	if old.prov.SHA256 != digest(r.Data) {
		v.differ(RecordChanged, r.Path, fmt.Sprintf("it changed since it became %s: run mrtq migrate", old.root))
	}
	return &job{rec: r, land: land, run: old.prov.Run, id: old.id, bid: old.bid}
}

func (v *verifier) checkKept(r Record) {
	if v.opt.Quarantined != nil && !holds(v.opt.Quarantined, r) {
		v.differ(NotKept, r.Path, "the quarantine file doesn't hold its bytes")
	}
}

// beside looks at the jobs and requests of a part beside the records that they
// were made from. Claims are those of its jobs that count.
func (p *piece) beside(ctx context.Context, claims []placed) error {
	jobs, err := p.expected(ctx, claims)
	if err != nil {
		return err
	}
	if err := p.findBatches(ctx, jobs); err != nil {
		return err
	}
	for _, j := range jobs {
		if !isAccess(j.rec.Queue) {
			b := p.batches[keyOf(*j.rec, j.run, p.dialect)]
			// The batch that the job should be in, not the one it says it is in.
			j.bid = b.bid
			b.take(j, p.dialect)
			b.drain = b.drain || j.rec.Queue == Inventory && isUnfinished(j.land)
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

// expected reads the records that jobs claim; it returns what the jobs should be.
func (p *piece) expected(ctx context.Context, claims []placed) ([]*job, error) {
	var paths []string
	claim := map[string]*placed{}
	for _, c := range claims {
		p.runs[c.prov.Run] = true
		p.untold.see(c)
		claim[c.prov.Path] = &c
		if p.isRecord(c.prov.Path) {
			paths = append(paths, c.prov.Path)
		}
	}
	var jobs []*job
	for f, err := range p.src.fetch(ctx, slices.Values(paths)) {
		if err != nil {
			return nil, err
		}
		if c := claim[f.Path]; f.there() {
			delete(claim, f.Path)
			if j := p.account(&f.Record, c); j != nil {
				jobs = append(jobs, j)
			}
		}
	}
	for _, c := range claim {
		p.differ(NoRecord, c.root, fmt.Sprintf("it was made from %s, which is not in the source (any more): it could run twice", c.prov.Path))
	}
	return jobs, nil
}

// compareEntries compares where the jobs stand with where they should. Whether
// one that nothing asks for is in a batch that the migration made is known when
// all jobs were seen.
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

// verifiedRow is a job or request that a record is to be; of a million there is
// one each.
type verifiedRow struct {
	root, record ref
	run          ref
	lane         int32 // see [verifier.order]
}

// noteJob remembers a job that was looked at.
func (v *verifier) noteJob(j *job) {
	n := v.target.names
	l := lane{queue: j.rec.Queue, job: j.land.job, access: j.land.access}
	if !isAccess(j.rec.Queue) {
		l.priority = j.rec.Legacy.Key.Priority
		if j.land.job != newqueue.JobDeleted || v.dialect.KeepsDeleted() {
			v.folders[newqueue.JobStatePath(j.land.job)] = true
		}
	} else {
		v.folders[newqueue.AccessQueuePath(accessQueue(j.rec.Queue))] = true
	}
	i, known := v.lanes[l]
	if !known {
		i = int32(len(v.lanes))
		v.lanes[l] = i
	}
	v.jobs = append(v.jobs, verifiedRow{root: n.ref(j.root()), record: n.ref(j.rec.Path), run: n.ref(j.run), lane: i})
}

// isOurJob reports whether a path is that of a job or request that was noted. It
// is known when all were.
func (v *verifier) isOurJob(path string) bool {
	r, known := v.target.names.find(path)
	if !known || !v.seen {
		return false
	}
	_, there := slices.BinarySearchFunc(v.jobs, r, func(row verifiedRow, r ref) int { return v.target.names.compare(row.root, r) })
	return there
}

// lane is a queue from which the new layout hands jobs out in an order.
type lane struct {
	queue    QueueKind
	job      newqueue.JobState
	access   newqueue.AccessState
	priority int
}

// silentJobs looks at znodes that have the name of a migrated job and say nothing
// of its record: the job, changed since, or another's, if the parent was made again
// and counted from the start.
func (v *verifier) silentJobs(ctx context.Context) error {
	for _, h := range v.silent {
		parent, err := v.target.side.Get(ctx, znode.Parent(h.root))
		switch {
		case err != nil && !errors.Is(err, znode.ErrNoNode):
			return err
		case err != nil, h.made.known() && parent.Stat.Czxid > h.made.to:
			v.differ(JobGone, h.record, v.target.gone(h))
		default:
			v.differ(NodeChanged, h.root, fmt.Sprintf("%s made it from %s, and it does not say so any more", h.run, h.record))
		}
	}
	return nil
}
