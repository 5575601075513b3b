package harness

import (
	"fmt"
	"net"
	"strconv"
	"strings"
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
	if _, _, err := splitAddress(s); err != nil {
		return "", fmt.Errorf("unknown backend %q: expected %s or an address host:port[,host:port…][/chroot] (%w)", s, names(Backends()), err)
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

// splitAddress splits a ZooKeeper connect string. The chroot is "" or an
// absolute path without a trailing slash.
func splitAddress(s string) (hosts []string, chroot string, err error) {
	list, path, rooted := strings.Cut(s, "/")
	if rooted {
		for _, name := range strings.Split(path, "/") {
			if name == "" || name == "." || name == ".." {
				return nil, "", fmt.Errorf("chroot %q is not a path of a znode", "/"+path)
			}
		}
		chroot = "/" + path
	}
	for _, hp := range strings.Split(list, ",") {
		host, port, err := net.SplitHostPort(hp)
		if err != nil {
			return nil, "", fmt.Errorf("address %q: expected host:port", hp)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
			return nil, "", fmt.Errorf("address %q: expected a host and a port from 1 to 65535", hp)
		}
		hosts = append(hosts, hp)
	}
	return hosts, chroot, nil
}
