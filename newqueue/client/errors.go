package client

import (
	"errors"
	"fmt"
	"strings"

	"mrtq/newqueue"
)

// The reasons why an operation failed. Callers tell them apart with errors.Is.
var (
	// ErrNone says that there is nothing to acquire now.
	ErrNone = errors.New("nothing to acquire")

	// ErrHeld says that nothing was acquired because an administrator or a migration
	// holds the queue. The error is a *[HeldError].
	ErrHeld = errors.New("the queue is held")

	// ErrNoRoot says that the znode given to [WithRoot] does not exist.
	ErrNoRoot = errors.New("it does not exist: correct the path given to WithRoot, or let Queue.Init create it")

	// ErrNotFound says that the batch, job, request or znode does not exist.
	ErrNotFound = errors.New("it does not exist")

	// ErrExists says that the batch or znode to create already exists.
	ErrExists = errors.New("it already exists")

	// ErrLocked says that the lock is already held. A job, a batch or a request
	// is then being worked on.
	ErrLocked = errors.New("the lock is already held")

	// ErrNotLocked says that only the holder of the lock may do this, and the
	// caller does not hold it: it never took the lock, released it, or lost it
	// with its session.
	ErrNotLocked = errors.New("this session does not hold the lock")

	// ErrConflict says that another client changed what the operation depends
	// on. Nothing was written.
	ErrConflict = errors.New("another client changed it first")

	// ErrNotDone says that the connection was lost before the operation
	// happened. Nothing was written, and the caller may try again.
	ErrNotDone = errors.New("the connection was lost; nothing was written")

	// ErrUnknownOutcome says that the connection was lost during a write, and
	// that the tree does not show whether the write happened.
	ErrUnknownOutcome = errors.New("the connection was lost; it is not known whether the write happened")

	// ErrNotResumable says that a failed job's last_successful_status names no
	// step to resume at.
	ErrNotResumable = errors.New("the job can't be resumed")

	// ErrStillProcessing says that a batch has unfinished jobs.
	ErrStillProcessing = errors.New("the batch has unfinished jobs")

	// ErrHasJobs says that a pending or held batch already has entries of jobs.
	// If a worker processed the batch, its jobs would be created a second time.
	ErrHasJobs = errors.New("the batch is pending or held, and already has entries of jobs: find out who created them, then delete the batch or correct its status")

	// ErrNotProcessing says that no job can be added to a batch because it is not
	// processing.
	ErrNotProcessing = errors.New("only a batch that is processing takes jobs")

	// ErrTooLarge says that a write would come near ZooKeeper's limit of 1 MiB.
	ErrTooLarge = errors.New("too large for ZooKeeper")
)

// StateError says that the table has no transition between two states for this
// caller. Nothing was written.
type StateError struct {
	Entity   newqueue.Entity
	Path     string   // of the entity: /jobs/JID
	From, To string   // as dialect design writes them
	Allowed  []string // the states that can follow From, in the table's order; none if it is only removed then
}

// Error names the entity and the two states, and lists the allowed states.
func (e *StateError) Error() string {
	why := e.From + " is final"
	if len(e.Allowed) > 0 {
		why = fmt.Sprintf("from %s it can only move to %s", e.From, strings.Join(e.Allowed, ", "))
	}
	return fmt.Sprintf("%s %s can't move from %s to %s: %s", e.Entity, e.Path, e.From, e.To, why)
}

// NodeError says that a znode is missing, or that its data can't be parsed. It
// corresponds to the client library's MerrittZKNodeInvalid.
type NodeError struct {
	Path string
	Err  error // [ErrNotFound], or the fault in the data
}

// Error returns the path and the reason.
func (e *NodeError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason, which is never nil.
func (e *NodeError) Unwrap() error { return e.Err }

// opError names the operation and its path.
type opError struct {
	op, path string
	err      error
}

func (e *opError) Error() string { return e.op + " " + e.path + ": " + e.err.Error() }

func (e *opError) Unwrap() error { return e.err }
