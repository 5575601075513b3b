package migrate

import (
	"context"
	"errors"
	"io"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/rollback"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/newqueue"
)

// Sessions. A Reader has no method that writes.
type (
	Reader = zkconn.Reader
	Writer = zkconn.Writer
	ACL    = znode.ACL
)

// The source: a legacy queue and its records.
type (
	Source    = source.Source
	Queues    = rules.Queues
	QueueKind = rules.QueueKind
	Record    = rules.Record
	Lock      = source.Lock
)

// The kinds of legacy queues.
const (
	Ingest      = rules.Ingest
	Inventory   = rules.Inventory
	AccessSmall = rules.AccessSmall
	AccessLarge = rules.AccessLarge
)

// QueueKinds are all kinds, in the order in which their records are migrated.
var QueueKinds = rules.QueueKinds

// DefaultQueues are the usual places of the legacy queues. The caller owns them.
func DefaultQueues() Queues { return rules.DefaultQueues() }

// OpenSource lists a legacy queue, and reads its locks. The caller closes r when the source
// is not needed any more. The error wraps [ErrNoQueues] or [ErrUnlisted], or comes from
// reading.
func OpenSource(ctx context.Context, r *Reader, queues Queues, opt legacy.Options) (*Source, error) {
	return source.Open(ctx, r, queues, opt)
}

// The operator's choices.
type (
	Choices = rules.Choices
	Choice  = rules.Choice
)

// The values of choices; see [AllChoices].
const (
	Block        = rules.Block
	Quarantine   = rules.Quarantine
	MigrateThem  = rules.Migrate
	Skip         = rules.Skip
	AsHeld       = rules.AsHeld
	AsPending    = rules.AsPending
	AsFailed     = rules.AsFailed
	AllRecords   = plan.All
	DefaultLimit = plan.DefaultPacket
)

// AllChoices are all choices, each with its values, the default first.
var AllChoices = rules.AllChoices

// DefaultChoices are the defaults, which are the safe ones.
func DefaultChoices() Choices { return rules.DefaultChoices() }

// A plan, and what it says.
type (
	Options     = plan.Options
	Plan        = plan.Plan
	Entry       = plan.Record
	Action      = plan.Action
	Batch       = plan.Batch
	Settings    = plan.Settings
	Notes       = plan.Notes
	Problem     = plan.Problem
	ProblemKind = plan.ProblemKind
	Finding     = plan.Finding
	// Decision is what somebody decided about one record, and Undecided what is to be decided.
	Decision  = plan.Decision
	Undecided = plan.Undecided
	ListSize  = plan.ListSize
	Tally     = plan.Tally
	Warning   = plan.Warning
	Risk      = plan.Risk
	HeldLock  = plan.HeldLock
	ACLNote   = plan.ACLNote
	Headroom  = plan.Headroom
	// VanishedRecord is a migrated record that is not in the source any more.
	VanishedRecord = plan.Vanished
)

// The actions of a plan.
const (
	ActCreate     = plan.Create
	ActUnchanged  = plan.Unchanged
	ActChanged    = plan.Changed
	ActRemoved    = plan.Removed
	ActSkip       = plan.Skip
	ActQuarantine = plan.Quarantine
	ActBlock      = plan.Block
)

// Actions are what a plan can do with a record, in the order in which tables show them.
var Actions = plan.Actions

// The kinds of problems that a flag solves. A [Problem] of another kind has to be repaired.
const (
	Undecodable        = plan.Undecodable
	UnreadableRecord   = plan.Unreadable
	Consumed           = plan.Consumed
	BadDecision        = plan.BadDecision
	Unserviceable      = plan.Unserviceable
	InventoryWaiting   = plan.InventoryWaiting
	NeedsNewQueue      = plan.NoQueue
	NeedsDialect       = plan.NoDialect
	OtherDialect       = plan.OtherDialect
	NeedsHoldAgain     = plan.Released
	NeedsRestored      = plan.Restored
	OtherChoices       = plan.OtherChoices
	OtherTimes         = plan.OtherTimes
	RollbackUnfinished = plan.RollbackUnfinished
)

// Unreadable is the kind of error of a [Record] that could not be read.
const Unreadable = rules.Unreadable

// ReadPlan reads a saved plan: see [Plan.Write]. The error wraps [ErrPlanFile], or comes
// from r.
func ReadPlan(r io.Reader) (*Plan, error) { return plan.Read(r) }

// ReadDecisions reads a decisions file: see [Plan.WriteDecisions]. The error wraps
// [ErrDecisions], or comes from r.
func ReadDecisions(r io.Reader) ([]Decision, error) { return plan.ReadDecisions(r) }

// InCommon returns the words that two messages about different things share, with … where
// they differ. A message may already contain … from an earlier call.
func InCommon(a, b string) string { return plan.InCommon(a, b) }

// ReadBy says which services can read a queue of a dialect.
func ReadBy(d newqueue.Dialect) string { return plan.ReadBy(d) }

// Runs, and what came of them.
type (
	Run        = ledger.Run
	RunState   = ledger.RunState
	Counts     = ledger.Counts
	Limits     = apply.Limits
	Verdict    = verify.Verdict
	Difference = verify.Difference
	Kind       = verify.Kind
	Group      = verify.Group
	// VerdictItem is a record of a [Verdict] and what it became.
	VerdictItem = verify.Item
	Accounted   = verify.Accounted
	HoldOwner   = ledger.Owner
	UndoKind    = rollback.Verdict
	UndoItem    = rollback.Item
	NoQueue     = target.NoQueue
)

// The groups of differences; see [Verdict].
const (
	Damage       = verify.Damage
	MovedRecords = verify.MovedRecords
	UnfinishedIn = verify.UnfinishedIn
	RestoredIn   = verify.RestoredIn
	ActedOnIn    = verify.ActedOnIn
)

// Groups are all groups, the gravest first.
var Groups = verify.Groups

// What becomes of a job in a rollback; see [UndoItem].
const (
	RemovedByOthers = rollback.Gone
)

// The states of a run.
const (
	Running     = ledger.Running
	Done        = ledger.Done
	RollingBack = ledger.RollingBack
	RolledBack  = ledger.RolledBack
)

// IsRun reports whether a name is the id of a run.
func IsRun(name string) bool { return ledger.IsRun(name) }

// Errors of reading and of making a plan.
var (
	// ErrNoQueues says that none of the legacy queue nodes is in the source.
	ErrNoQueues = source.ErrNoQueues
	// ErrUnlisted says that a legacy queue node can't be read, so its records are not known.
	ErrUnlisted = source.ErrUnlisted
	// ErrPlace says that the new queue can't be where the target is.
	ErrPlace = target.ErrPlace
	// ErrDamaged says that the migration's own records are not whole.
	ErrDamaged = ledger.ErrDamaged
	// ErrForm says that another version of mrtq has migrated to the target.
	ErrForm = ledger.ErrForm
	// ErrPlanFile says that a file is not a saved plan, or not a whole one.
	ErrPlanFile = plan.ErrFile
	// ErrDecisions says that a file is not a decisions file, or which line of it is wrong.
	ErrDecisions = plan.ErrDecisions
)

// Errors of writing.
var (
	// ErrInterrupted says that the caller's context ended between two transactions. The same
	// call finishes the work.
	ErrInterrupted = apply.ErrInterrupted
	// ErrTakenOver says that another migrator has taken over the run.
	ErrTakenOver = apply.ErrTakenOver
	// ErrContended says that other clients keep writing to the target.
	ErrContended = apply.ErrContended
	// ErrDropped says that a server drops the connection at each transaction, however small.
	ErrDropped = apply.ErrDropped
	// ErrLost says that the session was lost.
	ErrLost = zkconn.ErrLost

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
