package zkconn

import (
	"errors"
	"fmt"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

var (
	// ErrUnknownOutcome says that a write was sent and its answer never came.
	// The write may have happened. Check before you repeat it.
	ErrUnknownOutcome = errors.New("the connection was lost before the answer came: the write may or may not have happened")

	// ErrThrottled says that the server refused a request because it had waited there
	// for too long. Nothing was done.
	ErrThrottled = errors.New("the server throttles: it refused a request that had waited too long")

	// ErrSessionLost says that the session is over for good: it expired, or no server
	// could be reached for too long.
	ErrSessionLost = errors.New("the ZooKeeper session is lost")

	// ErrNoAuth says that the server refused because a permission is missing.
	ErrNoAuth = errors.New("no permission")

	errClosed = errors.New("the ZooKeeper session was closed")

	// errAnswer says that an answer can't be read, or that it answers nothing.
	errAnswer = errors.New("the server's answer cannot be read")
)

// ResponseTooLargeError says that an answer is longer than the limit. It ends the session,
// because the answer to the same question would be as long again.
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

type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

// codeError converts the code of an answer to an error of this package or of znode. Codes
// without such an error are errors themselves. OK gives nil.
func codeError(code jute.Code) error {
	switch code {
	case jute.OK:
		return nil
	case jute.NoNode:
		return znode.ErrNoNode
	case jute.NodeExists:
		return znode.ErrNodeExists
	case jute.NotEmpty:
		return znode.ErrNotEmpty
	case jute.BadVersion:
		return znode.ErrBadVersion
	case jute.NoChildrenForEph:
		return znode.ErrEphemeralParent
	case jute.NoAuth:
		return fmt.Errorf("%w (give credentials with --auth-file or $MRTQ_ZK_AUTH, or change the znode's ACL)", ErrNoAuth)
	case jute.QuotaExceeded:
		return fmt.Errorf("a quota of ZooKeeper is used up (raise it with setquota in zkCli.sh, or remove it with delquota): %w", code)
	case jute.ThrottledOp:
		return ErrThrottled
	}
	return code
}

// refusal reports whether a server that answers a write with this code certainly did
// nothing. After any other code, also one that this package doesn't know, the write may
// have been done.
func refusal(code jute.Code) bool {
	switch code {
	case jute.APIError, jute.NoNode, jute.NoAuth, jute.BadVersion, jute.NoChildrenForEph, jute.NodeExists, jute.NotEmpty,
		jute.InvalidACL, jute.AuthFailed, jute.BadArguments, jute.QuotaExceeded, jute.ThrottledOp:
		return true
	}
	return false
}

// temporary reports whether a request can be repeated after err: a read on a connection
// that broke, or a request that did nothing because the server throttles or the session
// has just moved to another server.
func temporary(err error) bool {
	if errors.Is(err, ErrUnknownOutcome) || errors.Is(err, ErrSessionLost) {
		return false
	}
	return errors.As(err, new(*brokenError)) || errors.Is(err, ErrThrottled) || errors.Is(err, jute.SessionMoved)
}
