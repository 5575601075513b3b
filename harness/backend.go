package harness

import (
	"fmt"
	"slices"
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

// Backends returns every backend that the harness can start itself, installed
// or not, cheapest first. A suite can run on each of them, and [ForTest] says
// what is missing.
func Backends() []Backend { return []Backend{Embedded, JVM, Docker} }

// ParseBackend returns the backend that s names: one of [Backends], or an
// address host:port[,host:port…][/chroot] whose chroot must exist.
func ParseBackend(s string) (Backend, error) {
	if b := Backend(s); !b.IsAddress() {
		return b, nil
	}
	if _, err := zkconn.ParseAddress(s); err != nil {
		return "", fmt.Errorf("unknown backend %q: expected %s or an address: %w", s, names(Backends()), err)
	}
	return Backend(s), nil
}

// IsAddress reports whether the backend is a running server's address rather
// than something that the harness starts.
func (b Backend) IsAddress() bool { return !slices.Contains(Backends(), b) }

func names(backends []Backend) string {
	var all []string
	for _, b := range backends {
		all = append(all, string(b))
	}
	return strings.Join(all, ", ")
}
