package harness

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// sessionTimeout is longer than a leader election, so that a session survives
// the loss of its server.
const sessionTimeout = 20 * time.Second

// retryPause is the time between attempts to connect. The client's own pause is
// a second, which is longer than a server takes to start.
const retryPause = 20 * time.Millisecond

// handshakeTimeout is how long a server may take to open a session after it
// accepted a connection. If it stays silent, the next attempt may take twice as
// long, up to maxHandshake. The limit is needed because a ZooKeeper 3.8 that is
// still starting can fail on a connection and leave it open forever, and the
// client itself would wait for more than a minute.
const (
	handshakeTimeout = 250 * time.Millisecond
	maxHandshake     = 8 * time.Second
)

// A login is what a session authenticates with, nil for nothing.
type login struct{ scheme, secret string }

// withSession calls do with an open session on one of hosts, and closes the
// session afterwards. It tries to connect until ctx is done. Calls in do fail
// soon after ctx is done. tlsConf is nil for a plain connection.
func withSession(ctx context.Context, hosts []string, tlsConf *tls.Config, auth *login, do func(*zk.Conn) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	last := &lastLine{}
	c := &connector{ctx: ctx, tls: tlsConf, patience: handshakeTimeout}
	conn, events, err := zk.Connect(hosts, sessionTimeout,
		zk.WithDialer(c.dial),
		zk.WithHostProvider(c),
		zk.WithLogger(last),
		zk.WithLogInfo(false))
	if err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	defer func() {
		conn.Close()
		cancel()
		for range events { // until the client's loop has ended
		}
	}()
	if err := opened(ctx, events); err != nil {
		if why := last.String(); why != "" {
			err = fmt.Errorf("%w (last: %s)", err, why)
		}
		return err
	}
	if auth != nil {
		if err := conn.AddAuth(auth.scheme, []byte(auth.secret)); err != nil {
			return fmt.Errorf("harness: authenticate with scheme %s: %w", auth.scheme, err)
		}
	}
	return do(conn)
}

func opened(ctx context.Context, events <-chan zk.Event) error {
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return nil
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// connector is the client's dialer and its [zk.HostProvider]. It tries the
// hosts in turn with a short pause. It cuts a connection on which no session is
// opened in time, or when ctx is done, and then ends the client's loop of
// attempts. The client calls it from one goroutine.
type connector struct {
	ctx      context.Context
	tls      *tls.Config // nil for plain connections
	hosts    []string
	next     int
	patience time.Duration // with the next handshake
	watchdog *time.Timer   // of the current one
}

func (c *connector) Init(hosts []string) error { c.hosts = hosts; return nil }
func (c *connector) Len() int                  { return len(c.hosts) }

func (c *connector) Next() (host string, retryStart bool) {
	// Wait longer only after silence, not after a refusal.
	if c.watchdog != nil && !c.watchdog.Stop() {
		c.patience = min(2*c.patience, maxHandshake)
	}
	c.watchdog = nil
	if c.next > 0 {
		select {
		case <-time.After(retryPause):
		case <-c.ctx.Done():
		}
	}
	host = c.hosts[c.next%len(c.hosts)]
	c.next++
	// Only on a "retry from the start" does the client look whether it was closed.
	return host, c.ctx.Err() != nil
}

// Connected is called when a session has been opened.
func (c *connector) Connected() {
	c.watchdog.Stop()
	c.watchdog = nil
	c.patience = handshakeTimeout
}

func (c *connector) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	d := net.Dialer{}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if c.tls != nil {
		secure := tls.Client(conn, withServerName(c.tls, address))
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		conn = secure
	}
	context.AfterFunc(c.ctx, func() { conn.Close() })
	c.watchdog = time.AfterFunc(c.patience, func() { conn.Close() })
	return conn, nil
}

func withServerName(conf *tls.Config, address string) *tls.Config {
	conf = conf.Clone()
	conf.ServerName, _, _ = net.SplitHostPort(address)
	return conf
}

// lastLine is a [zk.Logger] that keeps the client's last message, which says
// why no session was opened.
type lastLine struct {
	mu   sync.Mutex
	line string
}

func (l *lastLine) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = fmt.Sprintf(format, args...)
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line
}
