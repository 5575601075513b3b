// Package tell runs scenarios with godog and tells people and machines how it
// goes, in the forms that mrtq accept has.
package tell

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/cucumber/godog"
)

// Format is a form in which a run tells what it does.
type Format string

// The formats.
const (
	Brief    Format = "brief"    // for people: a line a feature, and the steps of what failed
	Pretty   Format = "pretty"   // for people: every step
	Cucumber Format = "cucumber" // Cucumber's JSON
	JUnit    Format = "junit"    // JUnit's XML
)

// Options say what to run, and how to tell it.
type Options struct {
	// Chapters are run all at once. A person sees one after the other. Machines
	// get one document.
	Chapters [][]godog.Feature
	// Tags select scenarios, in Cucumber's older language.
	Tags     string
	Scenario func(*godog.ScenarioContext)

	Format   Format    // "" is Brief
	Out      io.Writer // nil is nobody
	Color    bool
	Parallel int
}

// Run runs the scenarios, and reports whether everything in them passed. The
// error is Out's.
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

// narrator passes on what godog prints, line by line, from a certain first line
// on, so a chapter without scenarios prints nothing. It leaves out where a step
// is defined, because that is always the same line of usage.go. It stops once
// its context has ended, because the remaining scenarios then fail for no other
// reason.
type narrator struct {
	ctx    context.Context
	w      io.Writer
	begins *regexp.Regexp // nil once it has begun
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
