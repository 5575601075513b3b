// Package goldenfile compares what a test got with a file that a person has looked
// at. The tests of many packages do; each has its own flag -update.
package goldenfile

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Compare compares text with a file, or writes the file if update says so.
func Compare(t testing.TB, path, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (look, then run go test -update). %s\nAll that came:\n%s", path, FirstDifference(string(want), got), got)
	}
}

// FirstDifference is the first line in which two texts differ, "" if they don't.
func FirstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d: want\n%s\ngot\n%s", i+1, a, b)
		}
	}
	return ""
}
