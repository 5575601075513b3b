package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/legacy"
	"mrtq/newqueue"
)

// submissionFields are the keys of a submission that come from the jobs' properties. A
// wide field should be the same in all of a batch's jobs. The other fields describe one
// object, and go into the submission only if all jobs agree.
var submissionFields = []struct {
	property string
	wide     bool
	set      func(*newqueue.Submission, string)
}{
	{"profile", true, func(s *newqueue.Submission, v string) { s.ProfileName = v }},
	{"submitter", true, func(s *newqueue.Submission, v string) { s.Submitter = v }},
	{"type", true, func(s *newqueue.Submission, v string) { s.Type = v }},
	{"filename", false, func(s *newqueue.Submission, v string) { s.PayloadFilename = v }},
	{"title", false, func(s *newqueue.Submission, v string) { s.ErcWhat = v }},
	{"creator", false, func(s *newqueue.Submission, v string) { s.ErcWho = v }},
	{"date", false, func(s *newqueue.Submission, v string) { s.ErcWhen = v }},
	{"objectID", false, func(s *newqueue.Submission, v string) { s.ErcWhere = v }},
}

// sharedField is a property that goes into a submission. It is wide only in a batch of
// the depositor's.
type sharedField struct {
	property string
	wide     bool
}

// sharedFields are the shared properties of a dialect, each once.
var sharedFields = func() map[newqueue.Dialect][]sharedField {
	var design []sharedField
	for _, f := range submissionFields {
		design = append(design, sharedField{f.property, f.wide})
	}
	mrtzk := slices.Clone(design)
	for _, k := range serviceKeys {
		if !slices.ContainsFunc(design, func(f sharedField) bool { return f.property == k.property }) {
			mrtzk = append(mrtzk, k)
		}
	}
	return map[newqueue.Dialect][]sharedField{newqueue.Design: design, newqueue.MrtZK: mrtzk}
}()

// submission is what the records of a batch together say of it. It does not grow with
// their number.
type submission struct {
	shared []sharedValue // properties that at least one record has
	update sharedFlag
	mode   string    // of the first record
	date   time.Time // of the earliest record
	// disagree names, for each wide property on which records disagree, two of them.
	disagree []string
}

// sharedValue is the value that all records of a batch have for a property, "" if they
// differ. For a wide property, records without it don't count. If the others differ, the
// first value is taken, with a warning.
type sharedValue struct {
	property        string
	value, from     string // from is the first record that has it
	differs, warned bool
}

// sharedFlag is what the records say of the flag update. The first record that says
// something counts.
type sharedFlag struct {
	value, warned bool
	from          string // that record; "" if none says anything
}

func (s *submission) add(key BatchKey, r Record, first bool, d newqueue.Dialect) {
	p := r.Legacy.Payload
	if first { // the records of a batch have much the same properties, and a large queue has many batches
		s.mode, s.shared = submissionMode(p), make([]sharedValue, 0, min(len(p), len(sharedFields[d])))
	}
	s.date = earlier(s.date, r.Legacy.Header.Time)
	for _, f := range sharedFields[d] {
		s.share(key, f.property, f.wide && key.Kind == OfBatch, first, text(p, f.property), r.Path)
	}
	if d == newqueue.MrtZK {
		s.shareUpdate(key, p, r.Path)
	}
}

func (s *submission) share(key BatchKey, property string, wide, first bool, v, from string) {
	known := s.of(property)
	switch {
	case known == nil && v == "": // no record has it yet
	case known == nil:
		value := sharedValue{property: property, differs: !wide && !first}
		if !value.differs {
			value.value, value.from = strings.Clone(v), from
		}
		s.shared = append(s.shared, value)
	case v == known.value || wide && v == "" || known.differs:
	case !wide:
		known.differs, known.value, known.from = true, "", ""
	case !known.warned:
		known.warned = true
		s.disagree = append(s.disagree, fmt.Sprintf("batch %s: %s is %q in %s and %q in %s; the first goes into the submission", key.UUID, property, known.value, known.from, v, from))
	}
}

func (s *submission) shareUpdate(key BatchKey, p legacy.Payload, from string) {
	u := &s.update
	value, ok := updateFlag(p)
	switch {
	case !ok:
	case u.from == "":
		u.value, u.from = value, from
	case value != u.value && !u.warned:
		u.warned = true
		s.disagree = append(s.disagree, fmt.Sprintf("batch %s: update is %t in %s and %t in %s; the first goes into the submission", key.UUID, u.value, u.from, value, from))
	}
}

// of is the value of a property; nil if no record has one.
func (s *submission) of(property string) *sharedValue {
	for i := range s.shared {
		if s.shared[i].property == property {
			return &s.shared[i]
		}
	}
	return nil
}

func (s *submission) value(property string) string {
	if v := s.of(property); v != nil && !v.differs {
		return v.value
	}
	return ""
}

// object is the submission as it is written. In dialect mrt-zk it also has the keys that
// the services read.
func (s *submission) object(key BatchKey, d newqueue.Dialect) newqueue.Object {
	fields := newqueue.Submission{BatchID: key.UUID, SubmissionDate: s.date, SubmissionMode: s.mode}
	for _, f := range submissionFields {
		f.set(&fields, s.value(f.property))
	}
	o := fields.Object(d)
	if d == newqueue.MrtZK {
		maps.Copy(o, s.serviceKeys())
	}
	return o
}

// serviceKeys are the submission's keys that the services read.
func (s *submission) serviceKeys() newqueue.Object {
	// No record has the name of the batch's manifest. An empty name is safe.
	o := newqueue.Object{"filename": "", keyUpdate: s.update.value}
	for _, k := range serviceKeys {
		if v := s.value(k.property); v != "" {
			o[k.property] = v
		}
	}
	return o
}

// Disagreements names, for each property of the whole batch on which its records
// disagree, two of these records. The first one's value is taken.
func (b *Batch) Disagreements() []string { return b.disagree }
