package rehearse

import "mrtq/migrate/migration"

// Report is what a rehearsal found.
type Report struct {
	Verdict string  `json:"verdict"` // ok, differs, nothing if the plan creates no job, or blocked if it has problems
	Seconds float64 `json:"seconds"` // how long the rehearsal took
	Records int     `json:"records"` // of the source

	// Done counts the records of the plan whose work the services did on the first copy, Failed the records that they were made to fail, and Submitted those
	// that came after the release and that follow moved: they were done, too, if there is no difference.
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Submitted int `json:"submitted"`
	// DoneBefore counts the records of the second copy whose work the services did before the rollback, and DoneAfter those whose work
	// the legacy workers did afterwards.
	DoneBefore int `json:"done_before_rollback"`
	DoneAfter  int `json:"done_after_rollback"`

	// Problems keep the plan from being carried out. If there is any, nothing else was rehearsed.
	Problems []migration.Problem `json:"problems"`
	// Differences are all that was not as predicted.
	Differences []Difference `json:"differences"`
	Cutover     *Cutover     `json:"night"` // nil if the first copy was not released

	// Plan is the plan that was rehearsed.
	Plan *migration.Plan `json:"-"`
}

// OK reports whether everything was as predicted.
func (r *Report) OK() bool { return r.Verdict == "ok" }

// Rehearsed reports whether anything was rehearsed. Otherwise the plan says why not.
func (r *Report) Rehearsed() bool { return r.OK() || r.Verdict == "differs" }

// Cutover is what the cutover will be, as far as the rehearsal shows.
type Cutover struct {
	// Steps are those between the stop of submission and the start of the new services, and Freeze
	// is their sum in seconds. Legacy workers may work until the last one, the release.
	Steps  []Step  `json:"steps"`
	Freeze float64 `json:"freeze"`
	// Emails is how many reports the services send when the queue is worked.
	Emails int `json:"emails"`
}

// Step is one step of the cutover, and how long it took here.
type Step struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

func forecast(batches map[string]*batch, steps []Step) *Cutover {
	n := &Cutover{Steps: steps}
	for _, s := range steps {
		n.Freeze += s.Seconds
	}
	for _, b := range batches {
		if b.Reports {
			n.Emails++
		}
	}
	return n
}
