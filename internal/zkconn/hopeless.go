package zkconn

import (
	"errors"

	"github.com/go-zookeeper/zk"
)

// Hopeless reports whether another attempt can't help, because the address, the
// TLS files or the credentials are wrong.
func (e *ConnectError) Hopeless() bool {
	return hopeless(e.Err) || errors.Is(e.Err, zk.ErrAuthFailed)
}
