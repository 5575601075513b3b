package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"mrtq/internal/statedraw"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// The formats of writeStates.
const (
	statesTable   = "table"
	statesMermaid = "mermaid"
	statesSVG     = "svg"
)

// writeStates writes every transition of a dialect's state machines.
func writeStates(w io.Writer, d newqueue.Dialect, form string) error {
	switch form {
	case statesTable:
		return writeStatesTable(w, d)
	case statesMermaid:
		return writeStatesMermaid(w, d)
	case statesSVG:
		return writeStatesSVG(w, d)
	}
	return fmt.Errorf("format %q: want %s, %s or %s", form, statesTable, statesMermaid, statesSVG)
}

func writeStatesTable(w io.Writer, d newqueue.Dialect) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for i, e := range states.Entities {
		if i > 0 {
			fmt.Fprintln(tw)
		}
		header, rows := stateRows(e, d)
		fmt.Fprintln(tw, strings.Join(header, "\t"))
		for _, row := range rows {
			fmt.Fprintln(tw, strings.Join(row, "\t"))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) { // an empty column leaves blanks at the end
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// stateRows returns an entity's transitions in a dialect as a table: the headings, and a
// row for each transition.
func stateRows(e states.Entity, d newqueue.Dialect) (header []string, rows [][]string) {
	header = []string{"id", string(e) + " from → to", "who"}
	if e == states.Job {
		header = append(header, "last success", "retry", "queue entry", "batch entry")
	}
	header = append(header, "nodes", "note")
	for _, t := range states.Of(e, string(d)) {
		row := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
		if e == states.Job {
			row = append(row, string(t.LastSuccess), string(t.Retry), string(t.QueueEntry), batchEntryText(t))
		}
		rows = append(rows, append(row, string(t.Nodes), noteText(t)))
	}
	return header, rows
}

// noteText is a transition's guard and its note.
func noteText(t states.Transition) string {
	if t.Guard == "" || t.Note == "" {
		return string(t.Guard) + t.Note
	}
	return string(t.Guard) + "; " + t.Note
}

// batchEntryText says what happens to the batch entry. It leaves out the "batch-"
// with which all folders begin.
func batchEntryText(t states.Transition) string {
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

// writeStatesMermaid draws one state diagram for each entity.
func writeStatesMermaid(w io.Writer, d newqueue.Dialect) error {
	var b strings.Builder
	for i, e := range states.Entities {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "---\ntitle: %s (%s)\n---\nstateDiagram-v2\n", e, d)
		node := func(s string) string {
			if s == states.Created || s == states.Removed {
				return "[*]"
			}
			return strings.ReplaceAll(s, "-", "_") // a hyphen ends a mermaid id
		}
		for _, t := range states.Of(e, string(d)) {
			fmt.Fprintf(&b, "    %s --> %s: %s %s\n", node(t.From), node(t.To), t.ID, t.Who)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeStatesSVG draws each entity's machine.
func writeStatesSVG(w io.Writer, d newqueue.Dialect) error {
	var machines []statedraw.Machine
	for _, e := range states.Entities {
		machines = append(machines, drawing(e, d))
	}
	_, err := io.WriteString(w, statedraw.Document("States and transitions, dialect "+string(d), machines...))
	return err
}

// drawing is the drawing of an entity's state machine. The caller may add the number of
// entities in each state, and which transitions were covered.
func drawing(e states.Entity, d newqueue.Dialect) statedraw.Machine {
	m := statedraw.Machine{Name: string(e), States: []statedraw.State{{Name: states.Created, Bound: true}}}
	for _, s := range states.States(e, string(d)) {
		m.States = append(m.States, statedraw.State{Name: s})
	}
	removed := false
	for _, t := range states.Of(e, string(d)) {
		removed = removed || t.To == states.Removed
		m.Steps = append(m.Steps, statedraw.Step{ID: t.ID, From: t.From, To: t.To, Who: string(t.Who), Free: !t.Who.HoldsLock()})
	}
	if removed {
		m.States = append(m.States, statedraw.State{Name: states.Removed, Bound: true})
	}
	return m
}
