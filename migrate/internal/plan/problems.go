package plan

import (
	"fmt"

	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
)

// ProblemKind says why a plan can't be carried out.
type ProblemKind string

// Kinds of problems with a record.
const (
	Undecodable ProblemKind = "undecodable"
	Unreadable  ProblemKind = "unreadable"
	TooLarge    ProblemKind = "too-large"    // its job does not fit a transaction, or the record itself
	HasChildren ProblemKind = "has-children" // so it can't leave the legacy queue
	HiddenACL   ProblemKind = "hidden-acl"   // the session can't read all of its ACL
	// With what the deployed services demand:
	Unserviceable    ProblemKind = "unserviceable"     // no deployed service could work on it
	InventoryWaiting ProblemKind = "inventory-waiting" // it is an unfinished inventory record
	// NoSuchRecord is a record of Again in [Options] that the source does not have.
	NoSuchRecord ProblemKind = "no-such-record"
	NotRemoved   ProblemKind = "not-removed" // it is in Again, and was not migrated before
)

// Kinds of problems with a batch.
const (
	BatchExists   ProblemKind = "batch-exists"   // no migration created it
	BatchFinished ProblemKind = "batch-finished" // it is not open for more jobs
)

// NoSuchQueue is a queue node that the operator named and the source does not have, so its
// records would be left behind.
const NoSuchQueue ProblemKind = "no-such-queue"

// Kinds of problems with the target.
const (
	NoQueue      ProblemKind = "no-queue"   // there is none, and nobody said that a new one is wanted
	NoDialect    ProblemKind = "no-dialect" // nobody chose one, and the target holds no queue
	OtherDialect ProblemKind = "other-dialect"
	Released     ProblemKind = "released" // its workers would stop
	Restored     ProblemKind = "restored" // from a backup
	// With an earlier run: it had other choices, or its rollback is not finished.
	OtherChoices       ProblemKind = "other-choices"
	OtherTimes         ProblemKind = "other-times" // it read the records' times in another unit
	RollbackUnfinished ProblemKind = "rollback-unfinished"
	OtherOrigin        ProblemKind = "other-origin" // it took its records from another legacy queue
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

func recordProblem(r rules.Record, reason string) Problem {
	if r.Err.Kind == rules.Unreadable {
		return Problem{Kind: Unreadable, Path: r.Path, Record: r.Err.Kind, Message: reason,
			Next: "give credentials that may read it, or have its ACL changed; if this is a dump, make it again with them"}
	}
	p := Problem{Kind: Undecodable, Path: r.Path, Record: r.Err.Kind, Message: reason,
		Next: "repair the record, or have undecodable records quarantined: their bytes are kept"}
	if r.Err.Offset >= 0 {
		p.Offset = &r.Err.Offset
	}
	return p
}
