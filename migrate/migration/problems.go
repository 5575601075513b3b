package migration

import (
	"fmt"

	"mrtq/legacy"
)

// ProblemKind says why a plan can't be carried out.
type ProblemKind string

// Kinds of problems with a record.
const (
	ProblemUndecodable ProblemKind = "undecodable"
	ProblemUnreadable  ProblemKind = "unreadable"
	ProblemTooLarge    ProblemKind = "too-large"    // its job does not fit a transaction, or the record itself
	ProblemHasChildren ProblemKind = "has-children" // so it can't leave the legacy queue
	ProblemHiddenACL   ProblemKind = "hidden-acl"   // the session can't read all of its ACL
	// With what the deployed services demand:
	ProblemUnserviceable    ProblemKind = "unserviceable"     // no deployed service could work on it
	ProblemInventoryWaiting ProblemKind = "inventory-waiting" // it is an unfinished inventory record
)

// Kinds of problems with a batch.
const (
	ProblemBatchExists   ProblemKind = "batch-exists"   // no migration created it
	ProblemBatchFinished ProblemKind = "batch-finished" // it is not open for more jobs
)

// ProblemNoSuchQueue is a queue node that the operator named and the source does not have, so its
// records would be left behind.
const ProblemNoSuchQueue ProblemKind = "no-such-queue"

// Kinds of problems with the target.
const (
	ProblemNoQueue      ProblemKind = "no-queue"   // there is none, and nobody said that a new one is wanted
	ProblemNoDialect    ProblemKind = "no-dialect" // nobody chose one, and the target holds no queue
	ProblemOtherDialect ProblemKind = "other-dialect"
	ProblemReleased     ProblemKind = "released" // its workers would stop
	ProblemRestored     ProblemKind = "restored" // from a backup
	// With an earlier run: it was neither rolled back nor completed, it had other choices, or its rollback is not finished.
	ProblemRunStands          ProblemKind = "run-stands"
	ProblemOtherChoices       ProblemKind = "other-choices"
	ProblemOtherTimes         ProblemKind = "other-times" // it read the records' times in another unit
	ProblemRollbackUnfinished ProblemKind = "rollback-unfinished"
	ProblemOtherOrigin        ProblemKind = "other-origin" // it took its records from another legacy queue
)

// Problem is one reason why a plan can't be carried out as it is.
type Problem struct {
	Kind ProblemKind `json:"kind"`
	Path string      `json:"path"`
	// Record and Offset are the decoder's, for an undecodable record. Offset is nil if
	// the decoder names none.
	Record  legacy.Kind `json:"record,omitempty"`
	Offset  *int        `json:"offset,omitempty"`
	Message string      `json:"message"`
	Next    string      `json:"next"` // what to do
	// Fits is the right dialect or unit of times, or the run to finish first, for the
	// kinds that have one.
	Fits string `json:"-"`
}

// String returns path, kind, message and what to do, on one line.
func (p Problem) String() string {
	return fmt.Sprintf("%s: %s: %s; %s", p.Path, p.Kind, p.Message, p.Next)
}
