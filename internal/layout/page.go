package layout

import (
	"fmt"
	htmltemplate "html/template"
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
	return append(ties, m.Natives...)
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

// WriteHTML writes the map as a complete HTML page, which loads nothing from a
// network.
func (m *Map) WriteHTML(w io.Writer) error {
	type row struct{ Path, Kind, Data, What, Who string }
	data := struct {
		Heading, Name, Rest string
		Map                 *Map
		Rows                []row
		Ties                []*Rule
	}{Heading: m.heading(), Name: m.Name, Rest: strings.ReplaceAll(m.rest(), "`", ""), Map: m, Ties: m.ties()}
	for _, n := range m.shown() {
		data.Rows = append(data.Rows, row{n.Path, n.kindWords(), n.dataWords(), n.words(), n.whoWords()})
	}
	return pageTemplate.Execute(w, data)
}

var pageTemplate = htmltemplate.Must(htmltemplate.New("map").Funcs(htmltemplate.FuncMap{"plain": plain}).Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{plain .Heading}}</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #8888; padding: .3rem .6rem; text-align: left; vertical-align: top }
code { font-size: .9em; overflow-wrap: anywhere }
</style>
</head>
<body>
<h1>{{plain .Heading}}</h1>
<p>{{plain .Map.Says}}</p>
<p>Map <code>{{.Name}}</code>, from {{plain .Map.Document.String}}.</p>
<h2>Znodes</h2>
<table>
<thead><tr><th scope="col">znode</th><th scope="col">kind</th><th scope="col">data</th><th scope="col">what it is</th><th scope="col">who makes it, who changes it</th></tr></thead>
<tbody>{{range .Rows}}
<tr><td><code>{{plain .Path}}</code></td><td>{{plain .Kind}}</td><td>{{plain .Data}}</td><td>{{plain .What}}</td><td>{{plain .Who}}</td></tr>{{end}}
</tbody>
</table>
<h2>Types of names</h2>
<table>
<thead><tr><th scope="col">type</th><th scope="col">names</th><th scope="col">example</th></tr></thead>
<tbody>{{range .Map.Types}}
<tr><td><code>{{.Name}}</code></td><td>{{plain .Says}}</td><td><code>{{plain .Example}}</code></td></tr>{{end}}
</tbody>
</table>
<h2>Rules about several znodes</h2>
<table>
<thead><tr><th scope="col">rule</th><th scope="col">znode</th><th scope="col">what it says</th><th scope="col">severity</th><th scope="col">document</th></tr></thead>
<tbody>{{range .Ties}}
<tr><td><code>{{.ID}}</code></td><td><code>{{plain .Path}}</code></td><td>{{plain .Says}}</td><td>{{.Severity}}</td><td>{{plain .Document}}</td></tr>{{end}}
</tbody>
</table>
<p>{{.Rest}}</p>
</body>
</html>
`))
