package zkconn

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Session is a session for code that takes the client library's own, as
// newqueue.Open does: opened as a [Reader] and a [Writer] are, with their
// limits, TLS and credentials, and bare from then on. Paths are those on the
// server; nothing is repeated.
type Session struct {
	*zk.Conn
	s *session
}

// OpenSession connects, authenticates and returns a bare session. The error is
// a *[ConnectError] when no session could be had. Close it.
func OpenSession(ctx context.Context, cfg Config) (*Session, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &Session{s.conn, s}, nil
}

// Close ends the session; its ephemeral nodes go with it.
func (s *Session) Close() { s.s.close() }

// ACL is what such a session gives to znodes that are only its own: open to all
// without credentials, and with them the creator's, who is everybody with the
// same credentials.
func (c Config) ACL() []zk.ACL {
	if len(c.Auth) == 0 {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.AuthACL(zk.PermAll)
}
