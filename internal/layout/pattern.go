package layout

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

type place struct {
	node    *Node
	segment string // of the pattern
	literal map[string]*place
	params  []*place
	// match splits a name into parameters, for a place that has some.
	match       *regexp.Regexp
	matchParams []param // the parameters of match, in its groups' order
	// near is one of params: a name that matches none of them is a finding of its
	// last type. It is nil if they are all undocumented, or match any name after a
	// fixed part. Then such a name is an unknown path.
	near *place
}

type param struct {
	name string
	typ  *Type
}

// Params are the values of a path's parameters.
type Params []binding

type binding struct{ name, value string }

// Get returns the value of a parameter, "" if there is none.
func (p Params) Get(name string) string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].name == name {
			return p[i].value
		}
	}
	return ""
}

// with returns p with more values. It doesn't change the callers' slices.
func (p Params) with(pl *place, name string) Params {
	if pl.match == nil {
		return p
	}
	groups := pl.match.FindStringSubmatch(name)
	out := append(Params(nil), p...)
	for i, s := range pl.matchParams {
		out = append(out, binding{s.name, groups[i+1]})
	}
	return out
}

func (p *place) child(name string) *place {
	if c := p.literal[name]; c != nil {
		return c
	}
	for _, c := range p.params {
		if c.match.MatchString(name) {
			return c
		}
	}
	return nil
}

var paramPattern = regexp.MustCompile(`\{([a-z_]+)(?::([a-z0-9_-]+))?\}`)

func splitSegment(text string, types map[string]*Type) (params []param, match *regexp.Regexp, err error) {
	found := paramPattern.FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		if strings.ContainsAny(text, "{}") {
			return nil, nil, fmt.Errorf("%q has a brace that is not part of a parameter: expected {name} or {name:type}", text)
		}
		return nil, nil, nil
	}
	var expr strings.Builder
	expr.WriteString("^")
	at := 0
	for _, f := range found {
		expr.WriteString(regexp.QuoteMeta(text[at:f[0]]))
		name := text[f[2]:f[3]]
		typeName := name
		if f[4] >= 0 {
			typeName = text[f[4]:f[5]]
		}
		t := types[typeName]
		if t == nil {
			return nil, nil, fmt.Errorf("parameter {%s}: no type %q; the schema has %s", name, typeName, orNone(slices.Sorted(maps.Keys(types))))
		}
		params = append(params, param{name, t})
		expr.WriteString("(" + t.Match + ")")
		at = f[1]
	}
	expr.WriteString(regexp.QuoteMeta(text[at:]) + "$")
	match, err = regexp.Compile(expr.String())
	return params, match, err
}

func sample(text string, params []param) string {
	i := -1
	return paramPattern.ReplaceAllStringFunc(text, func(string) string {
		i++
		return params[i].typ.Example
	})
}

type template string

func (t template) fill(value func(name string) string) string {
	return paramPattern.ReplaceAllStringFunc(string(t), func(p string) string {
		return value(paramPattern.FindStringSubmatch(p)[1])
	})
}

func (t template) names() []string {
	var names []string
	for _, m := range paramPattern.FindAllStringSubmatch(string(t), -1) {
		names = append(names, m[1])
	}
	return names
}

type likeness struct {
	text  template
	match *regexp.Regexp
	names []string // of the groups of match
	says  map[string]string
}

// like reads a pattern of values. own are the parameters of the znode's path. Any other
// parameter names its type.
func like(text string, own []param, types map[string]*Type) (*likeness, error) {
	known := maps.Clone(types)
	for _, p := range own {
		known[p.name] = p.typ
	}
	params, match, err := splitSegment(text, known)
	if err == nil && match == nil {
		match, err = regexp.Compile("^" + regexp.QuoteMeta(text) + "$")
	}
	l := &likeness{text: template(text), match: match, says: map[string]string{}}
	for _, p := range params {
		l.names, l.says[p.name] = append(l.names, p.name), p.typ.Says
	}
	return l, err
}

func (l *likeness) matches(value string, own Params) bool {
	groups := l.match.FindStringSubmatch(value)
	for i, name := range l.names {
		if want := own.Get(name); groups != nil && want != "" && want != groups[i+1] {
			return false
		}
	}
	return groups != nil
}

func (l *likeness) words(own Params) string {
	return l.text.fill(func(name string) string { return cmp.Or(own.Get(name), "<"+l.says[name]+">") })
}
