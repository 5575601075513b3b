package zkconn

import (
	"fmt"
	"net"
	"strings"

	"mrtq/internal/znode"
)

// Address is a ZooKeeper connect string taken apart.
type Address struct {
	Servers []string // host:port, at least one
	Chroot  string   // "" or an absolute path without a slash at its end
}

// ParseAddress reads host:port[,host:port…][/chroot], ZooKeeper's own connect
// string; a missing port is 2181.
func ParseAddress(s string) (Address, error) {
	hosts, chroot := s, ""
	if i := strings.IndexByte(s, '/'); i >= 0 {
		hosts, chroot = s[:i], strings.TrimSuffix(s[i:], "/")
	}
	if chroot != "" {
		if err := znode.ValidatePath(chroot); err != nil {
			return Address{}, fmt.Errorf("address %q: chroot: %w", s, err)
		}
	}
	a := Address{Chroot: chroot}
	for _, h := range strings.Split(hosts, ",") {
		server, err := hostPort(strings.TrimSpace(h))
		if err != nil {
			return Address{}, fmt.Errorf("address %q: %w; want host:port[,host:port…][/chroot]", s, err)
		}
		a.Servers = append(a.Servers, server)
	}
	return a, nil
}

func hostPort(h string) (string, error) {
	if h == "" {
		return "", fmt.Errorf("an empty host")
	}
	host, port, err := net.SplitHostPort(h)
	if err != nil {
		if strings.Contains(h, ":") && !strings.HasPrefix(h, "[") {
			return "", fmt.Errorf("host %q: %w", h, err)
		}
		host, port = strings.Trim(h, "[]"), "2181"
	}
	if host == "" {
		return "", fmt.Errorf("an empty host in %q", h)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return "", fmt.Errorf("bad port in %q", h)
	}
	return net.JoinHostPort(host, port), nil
}

// String is the connect string again.
func (a Address) String() string { return strings.Join(a.Servers, ",") + a.Chroot }

// abs is the path on the server of a path inside the chroot.
func (a Address) abs(path string) string {
	if a.Chroot == "" {
		return path
	}
	if path == "/" {
		return a.Chroot
	}
	return a.Chroot + path
}
