package layout

import (
	"cmp"
	"fmt"
	"maps"
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
	y, err := l.parse(text)
	if err != nil {
		return err
	}
	l.m = &Map{Name: y.Map, Title: y.Title, Says: y.Says, Document: y.Document, Dialects: y.Dialects, Dialect: dialect, Roots: y.Roots, File: l.file,
		python: y.JSON == "python", tops: map[string]*place{}, rules: map[string]*Rule{}}
	switch {
	case dialect == "" && len(y.Dialects) > 0:
		l.m.Dialect = y.Dialects[0]
	case dialect != "" && !slices.Contains(y.Dialects, dialect):
		return l.bad(1, "the map %s has no dialect %q; it has %s", y.Map, dialect, orNone(y.Dialects))
	}
	if err := rows(y.Types, groupPlace{}, l.typ); err != nil {
		return err
	}
	groups := append([]yamlGroup{{At: []groupPlace{{}}, Nodes: y.Nodes, Relations: y.Relations}}, y.Groups...)
	for _, g := range groups {
		for _, at := range g.At {
			if err := rows(g.Nodes, at, l.node); err != nil {
				return err
			}
		}
	}
	if err := l.tree(); err != nil {
		return err
	}
	for _, g := range groups {
		for _, at := range g.At {
			if err := rows(g.Relations, at, l.relation); err != nil {
				return err
			}
		}
	}
	if err := rows(y.Rules, groupPlace{}, l.rule); err != nil {
		return err
	}
	return l.finish()
}

// rows reads rows in turn, at one place of their group.
func rows[T any](list []row[T], at groupPlace, read func(T, int, groupPlace) error) error {
	for _, r := range list {
		if err := read(r.is, r.line, at); err != nil {
			return err
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func typeNames(types map[string]*Type) string { return orNone(slices.Sorted(maps.Keys(types))) }

// other reports whether an entry is for other dialects only. dialects are those
// that it names.
func (l *loader) other(dialects []string) bool {
	return len(dialects) > 0 && !slices.Contains(dialects, l.m.Dialect)
}

func (l *loader) typ(y yamlType, line int, _ groupPlace) error {
	if l.other(y.Dialects) {
		return nil
	}
	t := &y.Type
	if t.Rule == "" {
		t.Rule = "bad-name"
	}
	if l.types[t.Name] != nil {
		return l.bad(line, "type %s is defined twice", t.Name)
	}
	if strings.Contains(t.Match, "(") && !strings.Contains(t.Match, "(?:") {
		return l.bad(line, "type %s: write (?:…) for a group", t.Name)
	}
	if err := t.compile(); err != nil {
		return l.bad(line, "type %s: %v", t.Name, err)
	}
	if !t.matches(t.Example) {
		return l.bad(line, "type %s does not match its own example %q", t.Name, t.Example)
	}
	l.types[t.Name] = t
	l.m.Types = append(l.m.Types, t)
	return nil
}

func (l *loader) rule(y yamlRule, line int, _ groupPlace) error {
	if l.other(y.Dialects) {
		return nil
	}
	if y.Severity == "" {
		y.Severity = Error
	}
	y.Document = l.m.place(y.Line, y.Section)
	if err := l.m.state(&y.Rule); err != nil {
		return l.bad(line, "%v", err)
	}
	return nil
}

// defaultSeverities are the severities of the kinds that are not errors.
var defaultSeverities = map[string]Severity{Undocumented: Info, TooOld: Warning, EmptyBlob: Info}

// finish adds a rule for every kind of finding of a znode, and for every relation.
func (l *loader) finish() error {
	for _, n := range l.m.Nodes {
		kinds := n.kinds()
		for kind := range n.severity {
			if !slices.Contains(kinds, kind) {
				return l.bad(n.fileLine, "%s has a severity for %s, which it never reports; it reports %s", n.ID, kind, strings.Join(kinds, ", "))
			}
		}
		for kind := range n.then {
			if !slices.Contains(kinds, kind) {
				return l.bad(n.fileLine, "%s says what happens after %s, which it never reports; it reports %s", n.ID, kind, strings.Join(kinds, ", "))
			}
		}
		for _, kind := range kinds {
			id := n.ID + "/" + kind
			severity := cmp.Or(n.severity[kind], defaultSeverities[kind], Error)
			l.m.rules[id] = &Rule{ID: id, Severity: severity, Path: n.Path, Says: n.says(kind), Then: n.then[kind], Document: l.m.place(n.Line, n.Section)}
		}
	}
	for _, r := range l.m.Relations {
		if l.m.rules[r.ID] != nil {
			return l.bad(r.fileLine, "rule %s is defined twice", r.ID)
		}
		l.m.rules[r.ID] = &Rule{ID: r.ID, Severity: cmp.Or(r.Severity, Error), Path: r.Of.Path, Says: r.Says, Document: l.m.place(r.Line, r.Section)}
	}
	for _, r := range l.m.Relations {
		for _, id := range r.by {
			if l.m.rules[id] == nil {
				return l.bad(r.fileLine, "relation %s waits for %s, which is not a rule of the map", r.ID, id)
			}
			for _, other := range l.m.Relations {
				other.counted = other.counted || other.ID == id
			}
		}
	}
	return nil
}
