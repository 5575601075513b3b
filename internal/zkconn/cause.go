package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// causeError is why an attempt to connect failed, in words that need no knowledge of Go
// and of system calls.
type causeError struct {
	says string
	err  error
}

func (e *causeError) Error() string { return e.says }
func (e *causeError) Unwrap() error { return e.err }

// plainCause gives an error of an attempt to connect its plain words.
func plainCause(err error) error {
	if err == nil {
		return nil
	}
	if says := saysCause(err); says != "" {
		return &causeError{says, err}
	}
	return err
}

func saysCause(err error) string {
	var (
		dns    *net.DNSError
		record tls.RecordHeaderError
		cert   *tls.CertificateVerificationError
		op     *net.OpError
		system *os.SyscallError
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host " + dns.Name
	case errors.As(err, &dns):
		return "the host name " + dns.Name + " could not be looked up, because the name server did not answer"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the network has no way to this host"
	case errors.As(err, &record):
		return "the answer is not TLS"
	case errors.As(err, &cert):
		return "the server's certificate is refused: " + strings.TrimPrefix(cert.Err.Error(), "x509: ")
	case tlsRefused(err):
		errors.As(err, &op)
		return "the server refuses: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	case errors.As(err, &system):
		return system.Err.Error()
	}
	return ""
}

// causes are why several servers could not be reached.
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
