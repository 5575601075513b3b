package features

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
)

// mrtq is the command, built as its users get it.
var mrtq string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mrtq-features-")
	if err == nil {
		mrtq = filepath.Join(dir, "mrtq")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", mrtq, "mrtq/cmd/mrtq").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build mrtq:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestMigration runs the scenarios of migration.feature on every backend, the
// command as a process of its own and the tree seen through another session.
func TestMigration(t *testing.T) {
	for _, backend := range harness.Backends() {
		t.Run(string(backend), func(t *testing.T) {
			server := harness.ForTest(t, backend, harness.Options{Heap: 1024})
			used := newUsage()
			suite := godog.TestSuite{
				ScenarioInitializer: func(sc *godog.ScenarioContext) { newWorld(t, server).steps(used.watch(sc)) },
				Options: &godog.Options{
					Format: "pretty", Output: t.Output(), FS: Files, Paths: []string{"migration.feature"},
					Strict: true, TestingT: t, NoColors: true, Tags: os.Getenv("MRTQ_TAGS"),
				},
			}
			if suite.Run() != 0 {
				t.Error("scenarios failed")
			}
			if os.Getenv("MRTQ_TAGS") == "" {
				used.check(t)
			}
		})
	}
}

// usage finds steps that no scenario uses, because they would rot.
type usage struct{ defined, used map[string]bool }

func newUsage() *usage { return &usage{map[string]bool{}, map[string]bool{}} }

// stepper registers steps.
type stepper struct {
	sc *godog.ScenarioContext
	u  *usage
}

func (u *usage) watch(sc *godog.ScenarioContext) stepper {
	sc.StepContext().Before(func(ctx context.Context, st *godog.Step) (context.Context, error) {
		for pattern := range u.defined {
			if regexp.MustCompile("^" + pattern + "$").MatchString(st.Text) {
				u.used[pattern] = true
			}
		}
		return ctx, nil
	})
	return stepper{sc, u}
}

// step defines a step, and anchors the pattern.
func (s stepper) step(pattern string, f any) {
	s.u.defined[pattern] = true
	s.sc.Step("^"+pattern+"$", f)
}

func (u *usage) check(t *testing.T) {
	for pattern := range u.defined {
		if !u.used[pattern] {
			t.Errorf("no scenario uses the step %q", pattern)
		}
	}
}
