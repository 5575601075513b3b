package migrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// DifferenceKind is how a target differs from what its source says.
type DifferenceKind string

// The kinds.
const (
	NotMigrated   DifferenceKind = "not-migrated"   // a record without a job
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
	// Services are what no deployed service could work because of what the
	// records lack, as the plan said, and what others made.
	Services []ServiceFinding `json:"services"`
}

// Accounted is where the records went.
type Accounted struct {
	Total       int `json:"total"`
	Migrated    int `json:"migrated"`
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
	// began: a live queue's own jobs, batches and locks.
	Others bool
	// Quarantined, if not nil, holds the undecodable records whose bytes were
	// kept: path to raw data of any time. Every undecodable one must be there.
	Quarantined map[string][][]byte
}

// Verify compares a target with its source. It re-derives from the source what
// should exist, and trusts nothing that a migration reported: of the runs'
// records it takes only the operator's choices (dialect, policies), and of the
// jobs' provenance only which record they claim to be. It is a pure function
// of two trees that the caller has just read. The error is a target that can't
// be understood.
func Verify(src *Source, target *znode.Tree, opt VerifyOptions) (*Verdict, error) {
	ex, err := readExisting(target)
	if err != nil {
		return nil, err
	}
	v := &verifier{src: src, ex: ex, opt: opt, policies: DefaultPolicies(), dialect: newqueue.Design,
		want: znode.NewTree(), ours: map[string]bool{}, verdict: &Verdict{Differences: []Difference{}, States: map[string]int{}, Services: []ServiceFinding{}}}
	if run, ok := ex.newest(); ok {
		v.policies, v.dialect, v.began = run.Policies, run.Dialect, run.stat.Czxid
		if run.State != RunDone {
			v.differ(RunUnfinished, run.path(), fmt.Sprintf("it is %s: run the same mrtq migrate (or rollback) again", run.State))
		}
	}
	if opt.Policies != nil {
		v.policies = *opt.Policies
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
	return v.verdict, nil
}

type verifier struct {
	src      *Source
	ex       *existing
	opt      VerifyOptions
	policies Policies
	dialect  newqueue.Dialect
	began    int64 // czxid of the newest run; 0 if there was none
	jobs     []job
	want     *znode.Tree
	ours     map[string]bool // wanted nodes that a run must have made
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
	claimed := map[string]bool{}
	a := &v.verdict.Records
	for _, r := range inOrder(v.src.Records) {
		a.Total++
		old, there := v.ex.jobs[r.Path]
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
		v.jobs = append(v.jobs, job{rec: &r, land: land, run: old.prov.Run, id: old.id, bid: old.bid})
	}
	for _, path := range slices.Sorted(maps.Keys(v.ex.jobs)) {
		if _, known := claimed[path]; !known {
			v.differ(NoRecord, v.ex.jobs[path].root, fmt.Sprintf("it was made from %s, which is not in the source (any more): it could run twice", path))
		}
	}
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
			key := keyOf(*j.rec, j.run)
			b := batches[key]
			if b == nil {
				b = v.findBatch(key, j)
				batches[key] = b
			}
			// The batch that the job should be in, not the one it says it is in.
			v.jobs[i].bid = b.bid
			b.jobs = append(b.jobs, v.jobs[i])
		}
		v.wantNodes(v.jobs[i].nodes(v.dialect))
		v.readBack(v.jobs[i])
	}
	for _, b := range batches {
		slices.SortStableFunc(b.jobs, func(x, y job) int { return cmp.Compare(x.id, y.id) })
		v.wantNodes(b.nodes(v.dialect))
	}
}

// findBatch is the batch under its uuid; failing that, the one that the first
// job says it is in.
func (v *verifier) findBatch(key batchKey, first job) *batch {
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

func (v *verifier) wantNodes(nodes []leaf) {
	for _, n := range nodes {
		if err := v.want.Put(znode.Node{Path: n.path, Data: n.data}); err != nil {
			// A job whose ids were damaged can't be placed.
			v.differ(NodeChanged, n.path, err.Error())
			continue
		}
		v.ours[n.path] = true
	}
}

// wantStructure adds the layout's own znodes. Those that a run made are its to
// answer for; of others it only matters that they are there.
func (v *verifier) wantStructure() {
	if len(v.ex.runs) == 0 && len(v.ex.jobs) == 0 {
		return
	}
	made := []string{MigrationPath, RunsPath, ElectionPath}
	for _, run := range v.ex.runs {
		made = append(made, run.Made...)
	}
	for _, p := range v.ex.jobs {
		v.wantThere(znode.Join(RunsPath, p.prov.Run))
	}
	for _, path := range made {
		v.wantNodes([]leaf{{path, none}})
	}
	there := append(v.dialect.StartNodes(), newqueue.LocksPath, newqueue.QueueLocksPath)
	for _, h := range newqueue.QueueHolds {
		there = append(there, newqueue.QueueHoldPath(h))
	}
	for _, path := range there {
		if v.want.Get(path) == nil || !v.ours[path] {
			v.wantThere(path)
		}
	}
	for _, run := range v.ex.runs {
		// What the record says is only a claim, but its version tells if
		// anybody but the run wrote it.
		v.wantThere(run.path())
		if run.Steps != run.stat.Version {
			v.differ(NodeTouched, run.path(), fmt.Sprintf("its version is %d, the run left it at %d: somebody wrote to it", run.stat.Version, run.Steps))
		}
	}
}

// wantThere asks for a node whatever its data.
func (v *verifier) wantThere(path string) {
	n := znode.Node{Path: path, Data: none}
	if there := v.ex.tree.Get(path); there != nil {
		n.Data = there.Data
	}
	if err := v.want.Put(n); err != nil {
		panic("migrate: a path of the layout is always valid: " + err.Error())
	}
}

// compare holds the wanted tree against the target, node by node.
func (v *verifier) compare() {
	for _, root := range targetRoots {
		for _, c := range znode.Diff(v.want, v.ex.tree, root) {
			switch {
			case c.Kind == znode.Missing:
				v.differ(NodeMissing, c.Path, "it should be there and isn't")
			case c.Kind == znode.Changed && !v.ours[c.Path]:
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

// extra is a node that no record asks for. What was there before the newest
// run began is somebody else's; what came since is not explained by anything.
func (v *verifier) extra(n *znode.Node) {
	if v.opt.Others || n.Stat.Czxid < v.began {
		v.verdict.Others++
		return
	}
	what := "nothing in the source asks for it, and it came after the run began"
	if v.began == 0 {
		what = "nothing in the source asks for it, and no run is recorded that it was there before"
	}
	if n.Stat.EphemeralOwner != 0 {
		what = "a session holds it: somebody is at work"
	}
	v.differ(NodeExtra, n.Path, what)
}

// dangling names the jobs that entries in queues and batches stand for and
// that are not there.
func (v *verifier) dangling() {
	gone := map[string]string{}
	for jid, entries := range v.ex.queued {
		gone[jid] = entries[0]
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

// checkVersions finds nodes that were written since a run made them, even
// where the data is the same again.
func (v *verifier) checkVersions(path string) {
	n := v.ex.tree.Get(path)
	if n == nil || !v.ours[path] {
		return
	}
	switch {
	case n.Stat.Aversion != 0:
		v.differ(NodeTouched, path, "its ACL was changed")
	case n.Stat.Version != 0 && znode.SameData(n.Data, v.want.Get(path).Data):
		v.differ(NodeTouched, path, fmt.Sprintf("it was set %s since it was made, to the same data", times(n.Stat.Version)))
	}
}

// order: among jobs of one state and priority the new queue hands out the
// lowest id first; that must be the order of their legacy sequences.
func (v *verifier) order() {
	type lane struct {
		queue    QueueKind
		state    newqueue.JobState
		priority int
	}
	last := map[lane]job{}
	jobs := slices.Clone(v.jobs)
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(a.id, b.id) })
	for _, j := range jobs {
		if isAccess(j.rec.Queue) {
			continue
		}
		l := lane{j.rec.Queue, j.land.job, j.rec.Legacy.Key.Priority}
		if before, ok := last[l]; ok && before.run == j.run && uint32(before.rec.Legacy.Key.Sequence) > uint32(j.rec.Legacy.Key.Sequence) {
			v.differ(OutOfOrder, newqueue.JobPath(j.id), fmt.Sprintf("%s comes after %s (%s), and in the legacy queue it was before it", j.rec.Path, before.rec.Path, before.id))
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
