package accept

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/accept/internal/runner"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/internal/session"
	"mrtq/harness/shared"
	"mrtq/internal/goldenfile"
	"mrtq/internal/zkconn"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

func TestMain(m *testing.M) { shared.Main(m) }

func address(t *testing.T) string {
	t.Helper()
	return harness.ForTest(t, harness.Embedded, harness.Options{}).Address()
}

var everywhere = flag.Bool("everywhere", false, "run all scenarios on Apache's servers, too")

var update = flag.Bool("update", false, "write the steps to docs/testing.md")

// elsewhere are the tags of the scenarios that always run on Apache's servers. All run on the
// embedded one.
const elsewhere = "@J1,@J14,@B5,@B6,@A2,@Q4,@K1,@K3,@S8,@S10"

// TestAccept runs the scenarios in both dialects on every backend.
func TestAccept(t *testing.T) {
	for _, backend := range harness.Backends() {
		tags := ""
		if backend != harness.Embedded && !*everywhere {
			tags = elsewhere
		}
		t.Run(string(backend), func(t *testing.T) {
			server := harness.ForTest(t, backend, harness.Options{})
			var output bytes.Buffer
			r, err := Run(t.Context(), Options{Address: server.Address(), Out: &output, Tags: tags, Parallel: 4, Pretty: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
			if t.Failed() {
				t.Log(output.String())
			}
			for _, row := range r.Coverage {
				if row.Result != Passed && tags == "" {
					t.Errorf("%s (%s) is %s: %v", row.ID, row.Dialect, row.Result, row.Why)
				}
			}
			t.Logf("%d scenarios, %d rows", r.Scenarios, len(r.Coverage))
		})
	}
}

// TestBroken: every broken feature fails, for the reason in its first line.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.feature")
	if err != nil || len(files) == 0 {
		t.Fatal("no broken features: ", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".feature"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(string(text), "\n")
			want, ok := strings.CutPrefix(first, "# want: ")
			if !ok {
				t.Fatalf("the first line is %q", first)
			}
			opt := Options{Address: address(t), judged: []Feature{{filepath.Base(file), []byte(rest)}}, extra: broken}
			r, err := Run(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if r.OK() || !slices.ContainsFunc(r.Problems, func(p string) bool { return strings.Contains(p, want) }) {
				t.Errorf("want %s\namong %s", want, strings.Join(r.Problems, "\n      "))
			}
		})
	}
}

// broken registers the steps that only broken features use.
func broken(w *world, step runner.Step) {
	step(`this is still to be written`, func() error { return godog.ErrPending })
	step(`this may be (one|two)`, func(string) error { return nil })
	step(`this (may|can) be one`, func(string) error { return nil })
	behind := func(name string, change func(object)) error {
		return w.during("worker", func(context.Context, *actor) error {
			w.last.judged = true
			at := w.names["job"] + "/" + name
			o := parse(w.before.Get(at).Data)
			change(o)
			_, err := w.suite.observer.conn.Set(w.root+at, encode(o), -1)
			return err
		})
	}
	step(`the job becomes (\S+) without a documented step`, func(state string) error {
		return behind("status", func(o object) { o["status"] = w.state(state) })
	})
	step(`the job's configuration is written again as it is`, func() error {
		return behind("configuration", func(object) {})
	})
}

func TestTags(t *testing.T) {
	for _, tags := range []string{"J9", "@", "@J9 &&", "@J9,,@J10", "~", "@J9 @J10", "~~@J9"} {
		_, err := Run(t.Context(), Options{Tags: tags})
		want := fmt.Sprintf("tags %q: expected tags such as @J9, with , for or, && for and, ~ for not: %q", tags, "@J9,@J10 && ~@mrt-zk")
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := Run(t.Context(), Options{Address: address(t), Tags: "@J9 && @J10"}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	r, err := Run(t.Context(), Options{Address: address(t), Tags: "@J10,@J9 && ~@illegal", Dialects: []newqueue.Dialect{newqueue.Design}})
	if err != nil || !r.OK() || !r.Subset || r.Scenarios != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOwnFeatures: a user's features run in both dialects, and need not cover all rows. godog's
// format names the file and the line of what failed.
func TestOwnFeatures(t *testing.T) {
	own := func(text string) []Feature { return []Feature{{"own.feature", []byte(text)}} }
	r, err := Run(t.Context(), Options{Address: address(t), Features: own(ownFeature)})
	if err != nil || !r.OK() || !r.Subset || r.Scenarios != 2 {
		t.Errorf("%v, %v", r.Problems, err)
	}
	var output bytes.Buffer
	opt := Options{Address: address(t), Out: &output, Dialects: []newqueue.Dialect{newqueue.Design}, Features: own(strings.Replace(ownFeature, "already held", "not there", 1))}
	if r, err = Run(t.Context(), opt); err != nil || r.OK() {
		t.Errorf("%v, %v", r.Problems, err)
	}
	if !strings.Contains(output.String(), "# design/own.feature:") {
		t.Errorf("%s", output.String())
	}
}

const ownFeature = `Feature: Ours
  Scenario: Nothing happens to a job that another client has locked
    Given a held job
    And another client has locked the job
    When an administrator deletes the job
    Then it is refused because the lock is already held
    And nothing has changed
`

func stepPatterns() (patterns []string) {
	(&world{}).register(func(pattern string, _ any) { patterns = append(patterns, pattern) })
	slices.Sort(patterns)
	return patterns
}

// TestStepsArePublished: docs/testing.md lists all steps.
func TestStepsArePublished(t *testing.T) {
	goldenfile.Section(t, "../../docs/testing.md", "<!-- steps -->", "<!-- end of the steps -->", "```\n"+strings.Join(stepPatterns(), "\n")+"\n```\n", *update)
}

// TestEveryStepIsSaid: each step is in a scenario.
func TestEveryStepIsSaid(t *testing.T) {
	var said []string
	for _, d := range newqueue.Dialects {
		eachScenario(t, d, "", func(sc *godog.Scenario) {
			for _, step := range sc.Steps {
				said = append(said, step.Text)
			}
		})
	}
	for _, pattern := range stepPatterns() {
		if !slices.ContainsFunc(said, regexp.MustCompile("^"+pattern+"$").MatchString) {
			t.Errorf("no scenario says %s", pattern)
		}
	}
}

// eachScenario calls a function for each scenario of mrtq's own in a dialect, and runs none.
func eachScenario(t *testing.T, d newqueue.Dialect, tags string, f func(*godog.Scenario)) {
	t.Helper()
	all, err := featuresOf(d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Run(t.Context(), runner.Options{Features: inDialect(all, d), Tags: tags, Scenario: func(sc *godog.ScenarioContext) {
		sc.Before(func(ctx context.Context, sc *godog.Scenario) (context.Context, error) {
			f(sc)
			return ctx, godog.ErrSkip
		})
	}}); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupted: if the context ends while scenarios run, no scenario counts as failed.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var output bytes.Buffer
	opt := Options{Address: address(t), Out: &output, conn: func(c client.Conn) client.Conn {
		cancel(errors.New("Ctrl-C"))
		return c
	}}
	_, err := Run(ctx, opt)
	if err == nil || !strings.Contains(err.Error(), "Ctrl-C") || strings.Contains(output.String(), "Failed") {
		t.Errorf("%v\n%s", err, output.String())
	}
}

// TestCredentials: with credentials, no other client can read the test data,
// neither what the scenarios write by hand nor what the code under test writes.
func TestCredentials(t *testing.T) {
	at := address(t)
	parsed, err := zkconn.ParseAddress(at)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := session.Open(t.Context(), zkconn.Config{Address: parsed})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	cfg := zkconn.Config{Auth: []zkconn.Auth{zkconn.DigestAuth("me", "secret")}}
	var shut atomic.Int64
	opt := Options{
		Address: at, Session: cfg, Tags: "@J1,@J10,@K1,@K4,@A1,@B11", Parallel: 4,
		conn: func(c client.Conn) client.Conn {
			return saboteur{c, func(op any) any {
				create, ok := op.(*zk.CreateRequest)
				if !ok {
					return op
				}
				if !slices.Equal(create.Acl, session.ACL(cfg)) {
					t.Errorf("%s is created with %v", create.Path, create.Acl)
				}
				chroot, _, _ := strings.Cut(strings.TrimPrefix(create.Path, "/"), "/")
				if _, _, err := stranger.Children("/" + chroot); !errors.Is(err, zk.ErrNoAuth) {
					t.Errorf("another client can read %s: %v", chroot, err)
				}
				shut.Add(1)
				return op
			}}
		},
	}
	r, err := Run(t.Context(), opt)
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	if shut.Load() == 0 {
		t.Error("nothing was created")
	}
}

// TestServerGone: if the server stops while scenarios run, the run ends with an error. No
// scenario counts as failed, and the remaining ones don't wait for the server.
func TestServerGone(t *testing.T) {
	server := harness.ForTest(t, harness.Embedded, harness.Options{})
	var once sync.Once
	opt := Options{Address: server.Address(), Parallel: 4, conn: func(c client.Conn) client.Conn {
		once.Do(func() {
			if err := server.Kill(); err != nil {
				t.Error(err)
			}
		})
		return c
	}}
	r, err := Run(t.Context(), opt)
	if err == nil || !strings.Contains(err.Error(), ": the connection was lost: ") {
		t.Errorf("%v, %v", r, err)
	}
}
