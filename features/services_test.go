package features

import (
	"os"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/harness"
)

// TestServices runs the scenarios of services.feature on every backend: the
// command as a process of its own, and the deployed services simulated.
func TestServices(t *testing.T) {
	for _, backend := range harness.Backends() {
		t.Run(string(backend), func(t *testing.T) {
			server := harness.ForTest(t, backend, harness.Options{Heap: 512})
			used := newUsage()
			suite := godog.TestSuite{
				ScenarioInitializer: func(sc *godog.ScenarioContext) {
					w := &serviceWorld{world: newWorld(t, server)}
					w.steps(used.watch(sc))
				},
				Options: &godog.Options{
					Format: "pretty", Output: t.Output(), FS: Files, Paths: []string{"services.feature"},
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
