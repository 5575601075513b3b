package minizk

import (
	"context"
	"net"
	"sync"
)

// Dial connects to a server with Options.Private. Use it as the dialer of a client. The caller
// must close the connection. The error is ErrClosed while the server is stopped or if it is not
// private, or the cause of ctx's end.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	var l *pipeListener
	if len(s.listeners) > 0 {
		l, _ = s.listeners[0].(*pipeListener)
	}
	s.mu.Unlock()
	if l == nil {
		return nil, ErrClosed
	}
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// pipeListener is a listener that only this process can reach.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "private" }
func (pipeAddr) String() string  { return "private" }
