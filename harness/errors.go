package harness

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable matches every [*UnavailableError].
	ErrUnavailable = errors.New("backend not available")
	// ErrNotControlled means that the server runs at an address. The harness can
	// kill, restart and configure only servers that it started.
	ErrNotControlled = errors.New("mrtq did not start that server and can't control it; use the jvm or the docker backend")
)

// UnavailableError means that a backend cannot run on this machine. It says what
// is missing and what to do about it. It matches [ErrUnavailable].
type UnavailableError struct {
	Backend Backend
	Missing string // what was not found
	Remedy  string // what to install or set
}

// Error says which backend is not available, what is missing, and what to do.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("harness: backend %s is not available: %s; %s", e.Backend, e.Missing, e.Remedy)
}

// Is makes every UnavailableError match [ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }
