// Package report makes one HTML file about a migration, for the operator and
// for the person who must approve the night. The file is complete: it loads
// nothing from a network.
//
//	data.go      everything that a page can show; the caller fills it in
//	verdict.go   the line at the top, from a table of rules
//	tally.go     counts, by queue, format, state, batch, priority, age
//	rate.go      jobs a second
//	pack.go      long lists, packed so that a page can have 100,000 records
//	view.go      the values that page.html shows
//	write.go     puts page.html, page.css and page.js together
//	coverage.go  what mrtq accept proved, read from its file
//	findings.go  what mrtq check found, read from its file
//
// A page is a pure function of its [Data]. Any text may be hostile. The page
// only shows it (see [mrtq/internal/printable]): it never becomes markup or
// script.
package report

import (
	"time"

	"mrtq/internal/statedraw"
)

// Data is everything that a page can show. Unknown values stay zero.
type Data struct {
	Made           time.Time
	Source, Target string // as given on the command line, without credentials
	Dialect        string
	Plan           *Plan
	Runs           []Run  // oldest first
	Only           string // the run that the page is about; "" means all runs
	Latest         Run    // the target's newest run, also if Only is another; zero if it is among Runs
	AtWork         bool   // a migrator is at work in the target
	// Read: the target was read, and Runs, Queue, Holds and Damage come from
	// it.
	Read         bool
	Damage       []Problem
	Verification *Verification // nil if the source was not given
	Records      []Record      // in path order
	Batches      []Batch
	Queue        []StateCount // what the target holds now
	Machines     []statedraw.Machine
	Policies     []Policy
	Holds        []Hold
	Locks        []Lock
	Next         Next
	Coverage     *Coverage
	Check        *Check
}

// Next is what there can be to do. The verdict chooses (see rules), so that a page
// never says "Differs" and "release" at once. The caller words all of it, because it
// knows the commands.
type Next struct {
	Status string // a sentence: what to do in view of the target alone
	Verify string // a sentence: what to do after the comparison
	// Plan makes the plan again, Migrate carries it out, Check checks the tree: commands.
	Plan, Migrate, Check string
}

// Plan is a saved plan.
type Plan struct {
	ID       string
	Run      string // the run that it starts or finishes
	Empty    bool   // there is nothing to do
	Problems []Problem
	Warnings []Note
	Services []ServiceNote
	Locks    []LegacyLock
	Risks    []Risk
	Missing  []string // legacy queues that do not exist
	Vanished []Note
	Again    []string // --again
	Done     []string // --done
	ACL      string   // the ACL of new znodes, without secrets; "" is open
	// Carried is the run that carried out this plan, or "".
	Carried string
	// Pending says that the target has no run of this plan's number yet, so that the plan
	// can still be carried out.
	Pending bool
}

// Problem is one thing that is wrong.
type Problem struct{ Kind, Path, Message, Next string }

// Note is a remark about a znode.
type Note struct{ Path, Message string }

// ServiceNote is one demand of a deployed service that some records don't meet.
type ServiceNote struct {
	What, Then string
	Blocking   bool
	Paths      []string
}

// LegacyLock is an outstanding lock of the legacy queue.
type LegacyLock struct{ Path, Since, Data, Record string }

// Risk says how many jobs could run twice, or never, with one choice for
// consumed records.
type Risk struct {
	Choice       string
	Twice, Never int
	Chosen       bool
}

// Run is one run of a migration.
type Run struct {
	ID, State, Source, Owner, Plan string
	Started, Finished              time.Time
	Jobs, Access, Batches          int
	Rewritten                      int
	Copied                         bool // the target is a copy, so its transactions don't show the run's times
}

// The states of a run that decide a verdict.
const (
	RunRunning     = "running"
	RunDone        = "done"
	RunRollingBack = "rolling-back"
	RunRolledBack  = "rolled-back"
)

// Verification is the result of comparing both sides.
type Verification struct {
	Differences                                          []Problem
	Total, Migrated, Gone, Skipped, Quarantined, Missing int
	Nodes, ACLs, Others                                  int
	QuarantineChecked                                    bool
}

// Outcome is what became of a record.
type Outcome string

// The outcomes.
const (
	Migrated     Outcome = "migrated"      // its job is as the run made it
	Touched      Outcome = "touched"       // its job exists, and another client has changed it
	Gone         Outcome = "gone"          // it had a job, which is finished and cleaned up, or deleted
	DeclaredDone Outcome = "declared done" // by the operator; no job was made
	Skipped      Outcome = "skipped"       // by policy
	Quarantined  Outcome = "quarantined"   // its bytes are in a file
	Blocked      Outcome = "blocked"       // it blocks the plan
	NotMigrated  Outcome = "not migrated"
	ToCreate     Outcome = "to create" // planned: the plan has not been carried out yet
	ToRewrite    Outcome = "to rewrite"
)

// outcomes are all outcomes, in the order of the page's tables: first those of
// records with a job in the new queue.
var outcomes = []struct {
	Outcome
	inLedger bool // a run has it in its ledger
	means    string
}{
	{Migrated, true, "its job is as the run made it"},
	{Touched, true, "its job exists, and another client has changed it since"},
	{Gone, true, "its job is finished and cleaned up, or deleted"},
	{DeclaredDone, true, "declared done by the operator: no job was made"},
	{ToCreate, false, "the plan creates a job for it"},
	{ToRewrite, false, "it changed; the plan recreates its job"},
	{Skipped, false, "left out by a policy"},
	{Quarantined, false, "it can't be decoded: its bytes are kept in a file"},
	{Blocked, false, "it blocks the plan"},
	{NotMigrated, false, "it has no job"},
}

// Record is one legacy record.
type Record struct {
	Path, Queue, Status, Format string
	Priority                    int // -1 if its name has none
	Time                        time.Time
	Outcome                     Outcome
	Reason                      string // the reason, or what was changed
	Job, Batch, State, Run      string
	// Planned is the id that the plan gave it, or "".
	Planned string
	// Forced is the policy that decided about it, "" if no policy was needed.
	Forced string
	At     time.Time // when its job was made
}

// Batch is one batch of the new queue.
type Batch struct{ ID, UUID, State string }

// StateCount is how many jobs, batches or access requests are in one state.
type StateCount struct {
	Entity, State string
	Ours, Others  int
}

// Policy is one decision that only the operator can make.
type Policy struct {
	Name, Value, Default string
	What                 string
	Records              int // records that it decided
}

// Hold is one hold on the new queue.
type Hold struct {
	Path     string
	By       string // a run's id, or others
	Standing bool   // false: it was released
}

// Lock is a lock in the new queue.
type Lock struct{ Path, Session string }
