package migrate

import (
	"cmp"
	"errors"
	"fmt"

	"mrtq/legacy"
)

// ProblemKind says why a plan can't be carried out.
type ProblemKind string

// Kinds of problems with a record.
const (
	Undecodable ProblemKind = "undecodable"
	Unreadable  ProblemKind = "unreadable"
	Consumed    ProblemKind = "consumed"
	Touched     ProblemKind = "touched"   // it changed since it was migrated, and its job can't be rewritten
	Twice       ProblemKind = "twice"     // two jobs were made from it
	TooLarge    ProblemKind = "too-large" // its job does not fit a transaction

	// With what the deployed services demand:
	Unserviceable    ProblemKind = "unserviceable"     // no deployed service could work on it
	InventoryWaiting ProblemKind = "inventory-waiting" // it is an unfinished inventory record
)

// Kinds of problems with a batch.
const (
	BatchExists  ProblemKind = "batch-exists"  // no migration created it
	BatchChanged ProblemKind = "batch-changed" // a record has left it, or names another
	BatchTouched ProblemKind = "batch-touched" // another client has worked on it
	BadBatchID   ProblemKind = "bad-batch-id"  // it can't be the name of a znode
)

// Kinds of problems with the target.
const (
	NoDialect     ProblemKind = "no-dialect" // nobody chose one, and the target holds no queue
	OtherDialect  ProblemKind = "other-dialect"
	NoSequence    ProblemKind = "no-sequence"    // it has not enough numbers left
	CounterBehind ProblemKind = "counter-behind" // its counter would give ids that exist
)

// Kinds of problems with earlier runs and their records.
const (
	OtherPolicies      ProblemKind = "other-policies" // the earlier run had others, or read times in another unit
	RollbackUnfinished ProblemKind = "rollback-unfinished"
	RunDamaged         ProblemKind = "run-damaged"    // another client changed or removed a run's record
	LedgerDamaged      ProblemKind = "ledger-damaged" // another client changed or removed the ledger, or its trace
	CustodyLost        ProblemKind = "custody-lost"   // a rebuilt ledger may lack the record
)

// Kinds of problems with Again and Done in [Options].
const (
	NotGone      ProblemKind = "not-gone"       // a record is declared done whose custody was not lost
	NoSuchRecord ProblemKind = "no-such-record" // the source does not have the record
)

// MigratedElsewhere says that another new queue has the records of the source; see
// [FindOtherQueues]. The caller of [MakePlan] looks for it.
const MigratedElsewhere ProblemKind = "migrated-elsewhere"

// Problem is one reason why a plan can't be carried out as it is.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Path string      `json:"path"`
	// Record and Offset are the decoder's, for an undecodable record. Offset is nil if
	// the decoder names none.
	Record  legacy.Kind `json:"record,omitempty"`
	Offset  *int        `json:"offset,omitempty"`
	Message string      `json:"message"`
	Next    string      `json:"next"` // what to do
	// Fits is the right dialect or unit of times, or the run to finish first, for the
	// kinds that have one.
	Fits string `json:"-"`
	// Rebuildable says that [Migrator.Rebuild] mends it.
	Rebuildable bool `json:"-"`
}

// DamageError says which of the migration's own records is damaged. It is an
// [ErrLedger].
type DamageError struct{ Damage Problem }

// Error returns path and damage on one line.
func (e *DamageError) Error() string { return fmt.Sprintf("%v: %s", ErrLedger, e.Damage) }

// Is makes it an [ErrLedger].
func (e *DamageError) Is(target error) bool { return target == ErrLedger }

// String returns path, kind, message and what to do, on one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s; %s", p.Path, p.Kind, p.Message, p.Next)
}

func recordProblem(r Record, reason string) Problem {
	if r.Err != nil && r.Err.Kind == UnreadableRecord {
		return Problem{Kind: Unreadable, Path: r.Path, Record: r.Err.Kind, Message: reason, Next: giveCredentials}
	}
	if r.Err != nil {
		p := Problem{Kind: Undecodable, Path: r.Path, Record: r.Err.Kind, Message: reason,
			Next: "repair it, or have undecodable records quarantined: their bytes are kept"}
		if r.Err.Offset >= 0 {
			p.Offset = &r.Err.Offset
		}
		return p
	}
	return Problem{Kind: Consumed, Path: r.Path, Message: reason, Next: "let the legacy workers finish, or choose what becomes of consumed records: pending or failed"}
}

// wordNext replaces what to do by the caller's words.
func (p *Plan) wordNext() {
	if p.opt.Next == nil {
		return
	}
	for i := range p.Problems {
		p.Problems[i].Next = cmp.Or(p.opt.Next(p.Problems[i]), p.Problems[i].Next)
	}
}

func (p *Plan) problem(pr Problem) { p.Problems = append(p.Problems, pr) }

// Errors of carrying out a plan, and of rolling back.
var (
	// ErrBlocked says that a plan has problems, and nothing was done.
	ErrBlocked = errors.New("the plan can't be carried out as it is")

	// ErrNoKeep says that records would be quarantined, but nothing keeps their bytes,
	// because [Migrator.Keep] is nil. Nothing was written.
	ErrNoKeep = errors.New("nothing keeps the bytes of quarantined records")

	// ErrStale says that the source or the target changed since the plan was made.
	ErrStale = errors.New("the plan is stale")

	// ErrPlanUsed says that the plan was carried out before.
	ErrPlanUsed = errors.New("the plan was carried out before")

	// ErrInterrupted says that the run stopped between two transactions. Run it again to
	// finish it.
	ErrInterrupted = errors.New("interrupted")

	// ErrTakenOver says that another migrator has taken over this run.
	ErrTakenOver = errors.New("another migrator took this run over")

	// ErrDropped says that a server drops the connection at each transaction, however
	// small: most often its jute.maxbuffer is smaller than [Options] say.
	ErrDropped = errors.New("the server drops the connection at each transaction, as it does if its jute.maxbuffer is too small")

	// ErrContended says that others keep writing to the target.
	ErrContended = errors.New("others keep writing to the target")

	// ErrNoRun says that the target has no such run.
	ErrNoRun = errors.New("no such run")

	// ErrNotNewest says that a later run builds on the one that should be rolled back.
	ErrNotNewest = errors.New("a later run builds on it")
)
