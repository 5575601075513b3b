package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
)

// inspect decodes the 21 records that JVM encoders wrote as legacy.expected.ndjson says.
func TestInspectCorpus(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"inspect", "file:testdata/legacy.ndjson", "-o", "ndjson"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	expected := value(os.ReadFile("testdata/legacy.expected.ndjson"))(t)
	got, want := records(t, &stdout), records(t, bytes.NewReader(expected))
	if len(want) != 21 || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Fatalf("%d records, want %d of 21", len(got), len(want))
	}
	for path, fields := range want {
		for name, value := range fields {
			have := got[path][name]
			if failure, ok := have.(map[string]any); ok && name == "error" {
				have = failure["kind"] // all that is expected of it
			}
			if !reflect.DeepEqual(have, value) {
				t.Errorf("%s: %s is %v, want %v", path, name, have, value)
			}
		}
	}
}

// records reads JSON objects by their path, and keeps every digit of a number.
func records(t *testing.T, r io.Reader) map[string]map[string]any {
	t.Helper()
	byPath := map[string]map[string]any{}
	dec := json.NewDecoder(r)
	dec.UseNumber()
	for {
		var fields map[string]any
		err := dec.Decode(&fields)
		if err == io.EOF {
			return byPath
		}
		must(t, err)
		path, _ := fields["path"].(string)
		byPath[path] = fields
	}
}
