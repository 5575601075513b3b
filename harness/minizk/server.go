package minizk

import (
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"mrtq/internal/jute"
	"mrtq/internal/ztree"
)

// ErrClosed is the error of Dial while the server is stopped or closed, and of Restart after
// Close.
var ErrClosed = errors.New("minizk: server closed")

// Server is one ZooKeeper. Its methods may be called from any goroutine.
type Server struct {
	opt    Options
	addr   string
	secure string   // the address for TLS
	secret [16]byte // session passwords are made from it

	conns sync.WaitGroup // the goroutines of connections
	loops sync.WaitGroup // the loops that accept connections, and the real clock
	quit  chan struct{}  // closed by Close

	stopping  sync.Mutex // Stop and Restart hold it so that only one of them runs; taken before mu
	mu        sync.Mutex // guards everything below, and the fields of conn and session that say so
	running   bool       // false while the server is stopped
	listeners []net.Listener
	closed    bool
	open      map[*conn]struct{}
	current   *conn // the connection whose request is being done
	db        *ztree.Database
	zxid      int64 // the last transaction's
	sessions  sessionTable
	clock     clock
	faults    faultList
	counts    Counts
	log       opLog
	started   time.Time
	nextReap  time.Time     // when to look next for container and TTL nodes to remove
	watched   chan struct{} // closed after the next operation; nil if AwaitWatch does not wait
}

// Start returns a running server. The caller must Close it. The error is that the server cannot
// listen on the address.
func Start(opt Options) (*Server, error) {
	opt = opt.withDefaults()
	s := &Server{
		opt:      opt,
		quit:     make(chan struct{}),
		open:     map[*conn]struct{}{},
		sessions: sessionTable{byID: map[int64]*session{}, last: firstSession(opt.Now) - 1},
		clock:    clock{real: opt.RealTime, at: opt.Now},
		started:  time.Now(),
	}
	s.nextReap = s.clock.now().Add(opt.ContainerInterval)
	rand.Read(s.secret[:]) // it never fails
	s.mu.Lock()            // a client can connect as soon as the first port is open
	defer s.mu.Unlock()
	s.adopt(opt.Tree)
	host, _, _ := net.SplitHostPort(opt.Addr) // listening reports whether it is valid
	if err := s.bind(opt.Addr, net.JoinHostPort(host, "0")); err != nil {
		return nil, err
	}
	if !opt.Private {
		s.addr = s.listeners[0].Addr().String()
	}
	if len(s.listeners) > 1 {
		s.secure = s.listeners[1].Addr().String()
	}
	if opt.RealTime {
		s.loops.Go(s.passTime)
	}
	return s, nil
}

// Addr returns the address to connect to, such as "127.0.0.1:34567". It is "" with
// Options.Private.
func (s *Server) Addr() string { return s.addr }

// SecureAddr returns the address for clients with TLS, or "" without Options.TLS.
func (s *Server) SecureAddr() string { return s.secure }

// bind opens the ports. The caller holds mu.
func (s *Server) bind(addr, secure string) error {
	if s.opt.Private {
		s.running = true
		return nil
	}
	l, err := s.listen(addr, nil)
	if err != nil {
		return err
	}
	if s.opt.TLS != nil {
		if _, err := s.listen(secure, s.opt.TLS); err != nil {
			s.listeners = nil
			return errors.Join(err, l.Close())
		}
	}
	s.running = true
	return nil
}

// listen opens a port, for TLS unless conf is nil. The caller holds mu.
func (s *Server) listen(addr string, conf *tls.Config) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("minizk: %w", err)
	}
	s.listeners = append(s.listeners, l)
	s.loops.Go(func() { s.accept(l, conf) })
	return l, nil
}

// secureConn is a TLS connection that closes at once. The close message of TLS could wait
// for a client that does not read.
type secureConn struct {
	*tls.Conn
	raw net.Conn
}

func (c secureConn) Close() error { return c.raw.Close() }

// acceptRetry is the wait after a failed Accept, so that a process without free file descriptors
// does not spin.
const acceptRetry = 5 * time.Millisecond

func (s *Server) accept(l net.Listener, conf *tls.Config) {
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-s.quit:
				return
			case <-time.After(acceptRetry):
				continue
			}
		}
		if conf != nil {
			nc = secureConn{tls.Server(nc, conf), nc}
		}
		s.mu.Lock()
		if !slices.Contains(s.listeners, l) {
			s.mu.Unlock()
			nc.Close()
			continue
		}
		s.serve(nc)
		s.mu.Unlock()
	}
}

// serve begins to serve a connection. The caller holds mu.
func (s *Server) serve(nc net.Conn) {
	c := newConn(s, nc)
	c.since = s.clock.now()
	s.open[c] = struct{}{}
	s.conns.Go(c.out.pushLoop) // first: a client that has an answer knows that both are there
	s.conns.Go(c.serve)
}

// Stop cuts all connections and closes the ports. The server keeps its tree, its sessions and its
// addresses for Restart. Stopping a stopped server does nothing.
func (s *Server) Stop() error {
	s.stopping.Lock()
	defer s.stopping.Unlock()
	s.mu.Lock()
	listeners := s.listeners
	s.listeners, s.running = nil, false
	s.dropAll()
	s.mu.Unlock()
	s.conns.Wait()
	for _, l := range listeners {
		if err := l.Close(); err != nil {
			return fmt.Errorf("minizk: %w", err)
		}
	}
	return nil
}

// Restart cuts all connections and serves again at the same addresses, with the same tree and
// sessions. All session timeouts start again, as they do when a real server restarts with its
// data. After Stop, Restart also opens the ports again, and fails if another program has taken
// one. After Close the error is ErrClosed.
func (s *Server) Restart() error {
	s.stopping.Lock()
	defer s.stopping.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.dropAll()
	for _, ss := range s.sessions.byID {
		ss.touch(s.clock.now())
	}
	s.nextReap = s.clock.now().Add(s.opt.ContainerInterval)
	if s.running {
		return nil
	}
	return s.bind(s.addr, s.secure)
}

// Close ends the server, and waits until all its goroutines have ended. Closing a closed server
// does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first {
		close(s.quit)
	}
	s.mu.Unlock()
	err := s.Stop()
	s.loops.Wait()
	return err
}

// dropAll cuts every connection. The caller holds mu.
func (s *Server) dropAll() {
	for c := range s.open {
		c.out.abort()
	}
}

// nextTx takes the next zxid. The caller holds mu.
func (s *Server) nextTx() ztree.Tx {
	s.zxid++
	return ztree.Tx{Zxid: s.zxid, Time: s.clock.now().UnixMilli()}
}

// disconnected forgets a connection whose last request was done. The session stays until it times
// out. The caller holds mu.
func (s *Server) disconnected(c *conn) {
	delete(s.open, c)
	s.db.Forget(c)
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
}

func identitiesOf(nc net.Conn) []jute.ID {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		return nil // not an IP socket
	}
	return []jute.ID{{Scheme: "ip", Name: host}}
}
