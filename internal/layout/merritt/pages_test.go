package merritt_test

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages again")

// pages are the project's own pages about the layouts.
var pages = []struct{ name, dialect, file string }{
	{"merritt", "design", "layout-merritt.md"},
	{"merritt", "mrt-zk", "layout-merritt-mrt-zk.md"},
	{"merritt-legacy", "", "layout-merritt-legacy.md"},
	{"zuul", "", "layout-zuul.md"},
}

// TestDocuments checks that docs/layout-*.md say what the maps say. -update writes
// them again.
func TestDocuments(t *testing.T) {
	for _, p := range pages {
		path := "../../../docs/" + p.file
		var page bytes.Buffer
		if err := named(t, p.name, p.dialect).WriteMarkdown(&page); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		written, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(written, page.Bytes()) {
			t.Errorf("%s is not what the map says: run go test ./internal/layout/merritt -run TestDocuments -update", path)
		}
	}
}

// TestRulesCiteDocuments: mrtq check names the document that states a rule. For the
// project's own maps, this is a page of docs/ with a heading or a demand on it, and
// both must exist.
func TestRulesCiteDocuments(t *testing.T) {
	for _, p := range pages {
		if p.name == "zuul" {
			continue // internal/layout compares it with Zuul's own document
		}
		for _, rule := range named(t, p.name, p.dialect).Rules() {
			for cited := range strings.SplitSeq(rule.Document, "; ") {
				page, part, _ := strings.Cut(cited, ", ")
				text, err := os.ReadFile("../../../" + page)
				if err != nil {
					t.Errorf("%s cites %q: %v", rule.ID, cited, err)
					continue
				}
				lines := strings.Split(string(text), "\n")
				if part == "" || !slices.ContainsFunc(lines, func(line string) bool {
					return line == "## "+part || strings.HasPrefix(line, "| "+part+" |")
				}) {
					t.Errorf("%s cites %q: %s has no such heading or demand", rule.ID, cited, page)
				}
			}
		}
	}
}
