// Package zkconn is a session with a ZooKeeper server: connect string, chroot,
// TLS, credentials, and the difference between "was not done" and "may have
// been done".
//
// There are two types. A [Reader] has no method that writes, so whatever holds
// only a Reader is unable to: inspect, dump, plan and verify do. A [Writer] is
// a Reader that can also write. Reads are repeated by themselves when the
// connection breaks; writes never are: a write whose answer was lost returns
// [ErrUnknownOutcome], and the caller looks.
package zkconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Config says how to reach a server. Only Address is required.
type Config struct {
	Address Address
	// SessionTimeout is asked of the server, which may change it; 0 means 10 s.
	SessionTimeout time.Duration
	// GiveUp is how long no server may be reachable, at the start or later,
	// before the session counts as lost; 0 means 30 s.
	GiveUp time.Duration
	TLS    *TLS   // nil: no TLS
	Auth   []Auth // added to the session in this order
	// MaxResponse is the largest answer accepted, in bytes; 0 means 64 MiB,
	// the names of about two million children.
	MaxResponse int
	Log         *slog.Logger // nil: none
}

const (
	defaultSessionTimeout = 10 * time.Second
	defaultGiveUp         = 30 * time.Second
	defaultMaxResponse    = 64 << 20

	// maxRequest bounds what the client can send in one packet, so that a
	// server with a raised jute.maxbuffer can be used; the server's own limit
	// is what counts, and is lower as a rule.
	maxRequest = 16 << 20
)

// session is what Reader and Writer share.
type session struct {
	cfg  Config
	conn *zk.Conn

	mu       sync.Mutex
	dialErr  error         // why the last attempt to connect failed
	fatal    error         // why the session is over; nil while it isn't
	over     chan struct{} // closed when fatal is set
	up       chan struct{} // closed when the first session opened
	downTill *time.Timer   // runs while disconnected
	written  chan struct{} // closed when the next multi is on the wire; nil if nobody asks

	starting sync.Mutex // held by the one Writer.Start that is sending
}

// open connects and waits until a session is there.
func open(ctx context.Context, cfg Config) (*session, error) {
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = defaultSessionTimeout
	}
	if cfg.GiveUp == 0 {
		cfg.GiveUp = defaultGiveUp
	}
	if cfg.MaxResponse == 0 {
		cfg.MaxResponse = defaultMaxResponse
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &session{cfg: cfg, over: make(chan struct{}), up: make(chan struct{})}
	dial, err := s.dialer()
	if err != nil {
		return nil, err
	}
	s.downTill = time.AfterFunc(cfg.GiveUp, s.gaveUp)
	s.conn, _, err = zk.Connect(cfg.Address.Servers, cfg.SessionTimeout,
		zk.WithDialer(dial),
		zk.WithLogger(clientLog{s}),
		zk.WithLogInfo(true),
		zk.WithEventCallback(s.event),
		zk.WithMaxBufferSize(cfg.MaxResponse),
		zk.WithMaxConnBufferSize(maxRequest),
	)
	if err != nil {
		s.downTill.Stop()
		return nil, s.connectError(err)
	}
	if err := s.waitUp(ctx); err != nil {
		s.close()
		return nil, err
	}
	for _, a := range cfg.Auth {
		if err := s.conn.AddAuth(a.Scheme, a.credential); err != nil {
			s.close()
			return nil, &ConnectError{Address: cfg.Address.String(), Err: fmt.Errorf("%s credentials: %w", a.Scheme, err), Hint: "check the credentials in --auth-file or $MRTQ_ZK_AUTH"}
		}
	}
	return s, nil
}

func (s *session) waitUp(ctx context.Context) error {
	select {
	case <-s.up:
		return nil
	case <-s.over:
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.dialErr != nil {
			return s.connectError(s.dialErr)
		}
		return s.fatal
	case <-ctx.Done():
		return &ConnectError{Address: s.cfg.Address.String(), Err: context.Cause(ctx), Hint: "nothing was read or written"}
	}
}

func (s *session) close() {
	s.downTill.Stop()
	s.conn.Close()
}

// event follows the connection's state. The library calls it from its own
// loop, so it must not block.
func (s *session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	s.cfg.Log.Debug("zookeeper session", "state", e.State.String(), "server", e.Server)
	switch e.State {
	case zk.StateHasSession:
		s.downTill.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case <-s.up:
		default:
			close(s.up)
		}
	case zk.StateDisconnected:
		select {
		case <-s.up: // before the first session, the timer started by open runs on
			s.downTill.Reset(s.cfg.GiveUp)
		default:
		}
	case zk.StateExpired:
		// The library would go on with a new session, silently without this
		// one's ephemerals.
		s.end(lostError("it expired on the server", 0))
	}
}

func (s *session) gaveUp() {
	s.end(lostError("no server of "+s.cfg.Address.String()+" could be reached", s.cfg.GiveUp))
}

// end makes every present and coming call fail with err.
func (s *session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal != nil {
		return
	}
	s.fatal = err
	close(s.over)
}

// call runs one request of the library, which knows no context, and returns
// early when ctx ends or the session is over; f's results are then not to be
// read.
func (s *session) call(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.over:
		return s.fatal
	}
}

// unanswered reports whether err, the library's, leaves open if the request
// was carried out.
func unanswered(err error) bool {
	var api bool
	switch err {
	case nil, zk.ErrNoServer: // ErrNoServer: it was never sent
		return false
	case zk.ErrConnectionClosed, zk.ErrSessionExpired, zk.ErrClosing, zk.ErrSessionMoved:
		return true
	}
	for _, known := range apiErrors {
		api = api || errors.Is(err, known)
	}
	return !api
}

// apiErrors are the answers of a server: the request was looked at and refused.
var apiErrors = []error{
	zk.ErrAPIError, zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals,
	zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrInvalidACL, zk.ErrAuthFailed, zk.ErrNothing,
	zk.ErrBadArguments, zk.ErrInvalidPath, zk.ErrShortBuffer,
}
