package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unique"

	"mrtq/internal/znode"
)

// What one znode can have that its pattern does not allow: its name, its kind, its
// data.

// unknown reports a child that the map doesn't have.
func (c *checker) unknown(pl *place, path string) {
	found := show([]byte(znode.Name(path)))
	if pl.near != nil {
		c.fault(pl.near.node, pl.near.last().Rule, path, pl.near.names(), found, "")
		return
	}
	c.fault(pl.node, UnknownPath, path, pl.known(), found, "")
}

// names says which names are valid at a place with parameters.
func (p *place) names() string {
	var words []string
	for _, s := range p.segs {
		words = append(words, s.typ.Says)
	}
	return strings.Join(words, ", then ")
}

// known says which names can be below a place.
func (p *place) known() string {
	var names []string
	for name := range p.literal {
		names = append(names, name)
	}
	for _, c := range p.params {
		names = append(names, znode.Name(c.node.Path))
	}
	if len(names) == 0 {
		return "nothing below " + p.node.Path
	}
	slices.Sort(names)
	return "one of " + strings.Join(names, ", ")
}

// kind checks the znode's kind. A tree without stats does not show it.
func (c *checker) kind(n *Node, path string, stat znode.Stat) {
	if stat.Czxid == 0 {
		return
	}
	found, got := "it is persistent, so it stays when its creator's session ends", Persistent
	if stat.EphemeralOwner != 0 {
		found, got = fmt.Sprintf("it is ephemeral, and ends with session %#x", stat.EphemeralOwner), Ephemeral
	}
	if n.Kind == AnyKind || got == n.Kind {
		return
	}
	c.fault(n, "not-"+string(n.Kind), path, "a znode that is "+string(n.Kind), found, "")
}

// read checks the znode's data.
func (c *checker) read(n *Node, zn *znode.Node, s *small) (any, bool) {
	if n.Codec == nil || n.MayBeEmpty && len(zn.Data) == 0 && !n.Codec.Composite {
		return nil, false
	}
	r := &Reading{Map: c.m, Node: n, Path: zn.Path, Data: zn.Data, parts: s,
		fault: func(kind, path, expected, found string) { c.fault(n, kind, path, expected, found, "") },
	}
	value, ok := n.Codec.Read(r)
	if !ok || n.Schema == nil {
		return value, ok
	}
	if err := n.Schema.Validate(value); err != nil {
		_, found := shapeError(err)
		c.fault(n, BadShape, zn.Path, "JSON as the map's schema says: "+cutText(n.schemaText, 160), found, "")
		return nil, false
	}
	return value, ok
}

// fault reports that a znode does not match its pattern.
func (c *checker) fault(n *Node, kind, path, expected, found, repair string) {
	id := n.ID + "/" + kind
	rule := c.m.rules[id]
	if rule == nil {
		panic("layout: no rule " + id) // the codec does not name all of its kinds
	}
	if repair == "" {
		repair = repairs[kind]
	}
	c.find(Finding{Path: path, Rule: id, Severity: rule.Severity, Expected: expected, Found: found, Repair: repair, Document: rule.Document})
}

// nameSessions names the sessions that may be about to mend a finding.
func (c *checker) nameSessions() {
	for _, rules := range c.goRules {
		for i := range c.findings {
			if f := &c.findings[i]; rules.Session != nil && f.Severity != Info {
				f.LockedBy = ""
				if session := rules.Session(*f); session != 0 {
					f.LockedBy = fmt.Sprintf("%#x", session)
				}
			}
		}
	}
}

// found records a finding of a Go rule.
func (c *checker) found(f Finding, absent string) {
	if c.isHidden(f.Path) || absent != "" && c.isHidden(absent) {
		return
	}
	if rule := c.m.rules[f.Rule]; rule != nil {
		f.Document, f.Repair, f.Severity = rule.Document, rule.Repair, cmp.Or(f.Severity, rule.Severity)
	}
	c.find(f)
}

// find adds a finding. There can be hundreds of thousands, and many say the same, so each text
// is kept once.
func (c *checker) find(f Finding) {
	if c.before != nil {
		if i, again := slices.BinarySearchFunc(c.before, f, compareFindings); again {
			c.findings = append(c.findings, c.before[i])
		}
		return
	}
	f.Expected, f.Found, f.Repair = unique.Make(f.Expected).Value(), unique.Make(f.Found).Value(), unique.Make(f.Repair).Value()
	c.findings = append(c.findings, f)
}

// isHidden reports whether a znode may exist although the check did not see it.
func (c *checker) isHidden(path string) bool {
	return slices.ContainsFunc(c.hidden, func(root string) bool { return znode.Within(path, root) })
}
