package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"mrtq/cmd/mrtq/internal/exit"
)

// An error about --addr says what was found and what is wanted.
func TestCheckAddr(t *testing.T) {
	for addr, want := range map[string]string{
		"":               "",
		":2281":          "",
		"localhost:2281": "",
		"[::1]:2281":     "",
		"2281":           "--addr 2281: the host is missing: expected host:port, such as localhost:2281",
		"localhost":      "--addr localhost: the port is missing: expected host:port, such as localhost:2281",
		"localhost:":     `--addr localhost:: the port is "": expected a number from 1 to 65535`,
		"localhost:zk":   `--addr localhost:zk: the port is "zk": expected a number from 1 to 65535`,
		"localhost:-1":   `--addr localhost:-1: the port is "-1": expected a number from 1 to 65535`,
		"h:70000":        `--addr h:70000: the port is "70000": expected a number from 1 to 65535`,
		"a:b:c":          "--addr a:b:c: expected host:port, such as localhost:2281",
		"::1":            "--addr ::1: expected host:port, such as localhost:2281",
	} {
		err := checkAddr(addr)
		if got := fmt.Sprint(err); got != want && !(want == "" && err == nil) {
			t.Errorf("%q: %s, want %s", addr, got, want)
		}
		if err != nil && exit.Code(err) != exit.Usage {
			t.Errorf("%q: exit code %d", addr, exit.Code(err))
		}
	}
}

// If the system can't serve at an address, the error says why in plain words.
func TestNotServed(t *testing.T) {
	listen := func(err error) error {
		return fmt.Errorf("harness: minizk: %w", &net.OpError{Op: "listen", Net: "tcp", Err: err})
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{listen(os.NewSyscallError("bind", syscall.EADDRINUSE)), "--addr h:80: another process serves at this port; give another port, or leave --addr out for a free one"},
		{listen(os.NewSyscallError("bind", syscall.EADDRNOTAVAIL)), "--addr h:80: this machine has no address h; give one of its own, such as localhost:80"},
		{listen(os.NewSyscallError("bind", syscall.EACCES)), "--addr h:80: this user may not serve at port 80; give one from 1024 on"},
		{listen(&net.DNSError{Err: "no such host", Name: "h"}), "--addr h:80: there is no host h; give one of this machine's, such as localhost:80"},
		{errors.New("no java"), "no java"},
	} {
		if got := notServed("h:80", c.err).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
