package znode_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"mrtq/internal/goldenfile"
	"mrtq/internal/znode"
)

const aStat = `{"czxid":9,"mzxid":10,"ctime":1700000000000,"mtime":1700000000001,"version":1,"cversion":3,"aversion":0,"ephemeralOwner":0,"dataLength":2,"numChildren":1,"pzxid":12}`

func TestReadDump(t *testing.T) {
	tree := readDump(t, `{"path":"/b/c","data":null}

  {"data":"aGk=","path":"/a","stat":`+aStat+`,"acl":[{"perms":1,"scheme":"digest","id":"u:h"}]}
{"path":"/b","data":""}
{"path":"/deep/er","data":"AA==","unknown":{"to":["us"]}}`)
	if got, want := tree.Paths("/"), []string{"/", "/a", "/b", "/b/c", "/deep", "/deep/er"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("paths %q, want %q", got, want)
	}
	a := tree.Get("/a")
	if string(a.Data) != "hi" || !reflect.DeepEqual(a.ACL, []znode.ACL{{Perms: 1, Scheme: "digest", ID: "u:h"}}) {
		t.Errorf("%+v", a)
	}
	if want := (znode.Stat{Czxid: 9, Mzxid: 10, Ctime: 1700000000000, Mtime: 1700000000001, Version: 1, Cversion: 4, DataLength: 2, Pzxid: 12}); a.Stat != want {
		t.Errorf("stat %+v, want %+v", a.Stat, want)
	}
	if d := tree.Get("/b/c").Data; d != nil {
		t.Errorf("null data is %#v", d)
	}
	for _, p := range []string{"/b", "/deep"} {
		if d := tree.Get(p).Data; d == nil || len(d) > 0 {
			t.Errorf("%s: empty data is %#v", p, d)
		}
	}
	if s, want := tree.Get("/b").Stat, (znode.Stat{Cversion: 1, NumChildren: 1}); s != want {
		t.Errorf("default stat %+v, want %+v", s, want)
	}
}

func TestReadDumpErrors(t *testing.T) {
	const first = `{"path":"/a","data":null}` + "\n" // 26 bytes
	for _, tc := range []struct{ name, line, want string }{
		{"no JSON", `path=/a`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: invalid character 'p' looking for beginning of value`},
		{"an array", `[1]`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: a JSON array does not fit here`},
		{"two objects", `{"path":"/b","data":null} {}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: invalid character '{' after top-level value`},
		{"cut", `{"path":"/b","da`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: unexpected end of JSON input`},
		{"no path", `{"data":null}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: no path`},
		{"no data", `{"path":"/b"}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: /b has no data (null is null data)`},
		{"data is a number", `{"path":"/b","data":5}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: data: expected base64 or null`},
		{"bad base64", `{"path":"/b","data":"aGk"}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: data: illegal base64 data at input byte 0`},
		{"bits after the end", `{"path":"/b","data":"aGl="}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: data: illegal base64 data at input byte 3`},
		{"relative path", `{"path":"b","data":null}`, `dump line 2 (at byte 26): invalid znode path "b": it must start with /`},
		{"control character", `{"path":"/\u001b[2J","data":null}`, `dump line 2 (at byte 26): invalid znode path "/\x1b[2J": character U+001B is not allowed`},
		{"no UTF-8", "{\"path\":\"/\xff\",\"data\":null}", `dump line 2 (at byte 26): invalid znode path "/�": character U+FFFD is not allowed`},
		{"very deep", `{"path":"` + strings.Repeat("/a", 1001) + `","data":null}`, `dump line 2 (at byte 26): invalid znode path "` + strings.Repeat("/a", 30) + `"…: it is deeper than 1000 znodes`},
		{"stat out of range", `{"path":"/b","data":null,"stat":{"version":4294967296}}`, `dump line 2 (at byte 26): expected {"path":…,"data":…}: stat.version: a JSON number 4294967296 does not fit here`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := znode.ReadDump(strings.NewReader(first + tc.line))
			if message(err) != tc.want || tree != nil {
				t.Errorf("\ngot  %v\nwant %s", err, tc.want)
			}
			var de *znode.DumpError
			if !errors.As(err, &de) || de.Line != 2 || de.Offset != 26 {
				t.Errorf("%#v", err)
			}
		})
	}
	broken := errors.New("disk on fire")
	if _, err := znode.ReadDump(io.MultiReader(strings.NewReader(first), iotest.ErrReader(broken))); err != broken {
		t.Errorf("reader's error became %v", err)
	}
}

func TestWriteDumpGolden(t *testing.T) {
	tree := znode.NewTree()
	for _, n := range []znode.Node{
		{Path: "/b/<&>", Data: []byte{}},
		{Path: "/a", Data: []byte("hi\x00"), ACL: znode.OpenACL(), Stat: znode.Stat{Czxid: 3, Mzxid: 4, Pzxid: 3, Version: 1, DataLength: 3}},
		{Path: "/b/ü", ACL: []znode.ACL{{Perms: 31, Scheme: "digest", ID: "u:h="}, {Perms: 1, Scheme: "world", ID: "anyone"}}},
		{Path: "/b-c", Data: []byte("x"), Stat: znode.Stat{Version: 7, DataLength: 1}}, // a stat, though without a zxid
		{Path: "/b-d", Stat: znode.Stat{Mzxid: 3, Pzxid: 2, Version: 1, Cversion: 2}},  // a counter that has advanced, without children
		{Path: "/b-e", Stat: znode.Stat{Czxid: 5}, Unreadable: "no permission"},        // which is not null data
	} {
		must(t, tree.Put(n))
	}
	tree.SettleStats(0)
	golden(t, "dump.golden.ndjson", writeDump(t, tree))

	must(t, tree.Put(znode.Node{Path: "/", Data: []byte("root"), Stat: znode.Stat{Cversion: -1, NumChildren: 1}}))
	golden(t, "dump-root.golden.ndjson", writeDump(t, tree))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join("testdata", name), got, *update)
}

func TestWriteDumpError(t *testing.T) {
	tree := readDump(t, `{"path":"/a","data":null}`)
	if err := znode.WriteDump(brokenWriter{}, tree); err != errBroken {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("no space left")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// If a dump can be read and is written again, it reads as the same tree. Written
// once more, it has the same bytes.
func FuzzDump(f *testing.F) {
	for _, name := range []string{"dump.golden.ndjson", "dump-root.golden.ndjson"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"path":"/b/c","data":null}` + "\n" + `{"path":"/","data":"AA==","stat":` + aStat + `}`))
	f.Add([]byte(`{"path":"/a","data":"","acl":[]}` + "\r\n\n" + `{"Path":"/b","DATA":"aGk=","stat":{"version":-1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := znode.ReadDump(bytes.NewReader(b))
		if err != nil {
			var de *znode.DumpError
			if !errors.As(err, &de) || de.Offset > int64(len(b)) || de.Line < 1 {
				t.Fatalf("%#v", err)
			}
			return
		}
		first := writeDump(t, tree)
		again := readDump(t, first)
		if second := writeDump(t, again); second != first {
			t.Fatalf("first\n%s\nsecond\n%s", first, second)
		}
		if d := znode.Diff(tree, again, "/"); d != nil {
			t.Fatal(d)
		}
		for n := range tree.All("/") {
			m := again.Get(n.Path)
			if m.Unreadable != n.Unreadable {
				t.Fatalf("%s: unreadable %q became %q", n.Path, n.Unreadable, m.Unreadable)
			}
			if n.Path != "/" && m.Stat != n.Stat {
				t.Fatalf("%s: stat %+v became %+v", n.Path, n.Stat, m.Stat)
			}
			if !znode.IsOpenACL(n.ACL) && !reflect.DeepEqual(m.ACL, n.ACL) {
				t.Fatalf("%s: ACL %v became %v", n.Path, n.ACL, m.ACL)
			}
		}
	})
}

func readDump(t testing.TB, text string) *znode.Tree {
	t.Helper()
	tree := value(znode.ReadDump(strings.NewReader(text)))(t)
	return tree
}

func writeDump(t testing.TB, tree *znode.Tree) string {
	t.Helper()
	var b strings.Builder
	must(t, znode.WriteDump(&b, tree))
	return b.String()
}
