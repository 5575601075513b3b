// Package runner runs scenarios with godog, and prints what godog prints.
//
//	features.go  reads feature files: which scenarios they have, and what is wrong with them
//	runner.go    runs those that are selected
//	steps.go     defines their steps
//	junit.go     writes the results as JUnit's XML
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"
)

// Options says what to run, and what to print.
type Options struct {
	Features []Feature
	// Tags selects scenarios, in Cucumber's older language: see [CheckTags]. Only selects those at PATH:LINE. "" selects all.
	Tags, Only string
	// Scenario is called for each scenario, to register its steps and hooks. Its last hook sets the result in [CaseOf].
	Scenario func(*godog.ScenarioContext)

	// IsStep reports whether a text is a step, which a description must not have. Nil means that none is.
	IsStep func(text string) bool

	Pretty   bool               // prints every step, in place of a character for each
	Out      io.Writer          // nil means no output
	Parallel int                // how many scenarios run at the same time; 0 means one
	JUnit    io.Writer          // gets the results as JUnit's XML; nil means none
	Alone    func(*Case) string // the command that runs a scenario alone; nil means that none is named
}

// Case is the result of a scenario, or of a row of its examples.
type Case struct {
	Path    string
	Line    int    // of the scenario, the row, or what is wrong with the file
	Dialect string // "" for none
	// Class is the file, behind the dialect. Title is the name, and unique in the file.
	Class, Name, Title string
	Tags               []string

	Ended  bool   // the rest is only known of a case that has ended
	Failed error  // nil if it has not
	Broken bool   // it failed because the scenario itself is wrong
	Step   int    // the line of the step that failed; 0 for none
	Lacks  string // what the code under test has nothing for: then it is not offered; "" for nothing
}

// At is the place of what failed, PATH:LINE.
func (c *Case) At() string { return fmt.Sprintf("%s:%d", c.Path, cmp.Or(c.Step, c.Line)) }

var (
	// ErrNothing is Run's error if the tags select no scenario.
	ErrNothing = errors.New("the tags select no scenario")
	// ErrOnly is Run's error if no scenario is where the only one should be.
	ErrOnly = errors.New("expected FILE:LINE, with the line of a scenario or of a row of its examples, and a file that runs")
)

// Run runs the scenarios. It returns the cases that have ended, and those that could not run because a file, or the scenario
// itself, is wrong. The error is for a run that has ended early or that could not be written, or [ErrNothing] or [ErrOnly].
func Run(ctx context.Context, opt Options) (ended []*Case, err error) {
	run, cases, broken := opt.selected()
	if len(cases)+len(broken) == 0 {
		if opt.Only != "" {
			return nil, fmt.Errorf("%q: %w", opt.Only, ErrOnly)
		}
		return nil, ErrNothing
	}
	out := &output{ctx: ctx, w: opt.Out}
	if opt.Out == nil {
		out.w = io.Discard
	}
	if len(run) > 0 { // godog would look for a folder
		opt.godog(ctx, run, cases, out)
	}
	for _, c := range cases {
		if c.Ended {
			ended = append(ended, c)
		} else if ctx.Err() == nil && out.err == nil {
			c.Failed, c.Broken = errors.New("it has not run"), true
			broken = append(broken, c)
		}
	}
	count := len(ended)
	ended = append(ended, broken...)
	if opt.JUnit != nil {
		out.err = cmp.Or(out.err, JUnit(opt.JUnit, ended, opt.Alone, context.Cause(ctx)))
	}
	switch {
	case out.err != nil:
		return nil, out.err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("stopped after %d of the scenarios: %w", count, context.Cause(ctx))
	}
	return ended, nil
}

func (opt Options) selected() (run []godog.Feature, cases, broken []*Case) {
	said := map[string]bool{} // what is wrong with a file is wrong in each dialect
	say := func(c Case) {
		if key := c.At() + c.Failed.Error(); !said[key] {
			said[key] = true
			broken = append(broken, &c)
		}
	}
	for _, f := range opt.Features {
		parts, faults := read(f, opt.IsStep)
		for _, fault := range faults {
			if opt.Only == "" || opt.Only == fault.At() {
				say(fault)
			}
		}
		var out []part
		before := len(cases)
		for _, p := range parts {
			wanted := opt.Only == "" || opt.Only == p.At() || opt.Only == fmt.Sprintf("%s:%d", p.Path, p.scenario)
			switch wanted = wanted && selects(opt.Tags, p.Tags) && (f.Without == "" || !selects(f.Without, p.Tags)); {
			case wanted && !p.Broken:
				cases = append(cases, &p.Case)
				continue
			case wanted:
				say(p.Case)
			}
			out = append(out, p)
		}
		if len(cases) > before {
			run = append(run, godog.Feature{Name: f.uri(), Contents: without(f.Text, out)})
		}
	}
	return run, cases, broken
}

func (opt Options) godog(ctx context.Context, run []godog.Feature, cases []*Case, out io.Writer) {
	format := "progress"
	if opt.Pretty {
		format = "pretty"
	}
	at, ids := map[string]int{}, (&messages.Incrementing{}).NewId
	for _, f := range run {
		for id, line := range lines(f, ids) {
			at[id] = line
		}
	}
	planned := map[string]*Case{}
	for _, c := range cases {
		planned[fmt.Sprintf("%s:%d", c.Class, c.Line)] = c
	}
	initialize := func(sc *godog.ScenarioContext) {
		sc.Before(func(ctx context.Context, p *godog.Scenario) (context.Context, error) {
			c := planned[fmt.Sprintf("%s:%d", p.Uri, at[p.Id])]
			if c == nil || c.Name != p.Name {
				panic(fmt.Sprintf("godog reads %s in another way than this package: it has no scenario %q at line %d", p.Uri, p.Name, at[p.Id]))
			}
			return context.WithValue(ctx, caseKey{}, c), nil
		})
		opt.Scenario(sc)
		sc.StepContext().After(func(ctx context.Context, step *godog.Step, _ godog.StepResultStatus, err error) (context.Context, error) {
			if c := CaseOf(ctx); err != nil && c.Step == 0 {
				c.Step = at[step.AstNodeIds[0]]
			}
			return ctx, nil
		})
		sc.After(func(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
			c := CaseOf(ctx)
			c.Broken = errors.Is(c.Failed, godog.ErrUndefined) || errors.Is(c.Failed, godog.ErrPending) || errors.Is(c.Failed, godog.ErrAmbiguous)
			return ctx, nil
		})
	}
	suite := godog.TestSuite{Name: "mrtq accept", ScenarioInitializer: initialize, Options: &godog.Options{
		Format: format, NoColors: true, Strict: true, DefaultContext: ctx,
		Concurrency: max(1, opt.Parallel), FeatureContents: run, Output: out,
	}}
	suite.Run()
}

type caseKey struct{}

// CaseOf returns the case of a scenario, for its hooks to write the result. They get it in their context.
func CaseOf(ctx context.Context) *Case { return ctx.Value(caseKey{}).(*Case) }

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
