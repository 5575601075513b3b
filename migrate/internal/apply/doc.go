// Package apply writes: one transaction after the other, each of which also sets the run's record. It knows transactions, not plans (docs/migration.md, "The chain").
//
//	lead.go       one migrator works at a time
//	chain.go      the transactions of a run, in a row
//	commit.go     one transaction; if its answer is lost, look
//	counters.go   the ids of new jobs, batches and requests
package apply

import "errors"

// Errors of writing.
var (
	// ErrInterrupted says that the run stopped between two transactions, because the
	// caller's context ended. The same call finishes it.
	ErrInterrupted = errors.New("interrupted")
	// ErrTakenOver says that another migrator has taken over the run.
	ErrTakenOver = errors.New("another migrator took this run over")
	// ErrDropped says that a server drops the connection at each transaction, however
	// small: most often its jute.maxbuffer is smaller than the caller says.
	ErrDropped = errors.New("the server drops the connection at each transaction, as it does if its jute.maxbuffer is too small")
	// ErrContended says that other clients keep writing to the target.
	ErrContended = errors.New("other clients keep writing to the target")
	// ErrChanged says that the target is not as it was read: what the transaction relied on
	// has changed. Nothing of the transaction was done. Read the target again.
	ErrChanged = errors.New("the target has changed since it was read")
)
