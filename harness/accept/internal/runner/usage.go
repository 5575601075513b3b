package runner

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/cucumber/godog"
)

// Usage finds the step definitions that no scenario uses. They should be removed.
type Usage struct {
	mu   sync.Mutex
	defs map[string]*regexp.Regexp // by their patterns
	said map[string]bool           // the steps of all scenarios
}

// Steps registers the step definitions for one scenario.
type Steps struct {
	sc *godog.ScenarioContext
	u  *Usage
}

// NewUsage returns the Usage for one run.
func NewUsage() *Usage {
	return &Usage{defs: map[string]*regexp.Regexp{}, said: map[string]bool{}}
}

// Watch records what a scenario says. Register the scenario's steps with the result.
func (u *Usage) Watch(sc *godog.ScenarioContext) Steps {
	sc.StepContext().Before(func(ctx context.Context, st *godog.Step) (context.Context, error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.said[st.Text] = true
		return ctx, nil
	})
	return Steps{sc, u}
}

// Step defines a step. The pattern must match the whole sentence, not only a part of it.
func (s Steps) Step(pattern string, f any) {
	s.u.mu.Lock()
	defer s.u.mu.Unlock()
	if s.u.defs[pattern] == nil {
		s.u.defs[pattern] = regexp.MustCompile("^" + pattern + "$")
	}
	s.sc.Step(s.u.defs[pattern], f)
}

// Unused returns the patterns that no step of the run has matched, sorted.
func (u *Usage) Unused() []string {
	said := slices.Collect(maps.Keys(u.said))
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u.defs)), func(pattern string) bool {
		return slices.ContainsFunc(said, u.defs[pattern].MatchString)
	})
}
