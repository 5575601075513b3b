package harness

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrUnavailable matches every [*UnavailableError].
	ErrUnavailable = errors.New("backend not available")
	// ErrNotControlled means that the server runs at an address. The harness can
	// kill, restart and configure only servers that it started.
	ErrNotControlled = errors.New("mrtq did not start that server and can't control it; use the jvm or the docker backend")

	// errPortTaken means that another program took a port after the harness had
	// chosen it and before the server could use it. Try again with another port.
	errPortTaken = errors.New("port taken")
)

// UnavailableError means that a backend cannot run on this machine. It says what
// is missing and what to do about it. It matches [ErrUnavailable].
type UnavailableError struct {
	Backend Backend
	Missing string // what was not found
	Remedy  string // what to install or set
	Err     error  // the cause, or nil
}

// Error says which backend is not available, what is missing, and what to do.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("harness: backend %s is not available: %s; %s", e.Backend, e.Missing, e.Remedy)
}

// Unwrap returns the cause, or nil.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Is makes every UnavailableError match [ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// ExitError means that a server ended while it was needed.
type ExitError struct {
	Backend   Backend
	Node      int    // which server of an ensemble, counted from 0
	State     string // how the operating system says it ended, such as "exit status 2"
	LastWords string // the end of its log, several lines, or ""
}

// Error says which server ended, how, and the end of its log.
func (e *ExitError) Error() string {
	msg := fmt.Sprintf("harness: %s server %d ended: %s", e.Backend, e.Node, e.State)
	if e.LastWords != "" {
		msg += "; the end of its log:\n" + indent(e.LastWords)
	}
	return msg
}

// Is lets Start recognise that the server ended because its port was taken. Only
// the server's log says that.
func (e *ExitError) Is(target error) bool {
	return target == errPortTaken && saysPortTaken(e.LastWords)
}

// saysPortTaken recognises the messages of the JVM, the kernel and Docker.
func saysPortTaken(text string) bool {
	for _, words := range []string{
		"java.net.BindException", "ddress already in use", "port is already allocated",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n\t")
}
