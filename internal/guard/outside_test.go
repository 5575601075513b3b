package guard_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamplesRunOutside: the examples of the public packages compile and run in
// another module. It can't import this module's internal packages. So any program
// can do what the examples do.
func TestExamplesRunOutside(t *testing.T) {
	module := t.TempDir()
	here := value(os.Getwd())(t)
	ours := value(os.ReadFile("go.mod"))(t)
	// Require the same versions as mrtq, so that go needs no network.
	requires := strings.TrimPrefix(strings.Split(string(ours), "\ntool ")[0], "module mrtq\n")
	put(t, module, "go.mod", fmt.Appendf(nil, "module outside\n%s\nrequire mrtq v0.0.0\n\nreplace mrtq => %s\n", requires, here))
	copyTo(t, module, "go.sum")
	for _, p := range public {
		folder := strings.TrimPrefix(p, "mrtq/")
		examples, err := filepath.Glob(filepath.Join(folder, "*example_test.go"))
		if err != nil || len(examples) == 0 {
			t.Errorf("%s has no example that runs (%v)", p, err)
		}
		for _, file := range examples {
			copyTo(t, module, file)
		}
	}
	copyTo(t, module, "migrate/testdata/legacy.ndjson")
	cmd := exec.Command("go", "test", "-v", "-run", "^Example", "./...")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range public {
		if ran := "ok  \toutside/" + strings.TrimPrefix(p, "mrtq/") + "\t"; !bytes.Contains(out, []byte(ran)) {
			t.Errorf("the examples of %s did not run:\n%s", p, out)
		}
	}
	if n := bytes.Count(out, []byte("\n--- PASS: Example")); n < len(public) {
		t.Errorf("%d examples ran, of %d packages:\n%s", n, len(public), out)
	}
}

func copyTo(t *testing.T, dir, name string) {
	t.Helper()
	b := value(os.ReadFile(name))(t)
	put(t, dir, name, b)
}

func put(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, b, 0o600))
}
