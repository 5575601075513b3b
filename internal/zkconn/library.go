package zkconn

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Session is a session for code that needs the client library's own connection,
// such as newqueue.Open. It is opened like a [Reader] or a [Writer], with the
// same limits, TLS and credentials. After that it adds nothing: paths are the
// server's, and nothing is repeated.
type Session struct {
	*zk.Conn
	s *session
}

// OpenSession connects, authenticates and returns a bare session. The error is
// a *[ConnectError] if no session could be opened. Close it.
func OpenSession(ctx context.Context, cfg Config) (*Session, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Session{s.conn, s}, nil
}

// Close ends the session and with it its ephemeral nodes.
func (s *Session) Close() { s.s.close() }

// ACL is the ACL for znodes that only this session should use. Without
// credentials it is open to all. With credentials it is the creator's, so
// everyone with the same credentials has access.
func (c Config) ACL() []zk.ACL {
	if len(c.Auth) == 0 {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}
