package minizk

import (
	"strings"
)

// T is the part of *testing.T that Run needs. If it also has Failed() bool, as *testing.T has, Run
// prints the server's log when the test has failed.
type T interface {
	Cleanup(func())
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Run starts a server with default options and closes it when the test ends. If the server does not
// start, the test fails at once.
func Run(t T) *Server { return RunWith(t, Options{}) }

// RunWith starts a server with the given options, as Run does.
func RunWith(t T, opt Options) *Server {
	s, err := Start(opt)
	if err != nil {
		t.Fatalf("%v", err)
		return nil // for a T with a Fatalf that returns
	}
	t.Cleanup(func() {
		if f, ok := t.(interface{ Failed() bool }); ok && f.Failed() {
			var b strings.Builder
			_ = s.WriteLog(&b) // a Builder does not fail
			t.Logf("operations of the ZooKeeper at %s:\n%s", s.Addr(), b.String())
		}
		if err := s.Close(); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return s
}
