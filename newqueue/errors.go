package newqueue

import (
	"errors"
	"fmt"
	"strings"
)

// What callers branch on, with errors.Is.
var (
	// ErrNone says that there is nothing to acquire now.
	ErrNone = errors.New("nothing to acquire")

	// ErrNotFound says that the batch, job or request isn't there, or not any more.
	ErrNotFound = errors.New("it doesn't exist")

	// ErrExists says that something that was to be made is there already.
	ErrExists = errors.New("it exists already")

	// ErrLocked says that another has the lock: a worker is at work there.
	ErrLocked = errors.New("another has the lock")

	// ErrNotLocked says that the operation is a worker's and the caller has no
	// lock: it never took one, gave it back, or lost it with its session.
	ErrNotLocked = errors.New("the lock is not this session's")

	// ErrConflict says that another was quicker: what the decision was based
	// on has changed, and nothing was written.
	ErrConflict = errors.New("another was quicker")

	// ErrNotDone says that the connection was lost and that the operation did
	// not happen: nothing was written, and it may be tried again.
	ErrNotDone = errors.New("the connection was lost; nothing was written")

	// ErrUnknownOutcome says that the connection was lost during a write and
	// that even looking can't tell whether it happened.
	ErrUnknownOutcome = errors.New("the connection was lost; it is not known whether the write happened")

	// ErrNotResumable says that a failed job's last_successful_status names no
	// step from which it could go on.
	ErrNotResumable = errors.New("the job can't be resumed")

	// ErrNotReported says that a job is needed for its batch's report.
	ErrNotReported = errors.New("its batch is not completed: its report needs the job")

	// ErrStillProcessing says that a batch has jobs that are still to be done.
	ErrStillProcessing = errors.New("the batch has jobs that are still to be done")

	// ErrHasJobs says that a pending or held batch has entries of jobs: taken
	// up, its jobs would be made a second time.
	ErrHasJobs = errors.New("the batch waits to have its jobs made, and has entries of jobs: find out who made them, and delete the batch or correct its status")

	// ErrNotProcessing says that a batch takes no jobs: only a processing one does.
	ErrNotProcessing = errors.New("jobs are made in a batch that is processing")

	// ErrTooLarge says that a write would come near ZooKeeper's limit of 1 MiB.
	ErrTooLarge = errors.New("too large for ZooKeeper")

	// ErrPriority says that a priority does not fit the two digits of a queue entry.
	ErrPriority = errors.New("a priority is a number from 0 to 99")

	// ErrValue says that a value is none of those that the layout allows.
	ErrValue = errors.New("not a value that the layout allows")
)

// StateError says that an entity can't go from the state it is in to another:
// the table has no such transition for whoever asked. Nothing was written.
type StateError struct {
	Entity   Entity
	Path     string   // of the entity: /jobs/JID
	From, To string   // as dialect design spells them
	Allowed  []string // where it can go from here, in the table's order
}

func (e *StateError) Error() string {
	allowed := "nothing: it is final"
	if len(e.Allowed) > 0 {
		allowed = strings.Join(e.Allowed, ", ")
	}
	return fmt.Sprintf("%s %s can't go from %s to %s; allowed from %s: %s", e.Entity, e.Path, e.From, e.To, e.From, allowed)
}

// NodeError says that a znode is missing, or holds what can't be read as what
// it should hold. It is the client library's MerrittZKNodeInvalid.
type NodeError struct {
	Path string
	Err  error // [ErrNotFound], or what is wrong with the data
}

func (e *NodeError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *NodeError) Unwrap() error { return e.Err }

// opError names the operation and what it was about.
type opError struct {
	op, path string
	err      error
}

func (e *opError) Error() string { return e.op + " " + e.path + ": " + e.err.Error() }

func (e *opError) Unwrap() error { return e.err }
