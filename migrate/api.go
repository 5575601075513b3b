package migrate

import (
	"context"
	"errors"

	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/handover"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/reasons"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Sessions, and what they read.
type (
	Reader = zkconn.Reader // a session that has no method that writes
	Writer = zkconn.Writer // a session that also writes
	ACL    = znode.ACL     // who may do what with a znode
)

// Source is a legacy queue, as it was listed.
type Source = source.Source

// OpenSource lists a legacy queue, and reads its locks. The caller closes r when the source
// is not needed any more. The error wraps [ErrNoQueues], or says which queue node can't be
// listed, or comes from reading.
func OpenSource(ctx context.Context, r *Reader, queues migration.Queues, opt legacy.Options) (*Source, error) {
	return source.Open(ctx, r, queues, opt)
}

// What a command says beside what package migration has.
type (
	Standing = standing.RecordCondition // how a record stands
	Notice   = services.Notice          // what the services will do with a job that nobody would expect
	Reasons  = reasons.Errors           // why something is refused, if there are several reasons
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
	StandingTaken       = standing.Taken
	StandingUnknown     = standing.Unknown
)

// DialectAt returns the dialect of the new queue in a tree: the newest run's, else what its
// znodes show. It is "" if nothing shows it. An error comes from reading.
func DialectAt(ctx context.Context, r *Reader) (newqueue.Dialect, error) {
	return target.DialectAt(ctx, r)
}

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
	// ErrRolledBack says that the run was rolled back: by another migrator while this one waited, or before [Follow] began.
	ErrRolledBack = errors.New("a run was rolled back")
	// ErrNoRun says that the target has no such run, or that it was rolled back.
	ErrNoRun = errors.New("there is no run")
	// ErrNotReleased says that records of a run were not handed over.
	ErrNotReleased = errors.New("records have not been handed over yet")
	// ErrHeld says that a run still holds a queue: its release is not finished.
	ErrHeld = errors.New("a release is not finished")
	// ErrFollowed says that [Follow] is at work, so that the migration can't be completed.
	ErrFollowed = errors.New("follow is at work")
	// ErrLeft says that records are in the legacy queue that [Follow] moves, so that the migration can't be completed.
	ErrLeft = errors.New("a record can still be moved to the new queue")
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
