package rehearse

import (
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Report is what a rehearsal found.
type Report struct {
	Verdict string           `json:"verdict"` // ok, differs, nothing if the plan creates no job, or blocked if it has problems
	Seconds float64          `json:"seconds"` // how long the rehearsal took
	Backend string           `json:"backend"`
	Dialect newqueue.Dialect `json:"dialect"`
	Records int              `json:"records"` // of the source; each is a job, skipped or quarantined
	Jobs    int              `json:"jobs"`    // jobs and access requests that they became
	// Skipped and Quarantined count the records that become none.
	Skipped     int `json:"skipped"`
	Quarantined int `json:"quarantined"`
	// Problems keep the plan from being carried out. If there is any, nothing else was rehearsed.
	Problems []migration.Problem `json:"problems"`
	Steps    []Step              `json:"steps"` // in order
	// Differences are all that was not as predicted.
	Differences []Difference    `json:"differences"`
	Workers     WorkReport      `json:"workers"`
	Back        *RollbackReport `json:"rollback"` // nil if it was not rehearsed
	Cutover     *Cutover        `json:"night"`

	// Plan is the plan that was rehearsed.
	Plan *migration.Plan `json:"-"`
}

// OK reports whether everything was as predicted.
func (r *Report) OK() bool { return r.Verdict == "ok" }

// Rehearsed reports whether anything was rehearsed. Otherwise the plan says why not.
func (r *Report) Rehearsed() bool { return r.OK() || r.Verdict == "differs" }

// Step is one step of the rehearsal, and how long it took here.
type Step struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// WorkReport is what the workers did on the first copy.
type WorkReport struct {
	Done int `json:"done"` // records of the plan whose work was done
	// Submitted are the records that came after the release. follow moved them, and their work was done, if there is no difference.
	Submitted int       `json:"submitted"`
	Emails    int       `json:"emails"`  // of the plan's batches
	Removed   int       `json:"removed"` // batches, by the cleanup
	Trouble   Disturbed `json:"disturbed"`
	Checked   int       `json:"checked"` // how often the whole queue was verified against the layout
}

// RollbackReport is what was seen of the second copy.
type RollbackReport struct {
	Before    int `json:"before"`     // records whose work the new queue's workers had done before the rollback
	GivenBack int `json:"given_back"` // records that the rollback gave back to the legacy queue
	Kept      int `json:"kept"`       // jobs that were begun: they stay, as the only copies
	ByLegacy  int `json:"by_legacy"`  // records whose work the legacy workers did afterwards
	// Failed counts the records that legacy workers could not do.
	Failed int `json:"failed"`
}
