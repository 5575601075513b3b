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
	Twice   Kind = "twice"   // the work of a record was done more than once
	Never   Kind = "never"   // the work of a record was not done, and no one had said so
	Ran     Kind = "ran"     // a worker took a record that should have waited
	Empty   Kind = "empty"   // an object was stored without its content
	State   Kind = "state"   // a job ended in another state
	Reports Kind = "reports" // a batch was reported never, twice, or without one of its jobs
	Layout  Kind = "layout"  // verify finds a difference
	Stuck   Kind = "stuck"   // a worker could not do a documented step
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
		f := &records[i]
		byKey[f.Key] = append(byKey[f.Key], f)
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		least, most := 0, 0
		var others string
		var again *prediction // a legacy worker had taken it, and it runs
		for _, f := range byKey[key] {
			others += ", " + f.Path
			if f.Before || f.Runs {
				most++
			}
			if f.Before || f.Runs && !f.Told && !s.failed[key] {
				least++
			}
			if f.Before && f.Runs && again == nil {
				again = f
			}
		}
		f, e := byKey[key][0], s.executions[key]
		times := e.Times() + s.executions[f.Path].Times() // legacy workers know a record without a key by its path
		var kind Kind
		var message string
		switch {
		case times > most && again != nil:
			f, kind, message = again, Twice, "if the legacy worker that had taken it had done it: decide about it as held, not as "+again.State
		case times > most && most == 0:
			kind, message = Ran, "and its job should wait, because it is "+f.State
		case times > most:
			kind, message = Twice, fmt.Sprintf("expected %d: by %s", most, strings.Join(e.Workers, ", "))
		case times < least:
			kind, message = Never, fmt.Sprintf("expected %d: its job is %s, and it was %v", least, cmp.Or(s.states[f.Job], "not there"), e.States)
		case e.StoredEmpty > 0 && !f.Told:
			kind, message = Empty, "and its object was stored without its content"
		default:
			continue
		}
		if len(byKey[key]) > 1 {
			message += "; counted together, because they say that they are the same work: " + others[2:]
		}
		all = append(all, Difference{kind, f.Path, fmt.Sprintf("its work was done %d times, %s%s", times, message, s.why(f.Job))})
	}
	return all
}

// compareStates compares the states in which the jobs ended. Jobs that are completed or deleted
// may have been removed.
func compareStates(records []prediction, s *observed) (all []Difference) {
	completed, failed := string(newqueue.JobCompleted), string(newqueue.JobFailed)
	for i := range records {
		f := &records[i]
		is, want := s.states[f.Job], f.State
		if f.Runs {
			want = completed
		}
		switch {
		case f.Told, is == want:
		case is == failed && s.failed[f.Key]:
		case is == "" && (want == completed || want == string(newqueue.JobDeleted)):
		default:
			all = append(all, Difference{State, f.Path, fmt.Sprintf("%s is %s in the end, expected %s%s", f.Job, cmp.Or(is, "not there"), want, s.why(f.Job))})
		}
	}
	return all
}

// compareReports compares how often each batch was reported, and whether it lists the batch's records, by their jobs' jobIDs.
func compareReports(records []prediction, batches map[string]*batch, s *observed) (all []Difference) {
	times, listed := map[string]int{}, map[[2]string]bool{}
	for _, m := range s.emails {
		times[m.Batch]++
		for _, key := range slices.Concat(m.Completed, m.Failed) {
			listed[[2]string{m.Batch, key}] = true
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
		due := b != nil && b.Reports && !b.Told && times[b.ID] > 0 && f.State != string(newqueue.JobDeleted) && f.Key != f.Job
		if due && !listed[[2]string{b.ID, f.Key}] {
			all = append(all, Difference{Reports, f.Path, fmt.Sprintf("the report of %s does not list it", newqueue.BatchPath(b.ID))})
		}
	}
	return all
}
