// Package zkconn is a session with a ZooKeeper server: connect string, chroot,
// TLS, credentials, and the difference between "was not done" and "may have
// been done".
//
// There are two main types. A [Reader] has no method that writes, so code that
// has only a Reader can't write. inspect, dump, plan and verify have only a
// Reader. A [Writer] is a Reader that can also write. If the connection breaks,
// reads are repeated automatically. Writes never are: a write without an answer
// returns [ErrUnknownOutcome], and the caller must check. [Session] is for code
// that needs the client library's own type. It is opened the same way.
package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/pace"
)

// Config says how to reach a server. Only Address is required.
type Config struct {
	Address Address
	// SessionTimeout is the timeout to ask the server for. The server may change it.
	// 0 means 10 s.
	SessionTimeout time.Duration
	// GiveUp is how long to try if no server can be reached, at the start or later.
	// After that the session is lost. 0 means 30 s.
	GiveUp time.Duration
	// Refused is how long to try at the start if every server refuses the connection,
	// because a starting server refuses for a moment. 0 means 5 s. It is never
	// longer than GiveUp.
	Refused time.Duration
	// Eager is for a server that this process is just starting. The session then
	// tries again at once, and soon gives up an attempt without an answer. It also
	// doesn't stop because of a refusal: Refused is as long as GiveUp.
	Eager bool
	TLS   *TLS   // nil: no TLS
	Auth  []Auth // added to the session in this order
	// MaxResponse is the largest answer accepted, in bytes; 0 means 64 MiB,
	// the names of about two million children.
	MaxResponse int
	// MaxRequest is the largest request that can be sent, in bytes. 0 means 16 MiB,
	// and 1 MiB for a Reader. 16 MiB is enough for a server with a raised
	// jute.maxbuffer. Most servers have a lower limit, which then applies. The library
	// allocates a buffer of this size for each session.
	MaxRequest int
	// Dial connects to the servers of Address. nil means TCP.
	Dial func(context.Context) (net.Conn, error)
	Log  *slog.Logger // nil: none
	// Limit caps operations a second. Each read of a znode, a list or an ACL
	// counts as one, and so does each change. Sessions can share it. nil: none.
	Limit *pace.Limit
	// Say, if not nil, is called once if opening the session takes a while. The message
	// says what is being tried. The goroutine that opens the session calls it.
	Say func(string)
}

const (
	defaultSessionTimeout = 10 * time.Second
	defaultGiveUp         = 30 * time.Second
	defaultRefused        = 5 * time.Second
	defaultMaxResponse    = 64 << 20
	maxRequest            = 16 << 20
)

// session is what Reader and Writer share.
type session struct {
	cfg    Config
	conn   *zk.Conn
	events <-chan zk.Event // closed when the library's own goroutine has ended

	dialing    context.Context // hangUp ends it when the session ends
	hangUp     context.CancelFunc
	over       chan struct{}  // closed when fatal is set
	up         chan struct{}  // closed when the first session opened
	news       chan string    // holds one message to the operator, from before up is closed
	turn       chan struct{}  // holds one ticket: the multi to be written next
	giveUp     *time.Timer    // runs while disconnected
	calls      sync.WaitGroup // the goroutines of enter
	seen       atomic.Int64   // the newest transaction that an answer named
	free       chan func()    // calls for goroutines of enter that have nothing to do
	reads      *pace.Gate     // limits how many requests are under way
	multiReads *multiReads    // limits how many questions a request has
	// manyReads limits how many requests with several questions are under way.
	manyReads *pace.Gate

	mu        sync.Mutex
	fatal     error // why the session is over; nil while it is open
	connected bool
	again     chan struct{}    // closed when the next connection is open, see [Watch]
	wire      *wire            // the last one
	failures  map[string]error // why the last attempts to connect failed, by server; none after a success
	sending   *ticket          // the ticket of the multi that has the turn

	// hope: an attempt failed for a reason that may pass. refused: the server refused an
	// attempt. Both are about the attempts since the last pause, see allFailed.
	hope, refused bool
	refusedSince  time.Time       // the first time that all servers refused
	suspects      map[string]bool // addresses that may speak TLS; false after they were asked
	silence       time.Duration   // see patience
}

// open connects and waits until the session is open.
func open(ctx context.Context, cfg Config) (*session, error) {
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = defaultSessionTimeout
	}
	if cfg.GiveUp == 0 {
		cfg.GiveUp = defaultGiveUp
	}
	if cfg.Refused == 0 {
		cfg.Refused = defaultRefused
	}
	if cfg.Eager {
		cfg.Refused = cfg.GiveUp
	}
	cfg.Refused = min(cfg.Refused, cfg.GiveUp)
	if cfg.Say == nil {
		cfg.Say = func(string) {}
	}
	if cfg.MaxResponse == 0 {
		cfg.MaxResponse = defaultMaxResponse
	}
	if cfg.MaxRequest == 0 {
		cfg.MaxRequest = maxRequest
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var config *tls.Config
	if cfg.TLS != nil {
		var err error
		if config, err = cfg.TLS.config(); err != nil {
			return nil, &ConnectError{Address: cfg.Address.String(), Err: err, Hint: "check the files of --tls-ca, --tls-cert and --tls-key"}
		}
	}
	s := &session{cfg: cfg, over: make(chan struct{}), up: make(chan struct{}), news: make(chan string, 1), turn: make(chan struct{}, 1), suspects: map[string]bool{}, failures: map[string]error{}, silence: firstSilence, again: make(chan struct{}), free: make(chan func()), reads: pace.NewGate(pace.Reads, cfg.Limit), multiReads: newMultiReads(cfg.MaxResponse), manyReads: pace.NewGate(pace.ReadsTogether, cfg.Limit)}
	s.dialing, s.hangUp = context.WithCancel(context.Background())
	s.giveUp = time.AfterFunc(cfg.GiveUp, s.gaveUp)
	var err error
	s.conn, s.events, err = zk.Connect(cfg.Address.Servers, cfg.SessionTimeout,
		zk.WithHostProvider(&servers{s: s}),
		zk.WithDialer(s.dialer(config)),
		zk.WithLogger(clientLog{s}),
		zk.WithEventCallback(s.event),
		zk.WithMaxConnBufferSize(cfg.MaxRequest),
	)
	if err != nil {
		s.end(err)
		s.giveUp.Stop()
		return nil, s.connectError(err)
	}
	if err := s.waitUp(ctx); err != nil {
		s.close()
		return nil, err
	}
	for _, a := range cfg.Auth {
		if err := s.repeat(ctx, func() error { return s.conn.AddAuth(a.Scheme, []byte(*a.credential)) }); err != nil {
			s.close()
			return nil, s.connectError(fmt.Errorf("%s credentials: %w", a.Scheme, err))
		}
	}
	return s, nil
}

// quiet is how long an attempt may take before it is reported.
const quiet = time.Second

func (s *session) waitUp(ctx context.Context) error {
	late := time.NewTimer(quiet)
	defer late.Stop()
	select {
	case <-s.up:
	case <-s.over:
	case <-ctx.Done():
	case news := <-s.news:
		s.cfg.Say(news)
	case <-late.C:
		s.cfg.Say(fmt.Sprintf("connecting to %s: no answer yet; trying for %s", s.cfg.Address, s.cfg.GiveUp))
	}
	select {
	case <-s.up:
		return nil
	case <-s.over:
		if err := s.lastFailure(); err != nil {
			return s.connectError(err)
		}
		return s.connectError(s.fatal)
	case <-ctx.Done():
		if err := s.lastFailure(); err != nil {
			return s.connectError(fmt.Errorf("%w (last: %w)", context.Cause(ctx), err))
		}
		return &ConnectError{Address: s.cfg.Address.String(), Err: context.Cause(ctx), Hint: "nothing was read or written"}
	}
}

// close ends the session on the server, if the server answers within a second
// or two. It returns when nothing of the session is left in this process.
func (s *session) close() {
	s.conn.Close()
	s.end(errClosed)
	for range s.events {
	}
	s.calls.Wait()
	s.giveUp.Stop()
}

// event follows the connection's state. The library calls it from its own
// goroutine, so it must not block.
func (s *session) event(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	s.cfg.Log.Debug("zookeeper session", "state", e.State.String(), "server", e.Server)
	switch e.State {
	case zk.StateHasSession:
		s.connectedNow()
	case zk.StateDisconnected:
		s.disconnectedNow()
	case zk.StateExpired:
		// The library would continue with a new session, without this session's
		// ephemerals, and say nothing.
		s.end(lostError("it expired on the server", 0, nil))
	}
}

func (s *session) connectedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected, s.failures = true, map[string]error{}
	close(s.again)
	s.again = make(chan struct{})
	s.giveUp.Stop()
	s.wire.handshake.Stop()
	select {
	case <-s.up:
	default:
		close(s.up)
	}
}

// reconnected is closed when the session gets a new connection.
func (s *session) reconnected() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// disconnectedNow is also called for each failed attempt. Only a lost
// connection starts the timer.
func (s *session) disconnectedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connected && s.fatal == nil {
		s.giveUp.Reset(s.cfg.GiveUp)
	}
	s.connected = false
}

func (s *session) gaveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.connected {
		s.endLocked(lostError("no server of "+s.cfg.Address.String()+" could be reached", s.cfg.GiveUp, s.failure()))
	}
}

// allFailed is called when no server could be reached. It matters only before the first
// session. If another attempt can't help, the session ends at once. If servers refuse the
// connection, it ends after [Config.Refused].
func (s *session) allFailed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure := s.failure(); failure != nil && !s.opened() {
		switch {
		case s.hope:
			s.refusedSince = time.Time{}
			s.notify(fmt.Sprintf("%s: %v; %s; trying for %s", s.cfg.Address, failure, hint(failure, s.cfg.TLS != nil), s.cfg.GiveUp))
		case !s.refused:
			s.endLocked(failure)
		case s.refusedSince.IsZero():
			s.refusedSince = time.Now()
			s.notify(fmt.Sprintf("%s: %v; %s; trying for %s, in case it is just starting", s.cfg.Address, failure, hint(failure, s.cfg.TLS != nil), s.cfg.Refused))
		case time.Since(s.refusedSince) >= s.cfg.Refused:
			s.endLocked(failure)
		}
	}
	s.hope, s.refused = false, false
}

// notify gives a message to waitUp, which passes it to [Config.Say]. If waitUp has not
// taken the last message yet, notify drops this one.
func (s *session) notify(news string) {
	select {
	case s.news <- news:
	default:
	}
}

// opened reports whether the session has been open.
func (s *session) opened() bool {
	select {
	case <-s.up:
		return true
	default:
		return false
	}
}

// suspect records that a server did not answer as ZooKeeper does.
func (s *session) suspect(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, asked := s.suspects[address]; !asked {
		s.suspects[address] = true
	}
}

// suspected reports whether to test if a server speaks TLS. It returns true once for
// each server.
func (s *session) suspected(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ask := s.suspects[address] && !s.opened()
	if ask {
		s.suspects[address] = false
	}
	return ask
}

// patience limits each of the two steps to a session: TCP and TLS, and then the
// server's answer. A starting server may accept a connection and never answer
// on it, although the next attempt succeeds. So an eager session waits only a
// moment at first, and longer after each silence.
func (s *session) patience() time.Duration {
	most := min(5*time.Second, s.cfg.GiveUp/2)
	if !s.cfg.Eager {
		return most
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(s.silence, most)
}

// silent records that a server did not answer in time.
func (s *session) silent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silence *= 2
}

const (
	firstSilence = 250 * time.Millisecond // see patience
	eagerPause   = 20 * time.Millisecond  // between attempts
)

// noteFailure records why a server could not be reached.
func (s *session) noteFailure(server string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal == nil { // otherwise only this side is closing
		s.failures[server] = err
		refused := errors.Is(err, syscall.ECONNREFUSED)
		s.refused = s.refused || refused
		s.hope = s.hope || !refused && !hopeless(err)
	}
}

func (s *session) lastFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure()
}

// failure is why the servers could not be reached, nil if nothing failed. The caller holds
// s.mu.
func (s *session) failure() error {
	var all causes
	for _, server := range s.cfg.Address.Servers {
		if err := s.failures[server]; err != nil {
			all = append(all, cause{server, err})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// use makes w the session's connection, unless the session is over.
func (s *session) use(w *wire) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wire = w
	return s.fatal
}

// end makes every current and future call fail with err, and closes the
// connection.
func (s *session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLocked(err)
}

func (s *session) endLocked(err error) {
	if s.fatal != nil {
		return
	}
	s.fatal = err
	close(s.over)
	s.hangUp()
	if s.wire != nil {
		s.wire.Close()
	}
}
