package layout

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// Options say how a tree is checked.
type Options struct {
	// Now is when the tree was read, for rules about ages. If it is zero, the
	// check takes the time of the newest change in the tree.
	Now time.Time
	// Natives make the rules that Go implements. Each look at the tree makes
	// its own.
	Natives []NewNative
	// Looks is how often the tree is read at most; 0 is once. A tree may change
	// while it is read. So if a look finds something, the check looks again, and
	// reports only what every look finds. It stops when nothing has changed
	// between two looks.
	Looks int
	// Progress is called now and then with the number of znodes checked.
	Progress func(nodes int)
}

// Native is a set of rules that Go implements.
type Native interface {
	// Visit is called for every znode that the map describes, parents first,
	// siblings in byte order.
	Visit(v Visit)
	// Done is called after the last znode.
	Done(now time.Time)
}

// NewNative makes rules that report what they find.
type NewNative func(report func(Found)) Native

// Found is a finding of a native rule.
type Found struct {
	Rule     string // the rule's id in the map
	Severity Severity
	Path     string
	Expected string
	Found    string
	// Absent is the missing znode, if a znode is missing and it is not the one
	// at Path.
	Absent string
}

// Visit is one znode, as a native rule sees it.
type Visit struct {
	Node     *Node // of the map
	Params   Params
	Znode    znode.Node
	Children []string
	Value    any // the value that its codec read, nil if none
}

// Report is the outcome of a check.
type Report struct {
	Map      *Map
	Nodes    int
	Findings []Finding // by path

	zxid int64 // the newest transaction that a znode shows; 0 if none does
}

// Count is how many findings have a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// ErrNoMatch says that a tree has no znode of the layout.
var ErrNoMatch = errors.New("there is no znode of this layout")

// Check checks what is below the map's roots against the map. The error comes
// from the side, or wraps [ErrNoMatch].
func Check(ctx context.Context, s side.Side, m *Map, opt Options) (*Report, error) {
	report, err := look(ctx, s, m, opt)
	if err != nil {
		return nil, err
	}
	// A finding that comes from a change during one look is not found again.
	// Real damage is found by every look.
	for again := 1; again < opt.Looks && len(report.Findings) > 0; again++ {
		next, err := look(ctx, s, m, opt)
		if err != nil {
			return nil, err
		}
		still := next.zxid == report.zxid && next.zxid != 0
		next.Findings = inBoth(report.Findings, next.Findings)
		report = next
		if still {
			break // nothing changed between the two looks
		}
	}
	return report, nil
}

// inBoth are the findings of b that a has too. Both are sorted.
func inBoth(a, b []Finding) []Finding {
	var both []Finding
	for _, f := range b {
		i, _ := slices.BinarySearchFunc(a, f, compareFindings)
		if i < len(a) && a[i].same(f) {
			both = append(both, f)
		}
	}
	return both
}

// checker is one look at a tree.
type checker struct {
	ctx      context.Context
	side     side.Side
	m        *Map
	opt      Options
	natives  []Native
	findings []Finding
	nodes    int
	newest   int64 // milliseconds since 1970
	zxid     int64 // see Report

	of         map[*Node][]*Relation
	targets    map[*Node]bool    // znodes that relations refer to
	there      map[pathHash]bool // those targets that exist
	pending    []reference       // references to look up at the end
	referenced map[pathHash]bool // targets of references
	awaiting   []waiting         // znodes that some znode should refer to
	aged       []aged            // znodes that must not be too old
	hidden     []string          // znodes that can't be read: what is below them is not known
}

// pathHash is the hash of a path. A million hashes take less memory than a
// million paths.
type pathHash [16]byte

func hashPath(path string) pathHash {
	sum := sha256.Sum256([]byte(path))
	return pathHash(sum[:16])
}

func look(ctx context.Context, s side.Side, m *Map, opt Options) (*Report, error) {
	c := &checker{ctx: ctx, side: s, m: m, opt: opt, of: map[*Node][]*Relation{}, targets: map[*Node]bool{}, there: map[pathHash]bool{}, referenced: map[pathHash]bool{}}
	for _, r := range m.Relations {
		c.of[r.Of] = append(c.of[r.Of], r)
		if r.target != nil {
			c.targets[r.target] = true
		}
	}
	for _, make := range opt.Natives {
		c.natives = append(c.natives, make(c.found))
	}
	matched := false
	for _, root := range m.Roots {
		there, err := c.root(root)
		if err != nil {
			return nil, err
		}
		matched = matched || there
	}
	if !matched {
		return nil, ErrNoMatch
	}
	if err := c.settle(); err != nil {
		return nil, err
	}
	slices.SortFunc(c.findings, compareFindings)
	return &Report{Map: m, Nodes: c.nodes, Findings: c.findings, zxid: c.zxid}, nil
}

// root walks one of the map's roots. there is false if it doesn't exist.
func (c *checker) root(path string) (there bool, err error) {
	pl := c.m.tops[path]
	if pl.bounded || pl.composite() {
		for sub, err := range c.side.Subtrees(c.ctx, slices.Values([]string{path})) {
			if err != nil {
				return false, err
			}
			if sub.Missing() {
				return false, nil
			}
			c.subtree(pl, nil, sub)
		}
		return true, nil
	}
	err = c.folder(pl, path, nil)
	if errors.Is(err, znode.ErrNoNode) {
		return false, nil
	}
	return err == nil, err
}

// folder walks a znode that may have any number of znodes below it. It reads
// small subtrees in a stream and walks the others in turn.
func (c *checker) folder(pl *place, path string, params Params) error {
	zn, err := c.side.Get(c.ctx, path)
	if err != nil {
		return err
	}
	var names []string
	if zn.Unreadable == "" {
		if names, err = c.side.Children(c.ctx, path); err != nil {
			return err
		}
	}
	c.visit(pl, path, params, &zn, names, nil)
	if zn.Unreadable != "" || pl.node.Undocumented {
		return nil
	}
	for len(names) > 0 {
		if far := far(pl, names[0]); far != nil {
			at := znode.Join(path, names[0])
			err := c.folder(far, at, params.with(far, names[0]))
			if err != nil && !errors.Is(err, znode.ErrNoNode) { // it may have been deleted meanwhile
				return err
			}
			names = names[1:]
			continue
		}
		run := 1
		for run < len(names) && far(pl, names[run]) == nil {
			run++
		}
		if err := c.stream(pl, path, params, names[:run]); err != nil {
			return err
		}
		names = names[run:]
	}
	return nil
}

// far is the place of a name if any number of znodes may be below it. It is nil
// for all other names.
func far(pl *place, name string) *place {
	child, _ := pl.child(name)
	if child == nil || child.bounded || child.composite() {
		return nil
	}
	return child
}

// stream reads small subtrees in the order of their names.
func (c *checker) stream(pl *place, path string, params Params, names []string) error {
	known := func(yield func(string) bool) {
		for _, name := range names {
			if child, _ := pl.child(name); child != nil && !child.node.Undocumented && !yield(znode.Join(path, name)) {
				return
			}
		}
	}
	for sub, err := range c.side.Subtrees(c.ctx, iter.Seq[string](known)) {
		if err != nil {
			return err
		}
		if sub.Missing() {
			continue
		}
		name := znode.Name(sub.Root)
		child, _ := pl.child(name)
		c.subtree(child, params.with(child, name), sub)
	}
	return c.ctx.Err()
}

// small is a subtree in memory.
type small struct {
	nodes map[string]*znode.Node
	kids  map[string][]string
}

func indexed(sub side.Subtree) *small {
	s := &small{nodes: make(map[string]*znode.Node, len(sub.Nodes)), kids: make(map[string][]string)}
	for i := range sub.Nodes {
		n := &sub.Nodes[i]
		s.nodes[n.Path] = n
		if n.Path != sub.Root {
			parent := znode.Parent(n.Path)
			s.kids[parent] = append(s.kids[parent], znode.Name(n.Path))
		}
	}
	for _, names := range s.kids {
		slices.Sort(names)
	}
	return s
}

func (s *small) get(path string) *znode.Node { return s.nodes[path] }
func (s *small) below(path string) []string  { return s.kids[path] }
func (p *place) composite() bool             { return p.node.Codec != nil && p.node.Codec.Composite }
func (c *checker) subtree(pl *place, params Params, sub side.Subtree) {
	c.within(pl, sub.Root, params, indexed(sub))
}

func (c *checker) within(pl *place, path string, params Params, s *small) {
	names := s.kids[path]
	c.visit(pl, path, params, s.nodes[path], names, s)
	if pl.composite() || pl.node.Undocumented {
		return
	}
	for _, name := range names {
		if child, _ := pl.child(name); child != nil && !child.node.Undocumented {
			c.within(child, znode.Join(path, name), params.with(child, name), s)
		}
	}
}

// visit checks one znode against its pattern. s is the small subtree that the
// znode is in, or nil.
func (c *checker) visit(pl *place, path string, params Params, zn *znode.Node, names []string, s *small) {
	n := pl.node
	if c.nodes++; c.opt.Progress != nil && c.nodes%1000 == 0 {
		c.opt.Progress(c.nodes)
	}
	c.newest = max(c.newest, zn.Stat.Mtime, zn.Stat.Ctime)
	c.zxid = max(c.zxid, zn.Stat.Mzxid, zn.Stat.Pzxid)
	if zn.Unreadable != "" {
		c.fault(n, Unreadable, path, "a znode that can be read", zn.Unreadable, "")
		c.hidden = append(c.hidden, path)
		return
	}
	c.kind(n, path, zn.Stat)
	if n.Oldest > 0 && zn.Stat.Ctime > 0 {
		c.aged = append(c.aged, aged{n, path, zn.Stat.Ctime})
	}
	value, ok := c.read(n, path, zn, names, s)
	for _, native := range c.natives {
		native.Visit(Visit{Node: n, Params: params, Znode: *zn, Children: names, Value: value})
	}
	c.relate(n, path, params, zn, value, ok)
	if n.Most >= 0 && len(names) > n.Most {
		c.fault(n, n.MostRule, path, fmt.Sprintf("at most %d children", n.Most), fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", ")), "")
	}
	if pl.composite() {
		return
	}
	for _, name := range names {
		c.name(pl, path, name)
	}
	for name, child := range pl.literal {
		if _, there := slices.BinarySearch(names, name); !there && child.node.Required {
			c.fault(child.node, Missing, znode.Join(path, name), "this znode", "it is not there", child.node.Missing)
		}
	}
}

// name checks the name of a child that the map doesn't have, or that is
// undocumented.
func (c *checker) name(pl *place, path, name string) {
	child, near := pl.child(name)
	at := znode.Join(path, name)
	switch {
	case child != nil && child.node.Undocumented:
		c.fault(child.node, Undocumented, at, "a znode that the document describes", "one that services use, and that is not documented: "+child.node.Says, "")
	case child != nil:
	case near != nil:
		c.fault(near.node, near.last().Rule, at, near.names(), show([]byte(name)), "")
	default: // this place has no pattern with a parameter: see [Node.kinds]
		c.fault(pl.node, UnknownPath, at, pl.known(), show([]byte(name)), "")
	}
}

// names says which names are valid at a place with parameters.
func (p *place) names() string {
	var words []string
	for _, s := range p.segs {
		words = append(words, s.typ.Says)
	}
	return strings.Join(words, ", then ")
}

// known says which names can be below a place without parameters.
func (p *place) known() string {
	if len(p.literal) == 0 {
		return "nothing below " + p.node.Path
	}
	var names []string
	for name := range p.literal {
		names = append(names, name)
	}
	slices.Sort(names)
	return "one of " + strings.Join(names, ", ")
}

// kind checks the znode's kind. A tree without stats does not show it.
func (c *checker) kind(n *Node, path string, stat znode.Stat) {
	if stat.Czxid == 0 {
		return
	}
	got := kindOf(stat.EphemeralOwner)
	if n.Kind == AnyKind || got == n.Kind {
		return
	}
	found := "it is " + string(got)
	if got == Ephemeral {
		found += fmt.Sprintf(", and ends with session %#x", stat.EphemeralOwner)
	}
	if n.Kind == Ephemeral {
		found += ", so it stays when its creator's session ends"
	}
	c.fault(n, "not-"+string(n.Kind), path, "a znode that is "+string(n.Kind), found, "")
}

// kindOf is the kind of a znode with this ephemeral owner. The server uses the
// same field to mark containers and TTL znodes (EphemeralType).
func kindOf(owner int64) Kind {
	switch {
	case owner == 0:
		return Persistent
	case owner == -1<<63:
		return Container
	case uint64(owner)>>56 == 0xff:
		return TTL
	}
	return Ephemeral
}

// read checks the znode's data.
func (c *checker) read(n *Node, path string, zn *znode.Node, names []string, s *small) (any, bool) {
	if n.Codec == nil || n.MayBeEmpty && len(zn.Data) == 0 && !n.Codec.Composite {
		return nil, false
	}
	r := &Reading{Map: c.m, Node: n, Path: path, Data: zn.Data, Children: names,
		get:   func(string) *znode.Node { return nil },
		below: func(string) []string { return nil },
		fault: func(kind, path, expected, found string) { c.fault(n, kind, path, expected, found, "") },
	}
	if s != nil {
		r.get, r.below = s.get, s.below
	}
	value, ok := n.Codec.Read(r)
	if !ok || n.Schema == nil {
		return value, ok
	}
	if err := n.Schema.Validate(value); err != nil {
		c.fault(n, BadShape, path, n.shape(), shapeError(err), "")
		return nil, false
	}
	return value, ok
}

// fault reports that a znode does not match its pattern.
func (c *checker) fault(n *Node, kind, path, expected, found, mend string) {
	id := n.ID + "/" + kind
	rule := c.m.rules[id]
	if rule == nil {
		panic("layout: no rule " + id) // the codec does not name all of its kinds
	}
	if mend == "" {
		mend = mends[kind]
	}
	c.findings = append(c.findings, Finding{Path: path, Rule: id, Severity: rule.Severity, Expected: expected, Found: found, Mend: mend, Document: rule.Document})
}

// found records a finding of a native rule.
func (c *checker) found(f Found) {
	if c.isHidden(f.Path) || f.Absent != "" && c.isHidden(f.Absent) {
		return
	}
	out := Finding{Path: f.Path, Rule: f.Rule, Severity: f.Severity, Expected: f.Expected, Found: f.Found}
	if rule := c.m.rules[f.Rule]; rule != nil {
		out.Document, out.Mend = rule.Document, rule.Mend
		if out.Severity == "" {
			out.Severity = rule.Severity
		}
	}
	c.findings = append(c.findings, out)
}

// isHidden reports whether a znode may exist although the check did not see it.
func (c *checker) isHidden(path string) bool {
	return slices.ContainsFunc(c.hidden, func(root string) bool { return znode.Within(path, root) })
}
