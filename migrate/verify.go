package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mrtq/internal/side"
	"mrtq/newqueue"
)

// DifferenceKind is how a target differs from what the source says it should be.
type DifferenceKind string

// Differences of a record.
const (
	NotMigrated   DifferenceKind = "not-migrated"   // no job was made from it
	JobGone       DifferenceKind = "gone"           // its job is gone: finished and cleaned up, or deleted
	MigratedTwice DifferenceKind = "migrated-twice" // two jobs were made from it
	RecordChanged DifferenceKind = "record-changed" // it has changed since it was migrated
	Undecided     DifferenceKind = "undecided"      // it is undecodable or consumed, and no policy covers it
	NotKept       DifferenceKind = "not-kept"       // it is undecodable, and no quarantine file has its bytes
)

// Differences of a job, a request or a batch.
const (
	NoRecord    DifferenceKind = "no-record"    // its record is gone
	NotLossless DifferenceKind = "not-lossless" // a property of the record can't be read back
	OutOfOrder  DifferenceKind = "out-of-order"
	Forged      DifferenceKind = "forged" // it says that a run made it, but the ledger says otherwise
	// NotServiceable says that a deployed service could not work on it, although its
	// record lacks nothing.
	NotServiceable DifferenceKind = "not-serviceable"
)

// Differences of a znode.
const (
	NodeMissing  DifferenceKind = "missing"
	NodeExtra    DifferenceKind = "extra"
	NodeChanged  DifferenceKind = "changed"
	NodeTouched  DifferenceKind = "touched"   // it was written again, with the same data
	Recreated    DifferenceKind = "recreated" // another client deleted and recreated it
	OtherACL     DifferenceKind = "other-acl"
	LayoutBroken DifferenceKind = "layout" // it violates a rule of the layout
)

// Differences of the migration's own records.
const (
	RunUnfinished DifferenceKind = "run-unfinished"
	Damaged       DifferenceKind = "damaged" // another client changed or removed a run's record, or the ledger
)

// Difference is one way in which the target is not what it should be.
type Difference struct {
	Kind    DifferenceKind `json:"kind"`
	Path    string         `json:"path"`
	Message string         `json:"message"`
	// Rebuildable says that [Migrator.Rebuild] mends it.
	Rebuildable bool `json:"-"`
}

// String returns path, kind and message on one line.
func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Path, d.Kind, d.Message) }

// Verdict is the outcome of a verification.
type Verdict struct {
	Differences []Difference `json:"differences"`
	// Records counts the legacy records by what became of them. Every record counts once.
	Records Accounted `json:"records"`
	// States counts the migrated jobs and access requests by new state.
	States map[string]int `json:"states"`
	Others int            `json:"others"` // others' znodes that were there before the run, or are allowed
	Nodes  int            `json:"nodes"`  // znodes that were compared
	ACLs   int            `json:"acls"`   // znodes whose ACL was compared too
	// Settled counts records that were migrated and are gone from both sides.
	Settled int `json:"settled"`
	// Services are the items that no deployed service could work on: those whose records
	// lack something, as the plan said, and those that others created.
	Services []ServiceFinding `json:"services"`
	// Run is the newest run, and State its state. Both are "" if the target has no run.
	Run   string   `json:"run"`
	State RunState `json:"state"`
	// Policies are those that the newest run was made under.
	Policies Policies `json:"-"`
	// Released are the holds on queues that were lifted after the run was done. Worked is
	// what workers have done on these queues since.
	Released []string `json:"released"`
	Worked   WorkedOn `json:"worked"`
	// Holds are the holds on queues and collections, and who set them.
	Holds []HoldStatus `json:"holds"`

	source string // see [Verdict.RunSource]
}

// RunSource is the source that the newest run took its records from, as it was given
// then; "" if the target has no run.
func (v *Verdict) RunSource() string { return v.source }

// Accounted counts the records by what became of them.
type Accounted struct {
	Total       int `json:"total"`
	Migrated    int `json:"migrated"`
	Gone        int `json:"gone"` // migrated, but the job is gone
	Skipped     int `json:"skipped"`
	Quarantined int `json:"quarantined"`
	Missing     int `json:"missing"`
}

// OK reports whether nothing differs.
func (v *Verdict) OK() bool { return len(v.Differences) == 0 }

// VerifyOptions are the options of a verification.
type VerifyOptions struct {
	// Policies, if not nil, replace those of the newest run. For consumed records they
	// replace the policy under which each was migrated.
	Policies *Policies
	// Others allows znodes that others created since the newest run began: a live queue's
	// own jobs, batches and locks. Inside a migrated job or batch it allows only znodes
	// that a session holds, such as locks.
	Others bool
	// Quarantined, if not nil, has the bytes that were kept of undecodable records, by
	// path; see [ReadQuarantine]. Every undecodable record must be there.
	Quarantined map[string][][]byte
	// ACLs, if not nil, is the sample that the target's side reads ACLs by.
	ACLs *ACLSample

	part int // how many jobs or batches a part has; 0 is the default
}

// Verify compares a target with its source. It derives again from the source what should
// exist. It takes only these from the target:
//
//   - the operator's choices, that is dialect and policies, from the runs' records
//   - which records were migrated, from the ledger
//   - which record a job was made from, from the job's provenance
//
// It compares each of these with the others, and with the transactions that the znodes
// show.
//
// Verify reads both sides part by part, and keeps only rows. Errors come from reading.
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
		v.knownJobs,             // jobs that the ledger has, compared with their records
		v.doubtfulJobs,          // jobs that it does not have
		v.otherRecords,          // records that no job claims
		v.jobsWithoutProvenance, // jobs that should claim a record and don't
		v.allBatches,            // batches, compared with what their jobs say
		v.strayUUIDs,            // entries of /batch-uuids for no wanted batch
		v.strayEntries,          // entries for no job, or in the wrong batch
	} {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	v.addDamage(v.unrecorded.damage())
	v.ownRecords()
	v.order()
	if err := v.workedOn(ctx); err != nil {
		return nil, err
	}
	v.conclude()
	return v.verdict, nil
}

// verifier is what a verification knows about the whole target. [piece] is what it knows
// about one part.
type verifier struct {
	src      *LegacyQueue
	target   *listing
	opt      VerifyOptions
	policies Policies
	dialect  newqueue.Dialect
	began    int64 // czxid of the newest run; 0 if there was none
	verdict  *Verdict

	doubtful     []ref           // roots of jobs that the ledger does not have
	claims       jobRows         // which records these claim
	runs         map[string]bool // runs that jobs say made them
	unrecorded   *unrecorded
	noProvenance []custodyEntry // ledger entries whose job is there but claims no record
	claimed      []bool         // whether a job that is there claims the record, by the ledger's row
	jobs         []verifiedRow  // in the order of their paths, if seen is true
	seen         bool           // all jobs were looked at
	lanes        lanes
	folders      map[string]bool // folders in which wanted jobs have entries
	batches      map[batchKey]*wantedBatch
	wanted       map[string][]*wantedBatch // by BID
	uuids        nameSet                   // entries of /batch-uuids that were looked at
	strays       []entryRow                // entries in batches that no record needs
	layoutBroken []Difference              // of the layout's rules
	faults       serviceFaults
	workers      []string                     // paths that workers wrote: locks on jobs, and statuses of requests that are being processed
	profiles     struct{ there, wanted bool } // whether any job has a profile
}

func newVerifier(src *LegacyQueue, l *listing, opt VerifyOptions) *verifier {
	v := &verifier{
		src: src, target: l, opt: opt, policies: DefaultPolicies(), dialect: newqueue.Design,
		verdict: &Verdict{Differences: []Difference{}, States: map[string]int{}, Services: []ServiceFinding{}, Released: []string{}, Worked: WorkedOn{First: []WorkedJob{}, Gone: []GoneJob{}, Abandoned: []string{}}},
		claims:  newJobRows(l.names), runs: map[string]bool{}, unrecorded: l.unrecorded(), faults: serviceFaults{names: l.names}, claimed: make([]bool, len(l.custody.entries.rows)),
		jobs: make([]verifiedRow, 0, len(l.roots)), lanes: lanes{index: map[laneOfRun]int32{}}, folders: map[string]bool{}, batches: map[batchKey]*wantedBatch{}, wanted: map[string][]*wantedBatch{}, uuids: newNameSet(),
	}
	if run, ok := l.newest(); ok {
		v.policies, v.dialect, v.began = run.Policies, run.Dialect, run.stat.Czxid
		v.verdict.Run, v.verdict.State, v.verdict.Policies, v.verdict.source = run.ID, run.State, run.Policies, run.Source
		if run.State != RunDone {
			v.differ(RunUnfinished, run.path(), fmt.Sprintf("it is %s: finish the migration or the rollback first", run.State))
		}
	} else if run, ok := NewestRun(l.tree); ok { // the run's record is lost
		v.policies = run.Policies
	}
	if opt.Policies != nil {
		v.policies = *opt.Policies
	}
	v.addDamage(l.custody.damage)
	return v
}

func (v *verifier) addDamage(damage []Problem) {
	for _, d := range damage {
		v.verdict.Differences = append(v.verdict.Differences, Difference{Kind: Damaged, Path: d.Path, Message: d.Message + "; " + d.Next, Rebuildable: d.Rebuildable})
	}
}

func (v *verifier) differ(kind DifferenceKind, path, message string) {
	v.verdict.Differences = append(v.verdict.Differences, Difference{Kind: kind, Path: path, Message: message})
}

// conclude adds the differences that count only if the same znode has no other difference.
// It sorts all differences.
func (v *verifier) conclude() {
	named := map[string]bool{}
	for _, d := range v.verdict.Differences {
		named[d.Path] = true
	}
	slices.Sort(v.verdict.Released)
	v.verdict.Holds = holdStatuses(v.target.existing)
	if len(v.target.runs) > 0 {
		for _, d := range v.layoutBroken {
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
	v.verdict.Differences = slices.Compact(v.verdict.Differences) // two parts can have the same batch's uuid
}
