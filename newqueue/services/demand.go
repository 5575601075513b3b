package services

import (
	"fmt"
	"slices"
)

// Scope says to which items a demand applies.
type Scope string

// The scopes.
const (
	OfTree          Scope = "the tree"
	OfBatch         Scope = "every batch"
	OfOpenBatch     Scope = "every batch that is not Completed or Deleted"
	OfJob           Scope = "every job"
	OfDoneJob       Scope = "every job that is Completed or Deleted"
	OfOpenJob       Scope = "every job that is not Completed or Deleted"
	OfFailedJob     Scope = "every Failed job"
	OfStoringJob    Scope = "every job in Storing"
	OfRecordingJob  Scope = "every job in Recording"
	OfAccess        Scope = "every access request"
	OfWaitingAccess Scope = "every access request that is Pending or Failed"
)

// Demand is one row: what must be in one place, who reads it, and what happens
// otherwise.
type Demand struct {
	ID   string // the requirement, R01 to R32
	Of   Scope
	Node string // below the item, "" for the item itself
	Key  string // of the JSON object there, "" for the node itself
	Type Type   // of the key's value
	// Optional: the key may be absent.
	Optional bool
	// Says is the rule in words, for demands without a key.
	Says string
	// Stops are the readers, in the order in which they meet the item, and what
	// each does at a fault.
	Stops []Stop
	// Default is what a migration writes if a legacy record has none. "" means
	// that there is no safe default.
	Default string
	// Library is the method of the client library that reads it. Then the demand
	// holds for every tree that the library loads, whoever wrote it. "" means
	// that only a service demands it.
	Library string
	// faults finds what breaks a rule that is not about one key. It needs only
	// the item's own JSON objects.
	faults func(d *Demand, it *item) []fault
	// place does the same for a rule about the item's place in the tree.
	place func(c *checker, d *Demand, it *item) []fault
}

// String is the rule in one line.
func (d Demand) String() string {
	what := d.Says
	if d.Key != "" {
		must := "must be"
		if d.Optional {
			must = "must be absent or"
		}
		what = fmt.Sprintf("%s of %s %s %s", d.Key, d.Node, must, d.Type.Words)
	}
	return fmt.Sprintf("%s, %s: %s", d.ID, d.Of, what)
}

// Violation is one place at which a tree does not meet a demand.
type Violation struct {
	Demand *Demand
	Item   string // path of the batch, job or request; "/" for the tree
	Path   string // of the znode
	What   string // what is wrong
	Stop   Stop   // what happens, by the first daemon that meets the item
}

// Then says what would happen.
func (v Violation) Then() string { return v.Stop.String() }

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", v.Demand.ID, v.Path, v.What, v.Then())
}

// String says what would happen, in words for an operator.
func (s Stop) String() string {
	words := effectWords[s.Effect]
	if slices.Contains([]Effect{StopsReports, StuckReporting, NeverReported, ReportLost, ReportsWrong, BreaksPage, Harmless}, s.Effect) {
		return words
	}
	return fmt.Sprintf(words, s.Daemon)
}

// fault is what a check found at a path.
type fault struct {
	path, what string
	// stop is the effect, if it is not the row's.
	stop *Stop
}
