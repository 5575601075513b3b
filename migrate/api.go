package migrate

import (
	"context"
	"errors"
	"io"

	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/plan"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/internal/verify"
	"mrtq/newqueue"
)

// Sessions, and what they read.
type (
	Reader       = zkconn.Reader       // a session that has no method that writes
	Writer       = zkconn.Writer       // a session that also writes
	ACL          = znode.ACL           // who may do what with a znode
	SilenceTimer = zkconn.SilenceTimer // for how long servers have kept silent
)

// The source: a legacy queue and its records.
type (
	Source    = source.Source   // a legacy queue, as it was listed
	Queues    = rules.Queues    // where the legacy queues are
	QueueKind = rules.QueueKind // of a legacy queue: ingest, inventory or access
	Record    = rules.Record    // one legacy record, as it was read and decoded
	Notice    = services.Notice // what the services will do with a job that nobody would expect
)

// The kinds of legacy queues.
const (
	Ingest      = rules.Ingest
	Inventory   = rules.Inventory
	AccessSmall = rules.AccessSmall
	AccessLarge = rules.AccessLarge
)

// DefaultQueues returns the usual places of the legacy queues. The caller owns them.
func DefaultQueues() Queues { return rules.DefaultQueues() }

// OpenSource lists a legacy queue, and reads its locks. The caller closes r when the source
// is not needed any more. The error wraps [ErrNoQueues], or says which queue node can't be
// listed, or comes from reading.
func OpenSource(ctx context.Context, r *Reader, queues Queues, opt legacy.Options) (*Source, error) {
	return source.Open(ctx, r, queues, opt)
}

// The operator's choices.
type (
	Choices = rules.Choices // what only the operator can decide
	Choice  = rules.Choice  // one of them, with its values
)

// DefaultMaxBuffer is ZooKeeper's default jute.maxbuffer, in bytes.
const DefaultMaxBuffer = plan.DefaultMaxBuffer

// All of a kind.
var (
	QueueKinds       = rules.QueueKinds        // in the order in which their records are migrated
	AllChoices       = rules.AllChoices        // each with its values, the default first
	Actions          = plan.Actions            // in the order in which tables show them
	Effects          = plan.Effects            // the gravest first
	DifferenceGroups = verify.DifferenceGroups // the gravest first
)

// DefaultChoices returns the defaults, which are the safe ones.
func DefaultChoices() Choices { return rules.DefaultChoices() }

// A plan, and what it says.
type (
	PlanOptions = plan.Options     // what a plan depends on, beside the two sides
	Plan        = plan.Plan        // what a migration would do
	PlanRecord  = plan.Record      // one record's line in a plan
	Action      = plan.Action      // what a plan does with a record
	Problem     = plan.Problem     // one reason why a plan can't be carried out
	ProblemKind = plan.ProblemKind // what sort of problem it is
	Finding     = plan.Finding     // one thing to know, with the records that it is about
	Effect      = plan.Effect      // what a finding comes to
	Tally       = plan.Tally       // how many records become what
	LegacyLock  = plan.LegacyLock  // an outstanding legacy lock
)

// The actions of a plan.
const (
	ActionCreate     = plan.Create
	ActionUnchanged  = plan.Unchanged
	ActionChanged    = plan.Changed
	ActionRemoved    = plan.Removed
	ActionSkip       = plan.Skip
	ActionQuarantine = plan.Quarantine
	ActionBlock      = plan.Block
)

// The effects of findings.
const (
	EffectLost        = plan.Lost
	EffectUnfit       = plan.Unfit
	EffectRunsTwice   = plan.RunsTwice
	EffectNeverRuns   = plan.NeverRuns
	EffectStoredEmpty = plan.StoredEmpty
	EffectWarning     = plan.Warning
)

// The kinds of problems that a flag solves. A [Problem] of another kind has to be repaired. Unreadable is the kind of error of
// a [Record] that could not be read.
const (
	Unreadable                = rules.Unreadable
	ProblemUndecodable        = plan.Undecodable
	ProblemUnserviceable      = plan.Unserviceable
	ProblemInventoryWaiting   = plan.InventoryWaiting
	ProblemNoQueue            = plan.NoQueue
	ProblemNoDialect          = plan.NoDialect
	ProblemOtherOrigin        = plan.OtherOrigin
	ProblemOtherDialect       = plan.OtherDialect
	ProblemReleased           = plan.Released
	ProblemRestored           = plan.Restored
	ProblemOtherChoices       = plan.OtherChoices
	ProblemOtherTimes         = plan.OtherTimes
	ProblemRollbackUnfinished = plan.RollbackUnfinished
)

// ReadPlan reads a saved plan: see [Plan.Write]. The error says why it is none, or comes
// from r.
func ReadPlan(r io.Reader) (*Plan, error) { return plan.Read(r) }

// Runs, and what came of them.
type (
	Run               = ledger.Run               // what a run records about itself
	RunState          = ledger.RunState          // what happened to a run
	Counts            = ledger.Counts            // of jobs, access requests and batches
	HoldOwner         = ledger.Owner             // one owner of a hold
	HoldStatus        = target.Hold              // a hold on a queue or a collection
	TransactionLimits = apply.TransactionLimits  // how large a transaction may be
	Verdict           = verify.Verdict           // the outcome of a verification
	Note              = standing.Note            // what a command says of a record and its job
	Difference        = verify.Difference        // one way in which the target is not what it should be
	DifferenceKind    = verify.DifferenceKind    // what sort of difference it is
	DifferenceGroup   = verify.DifferenceGroup   // kinds of differences that call for the same
	Origin            = ledger.Origin            // where the legacy queue of a run is
	LegacyActivity    = handover.Activity        // what shows that a legacy worker may be at work
	ActivityKind      = handover.ActivityKind    // how it shows that
	Standing          = standing.RecordCondition // how a record stands
	Question          = standing.Question        // what somebody must decide about a record
	Reasons           = reasons.Errors           // why something is refused, if there are several reasons
	Answer            = standing.Answer          // what somebody decided
	NoQueue           = target.NoQueue           // what is at an address instead of a new queue
)

// The groups of differences; see [Verdict].
const (
	DamageGroup     = verify.DamageGroup
	UndecidedGroup  = verify.UndecidedGroup
	UnfinishedGroup = verify.UnfinishedGroup
	RestoredGroup   = verify.RestoredGroup
	ActedOnGroup    = verify.ActedOnGroup
)

// The states of a run.
const (
	RunRunning     = ledger.Running
	RunDone        = ledger.Done
	RunRollingBack = ledger.RollingBack
	RunRolledBack  = ledger.RolledBack
)

// How a record can stand.
const (
	StandingNotMigrated = standing.NotMigrated
	StandingAsMigrated  = standing.AsMigrated
	StandingChanged     = standing.Changed
	StandingRenamed     = standing.Renamed
	StandingAbsent      = standing.Absent
	StandingHandedOver  = standing.HandedOver
	StandingAgain       = standing.ThereAgain
	StandingUnknown     = standing.Unknown
)

// What somebody must decide about a record, the answers, and what shows that a legacy worker may be at work
// (docs/life.md, "The release").
const (
	QuestionJobGone  = standing.JobGone
	QuestionBoth     = standing.Both
	QuestionVanished = standing.Vanished
	QuestionAgain    = standing.Again
	QuestionTaken    = standing.Taken
	AnswerNew        = standing.AnswerNew
	AnswerLegacy     = standing.AnswerLegacy

	ActivityConsumed = handover.Consumed
	ActivityLocked   = handover.Locked
	ActivityWaiting  = handover.Waiting
)

// DialectAt returns the dialect of the new queue in a tree: the newest run's, else what its
// znodes show. It is "" if nothing shows it. An error comes from reading.
func DialectAt(ctx context.Context, r *Reader) (newqueue.Dialect, error) {
	return target.DialectAt(ctx, r)
}

// IsRunID reports whether a name is the id of a run.
func IsRunID(name string) bool { return ledger.IsRunID(name) }

// What went wrong, for errors.Is.
var (
	// ErrNoQueues says that none of the legacy queue nodes is in the source.
	ErrNoQueues = source.ErrNoQueues
	// ErrPlace says that the new queue can't be where the target is.
	ErrPlace = target.ErrPlace
	// ErrDamaged says that the migration's own records are not complete.
	ErrDamaged = ledger.ErrDamaged

	// ErrInterrupted says that the caller's context ended between two transactions. The same
	// call finishes the work.
	ErrInterrupted = apply.ErrInterrupted
	// ErrTakenOver says that another migrator has taken over the run.
	ErrTakenOver = apply.ErrTakenOver
	// ErrContended says that other clients keep writing to the target.
	ErrContended = apply.ErrContended
	// ErrRefused says that the server refuses an operation although all was read again. Its cause does not pass.
	ErrRefused = errors.New("the server refuses it each time")
	// ErrDropped says that a server drops the connection at each transaction, however small.
	ErrDropped = apply.ErrDropped
	// ErrSessionLost says that the session was lost.
	ErrSessionLost = zkconn.ErrSessionLost

	// ErrBlocked says that a plan has problems. Nothing was done.
	ErrBlocked = errors.New("the plan can't be carried out as it is")
	// ErrNotSaved says that records would be quarantined, or the last copies of something removed, but nothing saves their
	// bytes.
	ErrNotSaved = errors.New("nothing saves the bytes of what is quarantined or removed")
	// ErrStale says that the source or the target has changed since an approved plan was
	// made.
	ErrStale = errors.New("the plan is stale")
	// ErrRolledBack says that another migrator rolled a run back while this one waited.
	ErrRolledBack = errors.New("a run was rolled back meanwhile")
	// ErrNoRun says that the target has no such run, or that it was rolled back.
	ErrNoRun = errors.New("there is no run")
	// ErrNotNewest says that a later run builds on the one that should be rolled back.
	ErrNotNewest = errors.New("a later run builds on it")
	// ErrNotReleased says that records of a run were not handed over.
	ErrNotReleased = errors.New("records have not been handed over yet")
	// ErrHeld says that a run still holds a queue: its release is not finished.
	ErrHeld = errors.New("a release is not finished")
	// ErrCompleted says that somebody said that there is no way back, with [Complete].
	ErrCompleted = errors.New("the migration was completed, so it can't be rolled back")
	// ErrOtherSource says that a queue node is not the one that was migrated.
	ErrOtherSource = errors.New("the legacy queue is not the one that was migrated")
	// ErrQueueGone says that a queue node does not exist any more, so that nothing can be given back to it.
	ErrQueueGone = errors.New("a queue node does not exist any more")
	// ErrTwoEnsembles says that the legacy queue is not in the target's ensemble, so no transaction can change both.
	ErrTwoEnsembles = errors.New("the legacy queue and the target are in different ensembles")
	// ErrNoPermission says that the session may not change the legacy queue.
	ErrNoPermission = handover.ErrNoPermission
	// ErrRestored says that the target was restored from a backup, znode by znode.
	ErrRestored = errors.New("the target was restored from a backup")
	// ErrNoQueue says that a target has no new queue.
	ErrNoQueue = errors.New("there is no new queue here")

	// ErrNotFound says that neither side has what [Find] was asked for.
	ErrNotFound = errors.New("neither queue has it")
	// ErrAmbiguousID says that several records have the id that [Find] was given.
	ErrAmbiguousID = errors.New("several have this id; give the path of one")

	// ErrUndecided says that somebody must decide about a record. [Release] does not lift its queue before, and
	// [Rollback] does not end.
	ErrUndecided = errors.New("somebody must decide about records")
	// ErrAtWork says that workers may be at work in the queue that others are to take over.
	ErrAtWork = errors.New("workers may still be at work")
	// ErrUnfinished says that a run, or a rollback, is not finished: workers would see only
	// half of the queue. Like all errors below, it is one of [Release]: nothing was released.
	ErrUnfinished = errors.New("a run is not finished")
	// ErrNotVerified says that the target does not match the source.
	ErrNotVerified = errors.New("the target does not match the source")
	// ErrHoldsChanged says that holds or runs have changed since they were read, or since the operator was asked.
	ErrHoldsChanged = errors.New("the holds or the runs changed meanwhile")
)
