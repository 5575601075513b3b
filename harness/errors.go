package harness

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrUnavailable matches every [*UnavailableError].
	ErrUnavailable = errors.New("backend not available")
	// ErrNotControlled says that something was asked of an address backend
	// that only a server of our own can do: being killed, restarted, configured.
	ErrNotControlled = errors.New("that server is not ours to control; use the jvm or the docker backend")

	// errPortTaken: somebody took a port between our choosing it and the
	// server's binding it; another choice will do.
	errPortTaken = errors.New("port taken")
)

// UnavailableError says that a backend cannot run on this machine, and what
// would change that. It matches [ErrUnavailable].
type UnavailableError struct {
	Backend Backend
	Missing string // what was looked for and not found
	Remedy  string // what to install or set
	Err     error  // the cause, may be nil
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("harness: backend %s is not available: %s; %s", e.Backend, e.Missing, e.Remedy)
}

func (e *UnavailableError) Unwrap() error        { return e.Err }
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// ExitError says that a server ended while it was needed.
type ExitError struct {
	Backend   Backend
	Node      int    // counted from 0
	State     string // how it ended, as the system says it: "exit status 2"
	LastWords string // the end of its log, several lines, may be empty
}

func (e *ExitError) Error() string {
	msg := fmt.Sprintf("harness: %s server %d ended: %s", e.Backend, e.Node, e.State)
	if e.LastWords != "" {
		msg += "; its last words:\n" + indent(e.LastWords)
	}
	return msg
}

// Is lets Start tell a taken port from any other reason to die: the server
// itself says it only in its log.
func (e *ExitError) Is(target error) bool {
	return target == errPortTaken && saysPortTaken(e.LastWords)
}

// saysPortTaken recognises the JVM's, the kernel's and Docker's words for it.
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
