package znode

import (
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
	`{"path":"/a","data":"aGl="}`, // bits that stand for nothing
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
	if path := string(PathOfDumpLine(text)); err == nil && path != want.Path {
		t.Errorf("%q: its path is %q, want %q", text, path, want.Path)
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

func BenchmarkParseDumpLine(b *testing.B) {
	line := []byte(lines[3])
	for b.Loop() {
		if _, err := ParseDumpLine(line); err != nil {
			b.Fatal(err)
		}
	}
}
