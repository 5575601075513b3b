package migration

import (
	"context"
	"io"
	"regexp"
	"slices"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/harness/accept/internal/runner"
)

// TestEveryStepIsSaid: each step is in a scenario.
func TestEveryStepIsSaid(t *testing.T) {
	all, err := runner.Features(Features...)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	suite := godog.TestSuite{
		ScenarioInitializer: func(sc *godog.ScenarioContext) {
			sc.Before(func(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
				for _, step := range sc.Steps {
					said = append(said, step.Text)
				}
				return ctx, godog.ErrSkip
			})
		},
		Options: &godog.Options{Format: "progress", Output: io.Discard, FeatureContents: all},
	}
	suite.Run()
	(&world{}).register(func(pattern string, _ any) {
		if !slices.ContainsFunc(said, regexp.MustCompile("^"+pattern+"$").MatchString) {
			t.Errorf("no scenario says %s", pattern)
		}
	})
}
