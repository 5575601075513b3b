package main

import (
	"testing"

	"mrtq/internal/goldenfile"
)

// golden compares with what a file has, or with -update writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	goldenfile.Compare(t, path, got, *update)
}
