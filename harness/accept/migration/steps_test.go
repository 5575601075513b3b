package migration

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/features"
	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/harness/accept/internal/runner"
	"mrtq/internal/zkconn"
)

// TestEveryStepIsSaid: each step is in a scenario.
func TestEveryStepIsSaid(t *testing.T) {
	all, err := runner.Own(features.Migration...)
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

// TestScenariosFail: a step that says something else than what is there fails. /bin/echo is the command.
func TestScenariosFail(t *testing.T) {
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	address, err := zkconn.ParseAddress(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Server: server, Command: "/bin/echo", Options: accept.Options{Session: zkconn.Config{Address: address}}}
	for step, fails := range map[string]bool{
		"the queues have\n|which|legacy queue|kept|new queue|\n|1|pending|–|–|":        false,
		"the queues have\n|which|legacy queue|\n|/ingest/mrtQ-05000000000099|pending|": false,
		"the queues have\n|which|legacy queue|\n|2|pending|":                           true,
		"the queues have\n|which|legacy queue|\n|1|held|":                              true,
		"the queues have\n|which|legacy queue|\n|/ingest/mrtQ-05000000000098|–|":       true,
		"the queues have\n|which|no column|\n|1|–|":                                    true,
		"the queues have\n|which|kept|":                                                true,
		`it prints "to /new is"`:                                                       true,
		`it prints "to $TARGET is said"`:                                               false,
		`I run "mrtq", and it exits with 1`:                                            true,
		"nothing was written":                                                          false,
		"somebody deletes the record /ingest/mrtQ-0500":                                true,
		"the legacy queue gets the records of none.json":                               true,
	} {
		text := "Feature: f\nScenario: s\nGiven the legacy queue has the records of late.ndjson\nWhen I run \"mrtq to $TARGET is said\"\nThen " + step
		cases, err := runner.Run(t.Context(), runner.Options{Features: []runner.Feature{{Path: "f.feature", Text: []byte(text)}}, Scenario: opt.scenario})
		if err != nil || len(cases) != 1 || (cases[0].Failed != nil) != fails {
			t.Errorf("%s: %v, %v, want an error: %t", step, err, cases[0].Failed, fails)
		}
	}
}
