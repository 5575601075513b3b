package harness

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// RequireVariable is the environment variable that lists the required backends,
// comma-separated. If one of them is missing, tests that need it fail. Without the
// variable they are skipped.
const RequireVariable = "MRTQ_REQUIRE_BACKENDS"

// TestVariable is the environment variable that names what [TestBackend] returns.
const TestVariable = "MRTQ_TEST_BACKEND"

// TestBackend returns the backend for tests that need one server of any kind:
// the one that [TestVariable] names, or else [Embedded].
func TestBackend() Backend {
	if name := os.Getenv(TestVariable); name != "" {
		return Backend(name)
	}
	return Embedded
}

// T is the part of *testing.T that ForTest needs. With it this package need not
// import package testing.
type T interface {
	Helper()
	Cleanup(func())
	Context() context.Context
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// ForTest starts a server and stops it when the test ends. If the backend is not
// available, ForTest skips the test and says why. If [RequireVariable] names the
// backend, or with any other error, the test fails.
func ForTest(t T, backend Backend, opt Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), backend, opt)
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable) && !Required(string(backend)):
		t.Skipf("skipped without a server: %v", err)
		return nil // for a T with a Skipf that returns
	default:
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop the %s server: %v", backend, err)
		}
	})
	return s
}

// Required reports whether [RequireVariable] contains a backend.
func Required(name string) bool {
	return slices.ContainsFunc(strings.Split(os.Getenv(RequireVariable), ","), func(s string) bool { return strings.TrimSpace(s) == name })
}
