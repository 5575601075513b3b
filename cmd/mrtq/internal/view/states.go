package view

import (
	"fmt"
	"strings"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// States prints every transition in a dialect, a table for each entity.
func States(s *screen.Screen, d newqueue.Dialect) {
	for _, e := range states.Entities {
		header, rows := stateRows(e, d)
		s.Table("", header, rows)
	}
}

// stateRows returns an entity's transitions in a dialect as a table: the headings, and a
// row for each transition.
func stateRows(e states.Entity, d newqueue.Dialect) (header []string, rows []screen.Row) {
	header = []string{"id", string(e) + " from → to", "who"}
	if e == states.Job {
		header = append(header, "last success", "retry", "queue entry", "batch entry")
	}
	header = append(header, "nodes", "note")
	for _, t := range states.Of(e, string(d)) {
		row := screen.Row{t.ID, t.From + " → " + t.To, string(t.Who)}
		if e == states.Job {
			row = append(row, string(t.LastSuccess), string(t.Retry), string(t.QueueEntry), BatchEntryText(t))
		}
		rows = append(rows, append(row, string(t.Nodes), NoteText(t)))
	}
	return header, rows
}

// NoteText is a transition's guard and its note.
func NoteText(t states.Transition) string {
	if t.Guard == "" || t.Note == "" {
		return string(t.Guard) + t.Note
	}
	return string(t.Guard) + "; " + t.Note
}

// BatchEntryText says what happens to the batch entry. It leaves out the "batch-"
// with which all folders begin.
func BatchEntryText(t states.Transition) string {
	folder := func(s string) string { return strings.TrimPrefix(string(newqueue.JobState(s).Folder()), "batch-") }
	switch t.BatchEntry {
	case states.PlaceNew:
		return folder(t.To) + " created"
	case states.PlaceMoves:
		return folder(t.From) + " → " + folder(t.To)
	case states.PlaceGoes:
		return folder(t.From) + " removed"
	}
	return string(t.BatchEntry)
}

// StatesMermaid draws one state diagram for each entity.
func StatesMermaid(d newqueue.Dialect) string {
	var b strings.Builder
	for i, e := range states.Entities {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "---\ntitle: %s (%s)\n---\n%s", e, d, Diagram(e, d))
	}
	return b.String()
}

// Diagram is an entity's state diagram in a dialect, as Mermaid draws it.
func Diagram(e states.Entity, d newqueue.Dialect) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	node := func(s string) string {
		if s == states.Created || s == states.Removed {
			return "[*]"
		}
		return strings.ReplaceAll(s, "-", "_") // a hyphen ends a mermaid id
	}
	for _, t := range states.Of(e, string(d)) {
		fmt.Fprintf(&b, "    %s --> %s: %s %s\n", node(t.From), node(t.To), t.ID, t.Who)
	}
	return b.String()
}
