package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/view"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

const transitionsPage = "../../docs/transitions.md"

// The tables and diagrams in docs/transitions.md are those of package states. -update writes
// them.
func TestTransitionsPage(t *testing.T) {
	page, err := os.ReadFile(transitionsPage)
	if err != nil {
		t.Fatal(err)
	}
	got := string(page)
	for _, d := range newqueue.Dialects {
		for _, e := range states.Entities {
			mark := fmt.Sprintf("%s %s", d, e)
			got, err = replaceGenerated(got, mark, markdown(e, d)+"\n```mermaid\n"+view.Diagram(e, d)+"```\n")
			if err != nil {
				t.Fatalf("%s: %v", transitionsPage, err)
			}
		}
	}
	if *update {
		if err := os.WriteFile(transitionsPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(page) {
		t.Errorf("%s does not show today's tables: look at the change, then run go test ./cmd/mrtq -run TestTransitionsPage -update", transitionsPage)
	}
}

// replaceGenerated replaces the text between the two comments with this mark.
func replaceGenerated(page, mark, text string) (string, error) {
	start, end := fmt.Sprintf("<!-- generated: %s -->\n", mark), fmt.Sprintf("<!-- end of %s -->\n", mark)
	head, rest, ok := strings.Cut(page, start)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("want the lines %q and %q", start, end)
	}
	return head + start + "\n" + text + "\n" + end + tail, nil
}

// markdown is the table of an entity's transitions.
func markdown(e states.Entity, d newqueue.Dialect) string {
	header := []string{"id", "from → to", "who"}
	if e == states.Job {
		header = append(header, "last success", "retries", "batch entry")
	}
	header = append(header, "note")
	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(header)
	row(strings.Split(strings.Repeat("-", len(header)), ""))
	for _, t := range states.Of(e, string(d)) {
		cells := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
		if e == states.Job {
			cells = append(cells, string(t.LastSuccess), string(t.Retry), view.BatchEntryText(t))
		}
		row(append(cells, view.NoteText(t)))
	}
	return b.String()
}
