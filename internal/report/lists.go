package report

import (
	"strings"
	"time"
)

// recordList lists each record's custody, from its legacy path to its new ids.
func recordList(records []Record) list {
	n := len(records)
	text := func(name, label string, of func(r *Record) string) listColumn {
		return listColumn{Name: name, Label: label}.texts(n, func(i int) string { return of(&records[i]) })
	}
	shown := func(name, label string, of func(r *Record) string) listColumn {
		return listColumn{Name: name, Label: label, Shown: true}.texts(n, func(i int) string { return of(&records[i]) })
	}
	facet := func(name, label string, of func(r *Record) string) listColumn {
		return listColumn{Name: name, Label: label, Shown: true, Facet: true}.texts(n, func(i int) string { return of(&records[i]) })
	}
	at := func(name, label string, of func(r *Record) time.Time) listColumn {
		return listColumn{Name: name, Label: label}.times(n, func(i int) time.Time { return of(&records[i]) })
	}
	return list{ID: "records", One: "record", Many: "records", N: n, Columns: []listColumn{
		shown("record", "Legacy record", func(r *Record) string { return r.Path }),
		facet("outcome", "Outcome", func(r *Record) string { return string(r.Outcome) }),
		shown("id", "New id", func(r *Record) string { return r.Job[strings.LastIndexByte(r.Job, '/')+1:] }),
		facet("state", "New state", func(r *Record) string { return r.State }),
		shown("batch", "Batch", func(r *Record) string { return r.Batch }),
		facet("queue", "Queue", func(r *Record) string { return r.Queue }),
		facet("status", "Legacy status", func(r *Record) string { return r.Status }),
		listColumn{Name: "priority", Label: "Priority", Shown: true}.numbers(n, func(i int) (int64, bool) {
			return int64(records[i].Priority), records[i].Priority >= 0
		}),
		text("job", "New znode", func(r *Record) string { return r.Job }),
		text("reason", "Why", func(r *Record) string { return r.Reason }),
		text("format", "Format", func(r *Record) string { return r.Format }),
		at("time", "Written", func(r *Record) time.Time { return r.Time }),
		text("planned", "Id in the plan", func(r *Record) string { return r.Planned }),
		text("forced", "Decided by", func(r *Record) string { return r.Forced }),
		text("run", "Run", func(r *Record) string { return r.Run }),
		at("at", "Job made", func(r *Record) time.Time { return r.At }),
	}}
}

// batchList lists the new queue's batches, with the outcomes of their jobs.
func batchList(batches []Batch, records []Record) list {
	type tally struct{ jobs, touched, gone int64 }
	counts := map[string]*tally{}
	for _, b := range batches {
		counts[b.ID] = &tally{}
	}
	for i := range records {
		r := &records[i]
		if r.Batch == "" {
			continue
		}
		t := counts[r.Batch]
		if t == nil {
			t = &tally{}
			counts[r.Batch] = t
			batches = append(batches[:len(batches):len(batches)], Batch{ID: r.Batch})
		}
		t.jobs++
		switch r.Outcome {
		case Touched:
			t.touched++
		case Gone:
			t.gone++
		}
	}
	n := len(batches)
	number := func(name, label string, of func(t *tally) int64) listColumn {
		return listColumn{Name: name, Label: label, Shown: true}.numbers(n, func(i int) (int64, bool) { return of(counts[batches[i].ID]), true })
	}
	return list{ID: "batches", One: "batch", Many: "batches", N: n, Columns: []listColumn{
		listColumn{Name: "batch", Label: "Batch", Shown: true}.texts(n, func(i int) string { return batches[i].ID }),
		listColumn{Name: "uuid", Label: "UUID", Shown: true}.texts(n, func(i int) string { return batches[i].UUID }),
		listColumn{Name: "state", Label: "State", Shown: true, Facet: true}.texts(n, func(i int) string { return batches[i].State }),
		number("jobs", "Records", func(t *tally) int64 { return t.jobs }),
		number("touched", "Touched since", func(t *tally) int64 { return t.touched }),
		number("gone", "Gone", func(t *tally) int64 { return t.gone }),
	}}
}

// problemList lists problems.
func problemList(id, one, many string, problems []Problem) list {
	n := len(problems)
	text := func(name, label string, shown, facet bool, of func(p Problem) string) listColumn {
		return listColumn{Name: name, Label: label, Shown: shown, Facet: facet}.texts(n, func(i int) string { return of(problems[i]) })
	}
	return list{ID: id, One: one, Many: many, N: n, Columns: []listColumn{
		text("path", "Record or znode", true, false, func(p Problem) string { return p.Path }),
		text("kind", "Kind", true, true, func(p Problem) string { return p.Kind }),
		text("message", "What", true, false, func(p Problem) string { return p.Message }),
		text("next", "What to do", false, false, func(p Problem) string { return p.Next }),
	}}
}

func noteList(id, one, many string, notes []Note) list {
	n := len(notes)
	return list{ID: id, One: one, Many: many, N: n, Columns: []listColumn{
		listColumn{Name: "path", Label: "Record or znode", Shown: true}.texts(n, func(i int) string { return notes[i].Path }),
		listColumn{Name: "message", Label: "What to know", Shown: true}.texts(n, func(i int) string { return notes[i].Message }),
	}}
}

// findingList lists the findings of mrtq check.
func findingList(findings []Finding) list {
	n := len(findings)
	text := func(name, label string, shown, facet bool, of func(f Finding) string) listColumn {
		return listColumn{Name: name, Label: label, Shown: shown, Facet: facet}.texts(n, func(i int) string { return of(findings[i]) })
	}
	return list{ID: "findings", One: "finding", Many: "findings", N: n, Columns: []listColumn{
		text("path", "Znode", true, false, func(f Finding) string { return f.Path }),
		text("severity", "Severity", true, true, func(f Finding) string { return f.Severity }),
		text("rule", "Rule", true, true, func(f Finding) string { return f.Rule }),
		text("found", "Found", true, false, func(f Finding) string { return f.Found }),
		text("expected", "Expected", true, false, func(f Finding) string { return f.Expected }),
		text("mend", "Suggested mend", false, false, func(f Finding) string { return f.Mend }),
	}}
}
