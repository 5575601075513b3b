package layout_test

import (
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

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
