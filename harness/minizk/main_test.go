package minizk_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mrtq/harness"
	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/ztree"
)

var (
	update  = flag.Bool("update", false, "record the real server's transcripts in testdata")
	torture = flag.Bool("torture", false, "run on the real server all that otherwise runs only on minizk, or in a sample")
)

// The superuser of both servers, who may delete whatever a scenario leaves.
const superUser, superPassword = "super", "secret"

var superDigest = ztree.DigestID([]byte(superUser + ":" + superPassword)).Name

// jvmProperties give the real server the same settings as minizk: TTL nodes are allowed, and the
// session timeouts are the same.
var jvmProperties = map[string]string{
	"extendedTypesEnabled": "true", "minSessionTimeout": "4000", "maxSessionTimeout": "40000",
}

// realServer is a real server that tests share. It starts when the first test uses it.
type realServer struct {
	// reap is how often the server looks for containers and TTL nodes to remove. An hour means
	// never, because a removal at an unexpected moment would change a random program's result.
	reap time.Duration
	// plain leaves extendedTypesEnabled off, which is the default.
	plain bool

	start sync.Once
	s     *harness.Server
	err   error
}

var (
	real38  = &realServer{reap: time.Hour}
	reaping = &realServer{reap: 100 * time.Millisecond}
)

// addr is the server's address. Without Java or the jars the test is skipped and says
// what to install. It fails if MRTQ_REQUIRE_BACKENDS names jvm.
func (r *realServer) addr(t testing.TB) string {
	t.Helper()
	r.start.Do(func() {
		// No line of zoo.cfg can set these in 3.8, and this variable wins over the command
		// line.
		os.Setenv("_JAVA_OPTIONS", fmt.Sprintf("-Dznode.container.checkIntervalMs=%d -Dzookeeper.DigestAuthenticationProvider.superDigest=%s",
			r.reap.Milliseconds(), superDigest))
		defer os.Unsetenv("_JAVA_OPTIONS")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		p := maps.Clone(jvmProperties)
		if r.plain {
			delete(p, "extendedTypesEnabled")
		}
		r.s, r.err = harness.Start(ctx, harness.JVM, harness.Options{Properties: p})
	})
	if errors.Is(r.err, harness.ErrUnavailable) {
		missing(t, r.err.Error())
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.s.Address()
}

func (r *realServer) stop() error {
	if r.s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return r.s.Stop(ctx)
}

// missing skips a test because a tool is missing. If the environment requires jvm, the test fails.
func missing(t testing.TB, what string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv(harness.RequireVariable), ","), string(harness.JVM)) {
		t.Fatalf("%s demands jvm, but: %s", harness.RequireVariable, what)
	}
	t.Skipf("skipped: %s", what)
}

func run(t testing.TB, opt minizk.Options) *minizk.Server {
	t.Helper()
	shared.NoLeak(t)
	return minizk.RunWith(t, opt)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(real38.stop(), reaping.stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func errorOf[T any](_ T, err error) error { return err }
