package runner

import (
	"context"
	"errors"
	"reflect"
	"regexp"
	"sync"

	"github.com/cucumber/godog"
)

// Step defines a step. The pattern must match the whole sentence, not only a part of it.
type Step func(pattern string, f any)

// patterns has the expressions of all patterns, because each scenario defines all steps again.
var patterns sync.Map

var errNoTable = errors.New("this step takes no table and no text below it")

// StepOf returns what defines the steps of one scenario. A table below a step that takes none is an error.
func StepOf(sc *godog.ScenarioContext) Step {
	takes := map[*regexp.Regexp]bool{}
	sc.StepContext().Before(func(ctx context.Context, step *godog.Step) (context.Context, error) {
		if step.Argument != nil {
			for whole, table := range takes {
				if !table && whole.MatchString(step.Text) {
					return ctx, errNoTable
				}
			}
		}
		return ctx, nil
	})
	return func(pattern string, f any) {
		whole, known := patterns.Load(pattern)
		if !known {
			whole = regexp.MustCompile("^" + pattern + "$")
			patterns.Store(pattern, whole)
		}
		expr := whole.(*regexp.Regexp)
		takes[expr] = reflect.TypeOf(f).NumIn() > expr.NumSubexp()
		sc.Step(expr, f)
	}
}
