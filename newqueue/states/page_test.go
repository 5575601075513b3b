package states_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

var update = flag.Bool("update", false, "write the tables and diagrams of docs/transitions.md")

// The tables and diagrams in docs/transitions.md are those of this package. -update writes them.
func TestTransitionsPage(t *testing.T) {
	for _, e := range states.Entities {
		start, end := fmt.Sprintf("<!-- generated: %s -->", e), fmt.Sprintf("<!-- end of %s -->", e)
		goldenfile.Section(t, "../../docs/transitions.md", start, end, "\n"+table(e)+"\n```mermaid\n"+diagram(e)+"```\n\n", *update)
	}
}

// pair is a row of the page: a transition in each dialect, nil where there is none.
type pair struct{ design, mrtZK *states.Transition }

// pairs are the transitions of an entity. Those of mrt-zk alone come where its table has them.
func pairs(e states.Entity) (out []pair) {
	for _, t := range states.Transitions(e, string(newqueue.Design)) {
		out = append(out, pair{design: &t})
	}
	next := 0
	for _, t := range states.Transitions(e, string(newqueue.MrtZK)) {
		i := slices.IndexFunc(out, func(p pair) bool { return p.design != nil && p.design.ID == t.ID })
		if i < 0 {
			out = slices.Insert(out, next, pair{mrtZK: &t})
			i = next
		}
		out[i].mrtZK = &t
		next = i + 1
	}
	return out
}

// table is the table of an entity's transitions.
func table(e states.Entity) string {
	header := []string{"id", "from → to", "who"}
	if e == states.Job {
		header = append(header, "last success", "retries", "batch entry")
	}
	header = append(header, "note")
	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(header)
	row(strings.Split(strings.Repeat("-", len(header)), ""))
	for _, p := range pairs(e) {
		design, mrtZK := rowCells(e, p.design), rowCells(e, p.mrtZK)
		switch {
		case p.mrtZK == nil:
			design[0] += " (design)"
		case p.design == nil:
			design, mrtZK[0] = mrtZK, mrtZK[0]+" (mrt-zk)"
		default:
			for i := range design {
				design[i] = both(design[i], mrtZK[i])
			}
		}
		guard, note := len(design)-2, len(design)-1
		if design[guard] != "" && design[note] != "" {
			design[guard] += "; "
		}
		row(append(design[:guard], design[guard]+design[note]))
	}
	return b.String()
}

// both is a cell with what it has in each dialect.
func both(design, mrtZK string) string {
	switch mrtZK {
	case design:
		return design
	case "":
		return design + " (design)"
	}
	return strings.TrimSpace(design + " (mrt-zk: " + mrtZK + ")")
}

// rowCells are the cells of a transition, the condition and the note apart; nil for none.
func rowCells(e states.Entity, t *states.Transition) []string {
	if t == nil {
		return nil
	}
	cells := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
	if e == states.Job {
		cells = append(cells, string(t.LastSuccess), string(t.Retry), batchEntry(*t))
	}
	return append(cells, string(t.Guard), t.Note)
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

// diagram has the steps of both dialects.
func diagram(e states.Entity) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	node := func(s string) string {
		if s == states.Created || s == states.Removed {
			return "[*]"
		}
		return strings.ReplaceAll(s, "-", "_") // a hyphen ends a mermaid id
	}
	for _, p := range pairs(e) {
		last := ""
		for _, t := range []*states.Transition{p.design, p.mrtZK} {
			if t == nil {
				continue
			}
			if line := fmt.Sprintf("    %s --> %s: %s\n", node(t.From), node(t.To), t.ID); line != last {
				b.WriteString(line)
				last = line
			}
		}
	}
	return b.String()
}
