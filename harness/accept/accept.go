package accept

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cucumber/godog"

	"mrtq/harness/accept/goqueue"
	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/accept/library"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// Feature is a feature file: its path, as a person names it, and its text.
type Feature struct {
	Path string
	Text []byte
}

// Options says which scenarios to run, and where.
type Options struct {
	// Address is a ZooKeeper's connect string, host:port[,…][/chroot]. Each
	// scenario creates a chroot below it and does not remove it, so the server
	// should be disposable, such as a harness.Server.
	Address string
	// Session says how to connect: TLS, credentials, timeouts. With credentials,
	// only their owner can read or write the test data.
	Session zkconn.Config
	// Dialects are the dialects to run in. Nil means both.
	Dialects []newqueue.Dialect
	// Tags selects scenarios, in Cucumber's older language: "@J9,@J10" selects
	// scenarios with either tag, "@J9 && ~@illegal" those with @J9 and without
	// @illegal. "" selects all. With tags, a run need not cover all rows to pass.
	Tags string
	// Only selects the scenario, or the row of its examples, at FILE:LINE. "" selects all. With it, too, a run need not cover all rows.
	Only string
	// Out gets the output. Nil means that there is none.
	Out io.Writer
	// Pretty prints every step. Otherwise a step is a character, and what failed is printed.
	Pretty bool
	// JUnit gets the results as JUnit's XML, also if the run ends early: then what has run, and the error. Nil means none.
	JUnit io.Writer
	// Alone returns the command that runs the scenario at FILE:LINE alone, for JUnit. Nil means that none is named.
	Alone func(d newqueue.Dialect, at string) string
	// Parallel is how many scenarios run at the same time. 0 means one. With more,
	// Pretty prints scenarios in the order in which they end.
	Parallel int
	// Features run in place of mrtq's own, in every dialect. Then a run need not
	// cover all rows to pass. Nil means mrtq's own.
	Features []Feature

	// Libraries are the implementations that are judged, by the roles that they play. A role that has none is
	// mrtq's own, newqueue/client. With any, a run need not cover all rows to pass.
	Libraries map[library.Role]library.Library
	// KnownFailures are the scenarios that are expected to fail: see [ParseKnownFailures]. A run passes if exactly these fail.
	KnownFailures []KnownFailure

	judged []Feature // like Features, but the run must cover all rows
	extra  func(*world, runner.Step)
	// conn and queue break the code under test, in tests of the tests.
	conn  func(client.Conn) client.Conn
	queue []client.Option
}

// Report is the result of a run.
type Report struct {
	Scenarios, Failed int
	// NotOffered counts the scenarios that need what the code under test has nothing for. They neither passed nor
	// failed. Known counts the failed ones that are expected to.
	NotOffered, KnownFailures int
	// NotOfferedByVerb counts the scenarios that are not offered, by the verb that the code under test has nothing for.
	NotOfferedByVerb map[string]int
	// Coverage has every row of every dialect in Options, in the order of the
	// published design.
	Coverage []Row
	// Subset is true if tags left out scenarios, others than mrtq's own ran, or another implementation was judged.
	Subset bool
	// Problems has all reasons why the run does not pass, a line for each. It is
	// empty if the run passes.
	Problems []string
}

// OK reports whether the run passes.
func (r *Report) OK() bool { return len(r.Problems) == 0 }

// ErrNothing is Run's error if the tags select no scenario.
var ErrNothing = runner.ErrNothing

// ErrOnly is Run's error if no scenario is where [Options].Only says.
var ErrOnly = runner.ErrOnly

// ErrTags is what Run's error wraps if the tag expression can't be read.
var ErrTags = runner.ErrTags

// Run runs the scenarios. If a scenario fails, or a feature file is wrong, the report says so. The error is only
// for scenarios that could not be run: the cause of ctx if ctx has ended,
// [ErrNothing], one that wraps [ErrTags] or [ErrOnly], or an error of the server.
func Run(ctx context.Context, opt Options) (*Report, error) {
	if err := runner.CheckTags(opt.Tags); err != nil {
		return nil, err
	}
	if opt.Dialects == nil {
		opt.Dialects = newqueue.Dialects
	}
	s := &suite{opt: opt, saw: map[*runner.Case]sighting{}}
	var all []runner.Feature
	for _, d := range opt.Dialects {
		given := slices.Concat(opt.Features, opt.judged)
		if given == nil {
			var err error
			if given, err = featuresOf(d); err != nil {
				return nil, err
			}
		}
		all = append(all, inDialect(given, d)...)
		s.rows = append(s.rows, coverage(d)...)
	}
	address, err := zkconn.ParseAddress(opt.Address)
	if err != nil {
		return nil, err
	}
	s.root = address.Chroot
	s.session = opt.Session
	s.session.Address = address
	conn, err := session.Open(ctx, s.session)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	reader, err := zkconn.OpenReader(ctx, s.session)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	own := goqueue.New(goqueue.Options{Session: s.session, Conn: opt.conn, Queue: opt.queue})
	s.libraries = map[library.Role]library.Library{}
	for _, role := range library.Roles {
		if s.libraries[role] = own; opt.Libraries[role] != nil {
			s.libraries[role] = opt.Libraries[role]
			able := s.libraries[role].Capabilities()
			s.ownClocks, s.lenient = s.ownClocks || !able.Clock, s.lenient || !able.Strict
		}
	}
	s.observer = observer{conn, reader, session.ACL(opt.Session)}
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	return s.run(ctx, all)
}

type suite struct {
	opt      Options
	root     string // chroot of the address
	observer observer
	session  zkconn.Config // with the address
	// libraries has the code under test for each role.
	libraries map[library.Role]library.Library
	ownClocks bool                    // one of them takes the time from the machine
	lenient   bool                    // one of them keeps only what the documents promise
	stop      context.CancelCauseFunc // ends the run for a reason that is not a scenario's fault

	mu   sync.Mutex
	n    int // how many scenarios have begun
	saw  map[*runner.Case]sighting
	rows []*Row
}

func (s *suite) run(ctx context.Context, features []runner.Feature) (*Report, error) {
	opt := s.opt.Runner()
	opt.Features, opt.Scenario, opt.Parallel, opt.IsStep = features, s.scenario, s.opt.Parallel, isStep
	if s.lenient {
		opt.Tags = strings.TrimPrefix(opt.Tags+" && ~@newqueue", " && ")
	}
	cases, err := runner.Run(ctx, opt)
	if err != nil {
		return nil, err
	}
	return s.report(cases), nil
}

// Runner returns what package runner needs of the options, without the features and their steps.
func (o Options) Runner() runner.Options {
	r := runner.Options{Tags: o.Tags, Only: o.Only, Pretty: o.Pretty, Out: o.Out, JUnit: o.JUnit}
	if o.Alone != nil {
		r.Alone = func(c *runner.Case) string {
			return o.Alone(newqueue.Dialect(c.Dialect), fmt.Sprintf("%s:%d", c.Path, c.Line))
		}
	}
	return r
}

// Add counts a case, and says why it failed or could not run. name is that of a scenario that ran.
func (r *Report) Add(c *runner.Case, name string) {
	what := "not run: " + c.At() + ": the file"
	switch {
	case c.Ended:
		r.Scenarios++
		if c.Failed == nil {
			return
		}
		r.Failed++
		what = "failed: " + c.At() + ": the scenario " + name
	case c.Name != "":
		what = fmt.Sprintf("not run: %s: the scenario %q", c.At(), c.Name)
	}
	r.Problems = append(r.Problems, what+": "+oneLine.Replace(c.Failed.Error()))
}

// scenario creates the world of a scenario. The dialect is known only when the
// scenario begins, but both dialects have the same steps.
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
	step := runner.StepOf(sc)
	w.register(step)
	if s.opt.extra != nil {
		s.opt.extra(w, step)
	}
}

func (s *suite) ended(c *runner.Case, w *world, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Ended, c.Failed, c.Lacks = true, err, w.lacks
	s.saw[c] = w.saw
}

var rowID = regexp.MustCompile(`^@[A-Z][0-9]+[a-z]?$`)

var oneLine = strings.NewReplacer(":\n  ", ": ", "\n  ", "; ", "\n", "; ")

func (s *suite) report(cases []*runner.Case) *Report {
	r := &Report{NotOfferedByVerb: map[string]int{}, Subset: s.opt.Tags != "" || s.opt.Only != "" || s.opt.Features != nil || s.opt.Libraries != nil}
	var ran []scenario
	for _, c := range cases {
		if !c.Ended {
			r.Add(c, "")
			continue
		}
		sc := scenario{c, newqueue.Dialect(c.Dialect), s.saw[c]}
		if sc.Lacks != "" {
			r.NotOffered++
			r.NotOfferedByVerb[sc.Lacks]++
			continue
		}
		ran = append(ran, sc)
		if sc.Failed != nil && isKnown(s.opt.KnownFailures, sc) {
			r.Scenarios++
			r.Failed++
			r.KnownFailures++
		} else {
			r.Add(c, strings.Join(append([]string{sc.String()}, idsOf(sc.Tags)...), " "))
		}
		has := func(is func(*Row) bool) bool {
			return slices.ContainsFunc(s.rows, func(row *Row) bool { return row.Dialect == sc.dialect && is(row) })
		}
		for _, step := range sc.saw.steps {
			if !isKnown(s.opt.KnownFailures, sc) && !has(func(row *Row) bool { return row.transition && row.What == step.String() }) {
				r.Problems = append(r.Problems, fmt.Sprintf("undocumented: %s, seen in the scenario %v", step, sc))
			}
		}
		for _, id := range idsOf(sc.Tags) {
			if !has(func(row *Row) bool { return "@"+row.ID == id }) {
				r.Problems = append(r.Problems, fmt.Sprintf("unknown: the scenario %v is tagged %s, and no row has that id", sc, id))
			}
		}
	}
	if r.Scenarios == 0 && r.NotOffered > 0 {
		r.Problems = append(r.Problems, "no scenario is offered, so nothing was judged")
	}
	r.Problems = append(r.Problems, judge(s.opt.KnownFailures, ran, s.opt.Tags == "" && s.opt.Only == "")...)
	for _, row := range s.rows {
		row.judge(ran)
		r.Coverage = append(r.Coverage, *row)
		if row.Result == NotRun && !r.Subset {
			r.Problems = append(r.Problems, fmt.Sprintf("not covered: %s %s (%s): %s", row.ID, row.What, row.Dialect, row.Why))
		}
	}
	return r
}

// WriteError writes JUnit's XML of a run that could not begin.
func WriteError(w io.Writer, why error) error { return runner.JUnit(w, nil, nil, why) }

func idsOf(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return !rowID.MatchString(tag) })
}
