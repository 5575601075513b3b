package layout

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

func (t *Type) matches(text string) bool { return t.whole.MatchString(text) }

// last is the type of a name's last part. A finding about a wrong name has this
// type's rule.
func (p *place) last() *Type { return p.matchParams[len(p.matchParams)-1].typ }

func (m *Map) typeNamed(name string) *Type {
	for _, t := range m.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (l *loader) tree() {
	if len(l.m.Nodes) == 0 {
		l.bad(1, "the schema describes no znode")
	}
	for _, root := range l.m.Roots {
		for other := range l.m.rootPlaces {
			if znode.Within(root, other) || znode.Within(other, root) {
				l.bad(1, "the roots %s and %s overlap", other, root)
			}
		}
		l.m.rootPlaces[root] = &place{literal: map[string]*place{}}
	}
	for _, n := range slices.Clone(l.m.Nodes) {
		l.insert(n)
	}
	for root, pl := range l.m.rootPlaces {
		l.addFolders(pl, root)
		if pl.node.Undocumented {
			l.bad(pl.node.fileLine, "%s: the root %s is undocumented, so nothing would be checked", pl.node.ID, root)
		}
		l.checkOverlaps(pl)
		pl.markOpen()
	}
	slices.SortStableFunc(l.m.Nodes, func(a, b *Node) int { return strings.Compare(a.Path, b.Path) })
}

func (l *loader) insert(n *Node) {
	for root, pl := range l.m.rootPlaces {
		if !znode.Within(n.Path, root) {
			continue
		}
		for segment := range segments(n.Path, root) {
			params, match, err := splitSegment(segment, l.types)
			if err != nil {
				l.bad(n.fileLine, "%s: %v", n.ID, err)
			}
			for _, p := range params {
				if slices.ContainsFunc(n.params, func(q param) bool { return q.name == p.name }) {
					l.bad(n.fileLine, "%s: the parameter {%s} is in the pattern twice", n.ID, p.name)
				}
			}
			n.params = append(n.params, params...)
			pl = pl.at(segment, params, match)
		}
		if pl.node != nil {
			l.bad(n.fileLine, "%s overlaps %s of line %d: both are %s", n.ID, pl.node.ID, pl.node.fileLine, n.Path)
		}
		pl.node, n.own = n, pl.matchParams // the nodes above check the earlier parameters
		return
	}
	l.bad(n.fileLine, "%s: %s is below none of the schema's roots: %s", n.ID, n.Path, strings.Join(l.m.Roots, ", "))
}

func segments(path, root string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.TrimPrefix(path, root), func(r rune) bool { return r == '/' })
}

func (p *place) at(segment string, params []param, match *regexp.Regexp) *place {
	if match == nil {
		if p.literal[segment] == nil {
			p.literal[segment] = &place{segment: segment, literal: map[string]*place{}}
		}
		return p.literal[segment]
	}
	for _, c := range p.params {
		if c.match.String() == match.String() && slices.EqualFunc(c.matchParams, params, func(a, b param) bool { return a.name == b.name }) {
			return c
		}
	}
	c := &place{segment: segment, literal: map[string]*place{}, match: match, matchParams: params}
	p.params = append(p.params, c)
	return c
}

func (p *place) children() []*place {
	var all []*place
	for _, name := range slices.Sorted(maps.Keys(p.literal)) {
		all = append(all, p.literal[name])
	}
	return append(all, p.params...)
}

func (l *loader) addFolders(p *place, path string) {
	if p.node == nil {
		below := l.m.Nodes[0] // for a root of which the map describes nothing
		if i := slices.IndexFunc(l.m.Nodes, func(n *Node) bool { return n.Line+len(n.Section) > 0 && znode.Within(n.Path, path) }); i > 0 {
			below = l.m.Nodes[i]
		}
		id := strings.Trim(strings.NewReplacer("/", ".", "{", "", "}", "", ":", "-").Replace(path), ".")
		p.node = &Node{ID: id, Path: path, Kind: Persistent, Says: "a folder", Line: below.Line, Section: below.Section, own: p.matchParams, Folder: true, fileLine: below.fileLine}
		l.nodes[id] = p.node
		l.m.Nodes = append(l.m.Nodes, p.node)
	}
	for _, c := range p.children() {
		l.addFolders(c, path+"/"+c.segment)
	}
}

func (l *loader) checkOverlaps(p *place) {
	children := p.children()
	for i, c := range p.params {
		for _, d := range children[:len(p.literal)+i] {
			switch {
			case d.match == nil && c.match.MatchString(d.segment):
				l.bad(d.node.fileLine, "%s overlaps %s of line %d: the name %q belongs to both", d.node.Path, c.node.Path, c.node.fileLine, d.segment)
			case d.match != nil && (c.match.MatchString(sample(d.segment, d.matchParams)) || d.match.MatchString(sample(c.segment, c.matchParams))):
				l.bad(c.node.fileLine, "%s overlaps %s of line %d: one name can belong to both", c.node.Path, d.node.Path, d.node.fileLine)
			}
		}
	}
	for _, c := range children {
		if p.composite() {
			l.bad(c.node.fileLine, "%s is below %s, whose codec %s reads the children itself", c.node.Path, p.node.Path, p.node.Codec.Name)
		}
		l.checkOverlaps(c)
	}
}

// markOpen finds out, at a place and below it, what a name is that no pattern matches.
func (p *place) markOpen() {
	for _, c := range p.params {
		if p.near == nil && !c.node.Undocumented && !c.last().any() {
			p.near = c
		}
		p.node.open = p.node.open || c.match.String() == "^([^/]+)$"
	}
	p.node.open = p.node.open || p.near != nil
	for _, c := range p.children() {
		c.markOpen()
	}
}
