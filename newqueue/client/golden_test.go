package client_test

import (
	"flag"
	"path/filepath"
	"testing"

	"mrtq/internal/goldenfile"
)

func goldenFile(t *testing.T, name string, got []byte) {
	t.Helper()
	// The flag belongs to the tests inside the package: both are one binary.
	f := flag.Lookup("update")
	goldenfile.Compare(t, filepath.Join("testdata", name), string(got), f != nil && f.Value.String() == "true")
}
