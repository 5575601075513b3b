package client_test

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	_ "mrtq/harness/docker" // the docker backend
	"mrtq/harness/shared"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

func TestMain(m *testing.M) { shared.Main(m) }

var starting sync.Mutex

// address is that of the one server. Each test has a root of its own there.
func address(t *testing.T) string {
	t.Helper()
	starting.Lock()
	defer starting.Unlock()
	return shared.Server(t, false).Address()
}

// world is a queue of its own and a second connection to it.
type world struct {
	t    *testing.T
	root string
	raw  *zk.Conn // the second connection
	d    newqueue.Dialect

	reader *zkconn.Reader
}

var roots atomic.Int64

func newWorld(t *testing.T, d newqueue.Dialect) *world {
	t.Helper()
	w := &world{t: t, root: fmt.Sprintf("/t%d", roots.Add(1)), d: d}
	w.raw, _ = connect(t, address(t))
	if _, err := w.raw.Create(w.root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	at := value(zkconn.ParseAddress(address(t) + w.root))(t)
	w.reader = value(zkconn.OpenReader(ctx, zkconn.Config{Address: at}))(t)
	t.Cleanup(w.reader.Close)
	return w
}

func eachDialect(t *testing.T, f func(*testing.T, *world)) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			f(t, newWorld(t, d))
		})
	}
}

func (w *world) open(opts ...client.Option) (*client.Queue, *session) {
	w.t.Helper()
	conn, s := connect(w.t, address(w.t))
	return client.Open(conn, w.d, append([]client.Option{client.WithRoot(w.root)}, opts...)...), s
}

func (w *world) queue(opts ...client.Option) *client.Queue {
	w.t.Helper()
	q, _ := w.open(opts...)
	return q
}

func (w *world) tree() *znode.Tree {
	w.t.Helper()
	must(w.t, w.reader.Sync(ctx))
	return value(w.reader.Tree(ctx))(w.t)
}

func left(tree *znode.Tree, part string) []string {
	return slices.DeleteFunc(tree.Paths("/"), func(p string) bool { return !strings.Contains(p, part) })
}

func (w *world) jobsIn(bid string, f newqueue.BatchFolder) []string {
	w.t.Helper()
	if _, err := w.raw.Sync(w.root); err != nil {
		w.t.Error(err)
	}
	jids, _, err := w.raw.Children(w.root + newqueue.BatchFolderPath(bid, f))
	if err != nil && err != zk.ErrNoNode {
		w.t.Error(err)
	}
	slices.Sort(jids)
	return jids
}

func (w *world) check() {
	w.t.Helper()
	for _, p := range merritt.Problems(w.tree(), w.d) {
		w.t.Errorf("layout: %v", p)
	}
}

func (w *world) put(path, data string) {
	w.t.Helper()
	parts := strings.Split(path[1:], "/")
	for i := range parts {
		p := w.root + "/" + strings.Join(parts[:i+1], "/")
		if _, err := w.raw.Create(p, []byte{}, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
			w.t.Fatal(err)
		}
	}
	if _, err := w.raw.Set(w.root+path, []byte(data), -1); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) delete(path string) {
	w.t.Helper()
	if err := w.raw.Delete(w.root+path, -1); err != nil {
		w.t.Fatal(err)
	}
}

// session is a connection whose ZooKeeper session a test can end.
type session struct {
	conn  *zk.Conn
	fired chan struct{} // has an element if a watch has fired
	gate  sync.RWMutex  // held while the client must not connect again

	mu  sync.Mutex
	tcp *tcp // the newest
}

type tcp struct {
	net.Conn
	open         sync.Once
	ready, ended chan struct{} // closed at the server's first answer, and when the client is about to connect again
}

func (c *tcp) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.open.Do(func() { close(c.ready) })
	return n, err
}

// newest keeps the client from connecting again until goOn is called.
func (s *session) newest() (c *tcp, goOn func()) {
	s.gate.Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tcp, s.gate.Unlock
}

// cut breaks the connection, and keeps the client from connecting again until back is
// called. The session lives on.
func (s *session) cut() (back func()) {
	c, back := s.newest()
	c.Close()
	return back
}

// expire ends the session at once, as the server does after the timeout: it slips a request to
// close the session into the client's connection, and waits until the server hangs up.
func (s *session) expire() error {
	c, goOn := s.newest()
	defer goOn()
	select {
	case <-c.ready:
	case <-c.ended:
	}
	// Length, xid and closeSession. If this can't be sent, the session has ended.
	_, _ = c.Write([]byte{0, 0, 0, 8, 0x7f, 0, 0, 0, 0xff, 0xff, 0xff, 0xf5})
	select {
	case <-c.ended:
		return nil
	case <-time.After(time.Minute):
		return errors.New("the server doesn't hang up")
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(t *testing.T, addr string) (*zk.Conn, *session) {
	t.Helper()
	s := &session{fired: make(chan struct{}, 1)}
	fire := zk.WithEventCallback(func(e zk.Event) {
		if e.Type == zk.EventSession {
			return
		}
		select {
		case s.fired <- struct{}{}:
		default:
		}
	})
	// With the usual provider of hosts, the client waits for a second whenever it has tried its whole list.
	conn, events, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogger(silent{}), fire, zk.WithHostProvider(sameHost{}), zk.WithDialer(
		func(network, _ string, timeout time.Duration) (net.Conn, error) {
			if s.tcp != nil {
				close(s.tcp.ended)
			}
			s.gate.RLock()
			defer s.gate.RUnlock()
			c, err := net.DialTimeout(network, addr, timeout)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.tcp = &tcp{Conn: c, ready: make(chan struct{}), ended: make(chan struct{})}
			return s.tcp, err
		}))
	must(t, err)
	s.conn = conn
	t.Cleanup(conn.Close)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return conn, s
}
