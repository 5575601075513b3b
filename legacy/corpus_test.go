package legacy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path"
	"testing"
	"time"
)

// znode is one line of a tree. expected is what a decoder must return for it.
type znode struct {
	Path string
	Data []byte
}

type expected struct {
	Path    string
	Status  string
	Time    string
	Format  Format
	Payload json.RawMessage
	Error   Kind
}

func readLines[T any](t testing.TB, file string) []T {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, v)
	}
	if len(out) == 0 || lines.Err() != nil {
		t.Fatalf("%s: %d lines, %v", file, len(out), lines.Err())
	}
	return out
}

// corpus returns the data of the corpus's znodes by path.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	nodes := make(map[string][]byte)
	for _, n := range readLines[znode](t, "testdata/legacy.ndjson") {
		nodes[n.Path] = n.Data
	}
	return nodes
}

// TestCorpus decodes what JVM encoders wrote. The program that wrote the
// records also wrote what they mean, so a fault of our decoder can't be in
// both.
func TestCorpus(t *testing.T) {
	nodes := corpus(t)
	want := readLines[expected](t, "testdata/legacy.expected.ndjson")
	if len(want) != 21 {
		t.Fatalf("%d records, want 21", len(want))
	}
	for _, w := range want {
		t.Run(w.Path, func(t *testing.T) {
			data, ok := nodes[w.Path]
			if !ok {
				t.Fatal("no such znode")
			}
			check(t, path.Base(w.Path), data, w)
		})
	}
}

func check(t *testing.T, name string, data []byte, w expected) {
	t.Helper()
	r, err := Decode(name, data, Options{})
	if w.Error != "" {
		e, ok := err.(*Error)
		if !ok || e.Kind != w.Error {
			t.Fatalf("got %v, want %s", err, w.Error)
		}
		if e.Offset > len(data) || e.Offset < noOffset {
			t.Errorf("offset %d of %d bytes", e.Offset, len(data))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	at := ""
	if !r.Header.Time.IsZero() {
		at = r.Header.Time.Format(time.RFC3339Nano)
	}
	if r.Header.Status.String() != w.Status || at != w.Time || r.Format != w.Format {
		t.Errorf("got %s %q %s, want %s %q %s", r.Header.Status, at, r.Format, w.Status, w.Time, w.Format)
	}
	// Read the expectation with our own reader: the library's would turn
	// unpaired surrogates into U+FFFD in both.
	payload, jsonErr := decodeJSON(w.Payload)
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	if got, want := AppendJSON(nil, r.Payload), AppendJSON(nil, payload); !bytes.Equal(got, want) {
		t.Errorf("payload\n got %s\nwant %s", got, want)
	}
}
