package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

type statesCmd struct{ output, dialect string }

func (a *app) statesCmd() *cobra.Command {
	c := &statesCmd{}
	cmd := &cobra.Command{
		Use:   "states [flags]",
		Short: "show the state machines of the new queue",
		Long: `Print every transition of batches, jobs and access requests, and what it changes, as
a table or as a Mermaid diagram, which GitHub draws.`,
		Example: `  mrtq states
  mrtq states --dialect mrt-zk -o mermaid`,
		Args: args(),
		RunE: func(*cobra.Command, []string) error {
			c.run(a)
			return nil
		},
	}
	f := cmd.Flags()
	settings.Choice(f, &c.output, "output", "o", "what to print", "table", "mermaid")
	settings.Choice(f, &c.dialect, "dialect", "", "dialect of the layout", string(newqueue.Design), string(newqueue.MrtZK))
	return cmd
}

func (c *statesCmd) run(a *app) {
	d := newqueue.Dialect(c.dialect)
	if c.output == "mermaid" {
		a.Printf("%s", statesMermaid(d))
		return
	}
	for _, e := range states.Entities {
		header, rows := stateRows(e, d)
		a.Table("", header, rows)
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

// statesMermaid draws one state diagram for each entity.
func statesMermaid(d newqueue.Dialect) string {
	var b strings.Builder
	for i, e := range states.Entities {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "---\ntitle: %s (%s)\n---\n%s", e, d, diagram(e, d))
	}
	return b.String()
}

// diagram is an entity's state diagram.
func diagram(e states.Entity, d newqueue.Dialect) string {
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
