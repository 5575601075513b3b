package migration

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/harness/accept/internal/runner"
)

// TestEveryStepIsSaid: each step is in a scenario.
func TestEveryStepIsSaid(t *testing.T) {
	all, err := runner.Own(Features...)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	if _, err := runner.Run(t.Context(), runner.Options{Features: all, Scenario: func(sc *godog.ScenarioContext) {
		sc.Before(func(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
			for _, step := range sc.Steps {
				said = append(said, step.Text)
			}
			return ctx, godog.ErrSkip
		})
	}}); err != nil {
		t.Fatal(err)
	}
	(&world{}).register(func(pattern string, _ any) {
		if !slices.ContainsFunc(said, regexp.MustCompile("^"+pattern+"$").MatchString) {
			t.Errorf("no scenario says %s", pattern)
		}
	})
}
