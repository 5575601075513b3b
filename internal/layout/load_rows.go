package layout

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// node adds the node of a row, at one place of its group.
func (l *loader) node(y yamlNode, line int, g groupPlace) error {
	if l.other(y.Dialects) {
		return nil
	}
	n := &y.Node
	n.severity, n.then, n.fileLine = y.Severity, y.Then, line
	if g.ID != "" {
		if n.Path == "/" { // the group's own place
			n.ID, n.Says = g.ID, cmp.Or(g.Says, n.Says)
		} else {
			n.ID = g.id(n.ID)
		}
		n.Path, n.Line = g.Path+strings.TrimSuffix(n.Path, "/"), cmp.Or(n.Line, g.Line)
	}
	if n.Kind == "" {
		n.Kind = Persistent
	}
	if l.nodes[n.ID] != nil {
		return l.bad(line, "id %s is used twice, here and in line %d", n.ID, l.nodes[n.ID].fileLine)
	}
	if n.Undocumented && (n.Required || y.Codec != "" || y.Schema != nil || n.Most.Rule != "" || n.Oldest > 0) {
		return l.bad(line, "%s is undocumented, so it is not checked: leave out required, codec, schema, most and oldest", n.ID)
	}
	if y.Codec != "" {
		i := slices.IndexFunc(l.codecs, func(c *Codec) bool { return c.Name == y.Codec })
		if i < 0 {
			return l.bad(line, "%s: unknown codec %q; there are %s", n.ID, y.Codec, l.codecNames())
		}
		n.Codec = l.codecs[i]
	}
	if y.Schema != nil {
		if n.Codec == nil || !n.Codec.Values {
			return l.bad(line, "%s has a schema, but no codec that reads JSON", n.ID)
		}
		text, err := json.Marshal(y.Schema)
		if err == nil {
			n.Schema, err = compileSchema(n.ID+".json", text)
		}
		if err != nil {
			return l.bad(line, "%s: the schema: %v", n.ID, err)
		}
		n.schemaText = string(text)
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

// relation adds the relation of a row, at one place of its group.
func (l *loader) relation(y yamlRelation, line int, g groupPlace) error {
	if l.other(y.Dialects) {
		return nil
	}
	of := g.id(y.Of)
	r := &y.Relation
	r.ID, r.Of, r.fileLine = of+"/"+y.Rule, l.nodes[of], line
	r.refers, r.same, r.field, r.when = template(strings.ReplaceAll(y.Refers, "{at}", g.Path)), template(strings.ReplaceAll(y.Same, "{at}", g.Path)), parseField(y.Field), y.When
	if r.Of == nil {
		return l.bad(line, "relation %s is of %q, which is not a node of the map", y.Rule, of)
	}
	if r.Line == 0 && r.Section == "" {
		r.Line, r.Section = r.Of.Line, r.Of.Section
	}
	if (y.Field != "" || r.usesField() || r.when != nil) && (r.Of.Codec == nil || !r.Of.Codec.Values) {
		return l.bad(line, "relation %s is about a value, but %s has no codec that reads one", r.ID, of)
	}
	for _, name := range append(r.refers.names(), r.same.names()...) {
		if name != "value" && !slices.ContainsFunc(r.Of.params, func(p param) bool { return p.name == name }) {
			return l.bad(line, "relation %s uses {%s}, which is not a parameter of %s", r.ID, name, r.Of.Path)
		}
	}
	if y.Like != "" {
		var err error
		if r.like, err = like(strings.ReplaceAll(y.Like, "{at}", g.Path), r.Of.params, l.types); err != nil {
			return l.bad(line, "relation %s: %v", r.ID, err)
		}
	}
	if r.refers != "" && r.refers != "{value}" && !l.described(string(r.refers)) {
		return l.bad(line, "relation %s leads to %s, which matches no pattern of the map", r.ID, r.refers)
	}
	for _, id := range y.ReferencedBy {
		if !strings.Contains(id, ".") {
			id = g.id(id)
		}
		r.by = append(r.by, id)
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

// described reports whether the map has a pattern for a template's paths.
func (l *loader) described(path string) bool {
	for root, pl := range l.m.tops {
		rest, within := strings.CutPrefix(path, root)
		if !within || rest != "" && rest[0] != '/' {
			continue
		}
		for segment := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
			switch {
			case segment == "":
			case segment == "*" && pl.composite():
				return true // a contender or a shard
			case !strings.Contains(segment, "{"):
				pl = pl.literal[segment]
			case len(pl.params) > 0:
				pl = pl.params[0]
			default:
				pl = nil
			}
			if pl == nil {
				return false
			}
		}
		return true
	}
	return false
}
