// Package report makes one HTML file of a migration: self-contained, without
// network, for an operator and for whoever must approve the night.
//
//	data.go      all that a page can show, given by the caller
//	verdict.go   the one line that it begins with: a table of rules
//	tally.go     counts, by queue, format, state, batch, priority, age
//	rate.go      jobs a second
//	pack.go      the records, small enough for 100,000 of them
//	view.go      what page.html is given
//	write.go     page.html, page.css and page.js put together
//	coverage.go  what mrtq accept proved, read from its file
//	findings.go  what mrtq check found, read from its file
//
// A page is a pure function of its [Data]. All texts are hostile: whatever they
// hold, they are shown (see [mrtq/internal/printable]) and do nothing.
package report

import (
	"time"

	"mrtq/internal/statedraw"
)

// Data is all that a page can show. What is not known is left zero.
type Data struct {
	Made           time.Time
	Source, Target string // as given on the command line; free of credentials
	Dialect        string
	Plan           *Plan
	Runs           []Run  // oldest first
	Only           string // the one run that the page is about; "" is all
	// Read: there is a target, and Runs, Queue, Holds and Damage are what it holds.
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
	Next         string // what to do now, as mrtq status says
	Coverage     *Coverage
	Check        *Check
}

// Plan is a saved plan.
type Plan struct {
	ID       string
	Run      string // that it starts or finishes
	Empty    bool   // there is nothing to do
	Problems []Problem
	Warnings []Note
	Services []ServiceNote
	Locks    []LegacyLock
	Risks    []Risk
	Missing  []string // legacy queues that are not there
	Vanished []Note
	Again    []string // --again
	Done     []string // --done
	ACL      string   // of what is made, without secrets; "" is open
	// Carried is the run that was begun with this plan, "" if none is there.
	Carried string
}

// Problem is one thing that is not as it must be.
type Problem struct{ Kind, Path, Message, Next string }

// Note is something to know about a znode.
type Note struct{ Path, Message string }

// ServiceNote is one way in which records don't meet what a deployed service
// demands.
type ServiceNote struct {
	What, Then string
	Blocking   bool
	Paths      []string
}

// LegacyLock is an outstanding lock of the legacy queue.
type LegacyLock struct{ Path, Since, Data, Record string }

// Risk says how many jobs could run twice, or never, under one choice about
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
	Copied                         bool // it is in a copy, whose transactions tell no times
}

// The states of a run that a verdict depends on.
const (
	RunRunning     = "running"
	RunDone        = "done"
	RunRollingBack = "rolling-back"
	RunRolledBack  = "rolled-back"
)

// Verification is what comparing both sides came to.
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
	Migrated    Outcome = "migrated"    // its job stands as the run made it
	Touched     Outcome = "touched"     // its job stands, and somebody changed it
	Gone        Outcome = "gone"        // it had a job, which is done and cleaned, or deleted
	Settled     Outcome = "settled"     // declared done; no job was made
	Skipped     Outcome = "skipped"     // by policy
	Quarantined Outcome = "quarantined" // its bytes are in a file
	Blocked     Outcome = "blocked"     // it keeps a plan from being carried out
	NotMigrated Outcome = "not migrated"
	ToCreate    Outcome = "to create" // by a plan that was not carried out yet
	ToRewrite   Outcome = "to rewrite"
)

// outcomes are all outcomes, in the order of tables: with what is in the new
// queue first.
var outcomes = []struct {
	Outcome
	taken bool // it has, or had, a job
	means string
}{
	{Migrated, true, "its job stands as the run made it"},
	{Touched, true, "its job stands, and somebody has changed it since"},
	{Gone, true, "its job is done and cleaned, or deleted"},
	{Settled, true, "declared done by the operator: no job was made"},
	{ToCreate, false, "the plan makes a job of it"},
	{ToRewrite, false, "it changed; the plan makes its job anew"},
	{Skipped, false, "left out by a policy"},
	{Quarantined, false, "it can't be decoded: its bytes are kept in a file"},
	{Blocked, false, "it keeps the plan from being carried out"},
	{NotMigrated, false, "nothing was made of it"},
}

// Record is one legacy record.
type Record struct {
	Path, Queue, Status, Format string
	Priority                    int // -1 if its name tells none
	Time                        time.Time
	Outcome                     Outcome
	Reason                      string // why, or what was changed of it
	Job, Batch, State, Run      string
	// Planned is the id that the plan said it would get, "" without one.
	Planned string
	// Forced is the policy that decided about it, "" if none had to.
	Forced string
	At     time.Time // when its job was made
}

// Batch is one batch of the new queue.
type Batch struct{ ID, UUID, State string }

// StateCount is how many of an entity are in one state.
type StateCount struct {
	Entity, State string
	Ours, Others  int
}

// Policy is one thing that only the operator can decide.
type Policy struct {
	Name, Value, Default string
	What                 string
	Records              int // that it decided about
}

// Hold is one hold on the new queue.
type Hold struct {
	Path     string
	By       string // a run's id, or others
	Standing bool   // false: it was released
}

// Lock is a lock in the new queue.
type Lock struct{ Path, Session string }
