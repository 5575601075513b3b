package layout_test

import (
	"bytes"
	"compress/zlib"
	"strings"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// everyCodec is a map with a znode for each codec.
const everyCodec = aMap + `- {id: free, path: /x/free, codec: free, says: s}
- {id: none, path: /x/none, codec: none, says: s}
- {id: json, path: /x/json, codec: json, schema: {type: object}, says: s}
- {id: zlib, path: /x/zlib, codec: zlib-json, schema: {type: array}, says: s}
- {id: sharded, path: /x/sharded, codec: sharded-json, says: s}
- {id: bytes, path: /x/bytes, codec: sharded-bytes, says: s}
- {id: lock, path: /x/lock, codec: lock, says: s}
relations:
- {of: json, rule: same, field: 'a[].b', same: x, says: s}
- {of: zlib, rule: there, field: '[]', refers: '{value}', says: s}
`

// A check reports any data and continues.
func FuzzData(f *testing.F) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write([]byte(`[{"a":"b"},"/x",Infinity]`))
	z.Close()
	for _, seed := range []string{"", "{}", `{"a":[{"b":5},null]}`, strings.Repeat("[", 600), "\x78\x9c", packed.String(), "7", "NaN", `["/x/\u0000"]`} {
		f.Add([]byte(seed), "0000000000", []byte(seed))
	}
	m, err := layout.Load("own.yaml", []byte(strings.Replace(everyCodec, "roots:", "json: python\nroots:", 1)), "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, name string, second []byte) {
		tree := znode.NewTree()
		for _, n := range m.Nodes {
			_ = tree.Put(znode.Node{Path: n.Path, Data: data})
			_ = tree.Put(znode.Node{Path: n.Path + "/" + name, Data: second}) // if that is a path
		}
		r, err := m.Check(t.Context(), layout.InMemory(tree), layout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if m.Rule(f.Rule) == nil || f.Expected == "" || f.Found == "" {
				t.Errorf("%+v", f)
			}
		}
	})
}

// Load refuses a map, or no tree panics the check with it.
func FuzzMap(f *testing.F) {
	for _, rows := range []string{
		"- {id: a, path: '/x/{a:digits}', undocumented: true, says: s}", "- {id: a, path: /x/y, undocumented: true, required: true, says: s}",
		"- {id: a, path: /x, undocumented: true, says: s}", "- {id: a, path: '/x/y-{a:name}', undocumented: true, says: s}",
		"- {id: a, path: '/x/{a:digits}', kind: ephemeral, codec: json, schema: {type: object}, oldest: 1h, most: {children: 0, rule: many}, says: s}\nrelations:\n- {of: a, rule: r, field: f, refers: '{value}', says: s}",
		"- {id: a, path: '/x/{a:letters}', codec: lock, says: s}\n- {id: b, path: '/x/{b:digits}', required: true, says: s}",
	} {
		f.Add(rows, "1", []byte("{"), int64(7))
		f.Add(rows, "y", []byte(nil), int64(0))
	}
	f.Fuzz(func(t *testing.T, rows, name string, data []byte, owner int64) {
		m, err := layout.Load("own.yaml", []byte(aMap+rows), "")
		if err != nil {
			return
		}
		tree := znode.NewTree()
		for _, path := range []string{"/x", "/x/" + name, "/x/" + name + "/" + name} {
			_ = tree.Put(znode.Node{Path: path, Data: data, Stat: znode.Stat{Czxid: 1, EphemeralOwner: owner}}) // if that is a path
		}
		for _, f := range check(t, m, tree) {
			if m.Rule(f.Rule) == nil {
				t.Errorf("%+v", f)
			}
		}
	})
}
