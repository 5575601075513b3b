package newqueue_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

func goldenFile(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	// The flag belongs to the tests inside the package: both are one binary.
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is different; look, then run go test -update. got:\n%s", path, got)
	}
}
