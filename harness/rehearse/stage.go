package rehearse

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/migrate"
)

// The stage's sessions end soon after their process was killed, so that the next one need not
// wait long.
const (
	stageTick      = 100 * time.Millisecond
	sessionTimeout = 6 * time.Second
)

// stage is the disposable server of a rehearsal.
type stage struct {
	server *harness.Server
	cfg    zkconn.Config
	root   string // the chroot in which all happens; "" is the server's root
	// sent counts the packets that mrtq's own sessions have sent to a single server.
	sent atomic.Int64
}

// NotEmptyError says that a chroot that was given for a rehearsal has znodes.
type NotEmptyError struct {
	Address string
	Names   []string // some of its children
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s is not empty: it has %q. A rehearsal wants an empty chroot on a staging ensemble: create one, and give it", e.Address, e.Names)
}

// start starts the server, or makes a chroot of its own at an address. Stop it with stop, which
// leaves nothing behind.
func start(ctx context.Context, opt Options) (*stage, error) {
	on := harness.Options{Client: opt.Client}
	if opt.Backend.IsAddress() {
		if err := wantEmpty(ctx, opt); err != nil {
			return nil, err
		}
	} else {
		on.TickTime = stageTick
	}
	server, err := harness.Start(ctx, opt.Backend, on)
	if err != nil {
		return nil, err
	}
	address, err := zkconn.ParseAddress(server.Address())
	if err != nil {
		return nil, err
	}
	s := &stage{server: server, root: address.Chroot}
	address.Chroot = ""
	s.cfg = zkconn.Config{Address: address, SessionTimeout: sessionTimeout}
	if opt.Backend.IsAddress() {
		s.cfg.TLS, s.cfg.Auth = opt.Client.TLS, opt.Client.Credentials
	}
	return s, nil
}

// wantEmpty refuses an address whose chroot is not empty.
func wantEmpty(ctx context.Context, opt Options) error {
	address, err := zkconn.ParseAddress(string(opt.Backend))
	if err != nil {
		return err
	}
	r, err := zkconn.OpenReader(ctx, zkconn.Config{Address: address, TLS: opt.Client.TLS, Auth: opt.Client.Credentials})
	if err != nil {
		return err
	}
	defer r.Close()
	if _, there, err := r.Exists(ctx, "/"); err != nil || !there {
		return err // the harness says that it is missing
	}
	names, err := r.Children(ctx, "/")
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "zookeeper" })
	if len(names) > 0 {
		return &NotEmptyError{string(opt.Backend), names[:min(len(names), 5)]}
	}
	return nil
}

// stop ends the server, or removes the chroot, also after Ctrl-C.
func (s *stage) stop(ctx context.Context) error { return s.server.Stop(context.WithoutCancel(ctx)) }

// config says how to open a session below a folder of the stage. dial, if not nil, connects
// instead of TCP.
func (s *stage) config(folder string, dial func(context.Context) (net.Conn, error)) zkconn.Config {
	cfg := s.cfg
	cfg.Address.Chroot = s.root + folder
	cfg.Dial = dial
	if dial == nil && len(cfg.Address.Servers) == 1 && cfg.TLS == nil {
		cfg.Dial = s.dial
	}
	return cfg
}

// dial connects, and counts what is sent.
func (s *stage) dial(ctx context.Context) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.cfg.Address.Servers[0])
	return &counted{nc, s}, err
}

// counted is a connection whose packets are counted. Several that are sent together count as one.
type counted struct {
	net.Conn
	stage *stage
}

// Write counts, and sends.
func (c *counted) Write(b []byte) (int, error) {
	c.stage.sent.Add(1)
	return c.Conn.Write(b)
}

// open opens a session of mrtq's own client.
func (s *stage) open(ctx context.Context, folder string) (*migrate.Writer, error) {
	return zkconn.OpenWriter(ctx, s.config(folder, nil))
}

// site is a queue on the stage, for its workers, who read through a mirror. The client is the
// one that services use.
func (s *stage) site(ctx context.Context, folder string, m *mirror) daemons.Site {
	return daemons.Site{Root: s.root + folder, Connect: func() (daemons.Session, error) {
		conn, err := session.Open(ctx, s.cfg)
		if err != nil {
			return nil, err
		}
		return m.over(conn), nil
	}}
}

var _ daemons.Session = (*zk.Conn)(nil)
