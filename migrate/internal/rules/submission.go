package rules

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// shared are the properties of a batch's jobs that go into its submission. A wide one should be the same in
// all jobs of a depositor's batch; the others describe one object, and go into the submission only if all jobs
// agree. Those with a key of the published design are there under that key. In dialect mrt-zk all are also there
// under their own names, because the deployed services read them there, or once read them (HandlerSubmit of both
// sides). Every property is in the configuration of its job, too.
var shared = []struct {
	property string
	wide     bool
	set      func(*newqueue.Submission, string) // nil if the design has no key for it
}{
	{"profile", true, func(s *newqueue.Submission, v string) { s.ProfileName = v }},       // every ingest daemon, the collection hold, the report, the admin's lists
	{"submitter", true, func(s *newqueue.Submission, v string) { s.Submitter = v }},       // the email, mrt-ingest.txt, the admin's lists
	{"type", true, func(s *newqueue.Submission, v string) { s.Type = v }},                 // Initialize, Estimate, Download
	{"filename", false, func(s *newqueue.Submission, v string) { s.PayloadFilename = v }}, // Initialize (Verify, mrt-ingest.txt), the admin's lists
	{"title", false, func(s *newqueue.Submission, v string) { s.ErcWhat = v }},            // this and the next two: the object's metadata
	{"creator", false, func(s *newqueue.Submission, v string) { s.ErcWho = v }},
	{"date", false, func(s *newqueue.Submission, v string) { s.ErcWhen = v }},
	{"objectID", false, func(s *newqueue.Submission, v string) { s.ErcWhere = v }}, // the report of a verbose profile; else identifiers has it
	{"localID", false, nil},             // the same
	{"responseForm", true, nil},         // nobody: its reader drops it
	{"notification", true, nil},         // the report: who gets the email
	{"notificationFormat", true, nil},   // the callback's format
	{"retainTargetURL", true, nil},      // the identifier service: the string "true"
	{"DataCiteResourceType", true, nil}, // nobody: only the legacy services did
	{"note", false, nil},                // the object's metadata, like the next
	{"DCcontributor", true, nil}, {"DCcoverage", true, nil}, {"DCcreator", true, nil}, {"DCdate", true, nil}, {"DCdescription", true, nil},
	{"DCformat", true, nil}, {"DCidentifier", true, nil}, {"DClanguage", true, nil}, {"DCpublisher", true, nil}, {"DCrelation", true, nil},
	{"DCrights", true, nil}, {"DCsource", true, nil}, {"DCsubject", true, nil}, {"DCtitle", true, nil}, {"DCtype", true, nil},
}

// submission is what the records of a batch together say of it. It does not grow with
// their number.
type submission struct {
	values   []sharedValue // properties that at least one record has
	mode     string        // of the first record
	date     time.Time     // of the earliest record
	disagree []Disagreement
}

// Disagreement names two records of a batch that disagree on a wide property. The first one's value is taken.
type Disagreement struct{ Property, Text string }

// sharedValue is the value that all records of a batch have for a property, "" if they
// differ. For a wide property, records without it don't count. If the others differ, the
// first value is taken, with a warning.
type sharedValue struct {
	property        string
	value, from     string // from is the first record that has it
	differs, warned bool
}

func (s *submission) add(key BatchKey, r migration.Record, first bool, d newqueue.Dialect) {
	p := r.Legacy.Payload
	if first { // the records of a batch have much the same properties, and a large queue has many batches
		s.mode, s.values = submissionMode(p), make([]sharedValue, 0, min(len(p), len(shared)))
	}
	if at := r.Legacy.Header.Time; s.date.IsZero() || !at.IsZero() && at.Before(s.date) {
		s.date = at
	}
	for _, f := range shared {
		if f.set != nil || d == newqueue.MrtZK {
			s.share(key, f.property, f.wide && key.Kind == OfBatch, first, Text(p, f.property), r.Path)
		}
	}
	if value, ok := updateFlag(p); ok && d == newqueue.MrtZK { // the first record that says something counts, whatever the batch
		s.share(key, keyUpdate, true, first, strconv.FormatBool(value), r.Path)
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
		s.values = append(s.values, value)
	case v == known.value || wide && v == "" || known.differs:
	case !wide:
		known.differs, known.value, known.from = true, "", ""
	case !known.warned:
		known.warned = true
		s.disagree = append(s.disagree, Disagreement{property, fmt.Sprintf("records of batch %s differ in %s: %q in %s, %q in %s; the batch gets the first, and each job keeps its own", key.UUID, property, known.value, known.from, v, from)})
	}
}

func (s *submission) of(property string) *sharedValue {
	for i := range s.values {
		if s.values[i].property == property {
			return &s.values[i]
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
	for _, f := range shared {
		if f.set != nil {
			f.set(&fields, s.value(f.property))
		}
	}
	o := newqueue.ToObject(d, fields)
	if d != newqueue.MrtZK {
		return o
	}
	// No record has the name of the batch's manifest. An empty name is safe.
	o["filename"], o[keyUpdate] = "", s.value(keyUpdate) == "true"
	for _, f := range shared {
		if v := s.value(f.property); v != "" {
			o[f.property] = v
		}
	}
	return o
}

// Disagreements has one for each wide property on which the batch's records disagree.
func (b *Batch) Disagreements() []Disagreement { return b.disagree }
