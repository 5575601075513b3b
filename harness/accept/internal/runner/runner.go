// Package runner runs scenarios with godog, and prints what godog prints.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cucumber/godog"

	"mrtq/features"
)

// Options says what to run, and what to print.
type Options struct {
	Features []godog.Feature
	// Tags selects scenarios, in Cucumber's older language.
	Tags string
	// Scenario is called for each scenario, to register its steps.
	Scenario func(*godog.ScenarioContext)

	Pretty   bool      // prints every step, in place of a character for each
	Out      io.Writer // nil means no output
	Parallel int       // how many scenarios run at the same time; 0 means one
	JUnit    io.Writer // gets the results as JUnit's XML; nil means none
}

// Features returns feature files of mrtq.
func Features(names ...string) (all []godog.Feature, err error) {
	for _, name := range names {
		text, err := features.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, godog.Feature{Name: name, Contents: text})
	}
	return all, nil
}

// ErrNothing is Run's error if the tags select no scenario.
var ErrNothing = errors.New("the tags select no scenario")

// Run runs the scenarios. done returns the results of those that have ended. The problems are those that are no scenario's. The
// error is for a run that has ended early or that could not be written, or [ErrNothing].
func Run(ctx context.Context, opt Options, done func() []Case) (problems []string, err error) {
	out := &output{ctx: ctx, w: opt.Out}
	if opt.Out == nil {
		out.w = io.Discard
	}
	format := "progress"
	if opt.Pretty {
		format = "pretty"
	}
	suite := godog.TestSuite{Name: "mrtq accept", ScenarioInitializer: opt.Scenario, Options: &godog.Options{
		Format: format, NoColors: true, Strict: true, Tags: opt.Tags, DefaultContext: ctx,
		Concurrency: max(1, opt.Parallel), FeatureContents: opt.Features, Output: out,
	}}
	passed, cases := suite.Run() == 0, done()
	if opt.JUnit != nil {
		out.err = cmp.Or(out.err, JUnit(opt.JUnit, cases, context.Cause(ctx)))
	}
	switch {
	case out.err != nil:
		return nil, out.err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("stopped after %d of the scenarios: %w", len(cases), context.Cause(ctx))
	case passed && len(cases) == 0:
		return nil, ErrNothing
	case !passed && !slices.ContainsFunc(cases, func(c Case) bool { return c.Failed != nil || c.Lacks != "" }):
		problems = append(problems, "something could not be run: a feature that can't be read, or a scenario without steps; stderr may say more")
	}
	return problems, nil
}

// output passes on what godog prints until its context ends: all remaining scenarios then fail only
// because of that. It keeps the first error of a write, which godog ignores.
type output struct {
	ctx context.Context
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.ctx.Err() == nil && o.err == nil {
		_, o.err = o.w.Write(b)
	}
	return len(b), o.err
}

// TagsOf returns a scenario's tags.
func TagsOf(sc *godog.Scenario) []string {
	tags := make([]string, len(sc.Tags))
	for i, t := range sc.Tags {
		tags[i] = t.Name
	}
	return tags
}
