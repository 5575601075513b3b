package newqueue

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"mrtq/internal/statedraw"
)

// StatesFormat is a form in which [WriteStates] shows the state machines.
type StatesFormat string

// The forms.
const (
	StatesTable   StatesFormat = "table"
	StatesMermaid StatesFormat = "mermaid"
	StatesSVG     StatesFormat = "svg"
)

// WriteStates shows every transition of a dialect's machines, as the tables
// have them. The error wraps [ErrValue] for a form that there isn't, and is
// w's otherwise.
func WriteStates(w io.Writer, d Dialect, f StatesFormat) error {
	switch f {
	case StatesTable:
		return writeTable(w, d)
	case StatesMermaid:
		return writeMermaid(w, d)
	case StatesSVG:
		return writeSVG(w, d)
	}
	return fmt.Errorf("format %q: %w: want %s, %s or %s", f, ErrValue, StatesTable, StatesMermaid, StatesSVG)
}

func writeTable(w io.Writer, d Dialect) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for i, e := range Entities {
		if i > 0 {
			fmt.Fprintln(tw)
		}
		header, rows := StateRows(e, d)
		fmt.Fprintln(tw, strings.Join(header, "\t"))
		for _, row := range rows {
			fmt.Fprintln(tw, strings.Join(row, "\t"))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) { // a column without text leaves blanks
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// StateRows is an entity's transitions in a dialect as a table to print: the
// headings, and a row for each transition.
func StateRows(e Entity, d Dialect) (header []string, rows [][]string) {
	header = []string{"id", string(e) + " from → to", "who"}
	if e == EntityJob {
		header = append(header, "last success", "retry", "queue entry", "batch entry")
	}
	header = append(header, "nodes", "note")
	for _, t := range Transitions(e, d) {
		row := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
		if e == EntityJob {
			row = append(row, string(t.LastSuccess), string(t.Retry), string(t.QueueEntry), batchEntryText(t))
		}
		rows = append(rows, append(row, string(t.Nodes), t.Note))
	}
	return header, rows
}

// batchEntryText says what becomes of the batch entry. It leaves out the
// "batch-" that all folders begin with.
func batchEntryText(t Transition) string {
	folder := func(s string) string { return strings.TrimPrefix(string(JobState(s).Folder()), "batch-") }
	switch t.BatchEntry {
	case PlaceNew:
		return folder(t.To) + " created"
	case PlaceMoves:
		return folder(t.From) + " → " + folder(t.To)
	case PlaceGoes:
		return folder(t.From) + " removed"
	}
	return string(t.BatchEntry)
}

// writeMermaid draws one state diagram an entity.
func writeMermaid(w io.Writer, d Dialect) error {
	var b strings.Builder
	for i, e := range Entities {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "---\ntitle: %s (%s)\n---\nstateDiagram-v2\n", e, d)
		node := func(s string) string {
			if s == Created || s == Removed {
				return "[*]"
			}
			return strings.ReplaceAll(s, "-", "_") // a hyphen ends a mermaid id
		}
		for _, t := range Transitions(e, d) {
			fmt.Fprintf(&b, "    %s --> %s: %s %s\n", node(t.From), node(t.To), t.ID, t.Who)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSVG draws each entity's machine.
func writeSVG(w io.Writer, d Dialect) error {
	var machines []statedraw.Machine
	for _, e := range Entities {
		machines = append(machines, Drawing(e, d))
	}
	_, err := io.WriteString(w, statedraw.Document("States and transitions, dialect "+string(d), machines...))
	return err
}

// Drawing is an entity's table as a drawing. The caller owns it, and may put
// into it how many there are in a state, and what is proved of a step.
func Drawing(e Entity, d Dialect) statedraw.Machine {
	m := statedraw.Machine{Name: string(e), States: []statedraw.State{{Name: Created, Bound: true}}}
	for _, s := range States(e, d) {
		m.States = append(m.States, statedraw.State{Name: s})
	}
	removed := false
	for _, t := range Transitions(e, d) {
		removed = removed || t.To == Removed
		m.Steps = append(m.Steps, statedraw.Step{ID: t.ID, From: t.From, To: t.To, Who: string(t.Who), Free: !t.Who.holdsLock()})
	}
	if removed {
		m.States = append(m.States, statedraw.State{Name: Removed, Bound: true})
	}
	return m
}
