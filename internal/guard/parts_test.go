package guard_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestParts: whatever is cut into parts has a size that tests make small, and nothing but tests does.
func TestParts(t *testing.T) {
	inProject(t)
	chunk, found := regexp.MustCompile(`slices\.Chunk\(.*, (\S+)\)`), 0
	for path, text := range goFiles(t) {
		if strings.HasSuffix(path, "_test.go") || path == "harness/shared/shared.go" {
			continue
		}
		if strings.Contains(text, "part.Small(") {
			t.Errorf("%s makes parts small, and is no test", path)
		}
		if strings.HasPrefix(path, "harness/") {
			continue
		}
		for _, m := range chunk.FindAllStringSubmatch(text, -1) {
			if found++; !strings.HasSuffix(m[1], ".N()") {
				t.Errorf("%s: %s: tests can't make that small: declare a part.Size", path, m[0])
			}
		}
	}
	if found == 0 {
		t.Error("nothing is cut into parts")
	}
}
