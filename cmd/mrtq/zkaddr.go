package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"mrtq/cmd/mrtq/internal/exit"
)

// checkAddr refuses an --addr that is not host:port. "" means a free port.
func checkAddr(addr string) error {
	if addr == "" {
		return nil
	}
	if _, err := strconv.Atoi(addr); err == nil {
		return exit.Usagef("--addr %s: the host is missing: expected host:port, such as localhost:%s", addr, addr)
	}
	_, port, err := net.SplitHostPort(addr)
	if missing := (*net.AddrError)(nil); errors.As(err, &missing) && missing.Err == "missing port in address" {
		return exit.Usagef("--addr %s: the port is missing: expected host:port, such as %s:2281", addr, addr)
	}
	if err != nil {
		return exit.Usagef("--addr %s: expected host:port, such as localhost:2281", addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return exit.Usagef("--addr %s: the port is %q: expected a number from 1 to 65535", addr, port)
	}
	return nil
}

// notServed says why no server can serve at an address, and what to do.
func notServed(addr string, err error) error {
	host, port, _ := net.SplitHostPort(addr)
	var why string
	var unknown *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		why = "another process serves at this port; give another port, or leave --addr out for a free one"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		why = fmt.Sprintf("this machine has no address %s; give one of its own, such as localhost:%s", host, port)
	case errors.Is(err, syscall.EACCES):
		why = fmt.Sprintf("this user may not serve at port %s; give one from 1024 on", port)
	case errors.As(err, &unknown):
		why = fmt.Sprintf("there is no host %s; give one of this machine's, such as localhost:%s", host, port)
	default:
		return err
	}
	return fmt.Errorf("--addr %s: %s", addr, why)
}
