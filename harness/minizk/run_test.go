package minizk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// recorder is a T that a test checks afterwards.
type recorder struct {
	cleanup []func()
	failed  bool
	logged  []string
}

func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Fatalf(f string, a ...any) {
	r.logged = append(r.logged, "fatal "+fmt.Sprintf(f, a...))
}
func (r *recorder) Logf(f string, a ...any) { r.logged = append(r.logged, fmt.Sprintf(f, a...)) }
func (r *recorder) Failed() bool            { return r.failed }

func TestRunPrintsTheLogOfAFailingTest(t *testing.T) {
	for _, fail := range []bool{false, true} {
		r := &recorder{failed: fail}
		s := minizk.Run(r)
		c := raw(t, s)
		do(t, c, newNode("/seen", "", 0))
		for _, f := range slices.Backward(r.cleanup) {
			f()
		}
		if got := strings.Join(r.logged, ""); strings.Contains(got, "create /seen") != fail {
			t.Errorf("failed %v, logged %q", fail, got)
		}
	}
	r := &recorder{}
	if minizk.RunWith(r, minizk.Options{MinTimeout: -1}) != nil || len(r.logged) != 1 {
		t.Errorf("bad options logged %q", r.logged)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		opt  minizk.Options
		want string
	}{
		{minizk.Options{MinTimeout: -1}, "minizk: MinTimeout -1ns, MaxTimeout 40s: expected at least 1ms, and MaxTimeout not below MinTimeout"},
		{minizk.Options{MinTimeout: time.Minute, MaxTimeout: time.Second}, "minizk: MinTimeout 1m0s, MaxTimeout 1s: expected at least 1ms, and MaxTimeout not below MinTimeout"},
		{minizk.Options{ContainerInterval: -1}, "minizk: ContainerInterval -1ns must not be negative"},
		{minizk.Options{LogSize: -1}, "minizk: MaxBuffer 1048575, LogSize -1: neither may be negative"},
		{minizk.Options{RealTime: true, Now: time.Unix(1, 0).UTC()}, "minizk: Now (1970-01-01 00:00:01 +0000 UTC) and RealTime together: the machine's clock cannot be set"},
		{minizk.Options{Addr: "nonsense"}, "minizk: listen tcp: address nonsense: missing port in address"},
	} {
		if s, err := minizk.Start(c.opt); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, %v, want %s", c.opt, s, err, c.want)
		}
	}
}
