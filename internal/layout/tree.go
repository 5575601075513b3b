package layout

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

func (t *Type) compile() (err error) {
	t.whole, err = regexp.Compile("^(?:" + t.expr() + ")$")
	return err
}

// matches reports whether a text belongs to the type.
func (t *Type) matches(text string) bool { return t.whole.MatchString(text) }

// last is the type of a name's last part. A finding about a wrong name has this
// type's rule.
func (p *place) last() *Type { return p.segs[len(p.segs)-1].typ }

func (m *Map) typeNamed(name string) *Type {
	for _, t := range m.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// tree builds the tree of places from the nodes' patterns. It adds folders that
// no row describes if there are patterns below them.
func (l *loader) tree() error {
	if len(l.m.Nodes) == 0 {
		return l.bad(1, "the map describes no znode")
	}
	for _, root := range l.m.Roots {
		for other := range l.m.tops {
			if root == other || strings.HasPrefix(root, other+"/") || strings.HasPrefix(other, root+"/") {
				return l.bad(1, "the roots %s and %s overlap", other, root)
			}
		}
		l.m.tops[root] = &place{literal: map[string]*place{}}
	}
	for _, n := range slices.Clone(l.m.Nodes) {
		if err := l.plant(n); err != nil {
			return err
		}
	}
	for root, pl := range l.m.tops {
		if pl.node == nil {
			pl.node = l.folder(root, nil, l.m.Nodes[0])
		}
		if pl.node.Undocumented {
			return l.bad(pl.node.fileLine, "%s: the root %s is undocumented, so nothing would be checked", pl.node.ID, root)
		}
		if err := l.settle(pl, root); err != nil {
			return err
		}
	}
	slices.SortStableFunc(l.m.Nodes, func(a, b *Node) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// plant puts a node at its place.
func (l *loader) plant(n *Node) error {
	for root, pl := range l.m.tops {
		rest, within := strings.CutPrefix(n.Path, root)
		if !within || rest != "" && rest[0] != '/' {
			continue
		}
		path := root
		for _, segment := range strings.Split(strings.TrimPrefix(rest, "/"), "/") {
			if segment == "" {
				continue
			}
			path += "/" + segment
			params, match, err := splitSegment(segment, l.types)
			if err != nil {
				return l.bad(n.fileLine, "%s: %v", n.ID, err)
			}
			for _, p := range params {
				if slices.ContainsFunc(n.params, func(q param) bool { return q.name == p.name }) {
					return l.bad(n.fileLine, "%s: the parameter {%s} is in the pattern twice", n.ID, p.name)
				}
			}
			n.params = append(n.params, params...)
			pl = pl.at(segment, params, match)
		}
		if pl.node != nil && !pl.node.implied {
			return l.bad(n.fileLine, "%s overlaps %s of line %d: both are %s", n.ID, pl.node.ID, pl.node.fileLine, n.Path)
		}
		pl.node = n
		return nil
	}
	return l.bad(n.fileLine, "%s: %s is below none of the map's roots: %s", n.ID, n.Path, strings.Join(l.m.Roots, ", "))
}

// at returns the place of a pattern's segment below p. It creates the place if
// necessary.
func (p *place) at(segment string, params []param, match *regexp.Regexp) *place {
	if match == nil {
		if p.literal[segment] == nil {
			p.literal[segment] = &place{literal: map[string]*place{}}
		}
		return p.literal[segment]
	}
	for _, c := range p.params {
		if c.match.String() == match.String() && slices.EqualFunc(c.segs, params, func(a, b param) bool { return a.name == b.name }) {
			return c
		}
	}
	c := &place{literal: map[string]*place{}, match: match, segs: params}
	p.params = append(p.params, c)
	return c
}

// folder is the row of a folder that the map's file does not describe.
func (l *loader) folder(path string, params []param, first *Node) *Node {
	id := strings.Trim(strings.NewReplacer("/", ".", "{", "", "}", "", ":", "-").Replace(path), ".")
	n := &Node{ID: id, Path: path, Kind: Persistent, Says: "a folder", Line: first.Line, Section: first.Section, own: params, implied: true, fileLine: first.fileLine}
	l.nodes[id] = n
	l.m.Nodes = append(l.m.Nodes, n)
	return n
}

// settle adds the folders below a place, and refuses two patterns that match one
// name.
func (l *loader) settle(p *place, path string) error {
	names := slices.Sorted(maps.Keys(p.literal))
	for _, name := range names {
		c := p.literal[name]
		for _, q := range p.params {
			if q.match.MatchString(name) {
				return l.bad(first(c).fileLine, "%s overlaps %s of line %d: the name %q belongs to both", first(c).Path, first(q).Path, first(q).fileLine, name)
			}
		}
	}
	children := []*place{}
	for _, name := range names {
		children = append(children, p.literal[name])
	}
	for i, c := range p.params {
		for _, d := range p.params[:i] {
			if c.match.MatchString(sample(lastSegment(first(d), path), d.segs)) || d.match.MatchString(sample(lastSegment(first(c), path), c.segs)) {
				return l.bad(first(c).fileLine, "%s overlaps %s of line %d: one name can belong to both", first(c).Path, first(d).Path, first(d).fileLine)
			}
		}
	}
	children = append(children, p.params...)
	for _, c := range children {
		f := first(c)
		at := path + "/" + lastSegment(f, path)
		if c.node == nil {
			c.node = l.folder(at, c.segs, f)
		}
		c.node.own = c.segs // the nodes above check the earlier parameters
		if err := l.settle(c, at); err != nil {
			return err
		}
	}
	for _, c := range p.params {
		if p.near == nil && !c.node.Undocumented && !c.last().any() {
			p.near = c
		}
		p.node.open = p.node.open || c.match.String() == "^([^/]+)$"
	}
	p.node.open = p.node.open || p.near != nil
	if p.node.Codec != nil && p.node.Codec.Composite && len(children) > 0 {
		return l.bad(first(children[0]).fileLine, "%s is below %s, whose codec %s reads the children itself", first(children[0]).Path, p.node.Path, p.node.Codec.Name)
	}
	return nil
}

// first is the node at a place, or else the first one below it in the file.
func first(p *place) *Node {
	if p.node != nil {
		return p.node
	}
	var found *Node
	consider := func(c *place) {
		if n := first(c); n != nil && (found == nil || n.order < found.order) {
			found = n
		}
	}
	for _, c := range p.literal {
		consider(c)
	}
	for _, c := range p.params {
		consider(c)
	}
	return found
}

// lastSegment is the segment of a node's pattern that comes after a path.
func lastSegment(n *Node, path string) string {
	rest := strings.TrimPrefix(n.Path[min(len(path), len(n.Path)):], "/")
	segment, _, _ := strings.Cut(rest, "/")
	return segment
}
