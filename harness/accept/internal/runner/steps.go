package runner

import (
	"regexp"
	"sync"

	"github.com/cucumber/godog"
)

// Step defines a step. The pattern must match the whole sentence, not only a part of it.
type Step func(pattern string, f any)

// patterns has the expressions of all patterns, because each scenario defines all steps again.
var patterns sync.Map

// StepOf returns what defines the steps of one scenario.
func StepOf(sc *godog.ScenarioContext) Step {
	return func(pattern string, f any) {
		whole, known := patterns.Load(pattern)
		if !known {
			whole = regexp.MustCompile("^" + pattern + "$")
			patterns.Store(pattern, whole)
		}
		sc.Step(whole, f)
	}
}
