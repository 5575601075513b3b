package merritt_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/internal/layout"
)

var update = flag.Bool("update", false, "write the pages again")

const layoutPage = "../../../docs/layout-merritt.md"

var dialects = []string{"design", "mrt-zk"}

// TestLayoutPage checks that docs/layout-merritt.md says what the maps say. -update writes it again.
func TestLayoutPage(t *testing.T) {
	var all []*layout.Map
	for _, dialect := range dialects {
		all = append(all, named(t, "merritt", dialect))
	}
	goldenfile.Compare(t, layoutPage, page(all), *update)
}

func page(each []*layout.Map) string {
	m := each[0]
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\n%s\n\nA row that only one dialect has names it. No reader looks at data that may be anything.\n\n## Znodes\n\n", mark(m.Title), mark(m.Says))
	fmt.Fprintf(b, "| znode | kind | data | what it is | who makes it, who changes it |\n|---|---|---|---|---|\n%s", rows(each, nodeRows))
	fmt.Fprintf(b, "\nA name in braces stands for any name of its type:\n\n| type | names | example |\n|---|---|---|\n%s", rows(each, typeRows))
	fmt.Fprintf(b, "\n## Rules about several znodes\n\n| rule | znode | what it says | severity |\n|---|---|---|---|\n%s", rows(each, ruleRows))
	fmt.Fprint(b, "\nIn dialect mrt-zk, the [requirements](requirements.md) of the deployed services are rules, too. `mrtq check` also checks the kind, the name and the data of every znode, and what is missing or unknown below it. A rule's name is the znode's id and the kind of finding.\n")
	return b.String()
}

// rows are the rows of all maps, sorted by their first cells. There, a row that not all have names its dialect.
func rows(each []*layout.Map, of func(*layout.Map) []string) string {
	dialect := map[string]string{}
	for _, m := range each {
		for _, row := range of(m) {
			if _, both := dialect[row]; both {
				dialect[row] = ""
			} else {
				dialect[row] = " (" + m.Dialect + ")"
			}
		}
	}
	key := func(row string) string { return strings.ReplaceAll(row, "`", " ") } // a znode comes before those below it
	var b strings.Builder
	for _, row := range slices.SortedFunc(maps.Keys(dialect), func(a, b string) int { return strings.Compare(key(a), key(b)) }) {
		path, rest, _ := strings.Cut(row, " | ")
		fmt.Fprintf(&b, "%s%s | %s\n", path, dialect[row], rest)
	}
	return b.String()
}

func nodeRows(m *layout.Map) (rows []string) {
	for _, n := range m.Nodes {
		if !n.Folder {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s | %s |", n.Path, kindWords(n), mark(dataWords(n)), mark(words(n)), mark(whoWords(n))))
		}
	}
	return rows
}

func typeRows(m *layout.Map) (rows []string) {
	for _, t := range m.Types {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | `%s` |", t.Name, mark(t.Says), t.Example))
	}
	return rows
}

// ruleRows leaves out the requirements, which have a page of their own.
func ruleRows(m *layout.Map) (rows []string) {
	for _, r := range m.Others {
		if !requirement.MatchString(r.ID) {
			rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s | %s |", r.ID, r.Path, mark(r.Says), r.Severity))
		}
	}
	return rows
}

var requirement = regexp.MustCompile(`^R\d\d`)

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
		return "not checked"
	case n.MayBeEmpty:
		return n.Codec.Says + ", or nothing"
	}
	what, _, _ := strings.Cut(n.Codec.Says, ": ") // the page says once that no reader looks at anything
	return what
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
	for _, dialect := range dialects {
		for _, rule := range named(t, "merritt", dialect).Rules() {
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
