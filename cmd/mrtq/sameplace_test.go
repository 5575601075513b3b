package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A run's record can name a source in another way than the command line.
func TestSourceIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"legacy.ndjson", "other.ndjson"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"data", "other"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := filepath.Abs("legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given, named string
		want         bool
	}{
		{"192.0.2.1:2181", "192.0.2.1:2181", true},
		{"192.0.2.1", "192.0.2.1:2181", true},
		{"192.0.2.1:2181/", "192.0.2.1:2181", true},
		{"192.0.2.1:2181/legacy/", "192.0.2.1/legacy", true},
		{"192.0.2.1:2181,192.0.2.2:2181/a", "192.0.2.2:2181,192.0.2.1:2181/a", true},
		{"192.0.2.1:2181,192.0.2.2:2181/a", "192.0.2.2:2181,192.0.2.3:2181/a", true}, // one in common
		{"127.0.0.1:2181", "localhost:2181", true},
		{"LocalHost.:2181", "localhost:2181", true},
		{"192.0.2.1:2181", "192.0.2.1:2182", false},
		{"192.0.2.1:2181", "192.0.2.2:2181", false},
		{"192.0.2.1:2181/a", "192.0.2.1:2181/b", false},
		{"192.0.2.1:2181/a", "192.0.2.1:2181", false},
		{"127.0.0.1:2181/a", "localhost:2181/b", false},
		{"file:legacy.ndjson", "file:./legacy.ndjson", true},
		{"file:legacy.ndjson", "file:" + whole, true},
		{"file:legacy.ndjson", "file:other.ndjson", false},
		{"file:legacy.ndjson", "192.0.2.1:2181", false},
		{"192.0.2.1:2181", "file:legacy.ndjson", false},
		{"snapshot:data", "snapshot:./data", true},
		{"snapshot:data#/a/", "snapshot:data#/a", true},
		{"snapshot:data", "snapshot:data#/a", false},
		{"snapshot:data", "snapshot:other", false},
		{"snapshot:data", "snapshot:data,other", false},
		{"snapshot:data", "192.0.2.1:2181", false},
		{"192.0.2.1:2181", "what was this", false},
	} {
		given, err := parseEndpoint("SOURCE", c.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := given.isNamed(t.Context(), c.named); got != c.want {
			t.Errorf("%s, and the record names %s: %t", c.given, c.named, got)
		}
	}
}
