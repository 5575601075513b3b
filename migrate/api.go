package migrate

import (
	"errors"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/rollback"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
)

// Types that the functions of this package take and return.
type (
	Reader   = zkconn.Reader
	Writer   = zkconn.Writer
	Source   = source.Source
	Record   = rules.Record
	Queues   = rules.Queues
	Choices  = rules.Choices
	Options  = plan.Options
	Plan     = plan.Plan
	Limits   = apply.Limits
	Counts   = ledger.Counts
	Run      = ledger.Run
	RunState = ledger.RunState
	Verdict  = verify.Verdict
	UndoItem = rollback.Item
	NoQueue  = target.NoQueue
	ACL      = znode.ACL
)

// Errors.
var (
	ErrPlace   = target.ErrPlace
	ErrDamaged = ledger.ErrDamaged

	ErrInterrupted = apply.ErrInterrupted
	ErrTakenOver   = apply.ErrTakenOver
	ErrContended   = apply.ErrContended
	ErrDropped     = apply.ErrDropped

	// ErrBlocked says that a plan has problems. Nothing was done.
	ErrBlocked = errors.New("the plan can't be carried out as it is")
	// ErrNoKeep says that records would be quarantined, but nothing keeps their bytes.
	// Nothing was written.
	ErrNoKeep = errors.New("nothing keeps the bytes of quarantined records")
	// ErrStale says that the source or the target has changed since an approved plan was
	// made.
	ErrStale = errors.New("the plan is stale")
	// ErrRolledBack says that another migrator rolled a run back while this one waited or
	// was stopped.
	ErrRolledBack = errors.New("a run was rolled back meanwhile")
	// ErrFinished says that another migrator finished the run while this one waited, and
	// that there is more to do now. It is not done without being asked for again.
	ErrFinished = errors.New("another migrator finished the run meanwhile")

	// ErrNoRun says that the target has no such run, or that it was rolled back.
	ErrNoRun = errors.New("no such run")
	// ErrNotNewest says that a later run builds on the one that should be rolled back.
	ErrNotNewest = errors.New("a later run builds on it")
	// ErrRestored says that the target was restored from a backup, znode by znode.
	ErrRestored = errors.New("the target was restored from a backup")
)
