// Package verify compares a target with its source. It recomputes from the source what
// should exist, and never reads a plan. It takes from the target only the operator's
// choices and which record became which job, as the runs' records and the ledger say.
//
// What is compared depends on the state of the job's run (docs/life.md, "States"): the jobs
// of a done run exactly, those of a released queue only for what the layout allows.
//
//	verify.go    the parts of a verification, in order
//	records.go   what became of each legacy record
//	exact.go     a job against what its record should have become
//	account.go   a job against what the layout allows
//	batches.go   the batches
//	entries.go   entries that are in the wrong place, and names that no reader knows
package verify

import (
	"fmt"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// DifferenceKind is how a target differs from what it should be.
type DifferenceKind string

// Damage. A worker, a service or an administrator who follows the published design causes none, unless [Difference.By] says so.
const (
	Extra       DifferenceKind = "extra"        // there is a znode that nobody needs
	Layout      DifferenceKind = "layout"       // it violates a rule of the layout
	OtherACL    DifferenceKind = "other-acl"    // it has another ACL than its run gives
	NotLossless DifferenceKind = "not-lossless" // a property of the record can't be read back
	OutOfOrder  DifferenceKind = "out-of-order" // the new queue hands it out in another order than the old one
	NotKept     DifferenceKind = "not-kept"     // it is undecodable, and no quarantine file has its bytes
	LostRecord  DifferenceKind = "lost-record"  // only the kept bytes of a run that a restored backup does not know have it
)

// ActedOn is a job, request or batch of a done run that differs from what the run made,
// but obeys the layout, or was removed.
const ActedOn DifferenceKind = "acted-on"

// The run is not what is to be verified.
const (
	Unfinished DifferenceKind = "unfinished"
	Restored   DifferenceKind = "restored" // from a backup
)

// DifferenceGroup is a group of kinds that call for the same.
type DifferenceGroup string

// The groups, the gravest first. A verification that finds none is OK.
const (
	DamageGroup     DifferenceGroup = "damage"
	UndecidedGroup  DifferenceGroup = "undecided"
	UnfinishedGroup DifferenceGroup = "unfinished"
	RestoredGroup   DifferenceGroup = "restored"
	ActedOnGroup    DifferenceGroup = "acted-on"
)

// DifferenceGroups are all groups, the gravest first.
var DifferenceGroups = []DifferenceGroup{DamageGroup, UndecidedGroup, UnfinishedGroup, RestoredGroup, ActedOnGroup}

// Group returns the group of the kind. A question about a record is the kind of a difference, too.
func (k DifferenceKind) Group() DifferenceGroup {
	if standing.Question(k).Says() != "" {
		return UndecidedGroup
	}
	switch k {
	case Unfinished:
		return UnfinishedGroup
	case Restored:
		return RestoredGroup
	case ActedOn:
		return ActedOnGroup
	}
	return DamageGroup
}

// Difference is one way in which the target is not what it should be.
type Difference struct {
	Kind    DifferenceKind `json:"kind"`
	Path    string         `json:"path"`
	Record  string         `json:"record,omitempty"` // of the job, if it is a job's
	Message string         `json:"message"`
	// By says who can have caused it; "" if nobody does who follows the documents.
	By string `json:"by,omitempty"`
	// Remove are the znodes that are left of a job that an administrator has deleted. Without them, with all below them, nothing differs.
	Remove []string `json:"remove,omitempty"`
	// Queue is the hold that covers it; "" if it is about no queue.
	Queue newqueue.QueueHold `json:"queue,omitempty"`
}

// String returns path, kind and message on one line.
func (d Difference) String() string { return fmt.Sprintf("%s: %s: %s", d.Path, d.Kind, d.Message) }

// Verdict is the outcome of a verification.
type Verdict struct {
	Differences []Difference `json:"differences"`
	// Records counts the legacy records by what became of them. Every record counts once.
	Records RecordCounts `json:"records"`
	// States counts the migrated jobs and access requests by the state that they are in.
	States map[string]int `json:"states"`
	Nodes  int            `json:"nodes"` // znodes that were compared
	// Unrelated counts jobs, requests and batches that no run created.
	Unrelated int `json:"unrelated"`
	// Due counts the records of done runs that were not handed over.
	Due int `json:"due"`
	// Releasing says that a release has begun to hand over records, and has not ended.
	Releasing bool `json:"releasing"`
	// Uncompleted counts the kept bytes that a completion has left that was interrupted.
	Uncompleted int `json:"uncompleted"`
	// NotCompared counts handed-over records whose bytes [Complete] removed.
	NotCompared int `json:"not_compared"`
	// NotMigrated are the records that are in the legacy queue alone, and that another run would migrate. Legacy are migrated records
	// of which the legacy queue has the work: a release withdraws their jobs. Removed are those whose jobs were removed.
	// Notices say what else is to be known of records.
	NotMigrated []string        `json:"not_migrated"`
	Legacy      []standing.Note `json:"legacy"`
	Removed     []standing.Note `json:"removed"`
	Notices     []standing.Note `json:"notices"`
	// Run is the unfinished run, else the newest, and State its state; both are "" if there is
	// no run. Released are the queues that count as released.
	Run      string               `json:"run"`
	State    ledger.RunState      `json:"state"`
	Source   string               `json:"source"` // that the run took its records from, as it was given then
	Choices  rules.Choices        `json:"choices"`
	Released []newqueue.QueueHold `json:"released"`
	// Current is the record of Run, if there is one.
	Current ledger.Run `json:"-"`
	// Older is the newest run before it that was not rolled back; nil if there is none.
	Older *ledger.Run `json:"-"`
	// Holds are the target's.
	Holds []target.Hold `json:"-"`
}

// RecordCounts counts the records by what became of them.
type RecordCounts struct {
	Total       int `json:"total"`
	Migrated    int `json:"migrated"`  // and the job is there
	Removed     int `json:"removed"`   // migrated, and the job was removed
	AtLegacy    int `json:"at_legacy"` // migrated, and the legacy queue has the work
	Undecided   int `json:"undecided"` // migrated, and somebody must decide
	Skipped     int `json:"skipped"`   // by choice
	Finished    int `json:"finished"`  // in the legacy queue
	Quarantined int `json:"quarantined"`
	NotMigrated int `json:"not_migrated"` // in the legacy queue alone
}

// OK reports whether the target is what it should be.
func (v *Verdict) OK() bool { return len(v.Differences) == 0 }

// Count returns how many differences have a kind.
func (v *Verdict) Count(k DifferenceKind) int {
	n := 0
	for _, d := range v.Differences {
		if d.Kind == k {
			n++
		}
	}
	return n
}

// CountGroup returns how many differences are of a group.
func (v *Verdict) CountGroup(g DifferenceGroup) int {
	n := 0
	for _, d := range v.Differences {
		if d.Kind.Group() == g {
			n++
		}
	}
	return n
}
