package layout

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

type checker struct {
	ctx     context.Context
	source  TreeReader
	m       *Map
	opt     Options
	goRules []GoRules
	report  *Report
	kept    map[Violation][]Finding // each in order
	before  map[uint64]bool         // the digests of what the look before found; nil in the first look
	newest  int64                   // milliseconds since 1970

	open       []*visit // the znodes below which the walk may still find znodes
	of         map[*Node][]*Relation
	refers     bool            // some relation refers to znodes
	there      map[string]bool // then, all znodes that the map describes
	pending    []reference     // references to look up at the end
	referenced map[named]int   // how often a relation refers to a znode, if another one asks
	undecided  map[string]bool // relations of znodes whose values could not be read
	awaiting   []waiting       // znodes that some znode should refer to
	aged       []aged          // znodes that must not be too old
	hidden     []string        // znodes that can't be read: what is below them is not known
}

// checkOnce reads the tree once. If there was a look before, the findings are those that it had too.
func checkOnce(ctx context.Context, s TreeReader, m *Map, opt Options, before map[uint64]bool) (*Report, error) {
	c := &checker{ctx: ctx, source: s, m: m, opt: opt, kept: map[Violation][]Finding{}, before: before, of: map[*Node][]*Relation{}, there: map[string]bool{}, referenced: map[named]int{}, undecided: map[string]bool{}}
	c.report = &Report{Map: m, Counts: map[Violation]int{}, found: map[uint64]bool{}}
	for _, r := range m.Relations {
		c.of[r.Of] = append(c.of[r.Of], r)
		c.refers = c.refers || r.Refers != ""
	}
	for _, make := range m.goRules {
		c.goRules = append(c.goRules, make(c.found))
	}
	matched := false
	for _, root := range m.Roots {
		for n, err := range s.Walk(ctx, root) {
			if err != nil {
				return nil, err
			}
			matched = true
			c.next(n)
		}
		c.leave("")
	}
	if !matched {
		return nil, ErrNoMatch
	}
	if err := c.checkRelations(); err != nil {
		return nil, err
	}
	for _, some := range c.kept {
		c.report.Findings = append(c.report.Findings, some...)
	}
	slices.SortFunc(c.report.Findings, compareFindings)
	return c.report, nil
}

// visit is a znode below which the walk may still find znodes.
type visit struct {
	path     string
	pl       *place // nil if nothing below it is checked
	params   Params
	parts    *znode.Tree // a composite's own znode and those below it; nil for other znodes
	children []string    // the names of those that are required; all names if their number is limited
}

func (c *checker) next(n znode.Node) {
	c.leave(n.Path)
	if len(c.open) == 0 {
		c.enter(c.m.rootPlaces[n.Path], nil, n)
		return
	}
	at := c.nearest(n.Path)
	name := znode.Name(n.Path)
	switch {
	case at == nil || at.pl == nil:
	case at.pl.composite():
		_ = at.parts.Put(n) // its path is valid
	case at.path != znode.Parent(n.Path): // its parent has been deleted meanwhile
	default:
		child := at.pl.child(name)
		if at.pl.node.Most.Rule != "" || child != nil && child.node.Required {
			at.children = append(at.children, name)
		}
		switch {
		case child == nil:
			c.unknown(at.pl, n.Path)
		case child.node.Undocumented:
			c.fault(child.node, Undocumented, n.Path, "a znode that the document describes", "one that services use, and that is not documented: "+child.node.Says)
		default:
			c.enter(child, at.params.with(child, name), n)
			return
		}
		c.open = append(c.open, &visit{path: n.Path})
	}
}

func (c *checker) nearest(path string) *visit {
	for _, v := range slices.Backward(c.open) {
		if znode.Within(path, v.path) {
			return v
		}
	}
	return nil
}

func (c *checker) enter(pl *place, params Params, n znode.Node) {
	v := &visit{path: n.Path, pl: pl, params: params}
	if c.report.Nodes++; c.opt.Progress != nil && c.report.Nodes%1000 == 0 {
		c.opt.Progress(c.report.Nodes)
	}
	c.newest = max(c.newest, n.Stat.Mtime, n.Stat.Ctime)
	c.report.zxid = max(c.report.zxid, n.Stat.Mzxid, n.Stat.Pzxid)
	switch {
	case n.Unreadable != "":
		c.fault(pl.node, Unreadable, n.Path, "a znode that can be read", n.Unreadable)
		c.hidden = append(c.hidden, n.Path)
		v.pl = nil
	case pl.composite():
		v.parts = znode.NewTree()
		_ = v.parts.Put(n)
	default:
		c.check(v, &n)
	}
	c.open = append(c.open, v)
}

// leave is done with the open znodes that the walk has left behind, because in path
// order a znode at path comes after all that is below them; with all if path is "".
func (c *checker) leave(path string) {
	for len(c.open) > 0 {
		v := c.open[len(c.open)-1]
		if path != "" && (znode.Within(path, v.path) || path < v.path+"/") {
			return
		}
		c.open = c.open[:len(c.open)-1]
		if v.pl == nil {
			continue
		}
		if v.pl.composite() {
			v.children = v.parts.Children(v.path)
			c.check(v, v.parts.Get(v.path))
		}
		c.children(v)
	}
}

func (c *checker) check(v *visit, n *znode.Node) {
	node := v.pl.node
	c.kind(node, n.Path, n.Stat)
	if node.Oldest > 0 && n.Stat.Ctime > 0 {
		c.aged = append(c.aged, aged{node, n.Path, n.Stat.Ctime})
	}
	value, ok := c.read(node, n, v.parts)
	for _, rules := range c.goRules {
		rules.Visit(Visit{Node: node, Params: v.params, Znode: *n, Value: value})
	}
	if c.refers && v.parts != nil && len(v.children) > 0 {
		c.there[n.Path+"/*"] = true
	}
	c.relate(node, n.Path, v.params, n, value, ok)
}

func (c *checker) children(v *visit) {
	n := v.pl.node
	if n.Most.Rule != "" && len(v.children) > n.Most.Children {
		c.fault(n, n.Most.Rule, v.path, fmt.Sprintf("at most %d children", n.Most.Children), fmt.Sprintf("%d: %s", len(v.children), strings.Join(v.children, ", ")))
	}
	if v.pl.composite() {
		return
	}
	for name, child := range v.pl.literal {
		if child.node.Required && !slices.Contains(v.children, name) {
			c.fault(child.node, Missing, znode.Join(v.path, name), "this znode", "it is not there")
		}
	}
}

func (p *place) composite() bool { return p.node.Codec != nil && p.node.Codec.Composite }
