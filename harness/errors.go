package harness

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrUnavailable matches every [*UnavailableError].
	ErrUnavailable = errors.New("backend not available")
	// ErrNotControlled says that an address backend can't do this. The harness
	// can kill, restart and configure only servers that it started.
	ErrNotControlled = errors.New("mrtq did not start that server and can't control it; use the jvm or the docker backend")

	// errPortTaken says that another program took a port after it was chosen
	// and before the server bound it. Another port will work.
	errPortTaken = errors.New("port taken")
)

// UnavailableError says that a backend cannot run on this machine, and what to
// do about it. It matches [ErrUnavailable].
type UnavailableError struct {
	Backend Backend
	Missing string // what was not found
	Remedy  string // what to install or set
	Err     error  // the cause, or nil
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
	State     string // how it ended, in the system's words: "exit status 2"
	LastWords string // the end of its log, several lines, may be empty
}

func (e *ExitError) Error() string {
	msg := fmt.Sprintf("harness: %s server %d ended: %s", e.Backend, e.Node, e.State)
	if e.LastWords != "" {
		msg += "; the end of its log:\n" + indent(e.LastWords)
	}
	return msg
}

// Is lets Start distinguish a taken port from other reasons. The server says it
// only in its log.
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
