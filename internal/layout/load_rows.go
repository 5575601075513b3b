package layout

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// node adds the node of a row, at one place of its group.
func (l *loader) node(n Node, line int, g groupPlace) error {
	if l.other(n.Dialects) {
		return nil
	}
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
		return l.bad(line, "id %s is used twice, here and in line %d", n.ID, l.nodes[n.ID].fileLine)
	}
	if n.Undocumented && (n.Required || n.CodecName != "" || n.SchemaOf != nil || n.Most.Rule != "" || n.Oldest > 0) {
		return l.bad(line, "%s is undocumented, so it is not checked: leave out required, codec, schema, most and oldest", n.ID)
	}
	if n.CodecName != "" {
		i := slices.IndexFunc(l.codecs, func(c *Codec) bool { return c.Name == n.CodecName })
		if i < 0 {
			return l.bad(line, "%s: unknown codec %q; there are %s", n.ID, n.CodecName, l.codecNames())
		}
		n.Codec = l.codecs[i]
	}
	if n.SchemaOf != nil {
		if n.Codec == nil || !n.Codec.Values {
			return l.bad(line, "%s has a schema, but no codec that reads JSON", n.ID)
		}
		text, err := json.Marshal(n.SchemaOf)
		if err == nil {
			n.Schema, err = compileSchema(n.ID+".json", text)
		}
		if err != nil {
			return l.bad(line, "%s: the schema: %v", n.ID, err)
		}
		n.schemaText = string(text)
	}
	n.order = len(l.m.Nodes)
	l.nodes[n.ID] = &n
	l.m.Nodes = append(l.m.Nodes, &n)
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
func (l *loader) relation(r Relation, line int, g groupPlace) error {
	if l.other(r.Dialects) {
		return nil
	}
	of := g.id(r.OfID)
	at := func(t template) template { return template(strings.ReplaceAll(string(t), "{at}", g.Path)) }
	r.ID, r.Of, r.fileLine = of+"/"+r.Rule, l.nodes[of], line
	r.Refers, r.Same, r.Like, r.field = at(r.Refers), at(r.Same), at(r.Like), parseField(r.Field)
	if r.Of == nil {
		return l.bad(line, "relation %s is of %q, which is not a node of the map", r.Rule, of)
	}
	if r.Line == 0 && r.Section == "" {
		r.Line, r.Section = r.Of.Line, r.Of.Section
	}
	if (r.Field != "" || r.usesField() || r.When != nil) && (r.Of.Codec == nil || !r.Of.Codec.Values) {
		return l.bad(line, "relation %s is about a value, but %s has no codec that reads one", r.ID, of)
	}
	for _, name := range append(r.Refers.names(), r.Same.names()...) {
		if name != "value" && !slices.ContainsFunc(r.Of.params, func(p param) bool { return p.name == name }) {
			return l.bad(line, "relation %s uses {%s}, which is not a parameter of %s", r.ID, name, r.Of.Path)
		}
	}
	if r.Like != "" {
		var err error
		if r.like, err = like(string(r.Like), r.Of.params, l.types); err != nil {
			return l.bad(line, "relation %s: %v", r.ID, err)
		}
	}
	if r.Refers != "" && r.Refers != "{value}" && !l.described(string(r.Refers)) {
		return l.bad(line, "relation %s leads to %s, which matches no pattern of the map", r.ID, r.Refers)
	}
	r.ReferencedBy = slices.Clone(r.ReferencedBy) // each place of the group has its own
	for i, id := range r.ReferencedBy {
		if !strings.Contains(id, ".") {
			r.ReferencedBy[i] = g.id(id)
		}
	}
	l.m.Relations = append(l.m.Relations, &r)
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
