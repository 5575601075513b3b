package layout

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Map describes one layout.
type Map struct {
	Name  string
	Title string
	Says  string
	// Document is the text that the map was made from.
	Document Document
	// Dialect is the dialect that the map was read for, "" if the layout has
	// only one.
	Dialect  string
	Dialects []string
	// Roots are the znodes at which the layout begins. Znodes outside of them
	// are not checked.
	Roots     []string
	Types     []*Type
	Nodes     []*Node
	Relations []*Relation
	// Others are the rules that are not about one znode alone.
	Others []*Rule

	python     bool         // JSON as Python writes it
	goRules    []NewGoRules // which do
	rootPlaces map[string]*place
	rules      map[string]*Rule
	nodeRules  []*Rule
}

// Document is a text that states rules.
type Document struct {
	Title string // how a finding cites it
	File  string
}

// Type is a type of names, or of parts of names.
type Type struct {
	Name    string
	Match   string   // a regular expression without groups of its own
	Values  []string // or a list, of which Match is made
	Example string
	Says    string
	// Rule is the kind of finding for a name that is not of the type.
	Rule string

	whole *regexp.Regexp
}

func (t *Type) any() bool { return t.Match == "[^/]+" }

// Kind says how long ZooKeeper keeps a znode. Its containers and TTL znodes are
// persistent here, because no client can tell them apart.
type Kind string

// The kinds.
const (
	Persistent Kind = "persistent"
	Ephemeral  Kind = "ephemeral"
)

// Node describes every znode that matches one path pattern.
type Node struct {
	ID        string
	Path      string // the pattern
	Kind      Kind
	Sequence  bool               // ZooKeeper numbers its name
	CodecName string             `yaml:"codec"`
	Codec     *Codec             `yaml:"-"`
	SchemaOf  any                `yaml:"schema"`
	Schema    *jsonschema.Schema `yaml:"-"`
	// MayBeEmpty: the znode may have no data instead of what the codec reads.
	MayBeEmpty bool `yaml:"may-be-empty"`
	// Required: it must exist whenever its parent exists.
	Required bool
	// Oldest is how long it may exist; 0 is without limit.
	Oldest time.Duration
	// Undocumented: services use it, but the document does not describe it. It
	// is reported as information. Neither it nor anything below it is checked.
	Undocumented bool
	Most         ChildLimit
	Creator      string
	Changer      string
	Says         string
	Missing      string // what its absence means, and what to do then
	Line         int    // in the document
	Section      string // of the document
	Folder       bool   `yaml:"-"` // no row of the map describes it; it leads to others

	Severity map[string]Severity // see [Rule], by kind of finding, like the next
	Then     map[string]string

	schemaText string  // as it is printed
	params     []param // of the whole pattern
	own        []param // of its last element
	open       bool    // no name below it is an unknown path: it is a bad name, or any name is right
	fileLine   int
}

// ChildLimit limits the number of a znode's children. Without a rule there is no limit.
type ChildLimit struct {
	Children int
	Rule     string // the kind of finding for a znode that has more
}

// Relation is a rule about several znodes.
type Relation struct {
	ID       string `yaml:"-"`
	Of       *Node  `yaml:"-"`
	Severity Severity
	Says     string
	Line     int
	Section  string
	Repair   string `yaml:"mend"`
	// Younger: a znode that is younger need not be referred to yet. 0 means that every znode must be.
	Younger time.Duration

	// OfID is the id of Of, and Rule is what ID has after it.
	OfID string `yaml:"of"`
	Rule string
	// Field is where in the value the relation looks.
	Field string
	// Refers: the znode at each of these paths must exist.
	Refers template
	// Same: the value of the field must be this text.
	Same template
	// Like: the value of the field must match this pattern. A parameter of the
	// znode's own path has the value that it has there.
	Like template
	// When: the relation holds only for a znode whose value has one of these texts
	// in each of these fields.
	When map[string][]string
	// ReferencedBy: a relation with one of these ids must refer to this znode, if it has the field.
	ReferencedBy []string `yaml:"referenced-by"`
	// AtMost: instead, they may refer to it this often. 0 is without limit.
	AtMost int `yaml:"at-most"`

	field   fieldPath
	like    *likeness
	counted bool // some other relation counts what this one refers to

	fileLine int
}

// Rule is one demand of a map.
type Rule struct {
	ID       string
	Severity Severity
	Path     string // the pattern of the znodes that it checks
	Says     string
	Repair   string `yaml:"mend"` // see [Finding]
	// Then says what happens if it is broken, in the words of the map's own reader; "" if
	// the map does not say.
	Then     string
	Document string `yaml:"-"` // made of the next two
	Line     int
	Section  string
}

// Rules returns all rules of the map, in the order of its file.
func (m *Map) Rules() []*Rule { return slices.Concat(m.nodeRules, m.Others) }

// AddGoRules adds Go code that checks rules: those of the file's own rows, and others, which
// the file must not have.
func (m *Map) AddGoRules(check NewGoRules, others ...*Rule) {
	m.goRules = append(m.goRules, check)
	for _, r := range others {
		if err := m.state(r); err != nil {
			panic(err)
		}
	}
}

func (m *Map) state(r *Rule) error {
	if m.rules[r.ID] != nil {
		return fmt.Errorf("rule %s is defined twice", r.ID)
	}
	m.rules[r.ID] = r
	m.Others = append(m.Others, r)
	return nil
}

// Rule finds a rule by its id. It is nil if there is none.
func (m *Map) Rule(id string) *Rule { return m.rules[id] }

func (n *Node) rules() []*Rule {
	var all []*Rule
	add := func(kind, says string) {
		id := n.ID + "/" + kind
		if !slices.ContainsFunc(all, func(r *Rule) bool { return r.ID == id }) {
			all = append(all, &Rule{ID: id, Path: n.Path, Says: says})
		}
	}
	if n.Undocumented {
		add(Undocumented, "services use the znode, but the document does not describe it")
		return all
	}
	for _, p := range n.own {
		if !p.typ.any() {
			add(p.typ.Rule, fmt.Sprintf("%s is %s", p.name, p.typ.Says))
		}
	}
	add("not-"+string(n.Kind), "it is "+string(n.Kind))
	if n.Required {
		add(Missing, "it exists whenever its parent exists")
	}
	if n.Codec != nil {
		for _, k := range n.Codec.Kinds {
			if k != EmptyBlob || !n.MayBeEmpty {
				add(k, n.Codec.Says)
			}
		}
	}
	if n.Schema != nil {
		add(BadShape, "its JSON is as the schema says")
	}
	if n.Most.Rule != "" {
		add(n.Most.Rule, fmt.Sprintf("it has at most %d children", n.Most.Children))
	}
	if n.Oldest > 0 {
		add(TooOld, fmt.Sprintf("it is not older than %s", n.Oldest))
	}
	if !n.open && (n.Codec == nil || !n.Codec.Composite) {
		add(UnknownPath, "nothing else is below it")
	}
	add(Unreadable, "it can be read")
	return all
}

// The kinds of findings of every map. A map's types, codecs and relations add
// more.
const (
	UnknownPath  = "unknown-path"
	Undocumented = "undocumented"
	Missing      = "missing"
	BadShape     = "bad-shape"
	Unreadable   = "unreadable"
	TooOld       = "too-old"
)

func (m *Map) place(line int, section string) string {
	switch {
	case section != "":
		return m.Document.Title + ", " + section
	case line > 0:
		return fmt.Sprintf("%s, line %d", m.Document.Title, line)
	}
	return m.Document.Title
}
