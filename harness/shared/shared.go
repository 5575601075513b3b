// Package shared gives all tests of a package one server, because a JVM's takes a second to
// start.
//
//	func TestMain(m *testing.M) { shared.Main(m) }
package shared

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mrtq/harness"
	"mrtq/internal/part"
)

var (
	servers  = map[bool]*harness.Server{} // by whether they also speak TLS
	atExit   []func()
	exitCode int
)

// Main makes all parts small, runs the tests, stops the servers, and exits. If a server can't be stopped, or if a
// goroutine is left, the exit code is that of a failure.
func Main(m *testing.M) {
	part.Small(true)
	code := m.Run()
	for _, f := range atExit {
		f()
	}
	if err := leak(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		exitCode = 1
	}
	os.Exit(max(code, exitCode))
}

// LargeParts makes all parts as large as outside of tests until the test ends, which must not be parallel.
func LargeParts(t testing.TB) {
	part.Small(false)
	t.Cleanup(func() { part.Small(true) })
}

// leak finds goroutines that don't end. One may still be about to: a worker whose context has
// ended drops its lock first.
func leak(options ...goleak.Option) error {
	err := goleak.Find(options...)
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); {
		err = goleak.Find(options...)
	}
	return err
}

// NoLeak fails a test unless every goroutine that it has started ends. Call it first, so that it
// checks last.
func NoLeak(t testing.TB) {
	t.Helper()
	old := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := leak(old); err != nil {
			t.Errorf("after the test: %v", err)
		}
	})
}

// Server returns the server of [harness.TestBackend]. The tests use it one after the other,
// and find what the ones before have left. Without the backend, the test is skipped as by
// [harness.ForTest].
func Server(t *testing.T, tls bool) *harness.Server {
	t.Helper()
	if servers[tls] == nil {
		servers[tls] = harness.ForTest(kept{t}, harness.TestBackend(), harness.Options{TLS: tls})
	}
	return servers[tls]
}

// kept keeps a test's server running after that test.
type kept struct{ *testing.T }

func (kept) Cleanup(f func())         { atExit = append(atExit, f) }
func (kept) Context() context.Context { return context.Background() }
func (kept) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	exitCode = 1
}
