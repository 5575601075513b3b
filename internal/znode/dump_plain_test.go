package znode

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

var lines = []string{
	`{"path":"/a","data":"aGk="}`,
	`{"path":"/a","data":""}` + "\n",
	`{"path":"/a","data":null}`,
	`{"path":"/a","data":null,"stat":{"czxid":12,"mzxid":9223372036854775807,"ctime":-3,"mtime":0,"version":-2147483647,"cversion":5,"aversion":0,"ephemeralOwner":-72057594037927936,"dataLength":2,"numChildren":1,"pzxid":7}}`,
	`{"path":"/ü","data":"aGk=","acl":[{"perms":1,"scheme":"world","id":"anyone"}]}`,
	`{"path":"/a","data":null,"unreadable":"no permission"}`,
	`{"path":"/\u0061","data":"aGk="}`,
	`{"path":"/a` + "\t" + `","data":null}`,
	`{"path":"/a` + "\xff" + `","data":null}`,
	`{"path":"","data":null}`,
	`{"path":"/a","data":"aG\rk="}`,
	`{"path":"/a","data":"aGl="}`, // its last bits mean nothing
	`{"path":"/a","data":"aGk"}`,
	`{"path":"/a","data":null,"stat":{"czxid":012,"mzxid":0,"ctime":0,"mtime":0,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":0,"dataLength":0,"numChildren":0,"pzxid":0}}`,
	`{"path":"/a","data":null,"stat":{"czxid":9223372036854775808,"mzxid":0,"ctime":0,"mtime":0,"version":0,"cversion":0,"aversion":0,"ephemeralOwner":0,"dataLength":0,"numChildren":0,"pzxid":0}}`,
	`{"path":"/a","data":null,"stat":{"czxid":0,"mzxid":0,"ctime":0,"mtime":0,"version":-2147483648,"cversion":0,"aversion":0,"ephemeralOwner":0,"dataLength":0,"numChildren":0,"pzxid":0}}`,
	`{"path":"/a","data":null,"stat":{}}`,
	`{"path":"/a","data":null}}`,
	`{"path":"/a","data":null} {}`,
	`{"path":"/a"}`,
	`{"path":"/a","data":"aGk="`,
	`{"data":"aGk=","path":"/a"}`,
	``,
}

// sameAsJSON checks that a line is read as encoding/json reads it.
func sameAsJSON(t *testing.T, text []byte) {
	t.Helper()
	want, err := parseAnyLine(text)
	got, plain := parsePlainLine(text)
	if plain && (err != nil || !reflect.DeepEqual(got, want)) {
		t.Errorf("%q: got %+v, want %+v, %v", text, got, want, err)
	}
	if err == nil {
		writtenSame(t, &want)
	}
}

// writtenSame checks that a node's line is what encoding/json makes of it.
func writtenSame(t *testing.T, n *Node) (plain bool) {
	t.Helper()
	for children := range 2 {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(n.line(children)); err != nil {
			t.Fatal(err)
		}
		var got []byte
		if got, plain = appendPlainLine([]byte("before\n"), n, n.needsStat(children)); plain && string(got) != "before\n"+want.String() {
			t.Errorf("got %s, want %s", got, want.Bytes())
		}
	}
	return plain
}

func TestAppendPlainLine(t *testing.T) {
	for path, want := range map[string]bool{
		"/": true, "/a": true, "/a b~<&>'": true,
		`/a"b`: false, `/a\b`: false, "/ü": false, "/\u2028": false, "/a\x7f": false, "/\xff": false, "/a\n": false,
	} {
		for _, n := range []Node{
			{Path: path}, {Path: path, Data: []byte{}}, {Path: path, Data: []byte("some data\xff\x00")},
			{Path: path, Stat: DefaultStat(0, 1)}, {Path: path, ACL: OpenACL()},
			{Path: path, Stat: Stat{Czxid: math.MaxInt64, Mzxid: -1, Ctime: 1, Mtime: 2, Version: math.MinInt32, Cversion: 3, Aversion: 4, EphemeralOwner: math.MinInt64, DataLength: 5, NumChildren: 6, Pzxid: 7}},
		} {
			if plain := writtenSame(t, &n); plain != want {
				t.Errorf("%+v: plain is %t", n, plain)
			}
		}
	}
	for _, n := range []Node{{Path: "/a", Unreadable: "no permission"}, {Path: "/a", ACL: []ACL{{1, "world", "anyone"}}}} {
		if writtenSame(t, &n) {
			t.Errorf("%+v: what its line says is lost", n)
		}
	}
}

func TestParsePlainLine(t *testing.T) {
	for i, line := range lines {
		sameAsJSON(t, []byte(line))
		if _, plain := parsePlainLine([]byte(line)); plain != (i < 4) {
			t.Errorf("%q: plain is %t", line, plain)
		}
	}
}

func FuzzParsePlainLine(f *testing.F) {
	for _, line := range lines {
		f.Add([]byte(line))
	}
	f.Fuzz(sameAsJSON)
}
