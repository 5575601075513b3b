package sides_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"mrtq/internal/jute"

	"mrtq/internal/sides"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// kinds is a dump as mrtq writes it, with znodes of each kind. /a/e is another session's lock. It is a chroot's: only
// a server's root has nodes of its own at /zookeeper.
const kinds = `{"path":"/","data":"cm9vdA==","stat":{"czxid":0,"mzxid":0,"ctime":0,"mtime":0,"version":0,"cversion":1,"aversion":0,"ephemeralOwner":0,"dataLength":4,"numChildren":5,"pzxid":9}}
{"path":"/a","data":null}
{"path":"/a-b","data":"","stat":{"czxid":5,"mzxid":6,"ctime":1709208000123,"mtime":1709208000124,"version":1,"cversion":8,"aversion":0,"ephemeralOwner":0,"dataLength":0,"numChildren":0,"pzxid":7}}
{"path":"/a/binary","data":"AP+AfwoNIg=="}
{"path":"/a/e","data":"","stat":{"czxid":7,"mzxid":7,"ctime":1,"mtime":1,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":4711,"dataLength":0,"numChildren":0,"pzxid":7}}
{"path":"/a/empty","data":""}
{"path":"/a/guarded","data":"cw==","acl":[{"perms":31,"scheme":"digest","id":"operator:x"},{"perms":1,"scheme":"sasl","id":"anyone"}]}
{"path":"/a/null","data":null}
{"path":"/b","data":"","stat":{"czxid":5,"mzxid":6,"ctime":1709208000123,"mtime":1709208000124,"version":1,"cversion":7,"aversion":0,"ephemeralOwner":0,"dataLength":0,"numChildren":1,"pzxid":7}}
{"path":"/b/parent","data":""}
{"path":"/b/parent/child","data":"eA=="}
{"path":"/c","data":"","stat":{"czxid":5,"mzxid":6,"ctime":1709208000123,"mtime":1709208000124,"version":1,"cversion":8,"aversion":3,"ephemeralOwner":0,"dataLength":0,"numChildren":0,"pzxid":7}}
{"path":"/zookeeper","data":""}
{"path":"/zookeeper/quota","data":"bWluZQ=="}
`

// TestDump: in every spelling and order of its lines, a dump is read as it was written.
func TestDump(t *testing.T) {
	lines := strings.SplitAfter(kinds, "\n")
	lines = lines[:len(lines)-1]
	each := func(change func(i int, line string) string) string {
		var b strings.Builder
		for i, line := range lines {
			b.WriteString(change(i, line))
		}
		return b.String()
	}
	shuffled := bytes.Split([]byte(strings.TrimSuffix(kinds, "\n")), []byte("\n"))
	rand.New(rand.NewPCG(7, 7)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for name, text := range map[string]string{
		"as mrtq writes it": kinds,
		"no last newline":   strings.TrimSuffix(kinds, "\n"),
		"shuffled":          string(bytes.Join(shuffled, []byte("\n"))),
		"reversed":          each(func(i int, _ string) string { return lines[len(lines)-1-i] }),
		"a parent missing": each(func(_ int, line string) string {
			if strings.Contains(line, `"/b/parent"`) {
				return ""
			}
			return line
		}),
		"other spelling": each(func(i int, line string) string {
			if i%2 == 0 {
				return "\n  " + strings.Replace(line, `{"path":"/`, `{ "path" : "\u002f`, 1)
			}
			return strings.TrimSuffix(line, "\n") + "\r\n"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{file(t, "dump.ndjson", text), file(t, "dump.ndjson.gz", zipped(t, text))} {
				if got := dumped(t, t.Context(), source(t, "file:"+path).Reader); got != kinds {
					t.Errorf("%s is read as\n%s\nwant\n%s", filepath.Base(path), got, kinds)
				}
			}
		})
	}
}

// TestUnreadable: a znode that could not be read when the dump was made can't be read now, whoever
// asks, and its Stat is known.
func TestUnreadable(t *testing.T) {
	const secret = `{"path":"/a/secret","data":null,"stat":{"czxid":3,"mzxid":3,"ctime":1,"mtime":1,"version":0,"cversion":2,"aversion":1,"ephemeralOwner":0,"dataLength":9,"numChildren":2,"pzxid":5},"unreadable":"not authorized"}` + "\n"
	path := file(t, "dump.ndjson", kinds+secret)
	s := source(t, "file:"+path)
	for what, read := range map[string]func() error{
		"get":      func() error { _, err := s.Get(t.Context(), "/a/secret"); return err },
		"children": func() error { _, err := s.Children(t.Context(), "/a/secret"); return err },
		"acl":      func() error { _, err := s.ACL(t.Context(), "/a/secret"); return err },
	} {
		if err := read(); !errors.Is(err, zkconn.ErrNoAuth) {
			t.Errorf("%s: %v", what, err)
		}
	}
	nodes, err := s.MarkUnreadable().WithACLs().GetAll(t.Context(), []string{"/a/secret"})
	if want := (znode.Stat{Czxid: 3, Mzxid: 3, Ctime: 1, Mtime: 1, Cversion: 2, Aversion: 1, DataLength: 9, NumChildren: 2, Pzxid: 5}); err != nil || len(nodes) != 1 || nodes[0].Unreadable == "" || nodes[0].Stat != want {
		t.Errorf("%+v, %v", nodes, err)
	}
	if n, err := s.Get(t.Context(), "/a/guarded"); err != nil || string(n.Data) != "s" {
		t.Errorf("a znode that only its owner may read: %+v, %v", n, err)
	}

	var lacking *sides.IncompleteError
	if _, err := sides.Open(t.Context(), place(t, "file:"+path), sides.Options{RequireComplete: true}); !errors.As(err, &lacking) || lacking.Path != "/a/secret" {
		t.Errorf("a source that must be whole: %v", err)
	}
	if _, err := sides.OpenWritable(t.Context(), place(t, "file:"+path), sides.Options{}); !errors.As(err, &lacking) {
		t.Errorf("a target: %v", err)
	}
}

// TestBadDump: a dump that is damaged anywhere is refused with the line that is bad.
func TestBadDump(t *testing.T) {
	good := `{"path":"/a","data":null}` + "\n" + `{"path":"/b","data":null}` + "\n"
	owned := `{"path":"/e","data":"","stat":{"czxid":3,"ephemeralOwner":77}}` + "\n"
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"no JSON":                    {good + "x\n", 3},
		"cut short":                  {good + `{"path":"/c","da`, 3},
		"no data":                    {good + `{"path":"/c"}`, 3},
		"bad base64":                 {good + `{"path":"/c","data":"aGl="}`, 3},
		"bad path":                   {good + `{"path":"c","data":null}`, 3},
		"twice":                      {good + `{"path":"/b","data":null}`, 3},
		"twice, apart":               {good + `{"path":"/a","data":null}`, 3},
		"below an ephemeral":         {owned + `{"path":"/e/x","data":null}`, 2},
		"below an ephemeral, before": {`{"path":"/e/x","data":null}` + "\n" + owned, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var bad *znode.DumpError
			_, err := sides.Open(t.Context(), place(t, "file:"+file(t, "dump.ndjson", c.text)), sides.Options{})
			if !errors.As(err, &bad) || bad.Line != c.line {
				t.Errorf("got %v", err)
			}
		})
	}
	packed := zipped(t, good)
	if _, err := sides.Open(t.Context(), place(t, "file:"+file(t, "cut.gz", packed[:len(packed)-6])), sides.Options{}); err == nil {
		t.Error("a packed dump that was cut was read")
	}
	if _, err := sides.Open(t.Context(), place(t, "file:"+t.TempDir()+"/none"), sides.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sides.Open(ctx, place(t, "file:"+file(t, "dump.ndjson", good)), sides.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	path := file(t, "x", "")
	for text, want := range map[string]string{
		"file:":         "it names no file",
		path:            "this is a file: write file:" + path,
		dir:             "this is a folder: to read a server's data directory, start a server on a copy of it (docs/commands.md, \"A data directory\")",
		"none.ndjson":   "this is not a server's address, and there is no such file; write a dump as file:none.ndjson",
		"embedded":      "mrtq reads servers and dumps (file:…) only",
		"host:2181/a//": `address "host:2181/a//": chroot: invalid znode path "/a/": it has an empty element`,
	} {
		if p, err := sides.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v; want %s", text, p, err, want)
		}
	}
	if p := place(t, "a,b:2182/c"); p.Server.String() != "a:2181,b:2182/c" {
		t.Errorf("%+v", p)
	}
}

// TestOwner: the client may do everything, but it is nobody whom a list could mean by "auth".
func TestOwner(t *testing.T) {
	tree := target(t, file(t, "tree.ndjson", kinds), sides.Options{})
	must(t, tree.Multi(t.Context(), []znode.Op{znode.Set("/a/guarded", nil, -1), znode.Create("/a/guarded/x", nil), znode.Delete("/a/guarded/x", 0)}))
	err := tree.Multi(t.Context(), []znode.Op{{Kind: znode.OpCreate, Path: "/x", ACL: []znode.ACL{{Perms: 31, Scheme: "auth"}}}})
	if !errors.Is(err, jute.InvalidACL) {
		t.Errorf("an ACL for authenticated clients: %v", err)
	}
}
