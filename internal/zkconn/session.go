// Package zkconn is a small ZooKeeper client for reading and writing in bulk: connect
// string, chroot, TLS, credentials, and the difference between "was not done" and "may
// have been done".
//
// There are two main types. A [Reader] has no method that writes, so code that has only a
// Reader can't write. A [Writer] is a Reader that can also write. Both use one session:
//
//   - session.go keeps a session open. dial.go connects to one of several servers, resumes
//     the session there and sends the credentials, before any request.
//   - conn.go is one connection. It sends requests without waiting for the answers to
//     earlier ones, and gives each answer to the call that waits for it.
//   - ask.go reads many znodes with few packets, and repeats reads if the connection
//     breaks. reader.go, subtrees.go and walk.go are made of that.
//   - writer.go sends a write once. If no answer comes, the error is [ErrUnknownOutcome],
//     and the caller must look (CreateEphemeral looks itself).
//
// The records of the protocol are in package jute.
package zkconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"mrtq/internal/jute"
)

// session is what Reader and Writer share.
type session struct {
	cfg     Config
	tls     *tls.Config         // nil: no TLS
	over    context.Context     // ends with the session; its cause says why
	end     func(error)         // ends the session; only the first call counts
	running sync.WaitGroup      // the goroutine that keeps it open
	window  *semaphore.Weighted // how many znodes may be read at once
	many    multiReadState      // how many of them one request may name
	unheard SilenceTimer        // for how long callers of this session have waited in vain

	// Only the goroutine that connects uses these. seen is set by the connection's
	// goroutine that reads.
	servers  []string
	turn     int           // of the servers
	silence  time.Duration // see firstSilence
	id       int64         // 0: never opened. It never changes afterwards, and other goroutines may read it
	password [jute.PasswordLen]byte
	seen     atomic.Int64 // the newest transaction that an answer named

	mu   sync.Mutex
	conn *conn         // the last one; it may be broken
	next chan struct{} // closed when there is another connection
	// firstLost and lastLost are when writes were sent whose answers were lost, since one was answered.
	firstLost, lastLost time.Time
}

func open(ctx context.Context, cfg Config) (*session, error) {
	cfg = cfg.withDefaults()
	s := &session{
		cfg: cfg, window: semaphore.NewWeighted(window),
		servers: slices.Clone(cfg.Address.Servers), silence: firstSilence, next: make(chan struct{}),
	}
	rand.Shuffle(len(s.servers), func(i, j int) { s.servers[i], s.servers[j] = s.servers[j], s.servers[i] })
	s.over, s.end = context.WithCancelCause(context.Background())
	if cfg.TLS != nil {
		var err error
		if s.tls, err = cfg.TLS.Config(); err != nil {
			return nil, &ConnectError{Address: cfg.Address.String(), Err: err, Hint: "check the files of --tls-ca, --tls-cert and --tls-key"}
		}
	}
	c, err := s.connectFirst(ctx)
	if err != nil {
		return nil, err
	}
	s.use(c)
	s.running.Go(func() { s.keepOpen(c) })
	return s, nil
}

// close ends the session on the server, if the server answers within a second. It returns
// when nothing of the session is left in this process.
func (s *session) close() {
	s.end(errClosed)
	s.running.Wait()
}

func (s *session) use(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = c
	close(s.next)
	s.next = make(chan struct{})
}

func (s *session) left() time.Duration { return s.cfg.GiveUpAfter - s.unheard.Elapsed() }

// begin and beat tell the timers of this session and of all sessions. See [SilenceTimer].
func (s *session) begin() (end func(answered bool)) {
	own, all := s.unheard.begin(), s.cfg.Silence.begin()
	return func(answered bool) {
		own(answered)
		all(answered)
	}
}

func (s *session) beat() {
	s.unheard.beat()
	s.cfg.Silence.beat()
}

// keepOpen opens the next connection whenever the last one breaks, until the session is
// over. It ends the session if callers wait and no answer comes for as long as Config.GiveUpAfter, over
// all connections.
func (s *session) keepOpen(c *conn) {
	for {
		select {
		case <-c.broken:
		case <-s.over.Done():
			c.finish(context.Cause(s.over))
		case <-time.After(s.left()):
			if s.left() <= 0 {
				s.end(s.noAnswer())
			}
			continue
		}
		c.running.Wait()
		if s.over.Err() != nil {
			return
		}
		s.cfg.Log.Debug("zookeeper connection lost", "server", c.net.RemoteAddr(), "because", c.err)
		left := s.left()
		if left <= 0 {
			s.end(s.noAnswer())
			return
		}
		ctx, cancel := context.WithTimeout(s.over, left)
		next, err := s.connectAny(ctx, func(causes) bool { return true })
		cancel()
		switch {
		case err == nil:
			s.use(next)
			c = next
			continue
		case errors.Is(err, errExpired):
			// A new session would not have this session's ephemerals.
			err = fmt.Errorf("%w: %w", ErrSessionLost, err)
		case errors.Is(err, jute.AuthFailed):
			err = fmt.Errorf("%w: after a reconnection (last: %w)", ErrSessionLost, err)
		default:
			err = fmt.Errorf("%w: no server of %s could be reached for %s (last: %w)", ErrSessionLost, s.cfg.Address, s.cfg.GiveUpAfter, err)
		}
		s.end(err)
		return
	}
}

func (s *session) noAnswer() error {
	return fmt.Errorf("%w: no answer from %s for %s", ErrSessionLost, s.cfg.Address, s.cfg.GiveUpAfter)
}

// connection returns a connection that is not broken, as far as is known. It waits for
// one. The error is ctx's cause, or why the session is over.
func (s *session) connection(ctx context.Context) (*conn, error) {
	for {
		s.mu.Lock()
		c, next := s.conn, s.next
		s.mu.Unlock()
		if err := s.ended(ctx); err != nil {
			return nil, err
		}
		if !c.isBroken() {
			return c, nil
		}
		end := s.begin()
		select {
		case <-next:
		case <-ctx.Done():
		case <-s.over.Done():
		}
		end(false)
	}
}

func (s *session) ended(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return context.Cause(s.over)
}

// send sends a request when there is a connection. With an error the request was certainly
// not sent.
func (s *session) send(ctx context.Context, r *call) error {
	for {
		c, err := s.connection(ctx)
		if err != nil {
			return err
		}
		if c.send(r) {
			return nil
		}
	}
}

// wait returns when a request has its answer. The error is a [brokenError] if none can
// come any more, a [ResponseTooLargeError], ctx's cause, or why the session is over.
func (s *session) wait(ctx context.Context, r *call) (err error) {
	end := s.begin()
	defer func() { end(!temporary(err)) }()
	select {
	case <-r.done:
	case <-ctx.Done():
	case <-s.over.Done():
	}
	select {
	case <-r.done: // perhaps at the same moment as the end
		return r.err
	default:
		return s.ended(ctx)
	}
}

// untilAnswered repeats try while it returns a temporary error, for as long as
// Config.GiveUpAfter. So a try that returns one must have changed nothing on the server.
func (s *session) untilAnswered(ctx context.Context, try func() error) error {
	var since time.Time
	for pause := firstRepeat; ; pause = min(2*pause, repeatPause) {
		err := try()
		if !temporary(err) {
			return err
		}
		// A lost session ends the loop. But this request may also break the connection
		// again each time it has come back.
		switch now := time.Now(); {
		case since.IsZero():
			since = now
		case now.Sub(since) > s.cfg.GiveUpAfter && errors.Is(err, ErrThrottled):
			return err
		case now.Sub(since) > s.cfg.GiveUpAfter:
			return fmt.Errorf("%w: the connection broke at each attempt for %s (last: %w)", ErrSessionLost, s.cfg.GiveUpAfter, err)
		}
		if errors.Is(err, ErrThrottled) {
			pause = repeatPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		case <-s.over.Done():
		}
	}
}

// repeatPause is how long a repeated request waits, so that it doesn't spin. The first time it hardly
// waits, because a broken connection interrupts many requests, and each of them would wait.
const firstRepeat, repeatPause = 100 * time.Microsecond, 50 * time.Millisecond
