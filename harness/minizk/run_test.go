package minizk_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/minizk"
)

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
	if minizk.RunWith(r, minizk.Options{Addr: "nonsense"}) != nil || len(r.logged) != 1 {
		t.Errorf("a bad address logged %q", r.logged)
	}
}
