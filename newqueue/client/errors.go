package client

import (
	"errors"
	"fmt"
	"strings"

	"mrtq/newqueue/states"
)

// The reasons why an operation failed. Callers tell them apart with errors.Is. See also [StateError],
// [newqueue.ErrValue] and [newqueue.ErrPriority].
var (
	// ErrNoneAvailable says that there is nothing to acquire now.
	ErrNoneAvailable = errors.New("nothing to acquire")

	// ErrHeld says that nothing was acquired because an administrator or a migration
	// holds the queue.
	ErrHeld = errors.New("the queue is held")

	// ErrNotFound says that the batch, job, request or znode does not exist, or the znode given to [WithRoot].
	ErrNotFound = errors.New("it does not exist")

	// ErrExists says that the batch or znode to create already exists.
	ErrExists = errors.New("it already exists")

	// ErrLocked says that the lock is already held. A job, a batch or a request
	// is then being worked on.
	ErrLocked = errors.New("the lock is already held")

	// ErrNotLocked says that only the holder of the lock may do this, and the
	// caller does not hold it: it never took the lock, released it, or lost it
	// with its session, or to the deployed admin tool.
	ErrNotLocked = errors.New("this session does not hold the lock")

	// ErrConflict says that another client changed what the operation depends
	// on. Nothing was written, unless the message says so ([Queue.DeleteBatch], [Batch.Process]), and a worker's lock is still there.
	ErrConflict = errors.New("another client changed it first")

	// ErrUnknownOutcome says that the connection was lost during a write, and
	// that nothing proves whether the write happened: another client may have done the same, or undone it. The
	// message names the znode to look at. A worker gets it if its session has ended, or if no server answered until it gave
	// up; in dialect mrt-zk also if others acquired or changed the item before it could look. It then ends its session, because the lock may be left, and the session may live on.
	ErrUnknownOutcome = errors.New("the connection was lost; it is not known whether the write happened")
)

// StateError says that the table has no transition between two states for this
// caller, or that the transition's guard does not hold. Nothing was written, unless the message says that jobs
// are deleted or written already: see [Queue.DeleteBatch] and [Batch.Process].
type StateError struct {
	Entity   states.Entity
	Path     string   // of the entity: /jobs/JID
	From, To string   // as dialect design writes them
	Allowed  []string // the states that can follow From, in the table's order; none if it is only removed then
	// Guard is the condition that does not hold. "" means that there is no transition.
	Guard states.Guard
	// Who alone may move it, if the caller may not. "" means that there is no such transition, or that it has a guard.
	Who states.Actor
}

// Error names the entity and the two states, and lists the allowed states or says the guard.
func (e *StateError) Error() string {
	why := e.From + " is final"
	switch {
	case e.Guard != "":
		why = string(e.Guard)
	case e.Who == states.Automatic:
		why = "only a cleaning pass does that"
	case e.Who != "": // such as a batch of dialect mrt-zk that a worker has acquired, see [Queue.AcquireBatch]
		move := map[states.Entity]string{states.Job: "MoveJob", states.Batch: "MoveBatch", states.Access: "MoveRequest"}[e.Entity]
		why = fmt.Sprintf("from %s it moves only without a lock: call Unlock, and then Queue.%s", e.From, move)
	case len(e.Allowed) > 0:
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

type opError struct {
	op, path string
	err      error
}

func (e *opError) Error() string { return e.op + " " + e.path + ": " + e.err.Error() }

func (e *opError) Unwrap() error { return e.err }

func wrap(op, path string, err *error) {
	if *err != nil {
		*err = &opError{op, path, *err}
	}
}
