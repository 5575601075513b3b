package zkconn

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
)

var (
	// ErrUnknownOutcome says that a write was sent and its answer never came:
	// it may have happened. Look before doing it again.
	ErrUnknownOutcome = errors.New("the connection was lost before the answer came: the write may or may not have happened")

	// ErrLost says that the session is over for good: it expired, or no server
	// could be reached for too long.
	ErrLost = errors.New("the ZooKeeper session is lost")

	// ErrNoAuth says that the server refused for want of a permission.
	ErrNoAuth = errors.New("no permission")
)

// ConnectError says why no session could be had, and what to do about it. It
// is an environment's failure, not the caller's.
type ConnectError struct {
	Address string
	Err     error  // the last cause seen
	Hint    string // what to do next
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("cannot open a session with ZooKeeper at %s: %v; %s", e.Address, e.Err, e.Hint)
}

func (e *ConnectError) Unwrap() error { return e.Err }

// ResponseTooLargeError says that an answer did not fit the client's buffer.
// It ends the session, because the connection would only break again.
type ResponseTooLargeError struct {
	Size, Limit int // bytes
}

func (e *ResponseTooLargeError) Error() string {
	return fmt.Sprintf("the server's answer is %d bytes and the limit is %d: a znode has very many children; raise --max-response to %d or more", e.Size, e.Limit, e.Size)
}

// pathError is a failure of one read or write, with the path as the user
// writes it (inside the chroot).
type pathError struct {
	op, path string
	err      error
}

func (e *pathError) Error() string { return fmt.Sprintf("%s %s: %v", e.op, e.path, e.err) }
func (e *pathError) Unwrap() error { return e.err }

// apiError turns the client library's errors into those that callers of this
// package and of znode branch on; others are passed on as they are.
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
	case zk.ErrNoAuth:
		return fmt.Errorf("%w (give credentials with --auth-file or $MRTQ_ZK_AUTH, or have the znode's ACL changed)", ErrNoAuth)
	}
	return err
}

// lostError is ErrLost with its cause.
func lostError(why string, after time.Duration) error {
	if after > 0 {
		return fmt.Errorf("%w: %s for %s", ErrLost, why, after)
	}
	return fmt.Errorf("%w: %s", ErrLost, why)
}
