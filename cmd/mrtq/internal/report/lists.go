package report

import (
	"fmt"

	"mrtq/internal/text"
	"mrtq/migrate"
)

// list is a long list. The page itself has its first rows. Its script draws, searches and
// sorts all of them.
type list struct {
	ID      string   `json:"id"`
	One     string   `json:"one"` // what an item is called
	Many    string   `json:"many"`
	Columns []column `json:"columns"`
	// Rows are the texts of the columns. Text of others is made harmless by [newList].
	Rows [][]any `json:"rows"`
	// first is how many rows are in the page itself.
	first int
}

// column is one column of a list. The page's table shows those that are Shown; the details of
// a row have all. A Facet can be chosen from a menu. A value is a string; a number, or null,
// if Number is set; and a number of milliseconds, or null, if Time is set.
type column struct {
	Name   string `json:"name"`
	Label  string `json:"label"`
	Shown  bool   `json:"shown"`
	Facet  bool   `json:"facet,omitempty"`
	Number bool   `json:"number,omitempty"`
	Time   bool   `json:"time,omitempty"`
}

// N returns the number of rows.
func (l list) N() int { return len(l.Rows) }

// newList makes a list of items.
func newList[T any](id, one, many string, columns []column, items []T, row func(*T) []any) list {
	l := list{ID: id, One: one, Many: many, Columns: columns, Rows: make([][]any, len(items)), first: firstRows}
	for i := range items {
		l.Rows[i] = row(&items[i])
		for j, v := range l.Rows[i] {
			if s, ok := v.(string); ok {
				l.Rows[i][j] = text.Line(s)
			}
		}
	}
	return l
}

// How many rows of a list are in the page itself: of the records, and of what speaks against
// the migration, which has to be read without the script, too.
const (
	firstRecords = 20
	firstRows    = 1000
)

// listCell is one cell in the page itself.
type listCell struct{ Name, Label, Text string }

// First returns the rows that are in the page itself.
func (l list) First() (rows [][]listCell) {
	for _, r := range l.Rows[:min(len(l.Rows), l.first)] {
		var cells []listCell
		for i, c := range l.Columns {
			if c.Shown {
				text := ""
				if r[i] != nil {
					text = fmt.Sprint(r[i])
				}
				cells = append(cells, listCell{c.Name, c.Label, text})
			}
		}
		rows = append(rows, cells)
	}
	return rows
}

// Shown returns the columns of the table.
func (l list) Shown() (shown []column) {
	for _, c := range l.Columns {
		if c.Shown {
			shown = append(shown, c)
		}
	}
	return shown
}

func (d *Data) recordList() list {
	there := d.Plan == nil // a plan's records have no jobs yet
	columns := []column{
		{Name: "path", Label: "Legacy record", Shown: true},
		{Name: "queue", Label: "Queue", Facet: true},
		{Name: "status", Label: "Legacy status", Shown: true, Facet: true},
		{Name: "outcome", Label: "Outcome", Shown: true, Facet: true},
		{Name: "state", Label: map[bool]string{true: "State", false: "Begins in"}[there], Shown: true, Facet: true},
		{Name: "job", Label: "Job or request", Shown: there},
		{Name: "batch", Label: "Batch", Shown: there},
		{Name: "run", Label: "Run", Facet: true},
		{Name: "why", Label: "Why", Shown: true},
		{Name: "format", Label: "Format", Facet: true},
		{Name: "priority", Label: "Priority", Shown: true, Number: true},
		{Name: "time", Label: "Written", Time: true},
	}
	l := newList("records", "record", "records", columns, d.Records, func(r *migrate.RecordStatus) []any {
		row := []any{r.Path, string(r.Queue), r.Status, d.word(r.Outcome), r.State, r.Job, r.Batch, r.Run, r.Reason, r.Format, nil, nil}
		if p := r.Priority(); p >= 0 {
			row[10] = p
		}
		if !r.Time.IsZero() {
			row[11] = r.Time.UnixMilli()
		}
		return row
	})
	l.first = firstRecords
	return l
}

// groupNames are what the differences of a group are called.
var groupNames = map[migrate.Group][2]string{
	migrate.Damage: {"fault", "faults"}, migrate.UndecidedIn: {"record to decide about", "records to decide about"}, migrate.UnfinishedIn: {"unfinished run", "unfinished runs"},
	migrate.RestoredIn: {"restored run", "restored runs"}, migrate.ActedOnIn: {"job or batch that was acted on", "jobs and batches that were acted on"},
}

func differenceList(g migrate.Group, differences []migrate.Difference) list {
	var of []migrate.Difference
	for _, d := range differences {
		if d.Kind.Group() == g {
			of = append(of, d)
		}
	}
	columns := []column{{Name: "path", Label: "Record or znode", Shown: true}, {Name: "kind", Label: "Difference", Shown: true, Facet: true}, {Name: "message", Label: "What", Shown: true}, {Name: "record", Label: "Record"}}
	return newList(string(g), groupNames[g][0], groupNames[g][1], columns, of, func(d *migrate.Difference) []any {
		return []any{d.Path, string(d.Kind), d.Message, d.Record}
	})
}

func problemList(problems []migrate.Problem) list {
	columns := []column{{Name: "path", Label: "Record or znode", Shown: true}, {Name: "kind", Label: "Problem", Shown: true, Facet: true}, {Name: "message", Label: "What", Shown: true}, {Name: "next", Label: "What to do", Shown: true}}
	return newList("problems", "problem of the plan", "problems of the plan", columns, problems, func(p *migrate.Problem) []any {
		return []any{p.Path, string(p.Kind), p.Message, p.Next}
	})
}

func warningList(warnings []migrate.Warning) list {
	columns := []column{{Name: "path", Label: "Record or znode", Shown: true}, {Name: "message", Label: "Warning", Shown: true}}
	return newList("warnings", "warning of the plan", "warnings of the plan", columns, warnings, func(w *migrate.Warning) []any { return []any{w.Path, w.Message} })
}

func pathList(id, one, many string, paths []string) list {
	return newList(id, one, many, []column{{Name: "path", Label: "Legacy record", Shown: true}}, paths, func(p *string) []any { return []any{*p} })
}
