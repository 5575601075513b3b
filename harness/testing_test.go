package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/internal/node"
	"mrtq/harness/minizk"
)

type recorder struct {
	ctx      context.Context
	ended    string
	cleanups []func()
}

func (r *recorder) Helper()                   {}
func (r *recorder) Context() context.Context  { return r.ctx }
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Skipf(f string, a ...any)  { r.ended = "skip: " + fmt.Sprintf(f, a...) }
func (r *recorder) Fatalf(f string, a ...any) { r.ended = "fatal: " + fmt.Sprintf(f, a...) }
func (r *recorder) Errorf(f string, a ...any) { r.ended = "error: " + fmt.Sprintf(f, a...) }

// A missing backend skips the test and says why. It fails the test if the
// backend is required.
func TestMissingBackend(t *testing.T) {
	for _, tc := range []struct {
		required string
		want     string
	}{
		{"", "skip: skipped without a server: "},
		{"docker", "skip: skipped without a server: "},
		{"docker, jvm", "fatal: "},
	} {
		t.Setenv("JAVA_HOME", "/nonexistent")
		t.Setenv(RequireVariable, tc.required)
		r := &recorder{ctx: t.Context()}
		if s := ForTest(r, JVM, Options{}); s != nil {
			t.Error("a server without Java")
		}
		want := tc.want + "harness: backend jvm is not available: no Java runtime found (exec: "
		if !strings.HasPrefix(r.ended, want) || len(r.cleanups) > 0 {
			t.Errorf("required %q: %q, want it to begin with %q", tc.required, r.ended, want)
		}
	}
}

// A wrong option fails the test and does not skip it.
func TestForTestFailsOnAWrongOption(t *testing.T) {
	t.Setenv(RequireVariable, "")
	r := &recorder{ctx: t.Context()}
	ForTest(r, JVM, Options{Listen: ":1"})
	if want := "fatal: harness: Options.Listen with backend jvm: unsupported operation: use embedded"; r.ended != want {
		t.Errorf("got  %s\nwant %s", r.ended, want)
	}
}

// In a program that does not import harness/docker the docker backend is not
// available, and the error says what to import.
func TestDockerIsImported(t *testing.T) {
	run := node.Run
	t.Cleanup(func() { node.Run = run })
	node.Run = nil
	_, err := Start(t.Context(), Docker, Options{})
	const want = `harness: backend docker is not available: this program has no Docker client in it; import _ "mrtq/harness/docker"`
	if !errors.Is(err, ErrUnavailable) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRefusedOptions(t *testing.T) {
	for _, tc := range []struct {
		backend Backend
		opt     Options
		want    string
	}{
		{Embedded, Options{Properties: map[string]string{"snapCount": "5"}}, "harness: Options.Properties with backend embedded: unsupported operation: use jvm, docker"},
		{Embedded, Options{Nodes: 3}, "harness: Options.Nodes with backend embedded: unsupported operation: use jvm"},
		{JVM, Options{Tree: minizk.NewTree()}, "harness: Options.Tree with backend jvm: unsupported operation: use embedded"},
		{Docker, Options{Nodes: 3}, "harness: Options.Nodes with backend docker: unsupported operation: use jvm"},
		{"jvm:", Options{}, `harness: unknown backend "jvm:": expected embedded, jvm, docker or an address: address "jvm:": bad port in "jvm:": expected 1 to 65535; expected host:port[,host:port…][/chroot]`},
	} {
		_, err := Start(t.Context(), tc.backend, tc.opt)
		if err == nil || err.Error() != tc.want {
			t.Errorf("got  %v\nwant %s", err, tc.want)
		}
	}
}

// A process has its ports for itself.
func TestTakePorts(t *testing.T) {
	a, err := takePorts(12)
	if err != nil {
		t.Fatal(err)
	}
	b, err := takePorts(12)
	if err != nil {
		t.Fatal(err)
	}
	first := block.first.Addr().(*net.TCPAddr).Port
	all := slices.Sorted(slices.Values(append(a, b...)))
	if len(slices.Compact(all)) != 24 || all[0] <= first || all[23] >= first+blockSize {
		t.Errorf("ports %v of the block from %d on", all, first)
	}
}
