package migration

import (
	"fmt"

	"mrtq/newqueue"
)

// DifferenceKind is how a target differs from what it should be.
type DifferenceKind string

// Damage. A worker, a service or an administrator who follows the published design causes none, unless [Difference.By] says so.
const (
	DifferenceExtra       DifferenceKind = "extra"        // there is a znode that nobody needs
	DifferenceLayout      DifferenceKind = "layout"       // it violates a rule of the layout
	DifferenceOtherACL    DifferenceKind = "other-acl"    // it has another ACL than its run gives
	DifferenceNotLossless DifferenceKind = "not-lossless" // a property of the record can't be read back
	DifferenceOutOfOrder  DifferenceKind = "out-of-order" // the new queue hands it out in another order than the old one
	DifferenceNotKept     DifferenceKind = "not-kept"     // it is undecodable, and no quarantine file has its bytes
	DifferenceLostRecord  DifferenceKind = "lost-record"  // only the kept bytes of a run that a restored backup does not know have it
)

// DifferenceActedOn is a job, request or batch of a done run that differs from what the run made,
// but obeys the layout, or was removed.
const DifferenceActedOn DifferenceKind = "acted-on"

// The run is not what is to be verified.
const (
	DifferenceUnfinished DifferenceKind = "unfinished"
	DifferenceRestored   DifferenceKind = "restored" // from a backup
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
	if Question(k).Says() != "" {
		return UndecidedGroup
	}
	switch k {
	case DifferenceUnfinished:
		return UnfinishedGroup
	case DifferenceRestored:
		return RestoredGroup
	case DifferenceActedOn:
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
	// Remove are the znodes of a failed job whose batch was deleted, or an entry of a deleted job in a queue of which no worker takes jobs. Without them, with all below them, nothing differs.
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
	// NotCompared counts handed-over records whose bytes were removed when the migration was completed.
	NotCompared int `json:"not_compared"`
	// NotMigrated are the records that are in the legacy queue alone, and that another run would migrate. Legacy are migrated records
	// of which the legacy queue has the work: a release withdraws their jobs. Removed are those whose jobs were removed.
	// Notices say what else is to be known of records.
	NotMigrated []string `json:"not_migrated"`
	Legacy      []Note   `json:"legacy"`
	Removed     []Note   `json:"removed"`
	Notices     []Note   `json:"notices"`
	// Run is the unfinished run, else the newest, and State its state; both are "" if there is
	// no run. Released are the queues that count as released.
	Run      string               `json:"run"`
	State    RunState             `json:"state"`
	Source   string               `json:"source"` // that the run took its records from, as it was given then
	Choices  Choices              `json:"choices"`
	Released []newqueue.QueueHold `json:"released"`
	// Current is the record of Run, if there is one.
	Current Run `json:"-"`
	// BlocksLate says that what is not migrated can't be before a release: another record has the name of one that waits, or its queue was made
	// again.
	BlocksLate bool `json:"-"`
	// Holds are the target's.
	Holds []Hold `json:"-"`
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
