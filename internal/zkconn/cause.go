package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"mrtq/internal/jute"
)

// ConnectError says why no session could be opened, and what to do about it.
// The environment is at fault, not the caller.
type ConnectError struct {
	Address string
	Err     error  // the last cause
	Hint    string // what to do next
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("cannot open a session with ZooKeeper at %s: %v; %s", e.Address, e.Err, e.Hint)
}

func (e *ConnectError) Unwrap() error { return e.Err }

// The causes that an attempt to connect fails with, beside those of package net.
type (
	// handshakeError says that a connection was accepted but gave no session.
	handshakeError struct{ err error }
	// tlsError says that a TLS handshake failed on this side.
	tlsError struct{ err error }
	// protocolError says that an answer, which begins with these bytes, is not ZooKeeper's.
	protocolError string
)

func (e *handshakeError) Error() string {
	return "connected, but got no session: " + plainCause(e.err).Error()
}
func (e *handshakeError) Unwrap() error { return e.err }

func (e *tlsError) Error() string { return "TLS handshake: " + plainCause(e.err).Error() }
func (e *tlsError) Unwrap() error { return e.err }

func (e protocolError) Error() string {
	if e.isTLS() {
		return "the port speaks TLS, not ZooKeeper's plain protocol"
	}
	return fmt.Sprintf("the server there does not speak ZooKeeper's protocol (its answer begins with %q)", string(e))
}

func (e protocolError) isTLS() bool {
	return strings.HasPrefix(string(e), "\x15\x03") || strings.HasPrefix(string(e), "\x16\x03")
}

func hint(err error, useTLS bool) string {
	var protocol protocolError
	switch {
	case errors.Is(err, jute.AuthFailed):
		return "check the credentials in --auth-file or $MRTQ_ZK_AUTH"
	case errors.As(err, new(*net.DNSError)):
		return "check the host name"
	case useTLS && (errors.As(err, new(*tlsError)) || errors.As(err, new(*handshakeError))):
		return "check that this is a ZooKeeper secure client port, or leave out --tls; check --tls-ca and --tls-server-name, and that the server accepts --tls-cert with --tls-key"
	case errors.As(err, &protocol) && protocol.isTLS():
		return "use --tls (with --tls-ca, --tls-cert, --tls-key if the server needs them), or the plain port"
	case errors.As(err, new(*handshakeError)):
		return "check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"
	}
	return "check the address and that the server runs"
}

// hopeless reports whether another attempt to connect can't help, because the address, the TLS files or the credentials are wrong.
func hopeless(err error) bool {
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return dns.IsNotFound
	}
	return errors.As(err, new(tls.RecordHeaderError)) || errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.As(err, new(protocolError)) || errors.Is(err, jute.AuthFailed) || tlsRefused(err)
}

// tlsRefused reports whether err is a TLS alert of the server. The tls package
// has no type for it.
func tlsRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" && strings.HasPrefix(op.Err.Error(), "tls: ")
}

// causeError is why a connection failed, in words that need no knowledge of Go and of
// system calls.
type causeError struct {
	says string
	err  error
}

func (e *causeError) Error() string { return e.says }
func (e *causeError) Unwrap() error { return e.err }

func plainCause(err error) error {
	var (
		dns    *net.DNSError
		record tls.RecordHeaderError
		cert   *tls.CertificateVerificationError
		op     *net.OpError
		system *os.SyscallError
		says   string
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		says = "the connection is refused"
	case errors.As(err, &dns) && dns.IsNotFound:
		says = "there is no host " + dns.Name
	case errors.As(err, &dns):
		says = "the host name " + dns.Name + " could not be looked up, because the name server did not answer"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		says = "the server closed the connection"
	case errors.As(err, &record):
		says = "the answer is not TLS"
	case errors.As(err, &cert):
		says = "the server's certificate is refused: " + strings.TrimPrefix(cert.Err.Error(), "x509: ")
	case tlsRefused(err):
		errors.As(err, &op)
		says = "the server refuses: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		says = "no answer"
	case errors.As(err, &system):
		says = system.Err.Error()
	default:
		return err
	}
	return &causeError{says, err}
}

type causes []cause

type cause struct {
	server string
	err    error
}

// Error names the servers if they failed for different causes.
func (c causes) Error() string {
	var all []string
	same := true
	for _, one := range c {
		all = append(all, one.server+": "+one.err.Error())
		same = same && one.err.Error() == c[0].err.Error()
	}
	if same {
		return c[0].err.Error()
	}
	return strings.Join(all, ", ")
}

func (c causes) Unwrap() (errs []error) {
	for _, one := range c {
		errs = append(errs, one.err)
	}
	return errs
}

func (c causes) hopeless() bool {
	return !slices.ContainsFunc(c, func(one cause) bool { return !hopeless(one.err) })
}
