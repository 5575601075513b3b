package layout

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mrtq/internal/printable"
)

// WriteMarkdown writes the map as a page for people.
func (m *Map) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\n%s\n\n", mark(m.heading()), mark(m.Says))
	fmt.Fprintf(b, "Map `%s`, from %s.\n\n## Znodes\n\n", m.Name, mark(m.Document.String()))
	fmt.Fprintln(b, "| znode | kind | data | what it is | who makes it, who changes it |\n|---|---|---|---|---|")
	for _, n := range m.shown() {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", cellCode(n.Path), n.kindWords(), mark(n.dataWords()), mark(n.words()), mark(n.whoWords()))
	}
	fmt.Fprintln(b, "\nA name in braces stands for any name of its type:\n\n| type | names | example |\n|---|---|---|")
	for _, t := range m.Types {
		fmt.Fprintf(b, "| `%s` | %s | `%s` |\n", t.Name, mark(t.Says), cellCode(t.Example))
	}
	fmt.Fprintln(b, "\n## Rules about several znodes\n\n| rule | znode | what it says | severity | document |\n|---|---|---|---|---|")
	for _, r := range m.ties() {
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s | %s |\n", r.ID, cellCode(r.Path), mark(r.Says), r.Severity, mark(r.Document))
	}
	fmt.Fprintf(b, "\n%s\n", m.rest())
	_, err := io.WriteString(w, b.String())
	return err
}

func (m *Map) heading() string {
	if m.Dialect == "" {
		return m.Title
	}
	return m.Title + ", dialect " + m.Dialect
}

// shown are the znodes that a page shows. Folders that only lead to others are
// left out.
func (m *Map) shown() []*Node {
	return slices.DeleteFunc(slices.Clone(m.Nodes), func(n *Node) bool { return n.implied })
}

// ties are the rules about more than one znode.
func (m *Map) ties() []*Rule {
	var ties []*Rule
	for _, r := range m.Relations {
		ties = append(ties, m.rules[r.ID])
	}
	return append(ties, m.stated...)
}

// rest describes the other rules, which have no rows on the page.
func (m *Map) rest() string {
	return fmt.Sprintf("`mrtq check` also checks the kind, the name and the data of every znode, and what is missing or unknown below it. With these, there are %d rules. A rule's name is the znode's id and the kind of finding.", len(m.Rules()))
}

func (n *Node) kindWords() string {
	words := string(n.Kind)
	if n.Undocumented {
		return "any"
	}
	if n.Sequence {
		words += ", numbered"
	}
	if n.Required {
		words += ", always there"
	}
	return words
}

func (n *Node) dataWords() string {
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

func (n *Node) words() string {
	if n.Undocumented {
		return "In use, but not in the document: " + n.Says + "."
	}
	return n.Says
}

func (n *Node) whoWords() string {
	switch {
	case n.Creator == "":
		return ""
	case n.Changer == "":
		return n.Creator
	}
	return n.Creator + "; " + n.Changer
}

// mark makes text safe for a Markdown page. Anyone can write a map, so nothing
// in it may become markup or act on a terminal.
func mark(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if strings.ContainsRune("\\`*_{}[]<>#|", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cellCode makes text safe between backquotes in a table.
func cellCode(s string) string {
	return strings.NewReplacer("`", "'", "|", "\\|").Replace(plain(s))
}

// plain puts text on one line, without control characters and without
// characters that change the direction of writing.
func plain(s string) string { return printable.Text(strings.ReplaceAll(s, "\n", " ")) }
