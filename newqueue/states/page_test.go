package states_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

var update = flag.Bool("update", false, "write the tables and diagrams of docs/transitions.md")

// The tables and diagrams in docs/transitions.md are those of this package. -update writes them.
func TestTransitionsPage(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, e := range states.Entities {
			start, end := fmt.Sprintf("<!-- generated: %s %s -->", d, e), fmt.Sprintf("<!-- end of %s %s -->", d, e)
			goldenfile.Section(t, "../../docs/transitions.md", start, end, "\n"+table(e, d)+"\n```mermaid\n"+diagram(e, d)+"```\n\n", *update)
		}
	}
}

// table is the table of an entity's transitions.
func table(e states.Entity, d newqueue.Dialect) string {
	header := []string{"id", "from → to", "who"}
	if e == states.Job {
		header = append(header, "last success", "retries", "batch entry")
	}
	header = append(header, "note")
	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(header)
	row(strings.Split(strings.Repeat("-", len(header)), ""))
	for _, t := range states.Transitions(e, string(d)) {
		cells := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
		if e == states.Job {
			cells = append(cells, string(t.LastSuccess), string(t.Retry), batchEntry(t))
		}
		note := string(t.Guard) + t.Note
		if t.Guard != "" && t.Note != "" {
			note = string(t.Guard) + "; " + t.Note
		}
		row(append(cells, note))
	}
	return b.String()
}

// batchEntry says what happens to the batch entry. It leaves out the "batch-" with which all
// folders begin.
func batchEntry(t states.Transition) string {
	folder := func(s string) string { return strings.TrimPrefix(string(newqueue.JobState(s).Folder()), "batch-") }
	switch t.BatchEntry {
	case states.EntryCreated:
		return folder(t.To) + " created"
	case states.EntryMoved:
		return folder(t.From) + " → " + folder(t.To)
	case states.EntryRemoved:
		return folder(t.From) + " removed"
	}
	return string(t.BatchEntry)
}

func diagram(e states.Entity, d newqueue.Dialect) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	node := func(s string) string {
		if s == states.Created || s == states.Removed {
			return "[*]"
		}
		return strings.ReplaceAll(s, "-", "_") // a hyphen ends a mermaid id
	}
	for _, t := range states.Transitions(e, string(d)) {
		fmt.Fprintf(&b, "    %s --> %s: %s %s\n", node(t.From), node(t.To), t.ID, t.Who)
	}
	return b.String()
}
