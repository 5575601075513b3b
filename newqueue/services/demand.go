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

// Demand is one row: what a znode or key must be, who reads it, and what happens
// if it is not.
type Demand struct {
	ID   string // the requirement, R01 to R32
	Of   Scope
	Node string // below the item, "" for the item itself
	Key  string // of the JSON object there, "" for the node itself
	Type Type   // of the key's value
	// Optional is true if the key may be absent.
	Optional bool
	// Says is the rule in words, for demands without a key.
	Says string
	// Stops are the daemons that read it, in the order in which they read the item,
	// and what each does if the demand is not met.
	Stops []Stop
	// Default is what a migration writes if a legacy record has none. "" means
	// that there is no safe default.
	Default string
	// Rules are the rules of the layout that state it, in every tree of this layout.
	Rules []string
	// faults checks a rule that is not about one key, or what Rules leave open.
	faults func(d *Demand, it *item) []fault
}

// stated reports whether the layout's rules state all of it.
func (d *Demand) stated() bool { return d.Rules != nil && d.faults == nil }

// String is the rule in one line.
func (d Demand) String() string {
	what := d.Says
	if d.Key != "" {
		must := " must be "
		if d.Optional {
			must = ", if it is there, must be "
		}
		what = d.Node + "." + d.Key + must + d.Type.Words
	}
	return fmt.Sprintf("%s, %s: %s", d.ID, d.Of, what)
}

// Violation is one place at which a tree does not meet a demand.
type Violation struct {
	Demand *Demand
	Path   string // of the znode
	What   string // what is wrong
	Stop   Stop   // the first daemon that meets it, and what that does
}

// Then says what the services would do, in words for an operator.
func (v Violation) Then() string { return v.Stop.String() }

// String returns the requirement, the path, what is wrong and what would happen, on
// one line.
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
