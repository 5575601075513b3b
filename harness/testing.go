package harness

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// RequireVariable is the environment variable that lists, comma-separated, the
// required backends: if one of them is missing, a test fails instead of being
// skipped.
const RequireVariable = "MRTQ_REQUIRE_BACKENDS"

// TestVariable is the environment variable that names what [TestBackend] returns.
const TestVariable = "MRTQ_TEST_BACKEND"

// TestBackend is the backend for tests that need one server of any kind:
// [Embedded], or the one that [TestVariable] names.
func TestBackend() Backend {
	if name := os.Getenv(TestVariable); name != "" {
		return Backend(name)
	}
	return Embedded
}

// T is the part of *testing.T that ForTest needs. It keeps the testing package
// out of this one's interface.
type T interface {
	Helper()
	Cleanup(func())
	Context() context.Context
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// ForTest starts a server that is stopped when the test ends. If the backend is
// not available, it skips the test and says why, unless [RequireVariable] names
// the backend. Any other error fails the test.
func ForTest(t T, backend Backend, opt Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), backend, opt)
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable) && !required(backend):
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

func required(b Backend) bool { return Required(string(b)) }

// Required reports whether [RequireVariable] names a backend, or chromium,
// which some tests use if it is installed.
func Required(name string) bool {
	list := strings.Split(os.Getenv(RequireVariable), ",")
	return slices.ContainsFunc(list, func(s string) bool { return strings.TrimSpace(s) == name })
}
