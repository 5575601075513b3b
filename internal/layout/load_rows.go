package layout

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// node reads a node's row.
func (l *loader) node(at *yaml.Node, g groupPlace) error {
	var y yamlNode
	if err := at.Decode(&y); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	if l.other(y.Dialects) {
		return nil
	}
	n := &y.Node
	n.Most, n.severity, n.fileLine = -1, y.Severity, at.Line
	if g.ID != "" {
		if n.Path == "/" { // the group's own place
			n.ID, n.Says = g.ID, cmp.Or(g.Says, n.Says)
		} else {
			n.ID = g.ID + "." + n.ID
		}
		n.Path, n.Line = g.Path+strings.TrimSuffix(n.Path, "/"), cmp.Or(n.Line, g.Line)
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

// relation reads a relation's row.
func (l *loader) relation(at *yaml.Node, g groupPlace) error {
	var y yamlRelation
	if err := at.Decode(&y); err != nil {
		return l.bad(at.Line, "%v", err)
	}
	if l.other(y.Dialects) {
		return nil
	}
	of := g.id(y.Of)
	r := &y.Relation
	r.ID, r.Of, r.fileLine = of+"/"+y.Rule, l.nodes[of], at.Line
	r.refers, r.same, r.by, r.field = template(strings.ReplaceAll(y.Refers, "{at}", g.Path)), template(y.Same), y.ReferencedBy, parseField(y.Field)
	if r.Of == nil {
		return l.bad(at.Line, "relation %s is of %q, which is not a node of the map", y.Rule, of)
	}
	if r.Line == 0 && r.Section == "" {
		r.Line, r.Section = r.Of.Line, r.Of.Section
	}
	r.Line = cmp.Or(r.Line, g.Line)
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
		if r.target = cmp.Or(l.nodes[g.id(y.To)], l.nodes[y.To]); r.target == nil {
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
		if !strings.Contains(id, ".") {
			r.by[i] = g.id(id)
		}
	}
	l.m.Relations = append(l.m.Relations, r)
	return nil
}

// id is an id within the group.
func (g groupPlace) id(id string) string {
	if g.ID == "" {
		return id
	}
	return g.ID + "." + id
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
