package runner

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/cucumber/godog"
)

// Usage finds the step definitions that no scenario uses. They should be removed.
type Usage struct {
	mu   sync.Mutex
	defs map[string]*definition
}

type definition struct {
	pattern *regexp.Regexp
	used    bool
}

// Steps registers the step definitions for one scenario.
type Steps struct {
	sc *godog.ScenarioContext
	u  *Usage
}

// NewUsage returns the Usage for one run.
func NewUsage() *Usage { return &Usage{defs: map[string]*definition{}} }

// Watch records which steps a scenario uses. Register the scenario's steps with the
// result.
func (u *Usage) Watch(sc *godog.ScenarioContext) Steps {
	sc.StepContext().Before(func(ctx context.Context, st *godog.Step) (context.Context, error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, d := range u.defs {
			if !d.used && d.pattern.MatchString(st.Text) {
				d.used = true
			}
		}
		return ctx, nil
	})
	return Steps{sc, u}
}

// Step defines a step. The pattern must match the whole sentence, not only a part of it.
func (s Steps) Step(pattern string, f any) {
	s.u.mu.Lock()
	defer s.u.mu.Unlock()
	d, ok := s.u.defs[pattern]
	if !ok {
		d = &definition{pattern: compiled(pattern)}
		s.u.defs[pattern] = d
	}
	s.sc.Step(d.pattern, f)
}

// patterns keeps the compiled patterns, because every scenario has the same.
var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	if re, ok := patterns.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile("^" + pattern + "$")
	patterns.Store(pattern, re)
	return re
}

// Unused returns the patterns that no step of the run has matched, sorted.
func (u *Usage) Unused() []string {
	var names []string
	for pattern, d := range u.defs {
		if !d.used {
			names = append(names, pattern)
		}
	}
	slices.Sort(names)
	return names
}
