package layout

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// MapError says what is wrong in a map.
type MapError struct {
	File   string
	Line   int
	Reason string
}

func (e *MapError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Load reads a map. dialect is the dialect to read it for, "" for the map's
// first one. more are additional codecs. If the map has a mistake, the error is
// a *[MapError].
func Load(file string, text []byte, dialect string, more ...*Codec) (m *Map, err error) {
	l := &loader{file: file, codecs: slices.Concat(codecs, more), types: map[string]*Type{}, nodes: map[string]*Node{}}
	defer func() {
		switch bad := recover().(type) {
		case nil:
		case *MapError: // see bad
			m, err = nil, bad
		default:
			panic(bad)
		}
	}()
	l.load(text, dialect)
	return l.m, nil
}

type loader struct {
	file   string
	m      *Map
	codecs []*Codec
	types  map[string]*Type
	nodes  map[string]*Node
}

// bad ends the loading: it panics with the mistake, which Load returns. So the steps of loading need
// not pass it on.
func (l *loader) bad(line int, format string, args ...any) {
	panic(&MapError{l.file, line, fmt.Sprintf(format, args...)})
}

func (l *loader) load(text []byte, dialect string) {
	y := l.parse(text)
	l.m = &Map{Name: y.Map, Title: y.Title, Says: y.Says, Document: y.Document, Dialects: y.Dialects, Dialect: dialect, Roots: y.Roots,
		python: y.JSON == "python", rootPlaces: map[string]*place{}, rules: map[string]*Rule{}}
	switch {
	case dialect == "" && len(y.Dialects) > 0:
		l.m.Dialect = y.Dialects[0]
	case dialect != "" && !slices.Contains(y.Dialects, dialect):
		l.bad(1, "the schema %s has no dialect %q; it has %s", y.Map, dialect, orNone(y.Dialects))
	}
	rows(l, y.Types, groupPlace{}, l.typ)
	groups := append([]yamlGroup{{At: []groupPlace{{}}, Nodes: y.Nodes, Relations: y.Relations}}, y.Groups...)
	for _, g := range groups {
		for _, at := range g.At {
			rows(l, g.Nodes, at, l.node)
		}
	}
	l.tree()
	for _, g := range groups {
		for _, at := range g.At {
			rows(l, g.Relations, at, l.relation)
		}
	}
	l.rules()
	rows(l, y.Rules, groupPlace{}, l.rule)
}

func rows[T any](l *loader, list []row[T], at groupPlace, read func(T, int, groupPlace)) {
	for _, r := range list {
		if len(r.dialects) == 0 || slices.Contains(r.dialects, l.m.Dialect) {
			read(r.is, r.line, at)
		}
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (l *loader) typ(t Type, line int, _ groupPlace) {
	t.Rule = cmp.Or(t.Rule, "bad-name")
	if l.types[t.Name] != nil {
		l.bad(line, "type %s is defined twice", t.Name)
	}
	if t.Values != nil {
		var quoted []string
		for _, v := range t.Values {
			quoted = append(quoted, regexp.QuoteMeta(v))
		}
		t.Match = strings.Join(quoted, "|")
	}
	switch alone, err := regexp.Compile(t.Match); {
	case err != nil:
		l.bad(line, "type %s: %v", t.Name, err)
	case alone.NumSubexp() > 0: // the groups of a path's pattern are its parameters
		l.bad(line, "type %s: write (?:…) for a group", t.Name)
	}
	t.whole = regexp.MustCompile("^(?:" + t.Match + ")$")
	if !t.matches(t.Example) {
		l.bad(line, "type %s does not match its own example %q", t.Name, t.Example)
	}
	l.types[t.Name] = &t
	l.m.Types = append(l.m.Types, &t)
}

func (l *loader) rule(r Rule, line int, _ groupPlace) {
	r.Severity, r.Document = cmp.Or(r.Severity, Error), l.m.place(r.Line, r.Section)
	if err := l.m.state(&r); err != nil {
		l.bad(line, "%v", err)
	}
}

// defaultSeverities are the severities of the kinds that are not errors.
var defaultSeverities = map[string]Severity{Undocumented: Info, TooOld: Warning, EmptyBlob: Info}

func (l *loader) rules() {
	for _, n := range l.m.Nodes {
		var kinds []string
		for _, r := range n.rules() {
			kind := strings.TrimPrefix(r.ID, n.ID+"/")
			kinds = append(kinds, kind)
			r.Severity, r.Then, r.Document = cmp.Or(n.Severity[kind], defaultSeverities[kind], Error), n.Then[kind], l.m.place(n.Line, n.Section)
			if r.Repair = repairs[kind]; kind == Missing {
				r.Repair = cmp.Or(n.Missing, r.Repair)
			}
			l.m.rules[r.ID] = r
			l.m.nodeRules = append(l.m.nodeRules, r)
		}
		for _, kind := range slices.Concat(slices.Collect(maps.Keys(n.Severity)), slices.Collect(maps.Keys(n.Then))) {
			if !slices.Contains(kinds, kind) {
				l.bad(n.fileLine, "%s has a severity or a then for %s, which it never reports; it reports %s", n.ID, kind, strings.Join(kinds, ", "))
			}
		}
	}
	for _, r := range l.m.Relations {
		l.rule(Rule{ID: r.ID, Severity: r.Severity, Path: r.Of.Path, Says: r.Says, Repair: r.Repair, Line: r.Line, Section: r.Section}, r.fileLine, groupPlace{})
	}
	for _, r := range l.m.Relations {
		for _, id := range r.ReferencedBy {
			if l.m.rules[id] == nil {
				l.bad(r.fileLine, "relation %s waits for %s, which is not a rule of the schema", r.ID, id)
			}
			for _, other := range l.m.Relations {
				other.counted = other.counted || other.ID == id
			}
		}
	}
}

func (l *loader) node(n Node, line int, g groupPlace) {
	n.fileLine = line
	if g.ID != "" {
		if n.Path == "/" { // the group's own place
			n.ID, n.Says = g.ID, cmp.Or(g.Says, n.Says)
		} else {
			n.ID = g.id(n.ID)
		}
		n.Path, n.Line = g.Path+strings.TrimSuffix(n.Path, "/"), cmp.Or(n.Line, g.Line)
	}
	n.Kind = cmp.Or(n.Kind, Persistent)
	if l.nodes[n.ID] != nil {
		l.bad(line, "id %s is used twice, here and in line %d", n.ID, l.nodes[n.ID].fileLine)
	}
	if n.Undocumented && (n.Required || n.CodecName != "" || n.SchemaOf != nil || n.Most.Rule != "" || n.Oldest > 0) {
		l.bad(line, "%s is undocumented, so it is not checked: leave out required, codec, schema, most and oldest", n.ID)
	}
	if n.CodecName != "" {
		i := slices.IndexFunc(l.codecs, func(c *Codec) bool { return c.Name == n.CodecName })
		if i < 0 {
			l.bad(line, "%s: unknown codec %q; there are %s", n.ID, n.CodecName, l.codecNames())
		}
		n.Codec = l.codecs[i]
	}
	if n.SchemaOf != nil {
		if n.Codec == nil || !n.Codec.Values {
			l.bad(line, "%s has a schema, but no codec that reads JSON", n.ID)
		}
		text, err := json.Marshal(n.SchemaOf)
		if err == nil {
			n.Schema, err = compileSchema(n.ID+".json", text)
		}
		if err != nil {
			l.bad(line, "%s: the schema: %v", n.ID, err)
		}
		n.schemaText = string(text)
	}
	l.nodes[n.ID] = &n
	l.m.Nodes = append(l.m.Nodes, &n)
}

func (l *loader) codecNames() string {
	var names []string
	for _, c := range l.codecs {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func (l *loader) relation(r Relation, line int, g groupPlace) {
	of := g.id(r.OfID)
	at := func(t template) template { return template(strings.ReplaceAll(string(t), "{at}", g.Path)) }
	r.ID, r.Of, r.fileLine = of+"/"+r.Rule, l.nodes[of], line
	r.Refers, r.Same, r.Like, r.field = at(r.Refers), at(r.Same), at(r.Like), parseField(r.Field)
	if r.Of == nil {
		l.bad(line, "relation %s is of %q, which is not a node of the schema", r.Rule, of)
	}
	if r.Line == 0 && r.Section == "" {
		r.Line, r.Section = r.Of.Line, r.Of.Section
	}
	if (r.Field != "" || r.usesField() || r.When != nil) && (r.Of.Codec == nil || !r.Of.Codec.Values) {
		l.bad(line, "relation %s is about a value, but %s has no codec that reads one", r.ID, of)
	}
	for _, name := range append(r.Refers.names(), r.Same.names()...) {
		if name != "value" && !slices.ContainsFunc(r.Of.params, func(p param) bool { return p.name == name }) {
			l.bad(line, "relation %s uses {%s}, which is not a parameter of %s", r.ID, name, r.Of.Path)
		}
	}
	if r.Like != "" {
		var err error
		if r.like, err = like(string(r.Like), r.Of.params, l.types); err != nil {
			l.bad(line, "relation %s: %v", r.ID, err)
		}
	}
	r.ReferencedBy = slices.Clone(r.ReferencedBy) // each place of the group has its own
	for i, id := range r.ReferencedBy {
		if !strings.Contains(id, ".") {
			r.ReferencedBy[i] = g.id(id)
		}
	}
	l.m.Relations = append(l.m.Relations, &r)
}

func (g groupPlace) id(id string) string {
	if g.ID == "" {
		return id
	}
	return g.ID + "." + id
}

//go:embed maps/zuul.yaml
var zuulText []byte

// Zuul returns the map of Zuul's tree.
func Zuul() (*Map, error) { return Load("zuul.yaml", zuulText, "") }
