package accept

import (
	"fmt"
	"slices"

	"mrtq/harness/accept/internal/runner"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Result says whether a row is covered.
type Result string

// The results.
const (
	Passed Result = "passed"  // its scenarios passed, and the second connection observed it
	Failed Result = "failed"  // one of its scenarios failed
	NotRun Result = "not run" // no scenario of it has run, or the second connection did not observe it
)

// Row is one documented transition, acquisition, lock or behaviour in a dialect,
// and its result.
type Row struct {
	ID      string // "J14"
	What    string // "job notify → completed"
	Dialect newqueue.Dialect
	Result  Result
	Why     string // why the row has not passed

	transition bool // false for an acquisition, a lock or a behaviour
}

// others are the rows of docs/transitions.md that are not transitions: acquisitions, locks and behaviours. An acquisition
// has the kinds of items and their states in which a lock on one shows it.
var others = []struct{ id, what, at string }{
	{"Q1", "acquire a pending batch", "batches pending, batches processing"}, // in mrt-zk its acquisition makes it processing
	{"Q2", "acquire a reporting batch", "batches reporting"},
	{"Q3", "acquire an update-reporting batch", "batches update-reporting"},
	{"Q4", "acquire a pending job", "jobs pending"},
	{"Q5", "acquire an estimating job", "jobs estimating"},
	{"Q6", "acquire a provisioning job", "jobs provisioning"},
	{"Q7", "acquire a downloading job", "jobs downloading"},
	{"Q8", "acquire a processing job", "jobs processing, jobs storing"},
	{"Q9", "acquire a recording job", "jobs recording"},
	{"Q10", "acquire a notify job", "jobs notify"},
	{"Q11", "acquire a pending access request", "access pending, access processing"},
	{"K1", "queue holds", ""},
	{"K2", "collection holds", ""},
	{"K3", "storage locks", ""},
	{"K4", "inventory locks", ""},
	{"K5", "local id locks", ""},
	{"S1", "a submitted manifest becomes a batch and its jobs", ""},
	{"S2", "lowest priority number first, then the oldest", ""},
	{"S3", "a collection is held and released", ""},
	{"S4", "jobs without room stay, smaller ones move on", ""},
	{"S5", "an unknown size is 0", ""},
	{"S6", "a minted identifier is kept", ""},
	{"S7", "status reports and update reports", ""},
	{"S8", "another worker acquires a dead worker's job", ""},
	{"S9", "static znodes never change", ""},
	{"S10", "the batch's watch fires once", ""},
	{"S11", "batches of three jobs, to their last report", ""},
	{"S12", "a job deleted before its batch is done", ""},
}

func coverage(d newqueue.Dialect) []*Row {
	var rows []*Row
	for _, e := range states.Entities {
		for _, t := range states.Transitions(e, string(d)) {
			rows = append(rows, &Row{ID: t.ID, Dialect: d, transition: true, What: Step{e, t.From, t.To}.String()})
		}
	}
	for _, o := range others {
		rows = append(rows, &Row{ID: o.id, Dialect: d, What: o.what})
	}
	return rows
}

type scenario struct {
	*runner.Case
	dialect newqueue.Dialect
	saw     sighting
}

func (s scenario) String() string { return fmt.Sprintf("%q (%s)", s.Name, s.dialect) }

// shownBy reports whether the second connection observed what the row is about,
// during a scenario. For a behaviour, the passing scenario covers it.
func (r *Row) shownBy(s scenario) bool {
	switch r.ID[0] {
	case 'Q':
		return slices.Contains(s.saw.taken, r.ID)
	case 'K':
		return slices.Contains(s.saw.taken, r.ID) && slices.Contains(s.saw.released, r.ID)
	case 'S':
		return true
	}
	return slices.ContainsFunc(s.saw.steps, func(step Step) bool { return step.String() == r.What })
}

func (r *Row) judge(ran []scenario) {
	r.Result, r.Why = NotRun, "no scenario with the tag @"+r.ID+" has run"
	for _, s := range ran {
		switch {
		case s.dialect != r.Dialect || !slices.Contains(s.Tags, "@"+r.ID):
		case s.Failed != nil:
			r.Result, r.Why = Failed, fmt.Sprintf("the scenario %q failed", s.Name)
			return
		case r.shownBy(s):
			r.Result, r.Why = Passed, ""
		case r.Result == NotRun:
			r.Why = "its scenarios passed, but the second connection did not observe it"
		}
	}
}
