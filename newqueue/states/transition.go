package states

import "fmt"

// Transition is one row of a table: a step from one state to another, and
// everything that it does to the tree. The operations do what the row says and
// nothing else. A step that is in no row is refused.
type Transition struct {
	ID       string // "J14": the row's number in docs/transitions.md
	From, To string // [Created] before the first state, [Removed] after the last
	Who      Actor

	// Of a job only; "" for others.
	LastSuccess LastSuccess
	Retry       Retry
	QueueEntry  EntryChange
	BatchEntry  EntryChange

	Nodes NodesChange
	Guard Guard
	// Note has what the other columns don't say.
	Note string
}

// String returns the row's id and its two states, such as "J14 notify → completed".
func (t Transition) String() string { return fmt.Sprintf("%s %s → %s", t.ID, t.From, t.To) }

// Actor is who makes a transition. A worker holds the entity's ephemeral lock,
// and the transition releases it. The others hold no lock, and are refused while
// a worker holds it.
type Actor string

// The actors.
const (
	API         Actor = "API"          // the service that takes submissions
	BatchWorker Actor = "batch worker" // creates a batch's jobs while it holds the batch's lock
	Worker      Actor = "worker"
	Acquirer    Actor = "acquiring worker" // makes the transition in one go with the lock, and keeps the lock
	Event       Actor = "event"            // the watch on a batch's jobs
	Admin       Actor = "admin"
	Automatic   Actor = "automatic" // a cleaning pass
)

// HoldsLock reports whether the actor holds the entity's lock.
func (a Actor) HoldsLock() bool { return a == Worker || a == BatchWorker || a == Acquirer }

// LastSuccess is what a transition does to last_successful_status.
type LastSuccess string

// The rules for last_successful_status.
const (
	LSSNull LastSuccess = "null"
	LSSSame LastSuccess = "same"
	LSSLeft LastSuccess = "old state" // the state that the job leaves
	LSSNone LastSuccess = "–"         // the status is removed, or not written
	// LSSBefore is the step before the one in which a job fails or at which it is
	// resumed. It is null if there is none.
	LSSBefore LastSuccess = "step before"
)

// Retry is what a transition does to retry_count.
type Retry string

// The rules for retry_count.
const (
	RetryZero Retry = "0"
	RetrySame Retry = "same"
	RetryNext Retry = "+1"
	RetryNone Retry = "–"
)

// EntryChange is what a transition does to one of a job's two entries: its queue entry
// and its batch entry.
type EntryChange string

// The rules for an entry.
const (
	EntryCreated EntryChange = "created"
	EntryMoved   EntryChange = "moves" // to the folder of the new state
	EntryKept    EntryChange = "stays"
	EntryRemoved EntryChange = "removed"
)

// NodesChange is what a transition does to the entity's own nodes.
type NodesChange string

// The rules for an entity's own nodes.
const (
	NodesCreated   NodesChange = "created"
	NodesKept      NodesChange = "stay"
	NodesRemoved   NodesChange = "removed"   // the whole subtree, and everything that refers to it
	NodesUntouched NodesChange = "unchanged" // not even the status is written
)

// Guard is a condition besides the state. The transition is refused while it does
// not hold. The values are the conditions in words.
type Guard string

// The guards.
const (
	// OnceStepped: last_successful_status is not null. For a job that failed
	// before its first step there is no step to resume at.
	OnceStepped Guard = "only if a step of the job has succeeded"
	// WithoutJobs: no job has an entry in the batch. If a worker processed such
	// a batch, its jobs would be created a second time.
	WithoutJobs Guard = "only if it has no entries of jobs"
	// OnceEmptied: batch-processing is there and has no entries.
	OnceEmptied Guard = "only once batch-processing is empty"
	// NoneFailed: every job of the batch is completed or deleted.
	NoneFailed Guard = "only if no job failed"
	// SomeFailed: at least one job of the batch failed.
	SomeFailed Guard = "only if a job failed"
	// OnceFinished: the batch has no entries in batch-processing.
	OnceFinished Guard = "only once none of its jobs is unfinished"
	// InProcessing: a job comes into a batch that is processing. No row has it, because a batch also
	// becomes processing together with its jobs.
	InProcessing Guard = "only a batch that is processing takes jobs"
)
