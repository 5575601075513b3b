package znode_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
	"mrtq/internal/zkconn"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range atExit {
		f()
	}
	os.Exit(max(code, exitCode))
}

var (
	shared   *harness.Server
	atExit   []func()
	exitCode int
)

// server is a real ZooKeeper that all tests share. Each test finds it empty.
func server(t *testing.T) *harness.Server {
	t.Helper()
	if shared == nil {
		shared = harness.ForTest(kept{t}, harness.TestBackend(), harness.Options{})
	}
	if err := shared.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	return shared
}

// kept keeps a test's server running after that test.
type kept struct{ *testing.T }

func (kept) Cleanup(f func())         { atExit = append(atExit, f) }
func (kept) Context() context.Context { return context.Background() }
func (kept) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	exitCode = 1
}

func open(t *testing.T) *zkconn.Writer {
	t.Helper()
	addr, err := zkconn.ParseAddress(server(t).Address())
	if err != nil {
		t.Fatal(err)
	}
	w, err := zkconn.OpenWriter(t.Context(), zkconn.Config{Address: addr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}
