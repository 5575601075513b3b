// Package runner runs scenarios with godog, and prints what godog prints.
package runner

import (
	"context"
	"io"

	"github.com/cucumber/godog"

	"mrtq/features"
)

// Format is one of godog's formats.
type Format string

// The formats.
const (
	Progress Format = "progress" // a character for each step, and what failed
	Pretty   Format = "pretty"   // every step
)

// Options says what to run, and what to print.
type Options struct {
	Features []godog.Feature
	// Tags selects scenarios, in Cucumber's older language.
	Tags string
	// Scenario is called for each scenario, to register its steps.
	Scenario func(*godog.ScenarioContext)

	Format   Format    // "" means Progress
	Out      io.Writer // nil means no output
	Color    bool      // whether the formats for people may have colours
	Parallel int       // how many scenarios run at the same time; 0 means one
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

// Run runs the scenarios, and reports whether all of them passed. The error is that
// it could not write to Out.
func Run(ctx context.Context, opt Options) (passed bool, err error) {
	if opt.Format == "" {
		opt.Format = Progress
	}
	if opt.Out == nil {
		opt.Out = io.Discard
	}
	out := &output{ctx: ctx, w: opt.Out}
	suite := godog.TestSuite{Name: "mrtq accept", ScenarioInitializer: opt.Scenario, Options: &godog.Options{
		Format: string(opt.Format), NoColors: !opt.Color, Strict: true, Tags: opt.Tags, DefaultContext: ctx,
		Concurrency: max(1, opt.Parallel), FeatureContents: opt.Features, Output: out,
	}}
	return suite.Run() == 0, out.err
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
