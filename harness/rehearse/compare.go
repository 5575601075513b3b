package rehearse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/harness/daemons"
	"mrtq/newqueue"
)

// Kind is what sort of difference it is.
type Kind string

// The kinds of differences.
const (
	Twice     Kind = "twice"      // the work of a record was done more than once
	Never     Kind = "never"      // the work of a record was not done, and no one had said so
	Ran       Kind = "ran"        // a worker took a record that should have waited
	Empty     Kind = "empty"      // an object was stored without its content
	State     Kind = "state"      // a job ended in another state
	Order     Kind = "order"      // a worker took records in another order than the old queue's
	Reports   Kind = "reports"    // a batch was reported never, twice, or without one of its jobs
	Layout    Kind = "layout"     // verify finds a difference
	WhileHeld Kind = "while-held" // a worker worked although its queue was held
	Stuck     Kind = "stuck"      // a worker could not do a documented step
)

// Difference is one thing that is not as predicted.
type Difference struct {
	Kind    Kind   `json:"kind"`
	Path    string `json:"path"` // of the legacy record, or of the job, batch or lock
	Message string `json:"message"`
}

type observed struct {
	executions map[string]daemons.Execution
	states     map[string]string // of jobs and requests, by their paths; none for those that were removed
	emails     []daemons.Email
	troubles   []daemons.Trouble
	failed     map[string]bool // the records whose work the rehearsal made fail, by key
	begun      []string        // the records, in the order in which workers took them, by key
}

func (s *observed) why(items ...string) string {
	for _, t := range s.troubles {
		if slices.Contains(items, t.Item) {
			return ": " + t.String()
		}
	}
	return ""
}

// compareTimes compares how often the work of each record was done. Records may have the same
// key, for example a jobID; then they count together. So one of them that ran twice makes up for
// another that never ran: [compareStates] finds the job of the latter.
func compareTimes(records []prediction, s *observed) (all []Difference) {
	byKey := map[string][]*prediction{}
	for i := range records {
		byKey[records[i].Key] = append(byKey[records[i].Key], &records[i])
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		least, most, before := 0, 0, 0
		var again *prediction // a legacy worker had taken it, and it runs
		for _, f := range byKey[key] {
			switch {
			case f.Before:
				before++
				if f.Runs && again == nil {
					again = f
				}
			case f.Runs:
				most++
				if f.Told == "" && !s.failed[key] {
					least++
				}
			}
		}
		first, e := byKey[key][0], s.executions[key]
		times := e.Times() + s.executions[first.Path].Times() // legacy workers know a record without a key by its path
		add := func(k Kind, f *prediction, format string, args ...any) {
			all = append(all, Difference{k, f.Path, fmt.Sprintf(format, args...) + together(f, byKey[key]) + s.why(f.Job)})
		}
		switch {
		case times > before+most && again != nil:
			add(Twice, again, "its work was done %d times, if the legacy worker that had taken it had done it: decide about it as held, not as %s", times, again.State)
		case times > before+most && before+most == 0:
			add(Ran, first, "its work was done %d times, and its job should wait, because it is %s", times, first.State)
		case times > before+most:
			add(Twice, first, "its work was done %d times, expected %d: by %s", times, before+most, strings.Join(e.Workers, ", "))
		case times < before+least:
			add(Never, first, "its work was done %d times, expected %d: its job is %s, and it was %v", times, before+least, cmp.Or(s.states[first.Job], "not there"), e.States)
		case e.StoredEmpty > 0 && first.Told == "":
			add(Empty, first, "its object was stored without its content")
		}
	}
	return all
}

func together(f *prediction, all []*prediction) string {
	var others []string
	for _, other := range all {
		if other != f {
			others = append(others, other.Path)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return "; counted together with " + strings.Join(others, ", ") + ", because they say that they are the same work"
}

// compareStates compares the states in which the jobs ended. Jobs that are completed or deleted
// may have been removed.
func compareStates(records []prediction, s *observed) (all []Difference) {
	completed, failed := string(newqueue.JobCompleted), string(newqueue.JobFailed)
	for i := range records {
		f := &records[i]
		is, want := s.states[f.Job], f.State
		switch {
		case f.Told != "":
			continue
		case s.failed[f.Key]:
			want = failed
		case f.Runs:
			want = completed
		}
		if is == want || is == "" && (want == completed || want == string(newqueue.JobDeleted)) {
			continue
		}
		all = append(all, Difference{State, f.Path, fmt.Sprintf("%s is %s in the end, expected %s%s", f.Job, cmp.Or(is, "not there"), want, s.why(f.Job))})
	}
	return all
}

func compareReports(records []prediction, batches map[string]*batch, s *observed) (all []Difference) {
	times, listed := map[string]int{}, map[string]map[string]bool{}
	for _, m := range s.emails {
		times[m.Batch]++
		listed[m.Batch] = map[string]bool{}
		for _, key := range slices.Concat(m.Completed, m.Failed) {
			listed[m.Batch][key] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(batches)) {
		b, want := batches[id], 0
		if b.Reports {
			want = 1
		}
		if n := times[id]; n > 1 || n != want && !b.Told {
			all = append(all, Difference{Reports, newqueue.BatchPath(id), fmt.Sprintf("it was reported %d times, expected %d%s", n, want, s.why(newqueue.BatchPath(id)))})
		}
	}
	for i := range records {
		f := &records[i]
		b := batches[f.Batch]
		if b == nil || !b.Reports || b.Told || times[b.ID] == 0 || f.State == string(newqueue.JobDeleted) || listed[b.ID][f.Key] {
			continue
		}
		if f.Key != f.Job { // a report names a job by its jobID
			all = append(all, Difference{Reports, f.Path, fmt.Sprintf("the report of %s does not list it", newqueue.BatchPath(b.ID))})
		}
	}
	return all
}
