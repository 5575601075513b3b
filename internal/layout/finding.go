package layout

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// What one znode can have that its pattern does not allow: its name, its kind, its
// data.

func (c *checker) unknown(pl *place, path string) {
	found := show([]byte(znode.Name(path)))
	if pl.near != nil {
		c.fault(pl.near.node, pl.near.last().Rule, path, pl.near.names(), found)
		return
	}
	c.fault(pl.node, UnknownPath, path, pl.known(), found)
}

func (p *place) names() string {
	var words []string
	for _, s := range p.matchParams {
		words = append(words, s.typ.Says)
	}
	return strings.Join(words, ", then ")
}

func (p *place) known() string {
	var names []string
	for _, c := range p.children() {
		names = append(names, c.segment)
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
	if got != n.Kind {
		c.fault(n, "not-"+string(n.Kind), path, "a znode that is "+string(n.Kind), found)
	}
}

func (c *checker) read(n *Node, zn *znode.Node, parts *znode.Tree) (any, bool) {
	if n.Codec == nil || n.MayBeEmpty && len(zn.Data) == 0 && !n.Codec.Composite {
		return nil, false
	}
	value, ok := n.Codec.Read(&CodecInput{Map: c.m, Node: n, Path: zn.Path, Data: zn.Data, parts: parts, c: c})
	if !ok || n.Schema == nil {
		return value, ok
	}
	if err := n.Schema.Validate(value); err != nil {
		_, found := shapeError(err)
		c.fault(n, BadShape, zn.Path, "JSON as its JSON Schema says: "+cutText(n.schemaText, 160), found)
		return nil, false
	}
	return value, ok
}

func (c *checker) fault(n *Node, kind, path, expected, found string) {
	c.broken(n.ID+"/"+kind, path, expected, found)
}

func (c *checker) broken(id, path, expected, found string) {
	if c.m.rules[id] == nil {
		panic("layout: no rule " + id) // the codec does not name all of its kinds
	}
	c.find(Finding{Rule: id, Path: path, Expected: expected, Found: found})
}

func (c *checker) found(f Finding, absent string) {
	if !c.isHidden(f.Path) && (absent == "" || !c.isHidden(absent)) {
		c.find(f)
	}
}

// find adds a finding, with what its rule says. It is information if a session may be about to mend it.
func (c *checker) find(f Finding) {
	if rule := c.m.rules[f.Rule]; rule != nil {
		f.Document, f.Repair, f.Severity = rule.Document, rule.Repair, cmp.Or(f.Severity, rule.Severity)
	}
	if c.opt.MaxReads > 1 {
		digest := maphash.Comparable(digests, [4]string{f.Path, f.Rule, f.Found, f.Expected})
		if c.before != nil && !c.before[digest] {
			return
		}
		c.report.found[digest] = true
	}
	for _, rules := range c.goRules {
		if rules.Session == nil || f.Severity == Info {
			continue
		}
		if session := rules.Session(f); session != 0 {
			f.LockedBy, f.Severity, f.Repair = fmt.Sprintf("%#x", session), Info, ""
			c.report.work = true
		}
	}
	c.keep(f)
}

// digests is the seed of the digests by which a look knows again what the look before found: there can be
// hundreds of thousands of findings.
var digests = maphash.MakeSeed()

func (c *checker) keep(f Finding) {
	of := Violation{f.Rule, f.Severity}
	c.report.Counts[of]++
	some := c.kept[of]
	at, _ := slices.BinarySearchFunc(some, f, compareFindings)
	if c.opt.MaxFindings == 0 || at < c.opt.MaxFindings {
		some = slices.Insert(some, at, f)
	}
	if c.opt.MaxFindings > 0 && len(some) > c.opt.MaxFindings {
		some = some[:c.opt.MaxFindings]
	}
	c.kept[of] = some
}

func (c *checker) isHidden(path string) bool {
	return slices.ContainsFunc(c.hidden, func(root string) bool { return znode.Within(path, root) })
}

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the layout is broken there
	Warning Severity = "warning" // the layout works, at least for now
	Info    Severity = "info"    // worth knowing
)

// Severities are all severities, worst first.
var Severities = []Severity{Error, Warning, Info}

// Finding is one place at which a tree breaks one rule of a map.
type Finding struct {
	Path     string   `json:"path"`
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Expected string   `json:"expected"`
	Found    string   `json:"found"`
	// Repair says what an operator can do about it. It is "" if there is no
	// suggestion.
	Repair string `json:"mend,omitempty"`
	// LockedBy is the session that works on it at the moment, and may be between two writes. It is "" if nobody is known to work
	// on it.
	LockedBy string `json:"locked_by,omitempty"`
	// Item is what the finding is about, if that is another znode: the job whose
	// entry is missing, say.
	Item string `json:"-"`
	// Document is the place in the document that states the rule.
	Document string `json:"document,omitempty"`
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: expected %s, found %s (%s)", f.Severity, f.Path, f.Expected, f.Found, f.Rule)
}

// Message says what is there and what should be, without the path.
func (f Finding) Message() string { return f.Found + "; expected " + f.Expected }

func compareFindings(a, b Finding) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Found, b.Found), strings.Compare(a.Expected, b.Expected))
}

// repairs say what an operator can do about a kind of finding. They are for rules
// that don't say it themselves.
var repairs = map[string]string{
	UnknownPath:      "Find out who made it. Delete it if nobody needs it.",
	Unreadable:       "Give credentials that can read it.",
	Missing:          "Recreate it from its source, or delete what it belongs to.",
	TooOld:           "Find out whether its owner is still running. If not, delete it.",
	BadShape:         "Find out which version wrote it. Restore it, or delete what it belongs to.",
	NotEmpty:         "Find out who wrote it. Empty it if nobody reads it.",
	NotJSON:          restore,
	CorruptBlob:      restore,
	BlobTooLarge:     restore,
	MissingShard:     restore,
	BadShard:         "Find out who made it. Delete it if it is not part of the blob.",
	ShardTooLarge:    "Have the blob written again, because readers may refuse a shard of this size.",
	NotEphemeral:     "It would stay for ever. Delete it when no client uses the lock.",
	ReadLock:         "Find out who made it. Others do not expect readers of this lock.",
	EmptyBlob:        restore,
	ShortShard:       restore,
	BadContender:     "Find out who made it. It may block the clients that wait for the lock.",
	"not-persistent": "Recreate it after the session that created it has ended.",
	"bad-name":       "Find out who made it. Delete it if nobody needs it.",
	"not-sequence":   "Find out who made it. Readers that expect a number may stop at it.",
}

const restore = "Restore it from a dump, or delete what it belongs to."
