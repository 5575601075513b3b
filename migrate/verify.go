package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// DifferenceKind is how a target differs from what its source says.
type DifferenceKind string

// The kinds.
const (
	NotMigrated   DifferenceKind = "not-migrated"   // a record without a job
	JobGone       DifferenceKind = "gone"           // a record whose job is not there any more: done and cleaned, or deleted
	MigratedTwice DifferenceKind = "migrated-twice" // a record with two
	NoRecord      DifferenceKind = "no-record"      // a migrated job whose record is gone
	RecordChanged DifferenceKind = "record-changed" // since it was migrated
	NodeMissing   DifferenceKind = "missing"
	NodeExtra     DifferenceKind = "extra"
	NodeChanged   DifferenceKind = "changed"
	NodeTouched   DifferenceKind = "touched" // the same data, written again
	OutOfOrder    DifferenceKind = "out-of-order"
	LayoutBroken  DifferenceKind = "layout"
	NotLossless   DifferenceKind = "not-lossless" // a property can't be read back
	Undecided     DifferenceKind = "undecided"    // an undecodable or consumed record that no policy covers
	NotKept       DifferenceKind = "not-kept"     // an undecodable record whose bytes no quarantine file holds
	RunUnfinished DifferenceKind = "run-unfinished"
	Damaged       DifferenceKind = "damaged"    // the migration's own records are not as a run left them
	MadeAgain     DifferenceKind = "made-again" // a node is not the one that a run made
	OtherACL      DifferenceKind = "other-acl"
	Forged        DifferenceKind = "forged" // a job says that a run made it, and the ledger says otherwise
	// NotServiceable: a deployed service could not work it, and not because of
	// what its record lacks.
	NotServiceable DifferenceKind = "not-serviceable"
)

// Difference is one thing that is not as it should be.
type Difference struct {
	Kind    DifferenceKind `json:"kind"`
	Path    string         `json:"path"`
	Message string         `json:"message"`
}

func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Path, d.Kind, d.Message) }

// Verdict is the outcome of a verification.
type Verdict struct {
	Differences []Difference `json:"differences"`
	// Records counts the legacy records by what became of them; every record
	// is in exactly one.
	Records Accounted `json:"records"`
	// States counts the migrated jobs and access requests by new state.
	States map[string]int `json:"states"`
	Others int            `json:"others"` // znodes that were there before the run, or are allowed
	Nodes  int            `json:"nodes"`  // compared
	ACLs   int            `json:"acls"`   // of them, those whose ACL was read and compared
	// Settled counts records that were migrated and are gone from both sides.
	Settled int `json:"settled"`
	// Services are what no deployed service could work because of what the
	// records lack, as the plan said, and what others made.
	Services []ServiceFinding `json:"services"`
}

// Accounted is where the records went.
type Accounted struct {
	Total       int `json:"total"`
	Migrated    int `json:"migrated"`
	Gone        int `json:"gone"` // migrated, and the job is not there any more
	Skipped     int `json:"skipped"`
	Quarantined int `json:"quarantined"`
	Missing     int `json:"missing"`
}

// OK reports whether nothing differs.
func (v *Verdict) OK() bool { return len(v.Differences) == 0 }

// VerifyOptions are what a verification is made under.
type VerifyOptions struct {
	// Policies, if not nil, are used in place of those that the newest run
	// says it was made under, and for consumed records in place of those that
	// each was migrated under.
	Policies *Policies
	// Others allows znodes that somebody else made since the newest run
	// began: a live queue's own jobs, batches and locks. What stands inside a
	// migrated job or batch is allowed only if it is a session's, as a lock is.
	Others bool
	// Quarantined, if not nil, holds the undecodable records whose bytes were
	// kept: path to raw data of any time. Every undecodable one must be there.
	Quarantined map[string][][]byte
}

// Verify compares a target with its source. It re-derives from the source what
// should exist, and trusts nothing that a migration reported: of the runs'
// records it takes the operator's choices (dialect, policies), of the ledger
// which records were migrated, and of the jobs' provenance which record they
// claim to be; and each of these is held against the others and against the
// transactions that the tree shows. It is a pure function of two trees that the
// caller has just read.
func Verify(src *Source, target *znode.Tree, opt VerifyOptions) *Verdict {
	ex := readExisting(target)
	v := &verifier{src: src, ex: ex, opt: opt, policies: DefaultPolicies(), dialect: newqueue.Design,
		want: znode.NewTree(), ours: map[string]string{}, verdict: &Verdict{Differences: []Difference{}, States: map[string]int{}, Services: []ServiceFinding{}}}
	if run, ok := ex.newest(); ok {
		v.policies, v.dialect, v.began = run.Policies, run.Dialect, run.stat.Czxid
		if run.State != RunDone {
			v.differ(RunUnfinished, run.path(), fmt.Sprintf("it is %s: run the same mrtq migrate (or rollback) again", run.State))
		}
	} else if run, ok := NewestRun(target); ok { // its record is lost
		v.policies, v.dialect = run.Policies, run.Dialect
	} else if d, _, found := FindDialect(target); found {
		v.dialect = d
	}
	if opt.Policies != nil {
		v.policies = *opt.Policies
	}
	for _, d := range ex.custody.damage {
		v.differ(Damaged, d.Path, d.Message+"; "+d.Next)
	}
	v.records()
	v.wantBatches()
	v.wantStructure()
	v.compare()
	v.dangling()
	v.order()
	v.layout()
	v.services()
	slices.SortStableFunc(v.verdict.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Message, b.Message))
	})
	return v.verdict
}

type verifier struct {
	src      *Source
	ex       *existing
	opt      VerifyOptions
	policies Policies
	dialect  newqueue.Dialect
	began    int64 // czxid of the newest run; 0 if there was none
	jobs     []*job
	want     *znode.Tree
	ours     map[string]string // wanted nodes that a run must have made, with the job that they are part of, "" for none
	verdict  *Verdict
}

func (v *verifier) differ(kind DifferenceKind, path, message string) {
	v.verdict.Differences = append(v.verdict.Differences, Difference{kind, path, message})
}

// records accounts for every legacy record, and for every job that claims one.
func (v *verifier) records() {
	for _, path := range v.ex.twice {
		v.differ(MigratedTwice, path, "two jobs in the target claim it")
	}
	for _, p := range v.ex.copies {
		v.differ(Forged, p.root, fmt.Sprintf("it says that %s made it from %s, and so does %s", p.prov.Run, p.prov.Path, v.counting(p).root))
	}
	claimed := map[string]bool{}
	a := &v.verdict.Records
	for _, r := range inOrder(v.src.Records) {
		a.Total++
		old, there := v.ex.job(r.Path)
		if h, migrated := v.ex.custody.lookup(r.Path); migrated && !there {
			a.Gone++
			claimed[r.Path] = true
			switch {
			case h.op == settled:
			case v.ex.tree.Get(h.root) != nil:
				v.differ(NodeChanged, h.root, fmt.Sprintf("%s made it from %s, and it does not say so any more", h.run, r.Path))
			default:
				v.differ(JobGone, r.Path, v.ex.gone(h))
			}
			continue
		}
		if there && !v.ex.known(old) && v.ex.custody.sound[old.prov.Run] {
			v.differ(Forged, old.root, fmt.Sprintf("it says that %s made it from %s, and the ledger does not say so", old.prov.Run, r.Path))
		}
		policies := v.policies
		if v.opt.Policies == nil {
			policies = old.policies(r, policies)
		}
		fate, land, reason := decide(r, policies)
		claimed[r.Path] = there
		switch {
		case there && (fate == FateBlock || fate == FateQuarantine):
			a.Missing++
			v.differ(RecordChanged, r.Path, fmt.Sprintf("it changed since it became %s: %s", old.root, reason))
			continue
		case fate == FateBlock:
			a.Missing++
			v.differ(Undecided, r.Path, reason)
			continue
		case fate == FateQuarantine:
			a.Quarantined++
			v.checkKept(r)
			continue
		case fate == FateSkip && !there:
			a.Skipped++
			continue
		case fate == FateSkip:
			land = landings[r.Queue][r.Legacy.Header.Status]
		case !there:
			a.Missing++
			v.differ(NotMigrated, r.Path, "no job or access request in the target is made from it: run mrtq migrate")
			continue
		}
		a.Migrated++
		v.verdict.States[string(land.job)+string(land.access)]++
		if old.prov.SHA256 != digest(r.Data) {
			v.differ(RecordChanged, r.Path, fmt.Sprintf("it changed since it became %s: run mrtq migrate", old.root))
		}
		v.jobs = append(v.jobs, &job{rec: &r, land: land, run: old.prov.Run, id: old.id, bid: old.bid})
	}
	for h := range v.ex.custody.held.all() {
		_, stands := v.ex.job(h.record)
		if _, known := claimed[h.record]; !known && !stands && h.op != settled {
			v.verdict.Settled++
		}
	}
	for p := range v.ex.jobs.all() {
		if _, known := claimed[p.prov.Path]; !known {
			v.differ(NoRecord, p.root, fmt.Sprintf("it was made from %s, which is not in the source (any more): it could run twice", p.prov.Path))
		}
	}
}

// counting is the job that counts for the record that another claims.
func (v *verifier) counting(copy placed) placed {
	p, _ := v.ex.job(copy.prov.Path)
	return p
}

func (v *verifier) checkKept(r Record) {
	if v.opt.Quarantined == nil {
		return
	}
	if !holds(v.opt.Quarantined, r) {
		v.differ(NotKept, r.Path, "the quarantine file doesn't hold its bytes")
	}
}

// wantBatches puts into the wanted tree what the records' jobs and batches
// should be, under the ids that the target has for them.
func (v *verifier) wantBatches() {
	batches := map[batchKey]*batch{}
	for i, j := range v.jobs {
		if !isAccess(j.rec.Queue) {
			key := keyOf(*j.rec, j.run, v.dialect)
			b := batches[key]
			if b == nil {
				b = v.findBatch(key, j)
				batches[key] = b
			}
			// The batch that the job should be in, not the one it says it is in.
			v.jobs[i].bid = b.bid
			b.jobs = append(b.jobs, v.jobs[i])
		}
		v.wantNodes(v.jobs[i].nodes(v.dialect), v.jobs[i].root())
		v.readBack(*v.jobs[i])
	}
	for _, b := range batches {
		slices.SortStableFunc(b.jobs, func(x, y *job) int { return cmp.Compare(x.id, y.id) })
		v.wantNodes(b.nodes(v.dialect), "")
	}
}

// findBatch is the batch under its uuid; failing that, the one that the first
// job says it is in.
func (v *verifier) findBatch(key batchKey, first *job) *batch {
	b := &batch{key: key, bid: first.bid, run: first.run}
	if n := v.ex.tree.Get(newqueue.BatchUUIDPath(key.uuid())); n != nil {
		b.bid = string(n.Data)
	}
	if n := v.ex.tree.Get(newqueue.BatchPath(b.bid)); b.bid != "" && n != nil {
		if p, ok := parseBatchProvenance(n.Data); ok {
			b.run = p.Run
		}
	}
	return b
}

// wantNodes puts nodes into the wanted tree that a run must have made: with that
// job, if they are part of one.
func (v *verifier) wantNodes(nodes []leaf, job string) {
	for _, n := range nodes {
		if err := v.want.Put(znode.Node{Path: n.path, Data: n.data}); err != nil {
			// A job whose ids were damaged can't be placed.
			v.differ(NodeChanged, n.path, err.Error())
			continue
		}
		v.ours[n.path] = job
	}
}

// wantStructure adds the layout's own znodes. Those that a run made are its to
// answer for; of others it only matters that they are there.
func (v *verifier) wantStructure() {
	if len(v.ex.runs) == 0 && len(v.ex.jobs.rows) == 0 {
		return
	}
	own := []string{RunsPath, ElectionPath, LedgerPath}
	if m, e := v.ex.tree.Get(MigrationPath), v.ex.tree.Get(ElectionPath); m == nil || e == nil || ownMigration(m.Stat, e.Stat) {
		own = append(own, MigrationPath)
	}
	for _, path := range own {
		v.wantNodes([]leaf{{path, none}}, "")
	}
	for _, run := range v.ex.runs {
		for _, path := range run.Made {
			v.wantNodes([]leaf{{path, none}}, "")
		}
		v.wantNodes([]leaf{{ledgerPath(run.ID), none}}, "")
	}
	for p := range v.ex.jobs.all() {
		v.wantThere(znode.Join(RunsPath, p.prov.Run))
	}
	there := append(v.dialect.StartNodes(), MigrationPath, newqueue.LocksPath, newqueue.QueueLocksPath)
	for _, h := range newqueue.QueueHolds {
		there = append(there, newqueue.QueueHoldPath(h))
	}
	for _, path := range there {
		if _, ours := v.ours[path]; v.want.Get(path) == nil || !ours {
			v.wantThere(path)
		}
	}
	// The data of these is compared in ways of their own; see [readCustody].
	v.wantThere(newqueue.JobsPath)
	for _, run := range v.ex.runs {
		if slices.Contains(run.Made, newqueue.JobsPath) {
			v.checkOwn(newqueue.JobsPath)
		}
		v.wantThere(run.path())
		v.checkOwn(run.path())
		for i := range run.Ledger.Shards {
			if slices.Contains(run.Ledger.Missing, i) {
				continue
			}
			v.wantThere(shardPath(run.ID, i))
			v.checkOwn(shardPath(run.ID, i))
		}
		if run.Steps != run.stat.Version {
			v.differ(NodeTouched, run.path(), fmt.Sprintf("its version is %d, the run left it at %d: somebody wrote to it", run.stat.Version, run.Steps))
		}
	}
}

// checkOwn looks at one of the migration's own records, whose data is compared
// elsewhere.
func (v *verifier) checkOwn(path string) {
	n := v.ex.tree.Get(path)
	switch {
	case n == nil:
	case n.Stat.EphemeralOwner != 0:
		v.differ(MadeAgain, path, fmt.Sprintf("it is ephemeral: it goes when session %#x ends", n.Stat.EphemeralOwner))
	case n.Stat.Aversion != 0:
		v.differ(NodeTouched, path, "its ACL was changed")
	case n.Stat.Version != 0 && znode.Within(path, LedgerPath):
		v.differ(NodeTouched, path, fmt.Sprintf("it was set %s since it was made", times(n.Stat.Version)))
	case path == newqueue.JobsPath && v.ex.dated() && !v.ex.bornInRun(n.Stat.Czxid):
		v.differ(MadeAgain, path, "no run was at work when it was made: somebody deleted it and made it again")
	}
}

// wantThere asks for a node whatever its data.
func (v *verifier) wantThere(path string) {
	n := znode.Node{Path: path, Data: none}
	if there := v.ex.tree.Get(path); there != nil {
		n.Data = there.Data
	}
	delete(v.ours, path)
	if err := v.want.Put(n); err != nil {
		v.differ(NodeChanged, path, err.Error()) // a forged provenance can name any
	}
}

// compare holds the wanted tree against the target, node by node.
func (v *verifier) compare() {
	for _, root := range targetRoots {
		for _, c := range znode.Diff(v.want, v.ex.tree, root) {
			switch {
			case c.Kind == znode.Missing:
				v.differ(NodeMissing, c.Path, "it should be there and isn't")
			case c.Kind == znode.Changed && !v.isOurs(c.Path):
				// A folder that was there before, made by a client that
				// writes null data: its data says nothing.
			case c.Kind == znode.Changed:
				v.differ(NodeChanged, c.Path, c.String()[len(c.Path)+2:])
			default:
				v.extra(c.Got)
			}
		}
		for n := range v.want.All(root) {
			v.verdict.Nodes++
			v.checkVersions(n.Path)
		}
	}
}

func (v *verifier) isOurs(path string) bool { _, ours := v.ours[path]; return ours }

// extra is a node that no record asks for. What stands inside what a run made is
// the run's to answer for, whenever it came: nothing of others can be older than
// the node that it is in. Elsewhere, what was there before the newest run began
// is somebody else's, and what came since is not explained by anything.
func (v *verifier) extra(n *znode.Node) {
	what := "nothing in the source asks for it, and it came after the run began"
	switch inside := v.inside(n); {
	case foreignMarker(n.Path), v.emptied(n):
		v.verdict.Others++
		return
	case v.opt.Others && (inside == "" || n.Stat.EphemeralOwner != 0):
		v.verdict.Others++ // a worker's lock, in one of ours too
		return
	case inside != "":
		what = fmt.Sprintf("it belongs to %s, which the migration made, and nothing in the source asks for it", inside)
	case n.Stat.Czxid < v.began:
		v.verdict.Others++
		return
	case v.began == 0:
		what = "nothing in the source asks for it, and no run is recorded that it was there before"
	}
	if n.Stat.EphemeralOwner != 0 {
		what = "a session holds it: somebody is at work"
	}
	v.differ(NodeExtra, n.Path, what)
}

// foreignMarker reports whether path is one of the field's own: which queue the
// services use (12-deployed-services, section 8).
func foreignMarker(path string) bool {
	return path == MigrationPath+"/m1" || path == MigrationPath+"/m3"
}

// emptied reports whether a node is a batch's folder that a run made and that a
// later run, which made its jobs anew in another state, left empty.
func (v *verifier) emptied(n *znode.Node) bool {
	batch, ok := strings.CutSuffix(znode.Parent(n.Path), "/states")
	return ok && v.isOurs(batch) && n.Stat.NumChildren == 0 && n.Stat.Cversion > 0 && v.ex.bornInRun(n.Stat.Czxid)
}

// inside is the job, batch, request or record of a run that a node belongs to:
// by where it stands, by its name, or by what it names; "" for none.
func (v *verifier) inside(n *znode.Node) string {
	for path := znode.Parent(n.Path); path != "/" && path != ""; path = znode.Parent(path) {
		if job, ours := v.ours[path]; ours && job != "" {
			return job
		}
		switch parent := znode.Parent(path); {
		case parent == newqueue.BatchesPath && v.isOurs(path),
			(parent == RunsPath || parent == LedgerPath) && v.want.Get(path) != nil, path == ElectionPath:
			return path
		}
	}
	switch parent := znode.Parent(n.Path); {
	case parent == RunsPath || parent == LedgerPath:
		return MigrationPath
	case parent == newqueue.BatchUUIDsPath:
		if batch := newqueue.BatchPath(string(n.Data)); len(n.Data) > 0 && v.isOurs(batch) {
			return batch
		}
	case znode.Parent(parent) == newqueue.JobStatesPath:
		if _, jid, ok := strings.Cut(znode.Name(n.Path), "-"); ok && v.isOurs(newqueue.JobPath(jid)) {
			return newqueue.JobPath(jid)
		}
	case strings.HasSuffix(znode.Parent(parent), "/states"):
		if job := newqueue.JobPath(znode.Name(n.Path)); v.isOurs(job) {
			return job
		}
	}
	return ""
}

// dangling names the jobs that entries in queues and batches stand for and
// that are not there.
func (v *verifier) dangling() {
	gone := map[string]string{}
	for _, row := range slices.Backward(v.ex.queued.rows) {
		gone[v.ex.names.text(row.jid)] = v.ex.names.text(row.entry)
	}
	for _, bid := range v.ex.tree.Children(newqueue.BatchesPath) {
		for _, f := range newqueue.BatchFolders {
			for _, jid := range v.ex.tree.Children(newqueue.BatchFolderPath(bid, f)) {
				gone[jid] = newqueue.BatchEntryPath(bid, f, jid)
			}
		}
	}
	for jid, entry := range gone {
		if path := newqueue.JobPath(jid); v.ex.tree.Get(path) == nil && v.want.Get(path) == nil {
			v.differ(NodeMissing, path, entry+" stands for it")
		}
	}
}

// checkVersions finds nodes that were written since a run made them, even where
// the data is the same again; and nodes that are not the ones that the run made,
// even where they look the same.
func (v *verifier) checkVersions(path string) {
	n := v.ex.tree.Get(path)
	job, ours := v.ours[path]
	if n == nil || !ours {
		return
	}
	v.checkACL(n)
	switch {
	case n.Stat.EphemeralOwner != 0:
		v.differ(MadeAgain, path, fmt.Sprintf("it is ephemeral: it goes when session %#x ends", n.Stat.EphemeralOwner))
	case n.Stat.Aversion != 0:
		v.differ(NodeTouched, path, "its ACL was changed")
	case n.Stat.Version != 0 && znode.SameData(n.Data, v.want.Get(path).Data):
		v.differ(NodeTouched, path, fmt.Sprintf("it was set %s since it was made, to the same data", times(n.Stat.Version)))
	case !v.ex.dated():
		// A copy, restored from a dump: its transactions tell nothing.
	case job != "" && v.ex.tree.Get(job) != nil && n.Stat.Czxid != v.ex.tree.Get(job).Stat.Czxid:
		v.differ(MadeAgain, path, fmt.Sprintf("transaction %#x made it, and %#x made its job: somebody deleted it and made it again", n.Stat.Czxid, v.ex.tree.Get(job).Stat.Czxid))
	case path == job:
		if p, ok := v.ex.job(v.recordOf(path)); ok && p.root == path && v.ex.known(p) {
			if why := v.ex.madeAgain(p); why != "" {
				v.differ(MadeAgain, path, why)
			}
		}
	case job == "" && !v.ex.bornInRun(n.Stat.Czxid) && !v.ex.besideRuns(n):
		v.differ(MadeAgain, path, "no run was at work when it was made: somebody deleted it and made it again")
	}
}

// recordOf is the record that the job's own znode says it was made from.
func (v *verifier) recordOf(job string) string {
	p, _ := parseProvenance(v.data(job))
	return p.Path
}

// checkACL compares a node's ACL, where it was read, with that of its run's own
// record.
func (v *verifier) checkACL(n *znode.Node) {
	if n.ACL == nil {
		return
	}
	for _, r := range v.ex.runs {
		s, record := v.ex.spans[r.ID], v.ex.tree.Get(r.path())
		// The election is made before the first run, and by whoever misses it.
		mine := s.known() && s.holds(n.Stat.Czxid) || n.Path == ElectionPath
		if !mine || record.ACL == nil {
			continue
		}
		v.verdict.ACLs++
		if !sameACL(n.ACL, record.ACL) {
			v.differ(OtherACL, n.Path, fmt.Sprintf("its ACL is %v, and %s gave %v to all that it made", n.ACL, r.ID, record.ACL))
		}
		return
	}
}

// order: among jobs of one state and priority the new queue hands out the
// lowest id first, among access requests of one state whatever their priority
// was; that must be the order in which the old queue would have handed out their
// records ([legacy.Key.Compare]).
func (v *verifier) order() {
	type lane struct {
		queue    QueueKind
		job      newqueue.JobState
		access   newqueue.AccessState
		priority int
	}
	last := map[lane]*job{}
	jobs := slices.Clone(v.jobs)
	slices.SortFunc(jobs, func(a, b *job) int { return cmp.Compare(a.id, b.id) })
	for _, j := range jobs {
		path := newqueue.JobPath(j.id)
		l := lane{queue: j.rec.Queue, job: j.land.job, priority: j.rec.Legacy.Key.Priority}
		if isAccess(j.rec.Queue) {
			path = newqueue.AccessRequestPath(accessQueue(j.rec.Queue), j.id)
			l = lane{queue: j.rec.Queue, access: j.land.access}
		}
		if before, ok := last[l]; ok && before.run == j.run && before.rec.Legacy.Key.Compare(j.rec.Legacy.Key) > 0 {
			v.differ(OutOfOrder, path, fmt.Sprintf("%s comes after %s (%s), but the old queue would have handed it out first: to put it right, roll the run back and migrate again", j.rec.Path, before.rec.Path, before.id))
		}
		last[l] = j
	}
}

// layout holds the whole target, others' jobs included, to the layout's rules.
func (v *verifier) layout() {
	if len(v.ex.runs) == 0 {
		return
	}
	named := map[string]bool{}
	for _, d := range v.verdict.Differences {
		named[d.Path] = true
	}
	for _, p := range newqueue.CheckLayout(v.ex.tree, v.dialect) {
		if !named[p.Path] {
			v.differ(LayoutBroken, p.Path, p.Message)
		}
	}
}
