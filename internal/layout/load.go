package layout

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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
func Load(file string, text []byte, dialect string, more ...*Codec) (*Map, error) {
	l := &loader{file: file, codecs: slices.Concat(codecs, more), types: map[string]*Type{}, nodes: map[string]*Node{}}
	if err := l.load(text, dialect); err != nil {
		return nil, err
	}
	return l.m, nil
}

type loader struct {
	file   string
	m      *Map
	codecs []*Codec
	types  map[string]*Type
	nodes  map[string]*Node
}

func (l *loader) bad(line int, format string, args ...any) error {
	return &MapError{l.file, line, fmt.Sprintf(format, args...)}
}

func (l *loader) load(text []byte, dialect string) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		line := lineIn(err)
		says := strings.TrimPrefix(err.Error(), "yaml: ")
		return l.bad(line, "this is not YAML: %s", strings.TrimPrefix(says, fmt.Sprintf("line %d: ", line)))
	}
	if len(doc.Content) == 0 {
		return l.bad(1, "the map is empty")
	}
	if err := l.shape(doc.Content[0]); err != nil {
		return err
	}
	var y yamlMap
	if err := doc.Decode(&y); err != nil {
		return l.bad(lineIn(err), "%v", err)
	}
	l.m = &Map{Name: y.Map, Title: y.Title, Says: y.Says, Document: y.Document, Dialects: y.Dialects, Dialect: dialect, Roots: y.Roots, File: l.file,
		python: y.JSON == "python", tops: map[string]*place{}, rules: map[string]*Rule{}}
	switch {
	case dialect == "" && len(y.Dialects) > 0:
		l.m.Dialect = y.Dialects[0]
	case dialect != "" && !slices.Contains(y.Dialects, dialect):
		return l.bad(1, "the map %s has no dialect %q; it has %s", y.Map, dialect, orNone(y.Dialects))
	}
	err := rows(y.Types, l.typ)
	if err == nil {
		err = inGroups(y.Nodes, y.Groups, func(g yamlGroup) []yaml.Node { return g.Nodes }, l.node)
	}
	if err == nil {
		err = l.tree()
	}
	if err == nil {
		err = inGroups(y.Relations, y.Groups, func(g yamlGroup) []yaml.Node { return g.Relations }, l.relation)
	}
	if err == nil {
		err = rows(y.Rules, l.rule)
	}
	if err != nil {
		return err
	}
	return l.finish()
}

// rows reads rows in turn.
func rows(list []yaml.Node, read func(*yaml.Node) error) error {
	for i := range list {
		if err := read(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// inGroups reads rows that are in no group, and then those of each group, once for
// each place that the group is at.
func inGroups(list []yaml.Node, groups []yamlGroup, of func(yamlGroup) []yaml.Node, read func(*yaml.Node, groupPlace) error) error {
	err := rows(list, func(at *yaml.Node) error { return read(at, groupPlace{}) })
	for _, g := range groups {
		for _, place := range g.At {
			if err == nil {
				err = rows(of(g), func(at *yaml.Node) error { return read(at, place) })
			}
		}
	}
	return err
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func typeNames(types map[string]*Type) string {
	var names []string
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	return orNone(names)
}

// other reports whether an entry is for other dialects only. dialects are those
// that it names.
func (l *loader) other(dialects []string) bool {
	return len(dialects) > 0 && !slices.Contains(dialects, l.m.Dialect)
}

func (l *loader) typ(at *yaml.Node) error {
	var y yamlType
	if err := at.Decode(&y); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	if l.other(y.Dialects) {
		return nil
	}
	t := &y.Type
	if t.Rule == "" {
		t.Rule = "bad-name"
	}
	if l.types[t.Name] != nil {
		return l.bad(at.Line, "type %s is defined twice", t.Name)
	}
	if strings.Contains(t.Match, "(") && !strings.Contains(t.Match, "(?:") {
		return l.bad(at.Line, "type %s: write (?:…) for a group", t.Name)
	}
	if err := t.compile(); err != nil {
		return l.bad(at.Line, "type %s: %v", t.Name, err)
	}
	if !t.matches(t.Example) {
		return l.bad(at.Line, "type %s does not match its own example %q", t.Name, t.Example)
	}
	l.types[t.Name] = t
	l.m.Types = append(l.m.Types, t)
	return nil
}

func (l *loader) rule(at *yaml.Node) error {
	var y yamlRule
	if err := at.Decode(&y); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	if l.other(y.Dialects) {
		return nil
	}
	if y.Severity == "" {
		y.Severity = Error
	}
	y.Document = l.m.place(y.Line, y.Section)
	if err := l.m.AddRule(&y.Rule); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	return nil
}

// AddRule adds a rule that Go implements and that the map's file does not have.
func (m *Map) AddRule(r *Rule) error {
	if m.rules[r.ID] != nil {
		return fmt.Errorf("rule %s is defined twice", r.ID)
	}
	m.rules[r.ID] = r
	m.Natives = append(m.Natives, r)
	return nil
}

// finish adds a row for every rule.
func (l *loader) finish() error {
	for _, n := range l.m.Nodes {
		kinds := n.kinds()
		for kind := range n.severity {
			if !slices.Contains(kinds, kind) {
				return l.bad(n.fileLine, "%s has a severity for %s, which it never reports; it reports %s", n.ID, kind, strings.Join(kinds, ", "))
			}
		}
		for _, kind := range kinds {
			severity := n.severity[kind]
			if severity == "" {
				severity = Error
				switch kind {
				case Undocumented:
					severity = Info
				case TooOld:
					severity = Warning
				}
			}
			id := n.ID + "/" + kind
			l.m.rules[id] = &Rule{ID: id, Severity: severity, Path: n.Path, Says: n.says(kind), Document: l.m.place(n.Line, n.Section)}
		}
	}
	for _, r := range l.m.Relations {
		if l.m.rules[r.ID] != nil {
			return l.bad(r.fileLine, "rule %s is defined twice", r.ID)
		}
		if r.Severity == "" {
			r.Severity = Error
		}
		l.m.rules[r.ID] = &Rule{ID: r.ID, Severity: r.Severity, Path: r.Of.Path, Says: r.Says, Document: l.m.place(r.Line, r.Section)}
	}
	for _, r := range l.m.Relations {
		for _, id := range r.by {
			if l.m.rules[id] == nil {
				return l.bad(r.fileLine, "relation %s waits for %s, which is not a rule of the map", r.ID, id)
			}
		}
	}
	return nil
}
