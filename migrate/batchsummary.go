package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/newqueue"
)

// batchSummary is what a batch's jobs together say of it. Jobs are added in the order of
// their ids. It does not grow with their number.
type batchSummary struct {
	jobs   int
	shared []sharedValue // properties that at least one job has
	update updateValue
	mode   string    // of the first job
	date   time.Time // of the earliest job
}

// sharedValue is the value that all of a batch's jobs have for a property, "" if they
// differ. For a wide property, jobs without it don't count. If the others differ, the
// first value is taken, with a warning.
type sharedValue struct {
	value, from string // from is the record of the first job that has it
	warning     *string
	field       uint8 // index into [sharedFields]
	differs     bool
}

// add adds one more job.
func (s *batchSummary) add(key batchKey, j *job, d newqueue.Dialect) {
	p := j.rec.Legacy.Payload
	if s.jobs == 0 {
		s.mode = submissionMode(p)
	}
	s.date = earlier(s.date, j.rec.Legacy.Header.Time)
	for i, f := range sharedFields(d) {
		s.share(key, uint8(i), f, text(p, f.property), j.rec.Path)
	}
	if s.jobs == 0 {
		s.shared = slices.Clip(s.shared) // at worst, each job has a batch of its own
	}
	if d == newqueue.MrtZK {
		s.update.add(key, j)
	}
	s.jobs++
}

// sharedField is a property that goes into a submission. It is wide only in a batch of
// the depositor's.
type sharedField struct {
	property string
	wide     bool
}

// sharedFields are the shared properties of a dialect, each once.
func sharedFields(d newqueue.Dialect) []sharedField { return fieldsOf[d] }

var fieldsOf = func() map[newqueue.Dialect][]sharedField {
	var design []sharedField
	for _, f := range submissionFields {
		design = append(design, sharedField{f.property, f.wide})
	}
	mrtzk := slices.Clone(design)
	for _, k := range serviceKeys {
		known := slices.ContainsFunc(design, func(f sharedField) bool { return f.property == k.key })
		if k.batch != notInBatch && !known {
			mrtzk = append(mrtzk, sharedField{k.key, k.batch == wideInBatch})
		}
	}
	return map[newqueue.Dialect][]sharedField{newqueue.Design: design, newqueue.MrtZK: mrtzk}
}()

func (s *batchSummary) share(key batchKey, field uint8, f sharedField, v, from string) {
	wide := f.wide && key.kind == ofBatch
	known := s.of(field)
	switch {
	case known == nil && v == "": // no job has it yet
	case known == nil:
		first := sharedValue{field: field, differs: !wide && s.jobs > 0}
		if !first.differs {
			first.value, first.from = strings.Clone(v), from
		}
		s.shared = append(s.shared, first)
	case v == known.value || wide && v == "" || known.differs:
	case !wide:
		known.differs, known.value, known.from = true, "", ""
	case known.warning == nil:
		known.warning = new(fmt.Sprintf("batch %s: %s is %q in %s and %q in %s; the first goes into the submission", key.name, f.property, known.value, known.from, v, from))
	}
}

// of is the value of a field; nil if no job has one.
func (s *batchSummary) of(field uint8) *sharedValue {
	for i := range s.shared {
		if s.shared[i].field == field {
			return &s.shared[i]
		}
	}
	return nil
}

// value is a property's value in the submission.
func (s *batchSummary) value(property string, d newqueue.Dialect) string {
	i := slices.IndexFunc(sharedFields(d), func(f sharedField) bool { return f.property == property })
	if i < 0 {
		return ""
	}
	if v := s.of(uint8(i)); v != nil && !v.differs {
		return v.value
	}
	return ""
}

// updateValue is what the jobs say of the flag update. The first job that says something
// counts.
type updateValue struct {
	value   bool
	from    string // that job's record; "" if no job says anything
	warning string
}

func (u *updateValue) add(key batchKey, j *job) {
	value, ok := updateFlag(j.rec.Legacy.Payload)
	switch {
	case !ok:
	case u.from == "":
		u.value, u.from = value, j.rec.Path
	case value != u.value && u.warning == "":
		u.warning = fmt.Sprintf("batch %s: update is %t in %s and %t in %s; the first goes into the submission", key.name, u.value, u.from, value, j.rec.Path)
	}
}

// submissionObject is the submission as it is written. In dialect mrt-zk it also has
// the keys that the services read.
func (b *batch) submissionObject(d newqueue.Dialect) newqueue.Object {
	summary := b.summary
	submission := newqueue.Submission{BatchID: b.key.uuid(), SubmissionDate: summary.date, SubmissionMode: summary.mode}
	for _, f := range submissionFields {
		f.set(&submission, summary.value(f.property, d))
	}
	o := submission.Object(d)
	if d == newqueue.MrtZK {
		maps.Copy(o, summary.serviceKeys(d))
	}
	return o
}

// serviceKeys are the submission's keys that the services read.
func (s *batchSummary) serviceKeys(d newqueue.Dialect) newqueue.Object {
	// No record has the name of the batch's manifest. An empty name is safe.
	o := newqueue.Object{"filename": "", keyUpdate: s.update.value}
	for _, k := range serviceKeys {
		if v := s.value(k.key, d); k.batch != notInBatch && v != "" {
			o[k.key] = v
		}
	}
	return o
}

// submissionWarnings names, for each wide property on which the batch's records
// disagree, two of these records. The first one's value is taken.
func (b *batch) submissionWarnings(d newqueue.Dialect) (warnings []string) {
	summary := b.summary
	for i := range sharedFields(d) {
		if v := summary.of(uint8(i)); v != nil && v.warning != nil {
			warnings = append(warnings, *v.warning)
		}
	}
	if summary.update.warning != "" {
		warnings = append(warnings, summary.update.warning)
	}
	return warnings
}

// jobTally counts a batch's jobs.
type jobTally struct {
	in                 folderCounts
	last               time.Time // when a job last changed
	failed, successful []string  // ids
}

// folderCounts are numbers of jobs, in the order of [newqueue.BatchFolders].
type folderCounts [4]int

func (c folderCounts) of(f newqueue.BatchFolder) int {
	return c[slices.Index(newqueue.BatchFolders, f)]
}

func (t *jobTally) add(j *job) {
	t.count(j)
	switch j.initial.job {
	case newqueue.JobFailed:
		t.failed = append(t.failed, j.id)
	case newqueue.JobCompleted:
		t.successful = append(t.successful, j.id)
	}
}

// count counts a job without noting its id.
func (t *jobTally) count(j *job) {
	t.in[slices.Index(newqueue.BatchFolders, j.initial.job.Folder())]++
	t.last = later(t.last, j.rec.Legacy.Header.Time)
}

func (t *jobTally) state() newqueue.BatchState {
	switch {
	case t.in.of(newqueue.FolderProcessing) > 0:
		return newqueue.BatchProcessing
	case t.in.of(newqueue.FolderFailed) > 0:
		return newqueue.BatchFailed
	}
	return newqueue.BatchCompleted
}
