package migrate

import (
	"cmp"
	"errors"
	"fmt"

	"mrtq/legacy"
)

// ProblemKind is why a plan can't be carried out.
type ProblemKind string

// The kinds.
const (
	Undecodable        ProblemKind = "undecodable"
	Unreadable         ProblemKind = "unreadable"
	Consumed           ProblemKind = "consumed"
	Touched            ProblemKind = "touched"
	Twice              ProblemKind = "twice"
	BatchExists        ProblemKind = "batch-exists"
	BatchChanged       ProblemKind = "batch-changed"
	BatchTouched       ProblemKind = "batch-touched"
	TooLarge           ProblemKind = "too-large"
	NoSequence         ProblemKind = "no-sequence"
	CounterBehind      ProblemKind = "counter-behind"
	OtherDialect       ProblemKind = "other-dialect"
	OtherPolicies      ProblemKind = "other-policies"
	RollbackUnfinished ProblemKind = "rollback-unfinished"
	RunDamaged         ProblemKind = "run-damaged"       // a run's record is not what a run left
	LedgerDamaged      ProblemKind = "ledger-damaged"    // or the ledger, or the trace of it
	CustodyLost        ProblemKind = "custody-lost"      // a rebuilt ledger may lack the record
	NotGone            ProblemKind = "not-gone"          // a record is declared done whose custody was not lost
	NoSuchRecord       ProblemKind = "no-such-record"    // a choice names a record that the source does not have
	Unserviceable      ProblemKind = "unserviceable"     // no deployed service could work it
	InventoryWaiting   ProblemKind = "inventory-waiting" // an unfinished inventory record
)

// Problem is one reason why a plan can't be carried out as it is.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Path string      `json:"path"`
	// Record and Offset are the decoder's, for undecodable ones; Offset is nil
	// where there is none.
	Record  legacy.Kind `json:"record,omitempty"`
	Offset  *int        `json:"offset,omitempty"`
	Message string      `json:"message"`
	Next    string      `json:"next"` // what to do
	// Fits is the dialect, the unit of times or the run that would be right, if the
	// problem is that another was taken or left unfinished.
	Fits string `json:"-"`
	// Rebuildable says that [Migrator.Rebuild] mends it.
	Rebuildable bool `json:"-"`
}

// DamageError says which of the migration's own records is damaged. It is an
// [ErrLedger].
type DamageError struct{ Damage Problem }

func (e *DamageError) Error() string { return fmt.Sprintf("%v: %s", ErrLedger, e.Damage) }

// Is makes it an [ErrLedger].
func (e *DamageError) Is(target error) bool { return target == ErrLedger }

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

// wordNext has whoever shows the plan word what to do.
func (p *Plan) wordNext() {
	if p.opt.Next == nil {
		return
	}
	for i := range p.Problems {
		p.Problems[i].Next = cmp.Or(p.opt.Next(p.Problems[i]), p.Problems[i].Next)
	}
}

func (p *Plan) problem(pr Problem) { p.Problems = append(p.Problems, pr) }

var (
	// ErrBlocked says that a plan has problems, and nothing was done.
	ErrBlocked = errors.New("the plan can't be carried out as it is")

	// ErrNoKeep says that records are to be quarantined and nothing was given that
	// keeps their bytes: [Migrator.Keep]. Nothing was written.
	ErrNoKeep = errors.New("nothing keeps the bytes of quarantined records")

	// ErrStale says that the source or the target changed since the plan.
	ErrStale = errors.New("the plan is stale")

	// ErrPlanUsed says that the plan was carried out before.
	ErrPlanUsed = errors.New("the plan was carried out before")

	// ErrInterrupted says that the run stopped at a transaction's edge and is
	// to be finished by running it again.
	ErrInterrupted = errors.New("interrupted")

	// ErrTakenOver says that another migrator carries on this run.
	ErrTakenOver = errors.New("another migrator took this run over")

	// ErrDropped says that a server drops the connection at each transaction, however
	// small: most often its jute.maxbuffer is smaller than [Options] say.
	ErrDropped = errors.New("the server drops the connection at each transaction, as it does if its jute.maxbuffer is too small")

	// ErrContended says that the target kept being written by others.
	ErrContended = errors.New("others keep writing to the target")

	// ErrNoRun says that the target has no such run.
	ErrNoRun = errors.New("no such run")

	// ErrNotNewest says that a later run builds on the one to be rolled back.
	ErrNotNewest = errors.New("a later run builds on it")
)
