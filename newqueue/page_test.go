package newqueue

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

const transitionsPage = "../docs/transitions.md"

// TestTransitionsPage holds the tables and diagrams of docs/transitions.md to
// the tables of this package. -update writes them.
func TestTransitionsPage(t *testing.T) {
	page, err := os.ReadFile(transitionsPage)
	if err != nil {
		t.Fatal(err)
	}
	got := string(page)
	for _, d := range Dialects {
		for _, e := range Entities {
			mark := fmt.Sprintf("%s %s", d, e)
			got, err = replaceGenerated(got, mark, markdown(e, d)+diagram(t, e, d))
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
		t.Errorf("%s does not show today's tables: look at the change, then run go test ./newqueue -run TestTransitionsPage -update", transitionsPage)
	}
}

// replaceGenerated replaces the text between two comments that name the mark.
func replaceGenerated(page, mark, text string) (string, error) {
	start, end := fmt.Sprintf("<!-- generated: %s -->\n", mark), fmt.Sprintf("<!-- end of %s -->\n", mark)
	head, rest, ok := strings.Cut(page, start)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("want the lines %q and %q", start, end)
	}
	return head + start + "\n" + text + "\n" + end + tail, nil
}

// markdown is the table of an entity.
func markdown(e Entity, d Dialect) string {
	header := []string{"id", "from → to", "who"}
	if e == EntityJob {
		header = append(header, "last success", "retries", "batch entry")
	}
	header = append(header, "note")
	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(header)
	row(strings.Split(strings.Repeat("-", len(header)), ""))
	for _, t := range Transitions(e, d) {
		cells := []string{t.ID, t.From + " → " + t.To, string(t.Who)}
		if e == EntityJob {
			cells = append(cells, string(t.LastSuccess), string(t.Retry), batchEntryText(t))
		}
		row(append(cells, t.Note))
	}
	return b.String()
}

// diagram is the Mermaid diagram of an entity, as mrtq states -o mermaid
// prints it.
func diagram(t *testing.T, e Entity, d Dialect) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteStates(&b, d, StatesMermaid); err != nil {
		t.Fatal(err)
	}
	title := fmt.Sprintf("---\ntitle: %s (%s)\n---\n", e, d)
	_, text, ok := strings.Cut(b.String(), title)
	if !ok {
		t.Fatalf("no diagram of %s in dialect %s", e, d)
	}
	text, _, _ = strings.Cut(text, "\n---\n")
	return "\n```mermaid\n" + strings.TrimRight(text, "\n") + "\n```\n"
}
