package minizk

import (
	"context"
	"net"
)

// Dial connects to a server with Options.Private. Use it as the dialer of a client. The caller
// must close the connection. The error is ErrClosed while the server is stopped or if it is not
// private.
func (s *Server) Dial(context.Context) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running || !s.opt.Private {
		return nil, ErrClosed
	}
	client, server := net.Pipe()
	s.serve(server)
	return client, nil
}
