package accept

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/cucumber/godog"
)

// usage finds steps that no scenario uses, because they would rot.
type usage struct {
	mu   sync.Mutex
	defs map[string]*definition
}

type definition struct {
	pattern *regexp.Regexp
	used    bool
}

// steps registers the steps of one scenario's world.
type steps struct {
	sc *godog.ScenarioContext
	u  *usage
}

func newUsage() *usage { return &usage{defs: map[string]*definition{}} }

// watch records which steps a scenario uses.
func (u *usage) watch(sc *godog.ScenarioContext) steps {
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
	return steps{sc, u}
}

// step defines a step. It anchors the pattern, so that a sentence does not
// match because it contains another.
func (s steps) step(pattern string, f any) {
	s.u.mu.Lock()
	defer s.u.mu.Unlock()
	d, ok := s.u.defs[pattern]
	if !ok {
		d = &definition{pattern: compiled(pattern)}
		s.u.defs[pattern] = d
	}
	s.sc.Step(d.pattern, f)
}

// patterns holds the compiled patterns, because every run has the same.
var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	if re, ok := patterns.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile("^" + pattern + "$")
	patterns.Store(pattern, re)
	return re
}

// unused are the patterns that no step of the run has matched, sorted.
func (u *usage) unused() []string {
	var names []string
	for pattern, d := range u.defs {
		if !d.used {
			names = append(names, pattern)
		}
	}
	slices.Sort(names)
	return names
}
