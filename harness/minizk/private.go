package minizk

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Dial connects to a server with Options.Private. Use it as the dialer of a client. The caller
// must close the connection. The error is ErrClosed while the server is stopped, or the cause of
// ctx's end, or that the server is not private.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	var door *inside
	if len(s.listeners) > 0 {
		door, _ = s.listeners[0].(*inside)
	}
	private := s.opt.Private
	s.mu.Unlock()
	switch {
	case !private:
		return nil, errors.New("minizk: Dial on a server without Options.Private: connect to its Addr instead")
	case door == nil:
		return nil, ErrClosed
	}
	client, server := net.Pipe()
	select {
	case door.calls <- server:
		return client, nil
	case <-door.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// inside is a listener that only this process can reach.
type inside struct {
	calls chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newInside() *inside { return &inside{calls: make(chan net.Conn), done: make(chan struct{})} }

func (l *inside) Accept() (net.Conn, error) {
	select {
	case c := <-l.calls:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *inside) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *inside) Addr() net.Addr { return insideAddr{} }

type insideAddr struct{}

func (insideAddr) Network() string { return "private" }
func (insideAddr) String() string  { return "private" }
