package legacy

import (
	"bytes"
	"errors"
	"path"
	"reflect"
	"testing"
)

// seeds returns the names and data of all record files, without the longest.
// It fails if there are few: a fuzz test without seeds finds nothing.
func seeds(t testing.TB) []znode {
	t.Helper()
	var out []znode
	for _, file := range []string{"testdata/legacy.ndjson", "testdata/tricky.ndjson"} {
		for _, n := range readLines[znode](t, file) {
			if len(n.Data) < 4096 {
				out = append(out, znode{path.Base(n.Path), n.Data})
			}
		}
	}
	if len(out) < 300 {
		t.Fatalf("%d seeds", len(out))
	}
	return out
}

// FuzzDecode: an error is typed and lies within the data; what is decoded has
// the values of a [Payload], so its JSON decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, n := range seeds(f) {
		f.Add(n.Path, n.Data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		r, err := Decode(name, data, Options{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Kind == "" || e.Offset < noOffset || e.Offset > len(data) || (e.Class != "") != (e.Kind == UnsupportedClass) {
				t.Fatalf("%#v", err)
			}
			if !reflect.DeepEqual(r, Record{}) {
				t.Fatalf("a record came with the error %v", err)
			}
			return
		}
		if r.Key.String() != name || !bytes.Equal(AppendHeader(nil, r.Header), data[:headerWidth]) {
			t.Fatalf("key %s, header %+v", r.Key, r.Header)
		}
		printed := AppendJSON(nil, r.Payload)
		if again, err := decodeJSON(printed); err != nil || !reflect.DeepEqual(again, r.Payload) {
			t.Fatalf("%v: got %q\nwant %q\nin %s", err, again, r.Payload, printed)
		}
	})
}
