package accept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/newqueue"
)

// Format is a form in which a run tells what it does.
type Format string

// The formats.
const (
	Pretty   Format = "pretty"   // for people
	Cucumber Format = "cucumber" // Cucumber's JSON
	JUnit    Format = "junit"    // JUnit's XML
)

// Formats are all formats, the default first.
var Formats = []Format{Pretty, Cucumber, JUnit}

// Options say what to run and where.
type Options struct {
	// Address is a ZooKeeper's connect string, host:port[,…][/chroot]. Scenarios
	// make chroots below it and leave them: give one that is thrown away, such
	// as that of a harness.Server.
	Address string
	// Dialects to run in; nil is both.
	Dialects []newqueue.Dialect
	// Tags select scenarios, in Cucumber's older language: "@J9,@J10" is one of
	// them, "@J && ~@illegal" both conditions. "" is all. With tags, what isn't
	// covered is no failure.
	Tags string
	// Format is that of Out; "" is Pretty.
	Format Format
	// Out is told how it goes; nil is nobody.
	Out io.Writer
	// Color lets a pretty Out be coloured.
	Color bool
	// Parallel is how many scenarios run at once; 0 is 1. With more, a pretty
	// Out tells them in the order in which they end.
	Parallel int

	features []Feature // in place of the embedded ones, in every dialect
	extra    func(*world, steps)
	// conn and queue break the code under test, in tests of the tests.
	conn  func(newqueue.Conn) newqueue.Conn
	queue []newqueue.Option
}

// Report is what a run has found.
type Report struct {
	Scenarios, Failed int
	// Coverage has every row of every dialect that was asked for, in the order
	// of the documents.
	Coverage []Row
	// Subset is set when tags have left scenarios out.
	Subset bool
	// Problems are all reasons for which the run does not pass, one line each;
	// none when it passes.
	Problems []string
}

// OK reports whether the run passes.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// ErrNothing says that the tags select no scenario.
var ErrNothing = errors.New("the tags select no scenario")

// Run runs the scenarios. The error says that they could not be run: it is
// ctx's cause when that has ended, [ErrNothing], a *[TagsError], or the
// server's. Scenarios that fail are in the report and are no error.
func Run(ctx context.Context, opt Options) (*Report, error) {
	if err := checkTags(opt.Tags); err != nil {
		return nil, err
	}
	if opt.Dialects == nil {
		opt.Dialects = newqueue.Dialects
	}
	s := &suite{opt: opt, used: newUsage()}
	var all []godog.Feature
	for _, d := range opt.Dialects {
		texts := opt.features
		if texts == nil {
			var err error
			if texts, err = Features(d); err != nil {
				return nil, err
			}
		}
		all = append(all, contents(texts, d)...)
		s.rows = append(s.rows, coverage(d)...)
	}
	conn, err := connect(ctx, opt.Address)
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	defer conn.Close()
	s.door = door{conn}
	s.address, s.root, _ = strings.Cut(opt.Address, "/")
	if s.root != "" {
		s.root = "/" + s.root
	}
	return s.run(ctx, all)
}

// suite is one run.
type suite struct {
	opt     Options
	address string // without the chroot, which is root
	root    string
	door    door
	used    *usage

	mu   sync.Mutex
	n    int // worlds made
	ran  []scenario
	rows []*Row
}

func (s *suite) run(ctx context.Context, all []godog.Feature) (*Report, error) {
	out := &narrator{ctx: ctx, w: s.opt.Out}
	if s.opt.Out == nil {
		out.w = io.Discard
	}
	format := s.opt.Format
	if format == "" {
		format = Pretty
	}
	code := godog.TestSuite{
		Name:                "mrtq accept",
		ScenarioInitializer: s.scenario,
		Options: &godog.Options{
			Format: string(format), Output: out, NoColors: !s.opt.Color, Strict: true,
			Tags: filter(s.opt.Tags), FeatureContents: all, DefaultContext: ctx, Concurrency: max(1, s.opt.Parallel),
		},
	}.Run()
	if err := out.flush(); err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("accept: stopped after %d scenarios: %w", len(s.ran), context.Cause(ctx))
	}
	if len(s.ran) == 0 && code == 0 {
		return nil, ErrNothing
	}
	return s.report(code), nil
}

// scenario gives a scenario its world. Its dialect is known only when it
// begins, but what it may say is the same in both.
func (s *suite) scenario(sc *godog.ScenarioContext) {
	s.mu.Lock()
	s.n++
	w := &world{
		suite: s, root: fmt.Sprintf("%s/scenario-%d", s.root, s.n), now: start,
		actors: map[string]*actor{}, names: map[string]string{},
	}
	s.mu.Unlock()
	sc.Before(w.setUp)
	sc.After(w.tearDown)
	steps := s.used.watch(sc)
	w.register(steps)
	if s.opt.extra != nil {
		s.opt.extra(w, steps)
	}
}

// open opens the code under test on a session.
func (s *suite) open(conn *zk.Conn, d newqueue.Dialect, opts ...newqueue.Option) *newqueue.Queue {
	var c newqueue.Conn = conn
	if s.opt.conn != nil {
		c = s.opt.conn(c)
	}
	return newqueue.Open(c, d, append(opts, s.opt.queue...)...)
}

// finished notes how a scenario went.
func (s *suite) finished(sc *godog.Scenario, w *world, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, scenario{sc.Name, w.dialect, tagsOf(sc), err, w.saw})
}

// rowID is what a tag looks like that names a row.
var rowID = regexp.MustCompile(`^@[A-Z][0-9]+[a-z]?$`)

// oneLine makes one line of an error of several.
var oneLine = strings.NewReplacer(":\n  ", ": ", "\n  ", "; ", "\n", "; ")

// report judges the run.
func (s *suite) report(code int) *Report {
	r := &Report{Scenarios: len(s.ran), Subset: s.opt.Tags != ""}
	for _, sc := range s.ran {
		if sc.failed != nil {
			r.Failed++
			why := oneLine.Replace(sc.failed.Error())
			r.Problems = append(r.Problems, fmt.Sprintf("failed: the scenario %v %s: %s", sc, strings.Join(idsOf(sc.tags), " "), why))
		}
		r.Problems = append(r.Problems, undocumented(sc, s.rows)...)
		for _, id := range idsOf(sc.tags) {
			if !slices.ContainsFunc(s.rows, func(row *Row) bool { return "@"+row.ID == id && row.Dialect == sc.dialect }) {
				r.Problems = append(r.Problems, fmt.Sprintf("unknown: the scenario %v is tagged %s, and no row has that id", sc, id))
			}
		}
		for _, row := range s.rows {
			row.count(sc)
		}
	}
	if code != 0 && len(r.Problems) == 0 {
		r.Problems = append(r.Problems, "something could not be run: a feature that can't be read, or a scenario without steps; stderr may say more")
	}
	for _, row := range s.rows {
		row.judge()
		r.Coverage = append(r.Coverage, *row)
		if row.Result == NotRun && !r.Subset {
			r.Problems = append(r.Problems, fmt.Sprintf("a hole: %s %s (%s): %s", row.ID, row.What, row.Dialect, row.Why[0]))
		}
	}
	if !r.Subset && len(s.opt.Dialects) == len(newqueue.Dialects) {
		for _, pattern := range s.used.unused() {
			r.Problems = append(r.Problems, "unused: no scenario says "+pattern)
		}
	}
	return r
}

func idsOf(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !rowID.MatchString(tag) })
}

// narrator passes on what godog prints, by the line. It leaves out where a step
// is defined, which is always the same line of usage.go, and says no more once
// its context has ended: the scenarios that are left then fail for no other
// reason.
type narrator struct {
	ctx  context.Context
	w    io.Writer
	line []byte // that has not ended yet
}

var definedAt = regexp.MustCompile(`[ \t]*(\x1b\[[0-9;]*m)*# usage\.go:\d+ -> \*world(\x1b\[[0-9;]*m)*`)

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

// flush says a last line that has no end.
func (n *narrator) flush() error { return n.say(n.line) }

func (n *narrator) say(lines []byte) error {
	if n.ctx.Err() != nil || len(lines) == 0 {
		return nil
	}
	_, err := n.w.Write(definedAt.ReplaceAll(lines, nil))
	return err
}
