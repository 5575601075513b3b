package merritt_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/internal/layout"
)

var update = flag.Bool("update", false, "write the pages again")

var pages = []struct{ name, dialect, file string }{
	{"merritt", "design", "layout-merritt.md"},
	{"merritt", "mrt-zk", "layout-merritt-mrt-zk.md"},
}

// TestDocuments checks that docs/layout-*.md say what the maps say. -update writes
// them again.
func TestDocuments(t *testing.T) {
	for _, p := range pages {
		goldenfile.Compare(t, "../../../docs/"+p.file, page(named(t, p.name, p.dialect)), *update)
	}
}

func page(m *layout.Map) string {
	heading := m.Title
	if m.Dialect != "" {
		heading += ", dialect " + m.Dialect
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\n%s\n\n", mark(heading), mark(m.Says))
	document := m.Document.Title
	if m.Document.File != document {
		document += " (" + m.Document.File + ")"
	}
	fmt.Fprintf(b, "Map `%s`, from %s.\n\n## Znodes\n\n", m.Name, mark(document))
	fmt.Fprintln(b, "| znode | kind | data | what it is | who makes it, who changes it |\n|---|---|---|---|---|")
	for _, n := range m.Nodes {
		if !n.Folder {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", n.Path, kindWords(n), mark(dataWords(n)), mark(words(n)), mark(whoWords(n)))
		}
	}
	fmt.Fprintln(b, "\nA name in braces stands for any name of its type:\n\n| type | names | example |\n|---|---|---|")
	for _, t := range m.Types {
		fmt.Fprintf(b, "| `%s` | %s | `%s` |\n", t.Name, mark(t.Says), t.Example)
	}
	fmt.Fprintln(b, "\n## Rules about several znodes\n\n| rule | znode | what it says | severity | document |\n|---|---|---|---|---|")
	for _, r := range m.Others {
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s | %s |\n", r.ID, r.Path, mark(r.Says), r.Severity, mark(r.Document))
	}
	fmt.Fprintf(b, "\n`mrtq check` also checks the kind, the name and the data of every znode, and what is missing or unknown below it. With these, there are %d rules. A rule's name is the znode's id and the kind of finding.\n", len(m.Rules()))
	return b.String()
}

func kindWords(n *layout.Node) string {
	words := string(n.Kind)
	if n.Undocumented {
		return "any"
	}
	if n.Sequence {
		words += ", sequential"
	}
	if n.Required {
		words += ", always present"
	}
	return words
}

func dataWords(n *layout.Node) string {
	switch {
	case n.Undocumented:
		return "not checked"
	case n.Codec == nil:
		return "a folder; its data is not checked"
	case n.MayBeEmpty:
		return n.Codec.Says + ", or nothing"
	}
	return n.Codec.Says
}

func words(n *layout.Node) string {
	if n.Undocumented {
		return "In use, but not in the document: " + n.Says + "."
	}
	return n.Says
}

func whoWords(n *layout.Node) string {
	switch {
	case n.Creator == "":
		return ""
	case n.Changer == "":
		return n.Creator
	}
	return n.Creator + "; " + n.Changer
}

func mark(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// TestRulesCiteDocuments: mrtq check names the document that states a rule. For the
// project's own maps, this is a page of docs/ with a heading or a requirement on it, and
// both must exist.
func TestRulesCiteDocuments(t *testing.T) {
	for _, p := range pages {
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
