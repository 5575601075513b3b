package zkconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

var (
	// ErrUnknownOutcome says that a write was sent and its answer never came.
	// The write may have happened. Check before you repeat it.
	ErrUnknownOutcome = errors.New("the connection was lost before the answer came: the write may or may not have happened")

	// ErrThrottled says that the server refused a request because it had waited there
	// for too long. Nothing was done.
	ErrThrottled = errors.New("the server throttles: it refused a request that had waited too long")

	// ErrLost says that the session is over for good: it expired, or no server
	// could be reached for too long.
	ErrLost = errors.New("the ZooKeeper session is lost")

	// ErrNoAuth says that the server refused because a permission is missing.
	ErrNoAuth = errors.New("no permission")

	errClosed = errors.New("the ZooKeeper session was closed")
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

func (s *session) connectError(err error) *ConnectError {
	return &ConnectError{Address: s.cfg.Address.String(), Err: err, Hint: hint(err, s.cfg.TLS != nil)}
}

// hint returns what to do about a failure to connect.
func hint(err error, useTLS bool) string {
	var (
		dns       *net.DNSError
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		protocol  *protocolError
		shaking   *tlsError
		handshake *handshakeError
		mistaken  *mistakenError
	)
	switch {
	case errors.As(err, &mistaken) && mistaken.tls:
		return "use --tls (with --tls-ca, --tls-cert, --tls-key if the server needs them), or the plain port"
	case errors.As(err, &mistaken):
		return "use the secure port, or leave out the --tls flags"
	case errors.Is(err, zk.ErrAuthFailed):
		return "check the credentials in --auth-file or $MRTQ_ZK_AUTH"
	case errors.As(err, &dns):
		return "check the host name"
	case errors.As(err, &record):
		return "this port does not speak TLS: use the secure port, or leave out --tls"
	case errors.As(err, &authority):
		return "the server's certificate is signed by none of the authorities in --tls-ca"
	case errors.As(err, &host):
		return "give the name that the certificate holds with --tls-server-name"
	case tlsRefused(err):
		return "the server refused the TLS handshake: it may want a client certificate (--tls-cert, --tls-key)"
	case errors.As(err, &shaking):
		return "check that this is a ZooKeeper secure client port; if it is its plain port, leave out --tls"
	case errors.As(err, &protocol) && protocol.tls():
		return "this is a secure port: use --tls, or the plain port"
	case errors.As(err, &protocol):
		return "check that this is a ZooKeeper client port"
	case errors.As(err, &handshake) && useTLS:
		return "check that this is a ZooKeeper secure client port and that the server has a quorum"
	case errors.As(err, &handshake):
		return "check that this is a ZooKeeper client port (with --tls if it is the secure one) and that the server has a quorum"
	}
	return "check the address and that the server runs"
}

// hopeless reports whether another attempt to connect can't help.
func hopeless(err error) bool {
	var (
		dns      *net.DNSError
		record   tls.RecordHeaderError
		cert     *tls.CertificateVerificationError
		protocol *protocolError
		mistaken *mistakenError
	)
	switch {
	case errors.As(err, &dns):
		return dns.IsNotFound
	case errors.As(err, &mistaken), errors.As(err, &record), errors.As(err, &cert), errors.As(err, &protocol):
		return true
	}
	return tlsRefused(err)
}

// tlsRefused reports whether err is a TLS alert of the server. The tls package
// has no type for it.
func tlsRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" && strings.HasPrefix(op.Err.Error(), "tls: ")
}

// ResponseTooLargeError says that an answer did not fit in the client's buffer.
// It ends the session, because the connection would only break again.
type ResponseTooLargeError struct {
	Size, Limit int // bytes
}

func (e *ResponseTooLargeError) Error() string {
	return fmt.Sprintf("the server's answer is %d bytes and the limit is %d, because a znode has very many children or much data; raise --max-response to %d or more", e.Size, e.Limit, e.Size)
}

// pathError adds the path to the error of one read or write. The path is inside
// the chroot, as the user writes it.
type pathError struct {
	op, path string
	err      error
}

func (e *pathError) Error() string { return fmt.Sprintf("%s %s: %v", e.op, e.path, e.err) }
func (e *pathError) Unwrap() error { return e.err }

// apiError converts the client library's errors to the errors of this package
// and of znode, which callers check. It passes other errors on unchanged.
func apiError(err error) error {
	switch err {
	case zk.ErrNoNode:
		return znode.ErrNoNode
	case zk.ErrNodeExists:
		return znode.ErrNodeExists
	case zk.ErrNotEmpty:
		return znode.ErrNotEmpty
	case zk.ErrBadVersion:
		return znode.ErrBadVersion
	case zk.ErrNoChildrenForEphemerals:
		return znode.ErrEphemeralParent
	case zk.ErrNoAuth:
		return fmt.Errorf("%w (give credentials with --auth-file or $MRTQ_ZK_AUTH, or change the znode's ACL)", ErrNoAuth)
	}
	if throttled(err) {
		return ErrThrottled
	}
	return err
}

// throttled reports whether err is the library's error for ZooKeeper's THROTTLEDOP.
// The library has no name for it.
func throttled(err error) bool { return err != nil && err.Error() == "unknown error: -127" }

// unanswered reports whether the request may have been done although the library returned
// err. That is so for every error that is not a known refusal of a server.
func unanswered(err error) bool {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return false
		}
	}
	return err != nil
}

// refusals are the errors of a server that read a request and refused it.
var refusals = []error{
	zk.ErrAPIError, zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals,
	zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrNothing,
	zk.ErrBadArguments, zk.ErrInvalidPath,
}

// temporary reports whether the library's error err comes from the connection or from a
// busy server. Then a read can be repeated.
func temporary(err error) bool {
	if throttled(err) {
		return true
	}
	switch err {
	case zk.ErrNoServer, zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrClosing, zk.ErrSessionMoved:
		return true
	}
	return false
}

// unsentError says that a write certainly wasn't done.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return "nothing was sent: " + e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

// lostError adds a cause to ErrLost.
func lostError(why string, after time.Duration, last error) error {
	err := fmt.Errorf("%w: %s", ErrLost, why)
	if after > 0 {
		err = fmt.Errorf("%w for %s", err, after)
	}
	if last != nil {
		err = fmt.Errorf("%w (last: %w)", err, last)
	}
	return err
}
