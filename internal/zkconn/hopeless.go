package zkconn

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// Hopeless reports whether trying again can't help, because something is wrong
// with the address, the TLS files or the credentials.
func (e *ConnectError) Hopeless() bool {
	return hopeless(e.Err) || errors.Is(e.Err, zk.ErrAuthFailed)
}
