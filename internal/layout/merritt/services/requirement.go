package services

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/layout"
)

// Scope says to which items a requirement applies.
type Scope struct {
	words   string
	pattern string   // of the items' paths
	in, not []string // states, by their exact names; without in, all
}

// The patterns of the items' paths.
const (
	batches  = "/batches/{bid}/"
	jobs     = "/jobs/{jid}/"
	requests = "/access/{queue}/{qid}/"
)

var done = []string{"Completed", "Deleted"}

// The scopes.
var (
	OfTree          = Scope{"the tree", "/", nil, nil}
	OfBatch         = Scope{"every batch", batches, nil, nil}
	OfOpenBatch     = Scope{"every batch that is not Completed or Deleted", batches, nil, done}
	OfDoneBatch     = Scope{"every batch that is Completed or Deleted", batches, done, nil}
	OfEarlyJob      = Scope{"every job that Initialize or Estimate has yet to read", jobs, []string{"Pending", "Held", "Estimating", "Failed"}, nil}
	OfLaterJob      = Scope{"every job past Estimate that is not Completed or Deleted", jobs, nil, []string{"Pending", "Held", "Estimating", "Failed", "Completed", "Deleted"}}
	OfJob           = Scope{"every job", jobs, nil, nil}
	OfDoneJob       = Scope{"every job that is Completed or Deleted", jobs, done, nil}
	OfOpenJob       = Scope{"every job that is not Completed or Deleted", jobs, nil, done}
	OfFailedJob     = Scope{"every Failed job", jobs, []string{"Failed"}, nil}
	OfStoringJob    = Scope{"every job in Storing", jobs, []string{"Storing"}, nil}
	OfRecordingJob  = Scope{"every job in Recording", jobs, []string{"Recording"}, nil}
	OfAccess        = Scope{"every access request", requests, nil, nil}
	OfWaitingAccess = Scope{"every access request that is Pending or Failed", requests, []string{"Pending", "Failed"}, nil}
)

func (s Scope) String() string { return s.words }

func (s Scope) has(it *Item) bool {
	return s.pattern == it.pattern && (s.in == nil || slices.Contains(s.in, it.state)) && !slices.Contains(s.not, it.state)
}

// Requirement is one row: what a znode or key must be, who reads it, and what happens
// if it is not.
type Requirement struct {
	ID   string // the requirement, R01 to R33
	Of   Scope
	Node string // below the item, "" for the item itself
	Key  string // of the JSON object there, "" for the node itself
	Type Type   // of the key's value
	// Optional is true if the key may be absent.
	Optional bool
	// Says is the rule in words, for requirements without a key.
	Says string
	// Then is what happens if the requirement is not met, and By are the daemons that do it, in
	// the order in which they read the item.
	Then Effect
	By   []Daemon
	// Default is what a migration writes if a legacy record has none. "" means
	// that there is no safe default.
	Default string
	// faults checks a rule that is not about one key.
	faults func(d *Requirement, it *Item) []fault
}

func (d *Requirement) rule() string {
	id := strings.TrimSuffix(d.ID+"/"+d.Node, "/")
	if d.Key == "" {
		return id
	}
	return id + "." + d.Key
}

func (d *Requirement) wanted() string {
	if d.Key != "" {
		return d.Key + " that is " + d.Type.Words
	}
	return d.Says
}

// String returns the rule in one line.
func (d Requirement) String() string {
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

// Violation is one place at which a tree does not meet a requirement.
type Violation struct {
	Requirement *Requirement
	Path        string // of the znode
	What        string // what is wrong
	Stop        Stop   // the first daemon that meets it, and what that does
}

type fault struct {
	what string
	stop *Stop // the effect, if it is not the row's
}

// requirementsPage has the table of all requirements.
const requirementsPage = "docs/requirements.md"

// mend says what an operator can do if a requirement is not met, by requirement; "" is for all others.
var mend = map[string]string{
	"R01": "Create it, without data.",
	"R02": "Wait until the worker is done. If no worker is, end its session or delete the lock.",
	"":    "Repair it before a service works on it, or delete what it belongs to.",
}

// AddTo adds the requirements to the map of the layout, with the code that checks them.
func AddTo(m *layout.Map) {
	var rules []*layout.Rule
	for i := range Requirements {
		d := &Requirements[i]
		if requirementOf(d.rule()) != d {
			continue // another row has the same rule
		}
		rules = append(rules, &layout.Rule{ID: d.rule(), Severity: severityOf(d.Then), Path: d.Of.pattern + d.Node, Says: d.String(),
			Repair: cmp.Or(mend[d.ID], mend[""]), Document: requirementsPage + ", " + d.ID})
	}
	m.AddGoRules(newChecker, rules...)
}

// severityOf is an error if the effect blocks a migration, and information if it ends by itself.
func severityOf(e Effect) layout.Severity {
	switch {
	case e.Blocking():
		return layout.Error
	case e == BreaksForNow:
		return layout.Info
	}
	return layout.Warning
}
