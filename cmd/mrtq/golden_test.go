package main

import (
	"testing"

	"mrtq/internal/goldenfile"
)

// golden compares text with a file. With -update it writes the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	goldenfile.Compare(t, path, got, *update)
}
