package layout_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// aMap is the first ten lines of a map. Each test adds the rows.
const aMap = `map: own
title: My own
says: Something of mine.
document: {title: My notes, file: notes.txt}
roots: [/x]
types:
  - {name: digits, match: '[0-9]+', example: '1', says: digits}
  - {name: name, match: '[^/]+', example: y, says: a name}
  - {name: letters, match: '[a-z]+', example: a, says: letters}
nodes:
`

func load(t *testing.T, rows string) *layout.Map {
	t.Helper()
	m, err := layout.Load("own.yaml", []byte(aMap+rows), "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func check(t *testing.T, m *layout.Map, tree *znode.Tree) []layout.Finding {
	t.Helper()
	r, err := m.Check(t.Context(), layout.InMemory(tree), layout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// Load refuses each mistake, and the error says the line and the reason.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, rows, want string }{
		{"unknown codec", "- {id: a, path: /x, codec: jsno, says: s}", `own.yaml:11: a: unknown codec "jsno"; there are free, none, json, zlib-json, sharded-json, sharded-bytes, lock`},
		{"one pattern twice", "- {id: a, path: /x/y, says: s}\n- {id: b, path: /x/y, says: s}", "own.yaml:12: b overlaps a of line 11: both are /x/y"},
		{"a name of two patterns", "- {id: a, path: '/x/{a:digits}', says: s}\n- {id: b, path: '/x/{b:name}', says: s}", "own.yaml:12: /x/{b:name} overlaps /x/{a:digits} of line 11: one name can belong to both"},
		{"a literal that is also a parameter", "- {id: a, path: '/x/{a:letters}', says: s}\n- {id: b, path: /x/lock, says: s}", `own.yaml:12: /x/lock overlaps /x/{a:letters} of line 11: the name "lock" belongs to both`},
		{"an id twice", "- {id: a, path: /x/y, says: s}\n- {id: a, path: /x/z, says: s}", "own.yaml:12: id a is used twice, here and in line 11"},
		{"no root above", "- {id: a, path: /z, says: s}", "own.yaml:11: a: /z is below none of the schema's roots: /x"},
		{"unknown type", "- {id: a, path: '/x/{a:colour}', says: s}", `own.yaml:11: a: parameter {a}: no type "colour"; the schema has digits, letters, name`},
		{"a brace", "- {id: a, path: '/x/{a', says: s}", `own.yaml:11: a: "{a" has a brace that is not part of a parameter: expected {name} or {name:type}`},
		{"a parameter twice", "- {id: a, path: '/x/{a:digits}/{a:name}', says: s}", "own.yaml:11: a: the parameter {a} is in the pattern twice"},
		{"below a blob", "- {id: a, path: /x/y, codec: lock, says: s}\n- {id: b, path: /x/y/z, says: s}", "own.yaml:12: /x/y/z is below /x/y, whose codec lock reads the children itself"},
		{"a schema of no JSON", "- {id: a, path: /x/y, codec: free, schema: {type: object}, says: s}", "own.yaml:11: a has a schema, but no codec that reads JSON"},
		{"a bad schema", "- {id: a, path: /x/y, codec: json, schema: {type: thing}, says: s}", "own.yaml:11: a: the schema:"},
		{"an unknown kind", "- {id: a, path: /x/y, kind: eternal, says: s}", "own.yaml:11: nodes.0.kind: value must be one of 'persistent', 'ephemeral'"},
		{"a kind that no client can see", "- {id: a, path: /x/y, kind: container, says: s}", "own.yaml:11: nodes.0.kind: value must be one of 'persistent', 'ephemeral'"},
		{"an unknown key", "- {id: a, path: /x/y, colour: red, says: s}", "own.yaml:11: nodes.0: additional properties 'colour' not allowed"},
		{"a severity of nothing", "- {id: a, path: /x/y, says: s, severity: {not-json: warning}}", "own.yaml:11: a has a severity or a then for not-json, which it never reports; it reports not-persistent, unknown-path, unreadable"},
		{"an outcome of nothing", "- {id: a, path: /x/y, says: s, then: {not-json: it ends}}", "own.yaml:11: a has a severity or a then for not-json, which it never reports; it reports not-persistent, unknown-path, unreadable"},
		{"an age", "- {id: a, path: /x/y, oldest: old, says: s}", "own.yaml:11: nodes.0.oldest: 'old' does not match pattern"},
		{"relation of no node", "- {id: a, path: /x/y, says: s}\nrelations:\n- {of: b, rule: r, refers: /x, says: s}", `own.yaml:13: relation r is of "b", which is not a node of the schema`},
		{"relation about no value", "- {id: a, path: /x/y, codec: free, says: s}\nrelations:\n- {of: a, rule: r, field: f, refers: '{value}', says: s}", "own.yaml:13: relation a/r is about a value, but a has no codec that reads one"},
		{"relation with no such parameter", "- {id: a, path: /x/y, codec: json, says: s}\nrelations:\n- {of: a, rule: r, field: f, same: '{b}', says: s}", "own.yaml:13: relation a/r uses {b}, which is not a parameter of /x/y"},
		{"relation that waits for nothing", "- {id: a, path: /x/y, says: s}\nrelations:\n- {of: a, rule: r, referenced-by: [b/c], says: s}", "own.yaml:13: relation a/r waits for b/c, which is not a rule of the schema"},
		{"a rule twice", "- {id: a, path: /x/y, codec: json, says: s}\nrelations:\n- {of: a, rule: not-json, field: f, same: x, says: s}", "own.yaml:13: rule a/not-json is defined twice"},
		{"an undocumented root", "- {id: a, path: /x, undocumented: true, says: s}", "own.yaml:11: a: the root /x is undocumented, so nothing would be checked"},
		{"undocumented and required", "- {id: a, path: /x/y, undocumented: true, required: true, says: s}", "own.yaml:11: a is undocumented, so it is not checked: leave out required, codec, schema, most and oldest"},
		{"no YAML", "- {id: [", "own.yaml:11: this is not YAML: did not find expected node content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := layout.Load("own.yaml", []byte(aMap+c.rows), "")
			var bad *layout.MapError
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	for _, c := range []struct{ name, text, dialect, want string }{
		{"empty", "", "", "own.yaml:1: the schema is empty"},
		{"no map", "# settings\n\nversion: 3\n", "", "own.yaml:3: this is not the schema of a layout: it does not have the field map, the schema's name"},
		{"a list", "- 1\n", "", "own.yaml:1: this is not the schema of a layout: it does not have the field map, the schema's name"},
		{"a text", "Dear reader\n", "", "own.yaml:1: this is not the schema of a layout: it does not have the field map, the schema's name"},
		{"no nodes", aMap + "  []", "", "own.yaml:1: the schema describes no znode"},
		{"no title", "map: own\n", "", "own.yaml:1: missing properties 'title', 'says', 'document', 'roots', 'nodes'"},
		{"a type that does not match its example", strings.Replace(aMap, "example: a,", "example: A,", 1) + "- {id: a, path: /x, says: s}", "", `own.yaml:9: type letters does not match its own example "A"`},
		{"a type twice", strings.Replace(aMap, "name: letters", "name: digits", 1) + "- {id: a, path: /x, says: s}", "", "own.yaml:9: type digits is defined twice"},
		{"no expression", strings.Replace(aMap, "'[a-z]+'", "'[a-z'", 1) + "- {id: a, path: /x, says: s}", "", "own.yaml:9: type letters: error parsing regexp"},
		{"a group", strings.Replace(aMap, "'[a-z]+'", "'(a|b)'", 1) + "- {id: a, path: /x, says: s}", "", "own.yaml:9: type letters: write (?:…) for a group"},
		{"a group beside one that counts nothing", strings.Replace(aMap, "'[a-z]+'", "'(?:a|b)(c|)'", 1) + "- {id: a, path: /x, says: s}", "", "own.yaml:9: type letters: write (?:…) for a group"},
		{"half an expression", strings.Replace(aMap, "'[a-z]+'", "'a)|(?:b'", 1) + "- {id: a, path: /x, says: s}", "", "own.yaml:9: type letters: error parsing regexp: unexpected ): `a)|(?:b`"},
		{"roots in each other", strings.Replace(aMap, "[/x]", "[/x, /x/y]", 1) + "- {id: a, path: /x, says: s}", "", "own.yaml:1: the roots /x and /x/y overlap"},
		{"a dialect that is not there", aMap + "- {id: a, path: /x, says: s}", "old", `own.yaml:1: the schema own has no dialect "old"; it has none`},
	} {
		if _, err := layout.Load("own.yaml", []byte(c.text), c.dialect); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.want)
		}
	}
}

// A name that matches no pattern is a bad name, or an unknown path if the patterns
// there are undocumented or match any name after a fixed part.
func TestUnknownNames(t *testing.T) {
	for _, c := range []struct{ row, want string }{
		{"- {id: a, path: '/x/{a:digits}', undocumented: true, says: s}", "x/unknown-path"},
		{"- {id: a, path: '/x/y-{a:name}', says: s}", "x/unknown-path"},
		{"- {id: a, path: '/x/{a:digits}', says: s}", "a/bad-name"},
		{"- {id: a, path: /x/y, says: s}", "x/unknown-path"},
	} {
		m := load(t, c.row)
		tree := znode.NewTree()
		if err := tree.Put(znode.Node{Path: "/x/-/below"}); err != nil {
			t.Fatal(err)
		}
		if got := check(t, m, tree); len(got) != 1 || got[0].Rule != c.want || got[0].Path != "/x/-" {
			t.Errorf("%s: %v, want %s at /x/-", c.row, got, c.want)
		}
	}
}

// A subtree is one subtree although a sibling's path comes between its znodes:
// "-" is before the slash.
func TestSiblingsInPathOrder(t *testing.T) {
	m := load(t, "- {id: a, path: '/x/{a:name}', says: s}\n- {id: b, path: '/x/{a:name}/b', required: true, codec: none, says: s}\n"+
		"- {id: c, path: '/x/{a:name}/c', codec: lock, says: s}")
	tree := znode.NewTree()
	for _, path := range []string{"/x/y/b", "/x/y/c/d", "/x/y-z/b", "/x/y-z/c/d", "/x/y-", "/x/y-/c-/e"} {
		if err := tree.Put(znode.Node{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range check(t, m, tree) {
		got = append(got, f.Path+" "+f.Rule)
	}
	if want := []string{"/x/y-/b b/missing", "/x/y-/c- a/unknown-path"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A type may match brackets: only a group could shift the parameters.
func TestBracketsOfAType(t *testing.T) {
	text := strings.Replace(aMap, "'[0-9]+', example: '1'", `'\([0-9]+\)|[(]', example: (1)`, 1)
	m, err := layout.Load("own.yaml", []byte(text+"- {id: a, path: '/x/{a:digits}-{b:letters}', codec: json, says: s}\nrelations:\n- {of: a, rule: same, field: f, same: '{b}', says: s}"), "")
	if err != nil {
		t.Fatal(err)
	}
	tree := znode.NewTree()
	for name, f := range map[string]string{"(1)-b": "b", "(-c": "b"} {
		if err := tree.Put(znode.Node{Path: "/x/" + name, Data: []byte(`{"f":"` + f + `"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := check(t, m, tree); len(got) != 1 || got[0].Path != "/x/(-c" || got[0].Rule != "a/same" {
		t.Errorf("got %v", got)
	}
}

// Check refuses a tree that has no znode of the map.
func TestNoMatch(t *testing.T) {
	if _, err := load(t, "- {id: a, path: /x, says: s}").Check(t.Context(), layout.InMemory(znode.NewTree()), layout.Options{}); !errors.Is(err, layout.ErrNoMatch) {
		t.Errorf("an empty tree: %v", err)
	}
}
