package migrate

import (
	"encoding/json"
	"iter"
	"slices"

	"mrtq/legacy"
)

// Records are a plan's entries, one for each record, in the order of the records' paths.
// In memory they are rows. [Records.All] makes entries of these.
type Records struct {
	list []Entry // the entries, if the plan was read from a file
	plan *Plan   // the plan, if MakePlan made it
}

// RecordsOf returns Records with these entries.
func RecordsOf(entries ...Entry) Records { return Records{list: entries} }

// Len is the number of entries.
func (r Records) Len() int {
	if r.plan != nil {
		return r.plan.recordCount
	}
	return len(r.list)
}

// All yields the entries.
func (r Records) All() iter.Seq[Entry] {
	if r.plan != nil {
		return r.plan.entries
	}
	return slices.Values(r.list)
}

// MarshalJSON writes the entries as a list.
func (r Records) MarshalJSON() ([]byte, error) {
	list := slices.Collect(r.All())
	orEmpty(&list)
	return json.Marshal(list)
}

// UnmarshalJSON reads a list of entries.
func (r *Records) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &r.list) }

// recordRow is one record's line in a plan. There is one for each record, so it is small
// and has no pointers. [Entry] is what it says.
type recordRow struct {
	sha    [32]byte
	job    member
	batch  int32 // one more than the index into [Plan.batchList]; 0 for none
	reason int32 // index into [Plan.reasons]
	state  uint8 // index into [Plan.states]
	status uint8 // one more than the legacy status; 0 if it is not known
	action uint8 // one more than the index into [Actions]; 0 if the record was gone when it was to be read
	change recordChange
}

// member names a job. If the plan creates it, member is one more than its index in
// [Plan.creates]. If it is there already, member is the negative of one more than its row.
// 0 is no job.
type member int32

func newMember(i int) member           { return member(i + 1) }
func existingMember(i int) member      { return member(-i - 1) }
func (m member) created() (int, bool)  { return int(m) - 1, m > 0 }
func (m member) existing() (int, bool) { return int(-m) - 1, m < 0 }

// recordChange says how a record has changed since its job, which is gone, was made.
type recordChange uint8

const (
	notChanged recordChange = iota
	notDecodable
	changedSince
)

var goneSuffixes = [...]string{notDecodable: "; it can't be decoded any more", changedSince: "; the record has changed since"}

// textTable numbers texts. There are few different ones.
type textTable struct {
	texts []string
	index map[string]int32
}

func (t *textTable) of(text string) int32 {
	i, known := t.index[text]
	if !known {
		if t.index == nil {
			t.index = map[string]int32{}
		}
		i = int32(len(t.texts))
		t.texts, t.index[text] = append(t.texts, text), i
	}
	return i
}

// entries yields the entries of the rows.
func (p *Plan) entries(yield func(Entry) bool) {
	for record, path := range p.listed.inPathOrder() {
		row := &p.rows[record]
		if row.action != 0 && !yield(p.entry(record, path, row)) {
			return
		}
	}
}

func (p *Plan) entry(record int32, path string, row *recordRow) Entry {
	e := Entry{
		Path: path, Queue: p.listed.kind(record), SHA256: hexOf(row.sha), Action: Actions[row.action-1],
		State: p.states.texts[row.state], Reason: p.reasons.texts[row.reason], ID: p.idOfMember(row.job),
	}
	if row.status > 0 {
		e.Status = legacy.Status(row.status - 1).String()
	}
	if row.batch > 0 {
		e.Batch = p.batchList[row.batch-1].bid
	}
	if e.Action == ActGone && e.Reason == "" {
		if h, there := p.ex.custody.lookup(path); there {
			e.Reason = p.target.whyGone(h) + goneSuffixes[row.change]
		}
	}
	return e
}
