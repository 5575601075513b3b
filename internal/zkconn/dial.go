package zkconn

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"mrtq/internal/jute"
)

const (
	// firstPause is the time between two rounds in which every server failed. It doubles up to
	// mostPause.
	firstPause, mostPause = 20 * time.Millisecond, time.Second
	// firstSilence is how long a session waits for its first answer. A starting server may accept
	// a connection and never answer on it, although the next attempt succeeds. So the session waits
	// only a moment at first, and twice as long after each silence, up to mostSilence. An answer
	// ends that.
	firstSilence, mostSilence = time.Second, 5 * time.Second
)

func (s *session) connectFirst(ctx context.Context) (*conn, error) {
	said := false
	inTime, cancel := context.WithTimeout(ctx, s.cfg.GiveUpAfter)
	defer cancel()
	c, err := s.connectAny(inTime, func(failed causes) bool {
		if failed.hopeless() {
			return false
		}
		if !said {
			s.cfg.Notify(fmt.Sprintf("%s: %v; %s; trying for %v", s.cfg.Address, failed, hint(failed, s.tls != nil), s.cfg.GiveUpAfter))
		}
		said = true
		return true
	})
	switch cause := context.Cause(ctx); {
	case err == nil:
		return c, nil
	case cause == nil:
	case errors.As(err, new(causes)):
		err = fmt.Errorf("%w (last: %w)", cause, err)
	default:
		return nil, &ConnectError{Address: s.cfg.Address.String(), Err: cause, Hint: "nothing was read or written"}
	}
	return nil, &ConnectError{Address: s.cfg.Address.String(), Err: err, Hint: hint(err, s.tls != nil)}
}

// connectAny tries the servers in turn until one opens or resumes the session, or ctx ends.
// After each round of failures it asks goOn whether to try again. The error is the [causes] of
// the last attempts, ctx's cause if no attempt has failed, [errExpired], or a refusal of the
// credentials.
func (s *session) connectAny(ctx context.Context, goOn func(causes) bool) (*conn, error) {
	failures := map[string]error{}
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		for range s.servers {
			server := s.servers[s.turn%len(s.servers)]
			s.turn++
			c, err := s.connect(ctx, server)
			if err == nil || errors.Is(err, errExpired) || errors.Is(err, jute.AuthFailed) {
				return c, err
			}
			// An attempt that this side gave up says less about the server than an earlier one.
			if !errors.Is(err, net.ErrClosed) && !errors.Is(err, context.Canceled) && (ctx.Err() == nil || failures[server] == nil) {
				failures[server] = err
			}
			if ctx.Err() != nil {
				return nil, s.failed(ctx, failures)
			}
		}
		var failed causes
		if errors.As(s.failed(ctx, failures), &failed) && !goOn(failed) || sleep(ctx, pause) != nil {
			return nil, s.failed(ctx, failures)
		}
	}
}

func (s *session) failed(ctx context.Context, failures map[string]error) error {
	var all causes
	for _, server := range s.cfg.Address.Servers {
		if err := failures[server]; err != nil {
			all = append(all, cause{server, err})
		}
	}
	if all == nil {
		return context.Cause(ctx)
	}
	return all
}

// stepTimeout limits each of the two steps to a session: TCP and TLS, and then the server's
// answers.
func (s *session) stepTimeout() time.Duration { return min(s.silence, s.cfg.GiveUpAfter/2) }

func (s *session) connect(ctx context.Context, server string) (*conn, error) {
	dialing, cancel := context.WithTimeout(ctx, s.stepTimeout())
	defer cancel()
	nc, err := s.dial(dialing, server)
	if err == nil && s.tls != nil {
		nc, err = secure(dialing, nc, s.tls, server)
	}
	if err != nil {
		if dialing.Err() != nil {
			s.silence = min(2*s.silence, mostSilence)
		}
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	c, err := s.handshake(nc)
	if err == nil {
		s.silence = firstSilence
		return c, nil
	}
	nc.Close()
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s.silence = min(2*s.silence, mostSilence)
		err = &handshakeError{errors.New("no answer to the handshake")}
	}
	return nil, err
}

func (s *session) opening() bool { return s.id == 0 }

func (s *session) dial(ctx context.Context, server string) (net.Conn, error) {
	if s.cfg.Dial != nil {
		return s.cfg.Dial(ctx)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
	if err != nil {
		return nil, plainCause(err)
	}
	return conn, nil
}

var errExpired = errors.New("it expired on the server")

// A connect response has protocol, timeout, session, password (16 bytes) and perhaps a
// flag, which makes 36 or 37 bytes. An answer of another length is not ZooKeeper's.
const minConnectResponse, maxConnectResponse = 36, 64

// handshake opens the session or resumes it, and then sends the credentials. It names the
// newest transaction that the session has seen. A server whose data are older refuses.
func (s *session) handshake(dialed net.Conn) (*conn, error) {
	nc := &idleConn{Conn: dialed, beat: s.beat}
	nc.SetDeadline(time.Now().Add(s.stepTimeout()))
	in := bufio.NewReaderSize(nc, readBufferSize)
	request := jute.AppendConnectRequest(make([]byte, jute.LenPrefix), jute.ConnectRequest{
		LastZxidSeen: s.seen.Load(), TimeoutMillis: int32(s.cfg.SessionTimeout.Milliseconds()),
		SessionID: s.id, Password: s.password[:], HasReadOnly: true,
	})
	jute.SealFrame(request)
	if _, err := nc.Write(request); err != nil {
		return nil, &handshakeError{err}
	}
	begins, err := in.Peek(jute.LenPrefix)
	if err != nil {
		return nil, &handshakeError{err}
	}
	if n := binary.BigEndian.Uint32(begins); n < minConnectResponse || n > maxConnectResponse {
		return nil, &handshakeError{protocolError(begins)}
	}
	answer, err := jute.ReadFrame(in, nil, maxConnectResponse)
	if err != nil {
		return nil, &handshakeError{err}
	}
	d := jute.NewDecoder(answer)
	granted := d.ConnectResponse()
	switch {
	case d.Err() != nil:
		return nil, &handshakeError{errAnswer}
	case granted.TimeoutMillis <= 0 && !s.opening():
		return nil, errExpired
	case granted.ReadOnly:
		return nil, &handshakeError{errors.New("the server is read-only, because it has lost its quorum")}
	case granted.TimeoutMillis <= 0:
		return nil, &handshakeError{errors.New("the session expired before it began")}
	case granted.SessionID == 0 || len(granted.Password) != len(s.password):
		return nil, &handshakeError{errAnswer}
	}
	for _, a := range s.cfg.Auth {
		if err := authenticate(nc, in, a); err != nil {
			return nil, err
		}
	}
	nc.SetDeadline(time.Time{})
	if s.opening() {
		s.id, s.password = granted.SessionID, [jute.PasswordLen]byte(granted.Password)
	}
	return newConn(s, nc, in, time.Duration(granted.TimeoutMillis)*time.Millisecond), nil
}

func authenticate(nc net.Conn, in *bufio.Reader, a Auth) error {
	request := jute.AppendRequestHeader(make([]byte, jute.LenPrefix), jute.RequestHeader{Xid: jute.XidAuth, Op: jute.OpAuth})
	request = jute.AppendString(jute.AppendInt(request, 0), a.Scheme) // the server ignores the number
	request = jute.AppendBuffer(request, []byte(*a.credential))
	jute.SealFrame(request)
	if _, err := nc.Write(request); err != nil {
		return &handshakeError{err}
	}
	answer, err := jute.ReadFrame(in, nil, maxConnectResponse)
	if err != nil {
		return &handshakeError{err}
	}
	d := jute.NewDecoder(answer)
	h := d.ReplyHeader()
	if d.Err() != nil || h.Xid != jute.XidAuth {
		return &handshakeError{errAnswer}
	}
	if h.Err != jute.OK {
		return fmt.Errorf("%s credentials: %w", a.Scheme, h.Err)
	}
	return nil
}
