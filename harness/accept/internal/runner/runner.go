// Package runner runs scenarios with godog, and prints what happens in the formats
// of mrtq accept.
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
	Brief    Format = "brief"    // for people: a line for each feature, and the steps of what failed
	Pretty   Format = "pretty"   // for people: every step
	Cucumber Format = "cucumber" // Cucumber's JSON
	JUnit    Format = "junit"    // JUnit's XML
)

// Options say what to run, and what to print.
type Options struct {
	// Chapters run at the same time. The formats for people print one after the
	// other, those for machines print one document.
	Chapters [][]godog.Feature
	// Tags select scenarios, in Cucumber's older language.
	Tags     string
	Scenario func(*godog.ScenarioContext)

	Format   Format    // "" means Brief
	Out      io.Writer // nil means no output
	Color    bool
	Parallel int
}

// Run runs the scenarios, and reports whether all of them passed. The error is
// that of a write to Out.
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

// narrator passes on what godog prints, line by line. It starts at a certain line,
// so that a chapter without scenarios prints nothing. It leaves out where a step
// is defined, because that is always the same line of usage.go. It stops when its
// context ends, because all remaining scenarios then fail for that reason.
type narrator struct {
	ctx    context.Context
	w      io.Writer
	begins *regexp.Regexp // matches the first line; nil once it was printed
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
