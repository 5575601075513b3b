package layout

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// MapError says what is wrong in a map.
type MapError struct {
	File   string
	Line   int
	Reason string
}

func (e *MapError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

//go:embed map.schema.json
var schemaText []byte

// mapSchema is what a map's YAML must look like.
var mapSchema = func() *jsonschema.Schema {
	s, err := compileSchema("map.schema.json", schemaText)
	if err != nil {
		panic(err) // it is embedded
	}
	return s
}()

func compileSchema(name string, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// The contents of a map's YAML.
type (
	yamlMap struct {
		Map, Title, Says, JSON string
		Document               struct{ Title, File string }
		Dialects, Roots        []string
		Types                  []yaml.Node
		Nodes                  []yaml.Node
		Relations              []yaml.Node
		Groups                 []yaml.Node
		Rules                  []yaml.Node
	}
	yamlType struct {
		Name, Match, Example, Says, Rule string
		Values, Dialects                 []string
	}
	yamlNode struct {
		ID, Path, Codec, Creator, Changer, Says, Missing, Section, Oldest string
		Kind                                                              Kind
		Sequence, Required, Undocumented                                  bool
		MayBeEmpty                                                        bool `yaml:"may-be-empty"`
		Schema                                                            any
		Most                                                              *struct {
			Children int
			Rule     string
		}
		Severity map[string]Severity
		Line     int
		Dialects []string
	}
	yamlRelation struct {
		Of, Rule, Says, Field, Refers, To, Same, Younger, Mend, Section string
		ReferencedBy                                                    []string `yaml:"referenced-by"`
		Prefix                                                          bool
		Severity                                                        Severity
		Line                                                            int
		Dialects                                                        []string
	}
	yamlGroup struct {
		At []struct {
			ID, Path, Says string
			Line           int
		}
		Nodes     []yaml.Node
		Relations []yaml.Node
	}
	yamlRule struct {
		ID, Path, Says, Mend, Section string
		Severity                      Severity
		Line                          int
		Dialects                      []string
	}
)

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
	l.m = &Map{Name: y.Map, Title: y.Title, Says: y.Says, Document: Document(y.Document), Dialects: y.Dialects, Dialect: dialect, Roots: y.Roots, File: l.file,
		python: y.JSON == "python", tops: map[string]*place{}, rules: map[string]*Rule{}}
	switch {
	case dialect == "" && len(y.Dialects) > 0:
		l.m.Dialect = y.Dialects[0]
	case dialect != "" && !slices.Contains(y.Dialects, dialect):
		return l.bad(1, "the map %s has no dialect %q; it has %s", y.Map, dialect, orNone(y.Dialects))
	}
	for i := range y.Types {
		if err := l.typ(&y.Types[i]); err != nil {
			return err
		}
	}
	for i := range y.Nodes {
		if err := l.node(&y.Nodes[i], "", "", 0, ""); err != nil {
			return err
		}
	}
	for i := range y.Groups {
		if err := l.group(&y.Groups[i]); err != nil {
			return err
		}
	}
	if err := l.tree(); err != nil {
		return err
	}
	for i := range y.Relations {
		if err := l.relation(&y.Relations[i], "", "", 0); err != nil {
			return err
		}
	}
	for i := range y.Groups {
		if err := l.groupRelations(&y.Groups[i]); err != nil {
			return err
		}
	}
	for i := range y.Rules {
		if err := l.rule(&y.Rules[i]); err != nil {
			return err
		}
	}
	return l.finish()
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

// shape checks the YAML against the schema of maps, and says which line is
// wrong.
func (l *loader) shape(root *yaml.Node) error {
	var v any
	if err := root.Decode(&v); err != nil {
		return l.bad(lineIn(err), "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if fields, ok := v.(map[string]any); !ok || fields["map"] == nil {
		return l.bad(root.Line, "this is not the map of a layout: it does not have the field map, the map's name")
	}
	doc, err := asJSON(v)
	if err != nil {
		return l.bad(root.Line, "%v", err)
	}
	err = mapSchema.Validate(doc)
	if err == nil {
		return nil
	}
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return l.bad(root.Line, "%v", err)
	}
	deepest := verr
	for len(deepest.Causes) > 0 {
		deepest = deepest.Causes[0]
	}
	return l.bad(lineAt(root, deepest.InstanceLocation), "%s", shapeError(err))
}

// asJSON converts a YAML value to the form that the schema's library needs.
func asJSON(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// lineAt is the line of the value at a JSON pointer.
func lineAt(n *yaml.Node, location []string) int {
	for _, step := range location {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
				next = n.Content[i]
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
}

// lineIn is the line that an error of the YAML library names, or 1.
func lineIn(err error) int {
	_, rest, found := strings.Cut(err.Error(), "line ")
	if !found {
		return 1
	}
	n, _ := strconv.Atoi(rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })])
	return max(n, 1)
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
	t := &Type{Name: y.Name, Match: y.Match, Values: y.Values, Example: y.Example, Says: y.Says, Rule: y.Rule}
	if t.Rule == "" {
		t.Rule = "bad-name"
	}
	if l.types[t.Name] != nil {
		return l.bad(at.Line, "type %s is defined twice", t.Name)
	}
	if !strings.Contains(t.Match, "(") || strings.Contains(t.Match, "(?:") {
		if err := t.compile(); err != nil {
			return l.bad(at.Line, "type %s: %v", t.Name, err)
		}
	} else {
		return l.bad(at.Line, "type %s: write (?:…) for a group", t.Name)
	}
	if !t.matches(t.Example) {
		return l.bad(at.Line, "type %s does not match its own example %q", t.Name, t.Example)
	}
	l.types[t.Name] = t
	l.m.Types = append(l.m.Types, t)
	return nil
}

func (l *loader) group(at *yaml.Node) error {
	var g yamlGroup
	if err := at.Decode(&g); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	for _, a := range g.At {
		for i := range g.Nodes {
			if err := l.node(&g.Nodes[i], a.ID, a.Path, a.Line, a.Says); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) groupRelations(at *yaml.Node) error {
	var g yamlGroup
	if err := at.Decode(&g); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	for _, a := range g.At {
		for i := range g.Relations {
			if err := l.relation(&g.Relations[i], a.ID, a.Path, a.Line); err != nil {
				return err
			}
		}
	}
	return nil
}

// node reads a node's row. prefix and under come from the group, "" for none.
func (l *loader) node(at *yaml.Node, prefix, under string, groupLine int, groupSays string) error {
	var y yamlNode
	if err := at.Decode(&y); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	if l.other(y.Dialects) {
		return nil
	}
	n := &Node{ID: y.ID, Path: y.Path, Kind: y.Kind, Sequence: y.Sequence, MayBeEmpty: y.MayBeEmpty, Required: y.Required, Undocumented: y.Undocumented, Most: -1,
		Creator: y.Creator, Changer: y.Changer, Says: y.Says, Missing: y.Missing, Line: y.Line, Section: y.Section, severity: y.Severity, fileLine: at.Line}
	if prefix != "" {
		n.ID, n.Path = prefix+"."+n.ID, under+strings.TrimSuffix(n.Path, "/")
		if y.Path == "/" {
			n.ID = prefix
			if groupSays != "" {
				n.Says = groupSays
			}
		}
		if n.Line == 0 {
			n.Line = groupLine
		}
	}
	if n.Kind == "" {
		n.Kind = Persistent
	}
	if y.Oldest != "" {
		var err error
		if n.Oldest, err = time.ParseDuration(y.Oldest); err != nil {
			return l.bad(at.Line, "%s: oldest: %v", n.ID, err)
		}
	}
	if y.Most != nil {
		n.Most, n.MostRule = y.Most.Children, y.Most.Rule
	}
	if l.nodes[n.ID] != nil {
		return l.bad(at.Line, "id %s is used twice, here and in line %d", n.ID, l.nodes[n.ID].fileLine)
	}
	if y.Codec != "" {
		i := slices.IndexFunc(l.codecs, func(c *Codec) bool { return c.Name == y.Codec })
		if i < 0 {
			return l.bad(at.Line, "%s: unknown codec %q; there are %s", n.ID, y.Codec, l.codecNames())
		}
		n.Codec = l.codecs[i]
	}
	if y.Schema != nil {
		if n.Codec == nil || !n.Codec.Values {
			return l.bad(at.Line, "%s has a schema, but no codec that reads JSON", n.ID)
		}
		text, err := json.Marshal(y.Schema)
		if err == nil {
			n.Schema, err = compileSchema(n.ID+".json", text)
		}
		if err != nil {
			return l.bad(at.Line, "%s: the schema: %v", n.ID, err)
		}
		n.SchemaText = string(text)
	}
	n.order = len(l.m.Nodes)
	l.nodes[n.ID] = n
	l.m.Nodes = append(l.m.Nodes, n)
	return nil
}

func (l *loader) codecNames() string {
	var names []string
	for _, c := range l.codecs {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func (l *loader) relation(at *yaml.Node, prefix, under string, groupLine int) error {
	var y yamlRelation
	if err := at.Decode(&y); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	if l.other(y.Dialects) {
		return nil
	}
	of := y.Of
	if prefix != "" {
		of = prefix + "." + of
	}
	r := &Relation{ID: of + "/" + y.Rule, Of: l.nodes[of], Severity: y.Severity, Says: y.Says, Line: y.Line, Section: y.Section, Mend: y.Mend,
		refers: template(strings.ReplaceAll(y.Refers, "{at}", under)), same: template(y.Same), prefix: y.Prefix, by: y.ReferencedBy,
		field: parseField(y.Field), fileLine: at.Line}
	if r.Of == nil {
		return l.bad(at.Line, "relation %s is of %q, which is not a node of the map", y.Rule, of)
	}
	if r.Line == 0 && r.Section == "" {
		r.Line, r.Section = r.Of.Line, r.Of.Section
	}
	if r.Line == 0 {
		r.Line = groupLine
	}
	if y.Younger != "" {
		d, err := time.ParseDuration(y.Younger)
		if err != nil {
			return l.bad(at.Line, "relation %s: younger: %v", r.ID, err)
		}
		r.younger = d.Milliseconds()
	}
	if (y.Field != "" || r.usesField()) && (r.Of.Codec == nil || !r.Of.Codec.Values) {
		return l.bad(at.Line, "relation %s is about a value, but %s has no codec that reads one", r.ID, of)
	}
	for _, name := range append(r.refers.names(), r.same.names()...) {
		if name != "value" && !slices.ContainsFunc(r.Of.params, func(p param) bool { return p.name == name }) {
			return l.bad(at.Line, "relation %s uses {%s}, which is not a parameter of %s", r.ID, name, r.Of.Path)
		}
	}
	switch {
	case y.To != "":
		to := y.To
		if prefix != "" && l.nodes[prefix+"."+to] != nil {
			to = prefix + "." + to
		}
		if r.target = l.nodes[to]; r.target == nil {
			return l.bad(at.Line, "relation %s leads to %q, which is not a node of the map", r.ID, y.To)
		}
	case r.refers == "{value}":
		// It may name any znode in the tree.
	case r.refers != "":
		if r.target = l.leadsTo(string(r.refers)); r.target == nil {
			return l.bad(at.Line, "relation %s leads to %s, which matches no pattern of the map", r.ID, r.refers)
		}
	}
	for i, id := range r.by {
		if prefix != "" && !strings.Contains(id, ".") {
			r.by[i] = prefix + "." + id
		}
	}
	l.m.Relations = append(l.m.Relations, r)
	return nil
}

// leadsTo is the node whose pattern a template's paths match, or nil.
func (l *loader) leadsTo(path string) *Node {
	for root, pl := range l.m.tops {
		if path != root && !strings.HasPrefix(path, root+"/") {
			continue
		}
		for _, segment := range strings.Split(strings.TrimPrefix(path[len(root):], "/"), "/") {
			if segment == "" {
				continue
			}
			var next *place
			if strings.Contains(segment, "{") {
				if len(pl.params) > 0 {
					next = pl.params[0]
				}
			} else {
				next = pl.literal[segment]
			}
			if next == nil {
				return nil
			}
			pl = next
		}
		return pl.node
	}
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
	if err := l.m.AddRule(&Rule{ID: y.ID, Severity: y.Severity, Path: y.Path, Says: y.Says, Mend: y.Mend, Document: l.m.place(y.Line, y.Section)}); err != nil {
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
