package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mrtq/internal/side"
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
	// Rebuildable says that [Migrator.Rebuild] mends it.
	Rebuildable bool `json:"-"`
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
	// Run is the newest run, and its state; both are "" if the target has none.
	Run   string   `json:"run"`
	State RunState `json:"state"`
	// Released are the queues' holds that were lifted since it was done; Worked is
	// what workers did on those queues.
	Released []string `json:"released"`
	Worked   WorkedOn `json:"worked"`
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
	// ACLs, if not nil, is what the target's side asks which ACLs to read.
	ACLs *ACLSample

	part int // of jobs or batches, that are looked at together; 0 is as many as is good
}

// Verify compares a target with its source. It re-derives from the source what
// should exist, and trusts nothing that a migration reported: of the runs'
// records it takes the operator's choices (dialect, policies), of the ledger
// which records were migrated, and of the jobs' provenance which record they
// claim to be; and each of these is held against the others and against the
// transactions that the tree shows.
//
// Both sides are read part by part, and of what was read only rows stay. An error
// is one of reading.
func Verify(ctx context.Context, src *LegacyQueue, target side.Side, opt VerifyOptions) (*Verdict, error) {
	l, err := listTarget(ctx, target, opt.ACLs)
	if err != nil {
		return nil, err
	}
	l.part = cmp.Or(opt.part, l.part)
	v := newVerifier(src, l, opt)
	if len(l.runs) == 0 {
		if d, _, found, err := readDialect(ctx, target, l.tree); err != nil {
			return nil, err
		} else if found {
			v.dialect = d
		}
	}
	for _, look := range []func(context.Context) error{
		v.knownJobs,    // most jobs, beside the records that they were made from
		v.doubtfulJobs, // those of which the ledger does not say that they count
		v.otherRecords, // that no job claims
		v.silentJobs,   // that should claim one
		v.allBatches,   // what the jobs say of them
		v.strayUUIDs,   // of which no batch knows
		v.strayEntries, // that stand for no job, or in a batch of another
	} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	v.damaged(v.untold.damage())
	v.ownRecords()
	v.order()
	if err := v.workedOn(ctx); err != nil {
		return nil, err
	}
	v.conclude()
	return v.verdict, nil
}

// verifier is what a verification knows of the whole; see [piece].
type verifier struct {
	src      *LegacyQueue
	target   *listing
	opt      VerifyOptions
	policies Policies
	dialect  newqueue.Dialect
	began    int64 // czxid of the newest run; 0 if there was none
	verdict  *Verdict

	doubtful []ref           // roots of jobs of which the ledger does not know
	claims   jobRows         // what they say
	runs     map[string]bool // that jobs name as theirs
	untold   *unrecorded
	silent   []held        // where the ledger has a job, a znode stands that claims no record
	claimed  []bool        // the ledger's records of which the job stands, by row
	jobs     []verifiedRow // in the order of their paths, once all were seen
	seen     bool
	lanes    lanes
	folders  map[string]bool // that wanted jobs stand in
	batches  map[batchKey]*wantedBatch
	wanted   map[string][]*wantedBatch // by BID
	uuids    nameSet                   // that were looked at
	strays   []entryRow                // in batches in which no record wants them
	broken   []Difference              // of the layout's rules
	faults   []serviceFault
	workers  []string                     // their locks, on jobs at work
	profiles struct{ there, wanted bool } // some job has one
}

func newVerifier(src *LegacyQueue, l *listing, opt VerifyOptions) *verifier {
	v := &verifier{
		src: src, target: l, opt: opt, policies: DefaultPolicies(), dialect: newqueue.Design,
		verdict: &Verdict{Differences: []Difference{}, States: map[string]int{}, Services: []ServiceFinding{}, Released: []string{}, Worked: WorkedOn{First: []WorkedJob{}}},
		claims:  newJobRows(l.names), runs: map[string]bool{}, untold: l.unrecorded(), claimed: make([]bool, len(l.custody.held.rows)),
		jobs: make([]verifiedRow, 0, len(l.roots)), lanes: lanes{index: map[laneOfRun]int32{}}, folders: map[string]bool{}, batches: map[batchKey]*wantedBatch{}, wanted: map[string][]*wantedBatch{}, uuids: newNameSet(),
	}
	if run, ok := l.newest(); ok {
		v.policies, v.dialect, v.began = run.Policies, run.Dialect, run.stat.Czxid
		v.verdict.Run, v.verdict.State = run.ID, run.State
		if run.State != RunDone {
			v.differ(RunUnfinished, run.path(), fmt.Sprintf("it is %s: finish the migration or the rollback first", run.State))
		}
	} else if run, ok := NewestRun(l.tree); ok { // its record is lost
		v.policies = run.Policies
	}
	if opt.Policies != nil {
		v.policies = *opt.Policies
	}
	v.damaged(l.custody.damage)
	return v
}

func (v *verifier) damaged(damage []Problem) {
	for _, d := range damage {
		v.verdict.Differences = append(v.verdict.Differences, Difference{Kind: Damaged, Path: d.Path, Message: d.Message + "; " + d.Next, Rebuildable: d.Rebuildable})
	}
}

func (v *verifier) differ(kind DifferenceKind, path, message string) {
	v.verdict.Differences = append(v.verdict.Differences, Difference{Kind: kind, Path: path, Message: message})
}

// conclude adds what counts only if nothing else was said of the same znode, and
// sorts.
func (v *verifier) conclude() {
	named := map[string]bool{}
	for _, d := range v.verdict.Differences {
		named[d.Path] = true
	}
	slices.Sort(v.verdict.Released)
	if len(v.target.runs) > 0 {
		for _, d := range v.broken {
			if !named[d.Path] {
				v.verdict.Differences = append(v.verdict.Differences, d)
			}
		}
		for _, d := range v.verdict.Differences {
			named[d.Path] = true
		}
		for _, lock := range v.workers {
			named[lock] = true
		}
		v.concludeServices(named)
	}
	slices.SortFunc(v.verdict.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Message, b.Message))
	})
	v.verdict.Differences = slices.Compact(v.verdict.Differences) // parts meet in a batch's uuid
}
