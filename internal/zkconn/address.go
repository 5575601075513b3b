package zkconn

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Address is a parsed ZooKeeper connect string.
type Address struct {
	Servers []string // host:port, at least one
	Chroot  string   // "" or an absolute path without a trailing slash
}

// ParseAddress reads ZooKeeper's own connect string, host:port[,host:port…][/chroot].
// A missing port means 2181.
func ParseAddress(s string) (Address, error) {
	const form = "expected host:port[,host:port…][/chroot]"
	if scheme, _, ok := strings.Cut(s, "://"); ok && !strings.ContainsAny(scheme, ":/,") {
		return Address{}, fmt.Errorf("address %q: it begins with %q, which is no part of a ZooKeeper address; %s", s, scheme+"://", form)
	}
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
			return Address{}, fmt.Errorf("address %q: %w; %s", s, err, form)
		}
		a.Servers = append(a.Servers, server)
	}
	return a, nil
}

func hostPort(h string) (string, error) {
	if h == "" {
		return "", errors.New("an empty host")
	}
	host, port := h, "2181"
	bare := strings.TrimPrefix(h, "[") // perhaps an IPv6 address without a port
	if bare = strings.TrimSuffix(bare, "]"); len(bare) == len(h)-2 {
		host = bare
	} else if strings.Contains(h, ":") {
		var err error
		if host, port, err = net.SplitHostPort(h); err != nil {
			return "", fmt.Errorf("host %q: %w", h, err)
		}
	}
	if host == "" {
		return "", fmt.Errorf("an empty host in %q", h)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("bad port in %q: expected 1 to 65535", h)
	}
	return net.JoinHostPort(host, port), nil
}

// String returns the connect string.
func (a Address) String() string { return strings.Join(a.Servers, ",") + a.Chroot }

// appendAbs appends the server's path of a path inside the chroot, as a record's string.
func (a Address) appendAbs(b []byte, path string) []byte {
	if path == "/" && a.Chroot != "" {
		path = ""
	}
	b = jute.AppendInt(b, int32(len(a.Chroot)+len(path)))
	return append(append(b, a.Chroot...), path...)
}
