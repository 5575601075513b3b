package guard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBackendPackages: make test-jvm tests exactly the packages whose tests ask for the
// backend to test on.
func TestBackendPackages(t *testing.T) {
	inProject(t)
	text := value(os.ReadFile("Makefile"))(t)
	_, list, _ := strings.Cut(string(text), "\non_backend :=")
	_, recipe, ok := strings.Cut(list, "\ntest-jvm:\n")
	list, _, _ = strings.Cut(list, "\n")
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	if !ok || !strings.Contains(recipe, "$(on_backend)") {
		t.Fatal("the Makefile has no test-jvm with the packages of on_backend")
	}
	tested := regexp.MustCompile(`\./[\w/]+`).FindAllString(list+recipe, -1)
	slices.Sort(tested)

	asks := regexp.MustCompile(`\bharness\.TestBackend\(\)|\bshared\.Server\(`)
	var asking []string
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || path == "internal/guard/makefile_test.go" {
			return err
		}
		code, err := os.ReadFile(path)
		if asks.Match(code) {
			asking = append(asking, "./"+filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	must(t, err)
	slices.Sort(asking)
	if asking = slices.Compact(asking); !slices.Equal(tested, asking) {
		t.Errorf("make test-jvm tests %q, and the tests of %q ask for a backend", tested, asking)
	}
}
