package services

import (
	"fmt"
	"slices"
)

// Scope says of which items a demand is made.
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

// Demand is one row: what must be at one place, who reads it, and what happens
// if it is not so.
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
	// Stops are the readers and what a fault makes each of them do, in the
	// order in which they meet it.
	Stops []Stop
	// Default is what a migration writes when a legacy record has none,
	// because that is safe; "" means that there is no safe default.
	Default string
	// Library is the method of the client library itself that reads it, so that
	// the demand holds for every tree that the library is to load, whoever wrote
	// it; "" if only a service demands it.
	Library string
	// faults finds what breaks a rule that is not about one key, and needs to
	// see only the item's own JSON objects.
	faults func(d *Demand, it *item) []fault
	// place is the same for a rule about where the item stands in the tree.
	place func(c *checker, d *Demand, it *item) []fault
}

// String is the rule in one line.
func (d Demand) String() string {
	what := d.Says
	if d.Key != "" {
		must := "must be"
		if d.Optional {
			must = "if there, must be"
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
	What   string // is wrong
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

// fault is what a check found at one path.
type fault struct {
	path, what string
	// stop is the effect, where it is not the row's.
	stop *Stop
}
