// Package goldenfile compares what a test got with a file that a person has
// checked. Many packages' tests use it, each with its own -update flag.
package goldenfile

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Compare compares text with a file. If update is set, it writes the file
// instead.
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
		t.Errorf("%s differs. If the new text is right, run go test -update. %s\nThe whole text:\n%s", path, FirstDifference(string(want), got), got)
	}
}

// Section compares text with what a page has between the lines start and end. If update is
// set, it writes the page instead.
func Section(t testing.TB, path, start, end, got string, update bool) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), start+"\n")
	_, tail, closed := strings.Cut(rest, end+"\n")
	if !ok || !closed {
		t.Fatalf("%s lacks the lines %q and %q", path, start, end)
	}
	Compare(t, path, head+start+"\n"+got+end+"\n"+tail, update)
}

// FirstDifference shows the first line in which two texts differ. It is "" if
// they are the same.
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
