package harness

import (
	"fmt"
	"strings"

	"mrtq/internal/zkconn"
)

// A Backend says where a server comes from: [Embedded], [JVM], [Docker], or the address of
// a running server as [ParseBackend] accepts it.
type Backend string

// The backends that the harness starts itself.
const (
	Embedded Backend = "embedded"
	JVM      Backend = "jvm"
	Docker   Backend = "docker"
)

// own lists the backends that the harness starts itself, cheapest first, each
// with the function that starts it.
var own = []struct {
	backend Backend
	launch  launcher
}{
	{Embedded, launchEmbedded},
	{JVM, launchJVM},
	{Docker, launchDocker},
}

// Backends returns every backend that the harness can start itself, installed
// or not, cheapest first. A suite can run on each of them, and [ForTest] says
// what is missing.
func Backends() []Backend {
	all := make([]Backend, len(own))
	for i, o := range own {
		all[i] = o.backend
	}
	return all
}

// ParseBackend returns the backend that s names: one of [Backends], or an
// address host:port[,host:port…][/chroot] whose chroot must exist.
func ParseBackend(s string) (Backend, error) {
	for _, o := range own {
		if s == string(o.backend) {
			return o.backend, nil
		}
	}
	if _, err := zkconn.ParseAddress(s); err != nil {
		return "", fmt.Errorf("unknown backend %q: expected %s or an address: %w", s, names(Backends()), err)
	}
	return Backend(s), nil
}

// IsAddress reports whether the backend is a running server's address rather
// than something that the harness starts.
func (b Backend) IsAddress() bool {
	for _, o := range own {
		if b == o.backend {
			return false
		}
	}
	return true
}

func (b Backend) launcher() launcher {
	for _, o := range own {
		if b == o.backend {
			return o.launch
		}
	}
	return launchAddress
}

func names(backends []Backend) string {
	var all []string
	for _, b := range backends {
		all = append(all, string(b))
	}
	return strings.Join(all, ", ")
}
