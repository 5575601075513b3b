package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/newqueue"
)

// batchSays is what a batch's jobs say of it together, one job after the other
// in the order of their ids. It does not grow with their number.
type batchSays struct {
	jobs   int
	shared []sharedValue // those that some job has
	update updateSaid
	mode   string    // of the first job
	date   time.Time // of the earliest
}

// sharedValue is the value that all of a batch's jobs have for a property, ""
// if they differ. For a batch-wide property, jobs without it have no say, and the
// first job that has it wins over others with a warning.
type sharedValue struct {
	value, from string // the first job that has it
	warning     *string
	field       uint8 // index into [sharedFields]
	differs     bool
}

// add hears one more job.
func (s *batchSays) add(key batchKey, j *job, d newqueue.Dialect) {
	p := j.rec.Legacy.Payload
	if s.jobs == 0 {
		s.mode = submissionMode(p)
	}
	s.date = earlier(s.date, j.rec.Legacy.Header.Time)
	for i, f := range sharedFields(d) {
		s.share(key, uint8(i), f, text(p, f.property), j.rec.Path)
	}
	if s.jobs == 0 {
		s.shared = slices.Clip(s.shared) // there are as many batches as jobs, at worst
	}
	if d == newqueue.MrtZK {
		s.update.add(key, j)
	}
	s.jobs++
}

// sharedField is a property that comes into a submission; a wide one only where
// the batch is one of the depositor's.
type sharedField struct {
	property string
	wide     bool
}

// sharedFields are those of a dialect, each once.
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

func (s *batchSays) share(key batchKey, field uint8, f sharedField, v, from string) {
	wide := f.wide && key.kind == ofBatch
	known := s.of(field)
	switch {
	case known == nil && v == "": // as all before
	case known == nil:
		said := sharedValue{field: field, differs: !wide && s.jobs > 0}
		if !said.differs {
			said.value, said.from = strings.Clone(v), from
		}
		s.shared = append(s.shared, said)
	case v == known.value || wide && v == "" || known.differs:
	case !wide:
		known.differs, known.value, known.from = true, "", ""
	case known.warning == nil:
		known.warning = new(fmt.Sprintf("batch %s: %s is %q in %s and %q in %s; the first goes into the submission", key.name, f.property, known.value, known.from, v, from))
	}
}

// of is the value of a field; nil if no job has one.
func (s *batchSays) of(field uint8) *sharedValue {
	for i := range s.shared {
		if s.shared[i].field == field {
			return &s.shared[i]
		}
	}
	return nil
}

// value is what goes into the submission of a property.
func (s *batchSays) value(property string, d newqueue.Dialect) string {
	i := slices.IndexFunc(sharedFields(d), func(f sharedField) bool { return f.property == property })
	if i < 0 {
		return ""
	}
	if v := s.of(uint8(i)); v != nil && !v.differs {
		return v.value
	}
	return ""
}

// updateSaid is what the jobs say of the flag update: the first that says
// something is believed.
type updateSaid struct {
	value   bool
	from    string // "" if none has said anything
	warning string
}

func (u *updateSaid) add(key batchKey, j *job) {
	value, ok := updateFlag(j.rec.Legacy.Payload)
	switch {
	case !ok:
	case u.from == "":
		u.value, u.from = value, j.rec.Path
	case value != u.value && u.warning == "":
		u.warning = fmt.Sprintf("batch %s: update is %t in %s and %t in %s; the first goes into the submission", key.name, u.value, u.from, value, j.rec.Path)
	}
}

// submissionObject is the submission as it is written: in dialect mrt-zk also
// with the keys that the services read.
func (b *batch) submissionObject(d newqueue.Dialect) newqueue.Object {
	said := b.said
	submission := newqueue.Submission{BatchID: b.key.uuid(), SubmissionDate: said.date, SubmissionMode: said.mode}
	for _, f := range submissionFields {
		f.set(&submission, said.value(f.property, d))
	}
	o := submission.Object(d)
	if d == newqueue.MrtZK {
		maps.Copy(o, said.serviceKeys(d))
	}
	return o
}

// serviceKeys are the keys of the submission that the services read.
func (s *batchSays) serviceKeys(d newqueue.Dialect) newqueue.Object {
	// The batch manifest's name is in no record; an empty one is safe.
	o := newqueue.Object{"filename": "", keyUpdate: s.update.value}
	for _, k := range serviceKeys {
		if v := s.value(k.key, d); k.batch != notInBatch && v != "" {
			o[k.key] = v
		}
	}
	return o
}

// submissionWarnings name, for each batch-wide property, two records that
// disagree on it, of which the first is believed.
func (b *batch) submissionWarnings(d newqueue.Dialect) (warnings []string) {
	said := b.said
	for i := range sharedFields(d) {
		if v := said.of(uint8(i)); v != nil && v.warning != nil {
			warnings = append(warnings, *v.warning)
		}
	}
	if said.update.warning != "" {
		warnings = append(warnings, said.update.warning)
	}
	return warnings
}

// jobTally counts a batch's jobs.
type jobTally struct {
	in                 folderCounts
	last               time.Time // of the job that changed last
	failed, successful []string  // ids
}

// folderCounts are numbers of jobs, by folder as in [newqueue.BatchFolders].
type folderCounts [4]int

func (c folderCounts) of(f newqueue.BatchFolder) int {
	return c[slices.Index(newqueue.BatchFolders, f)]
}

func (t *jobTally) add(j *job) {
	t.count(j)
	switch j.land.job {
	case newqueue.JobFailed:
		t.failed = append(t.failed, j.id)
	case newqueue.JobCompleted:
		t.successful = append(t.successful, j.id)
	}
}

// count is add without the job's id.
func (t *jobTally) count(j *job) {
	t.in[slices.Index(newqueue.BatchFolders, j.land.job.Folder())]++
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
