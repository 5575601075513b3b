package services

import (
	"fmt"
	"slices"
	"strings"
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
	// Then is what happens if the demand is not met, and By are the daemons that do it, in
	// the order in which they read the item.
	Then Effect
	By   []Daemon
	// Default is what a migration writes if a legacy record has none. "" means
	// that there is no safe default.
	Default string
	// faults checks a rule that is not about one key.
	faults func(d *Demand, it *item) []fault
}

// rule is its id as a rule of the map.
func (d *Demand) rule() string {
	id := d.ID
	if d.Node != "" {
		id += "/" + d.Node
	}
	if d.Key != "" {
		id += "." + d.Key
	}
	return id
}

// wanted is the demand in words, without the item.
func (d *Demand) wanted() string {
	if d.Key != "" {
		return d.Key + " that is " + d.Type.Words
	}
	return d.Says
}

// stop is what happens first if it is not met.
func (d *Demand) stop() Stop { return Stop{d.By[0], d.Then} }

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

// ReadThen reads what a rule of merritt.yaml says under "then": the requirement that it states,
// and what the services do if it is broken, the worst first. For a rule without it, both are zero.
func ReadThen(then string) (requirement string, stops []Stop) {
	requirement, list, _ := strings.Cut(then, ": ")
	for _, one := range strings.Split(list, "; ") {
		if effect, daemon, ok := strings.Cut(one, " "); ok {
			stops = append(stops, Stop{Daemon(daemon), Effect(effect)})
		}
	}
	return requirement, stops
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
