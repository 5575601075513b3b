// Package runner runs scenarios with godog, and prints the results in the formats of
// mrtq accept.
package runner

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/cucumber/godog"
)

// Format is the format of a run's output.
type Format string

// The formats.
const (
	Brief  Format = "brief"  // for people: a line for each feature, and the steps of what failed
	Pretty Format = "pretty" // for people: every step
	JUnit  Format = "junit"  // JUnit's XML
)

// Options says what to run, and what to print.
type Options struct {
	// Chapters are lists of features that run at the same time. The formats for
	// people print one list after the other, those for machines print one document.
	Chapters [][]godog.Feature
	// Tags selects scenarios, in Cucumber's older language.
	Tags string
	// Scenario is called for each scenario, to register its steps.
	Scenario func(*godog.ScenarioContext)

	Format   Format    // "" means Brief
	Out      io.Writer // nil means no output
	Color    bool      // whether the formats for people may have colours
	Parallel int       // how many scenarios of a chapter run at the same time; 0 means one
}

// Run runs the scenarios, and reports whether all of them passed. The error is that
// it could not write to Out.
func Run(ctx context.Context, opt Options) (passed bool, err error) {
	chapters := opt.Chapters
	options := godog.Options{
		Format: string(opt.Format), NoColors: !opt.Color, Strict: true,
		Tags: opt.Tags, DefaultContext: ctx, Concurrency: max(1, opt.Parallel),
	}
	begins := regexp.MustCompile("")
	switch opt.Format {
	case "", Brief:
		options.Format, options.Concurrency = string(Brief), 1
	case Pretty:
		begins = featureLine
	default:
		chapters = [][]godog.Feature{slices.Concat(chapters...)}
	}
	out := opt.Out
	if out == nil {
		out = io.Discard
	}
	var running sync.WaitGroup
	codes, later, wrong := make([]int, len(chapters)), make([]bytes.Buffer, len(chapters)), make([]error, len(chapters))
	for i, features := range chapters {
		n := &narrator{ctx: ctx, begins: begins, w: &later[i]}
		if i == 0 {
			n.w = out
		}
		running.Go(func() {
			o := options
			o.Output, o.FeatureContents = n, features
			codes[i] = godog.TestSuite{Name: "mrtq accept", ScenarioInitializer: opt.Scenario, Options: &o}.Run()
			wrong[i] = n.flush()
		})
	}
	running.Wait()
	for i := range chapters {
		if wrong[i] == nil {
			_, wrong[i] = later[i].WriteTo(out)
		}
		if wrong[i] != nil {
			return false, wrong[i]
		}
	}
	return !slices.ContainsFunc(codes, func(code int) bool { return code != 0 }), nil
}

// narrator passes on what godog prints, line by line. It begins at a certain line, so
// that it prints nothing for a chapter without scenarios. It leaves out where a step is
// defined, because that is always the same line of usage.go. It stops when its context
// ends, because all remaining scenarios then fail only because of that.
type narrator struct {
	ctx    context.Context
	w      io.Writer
	begins *regexp.Regexp // matches the first line to print; nil after that line
	line   []byte         // an unfinished line
}

var (
	featureLine = regexp.MustCompile(`(?m)^(\x1b\[[0-9;]*m)*Feature`)
	definedAt   = regexp.MustCompile(`[ \t]*(\x1b\[[0-9;]*m)*# usage\.go:\d+ -> \S+?(\x1b\[[0-9;]*m)*`)
)

func (n *narrator) Write(b []byte) (int, error) {
	n.line = append(n.line, b...)
	end := bytes.LastIndexByte(n.line, '\n') + 1
	lines := n.line[:end]
	n.line = n.line[end:]
	if err := n.say(lines); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush prints a last, unfinished line.
func (n *narrator) flush() error { return n.say(n.line) }

func (n *narrator) say(lines []byte) error {
	if n.begins != nil && n.begins.Match(lines) {
		n.begins = nil
	}
	if n.begins != nil || n.ctx.Err() != nil || len(lines) == 0 {
		return nil
	}
	_, err := n.w.Write(definedAt.ReplaceAll(lines, nil))
	return err
}
