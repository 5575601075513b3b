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

// FuzzDecode: an error is typed and lies within the data; what is decoded can
// be encoded in its format, and decodes to the same again.
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
		again, err := Encode(r.Header, r.Format, r.Payload)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Decode(name, again, Options{})
		if err != nil {
			t.Fatalf("%v in %q", err, again)
		}
		second.SHA256 = r.SHA256
		if !reflect.DeepEqual(second, r) {
			t.Fatalf("got %+v\nwant %+v", second, r)
		}
		if third, err := Encode(second.Header, second.Format, second.Payload); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%v: got %q, want %q", err, third, again)
		}
	})
}
