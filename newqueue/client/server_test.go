package client_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
}

var roots atomic.Int64

func newWorld(t *testing.T, d newqueue.Dialect) *world {
	t.Helper()
	w := &world{t: t, root: fmt.Sprintf("/t%d", roots.Add(1)), d: d}
	w.raw, _ = connect(t, address(t))
	if _, err := w.raw.Create(w.root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	return w
}

// eachDialect runs a test in both dialects.
func eachDialect(t *testing.T, f func(*testing.T, *world)) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			f(t, newWorld(t, d))
		})
	}
}

// open returns a queue with a session of its own, which the test may end.
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

// tree reads everything through the second connection.
func (w *world) tree() *znode.Tree {
	w.t.Helper()
	tree, err := readTree(w.raw, w.root)
	if err != nil {
		w.t.Fatal(err)
	}
	return tree
}

func readTree(raw *zk.Conn, root string) (*znode.Tree, error) {
	if _, err := raw.Sync(root); err != nil {
		return nil, err
	}
	tree := znode.NewTree()
	var walk func(path string) error
	walk = func(path string) error {
		data, s, err := raw.Get(path)
		if err == zk.ErrNoNode {
			return nil
		}
		if err != nil {
			return err
		}
		if p := strings.TrimPrefix(path, root); p != "" {
			if data == nil {
				data = []byte{}
			}
			if err := tree.Put(znode.Node{Path: p, Data: data, Stat: znode.Stat{
				Czxid: s.Czxid, Mzxid: s.Mzxid, Version: s.Version, EphemeralOwner: s.EphemeralOwner,
			}}); err != nil {
				return err
			}
		}
		if s.NumChildren == 0 {
			return nil
		}
		names, _, err := raw.Children(path)
		if err == zk.ErrNoNode {
			return nil
		}
		for _, n := range names {
			if err := walk(path + "/" + n); err != nil {
				return err
			}
		}
		return err
	}
	return tree, walk(root)
}

// jobsIn are the ids of a batch's jobs in a folder of it.
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

// check fails the test if the layout is broken.
func (w *world) check() {
	w.t.Helper()
	for _, p := range merritt.Problems(w.tree(), w.d) {
		w.t.Errorf("layout: %v", p)
	}
}

// put writes a znode through the second connection, with its parents.
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
	conn *zk.Conn
	addr string

	gate     sync.RWMutex // held while the session is being ended, so that the client can't win it back
	mu       sync.Mutex
	id       []byte // of the newest session, as in the server's answer
	password []byte
	tcp      net.Conn // the newest
}

// cut breaks the connection, and keeps the client from connecting again until back is
// called. The session lives on.
func (s *session) cut() (back func()) {
	s.gate.Lock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tcp.Close()
	return s.gate.Unlock
}

// recorder reads the server's first answer: the session's id and password.
type recorder struct {
	net.Conn
	s     *session
	first []byte
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	if len(r.first) < 40 {
		r.first = append(r.first, b[:n]...)
		// Length, protocol, timeout, session id, password (length 16). An
		// expired session is answered with id 0.
		if len(r.first) >= 40 && binary.BigEndian.Uint64(r.first[12:]) != 0 {
			r.s.mu.Lock()
			defer r.s.mu.Unlock()
			r.s.id, r.s.password = slices.Clone(r.first[12:20]), slices.Clone(r.first[24:40])
		}
	}
	return n, err
}

type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(t *testing.T, addr string) (*zk.Conn, *session) {
	t.Helper()
	s := &session{addr: addr}
	// The client waits for a second after it has tried its whole list in vain,
	// and needs two connections to notice an expired session.
	conn, events, err := zk.Connect([]string{addr, addr, addr, addr}, 10*time.Second, zk.WithLogger(silent{}), zk.WithDialer(
		func(network, address string, timeout time.Duration) (net.Conn, error) {
			s.gate.RLock()
			defer s.gate.RUnlock()
			c, err := net.DialTimeout(network, address, timeout)
			if err != nil {
				return nil, err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.tcp = c
			return &recorder{Conn: c, s: s}, nil
		}))
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.conn = conn
	t.Cleanup(conn.Close)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return conn, s
}

// expire ends the session at once, as the server does after the timeout:
// another connection closes it with its id and password.
func (s *session) expire() error {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.mu.Lock()
	id, password := s.id, s.password
	s.mu.Unlock()
	// A server that is just moving or ending the session may close the
	// connection without an answer.
	for range 10 {
		if answer, err := s.end(id, password); err != nil || len(answer) > 0 {
			return err
		}
	}
	return errors.New("the server doesn't answer")
}

func (s *session) end(id, password []byte) (answer []byte, err error) {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	request := binary.BigEndian.AppendUint32(nil, 0)        // protocol
	request = binary.BigEndian.AppendUint64(request, 0)     // last zxid seen
	request = binary.BigEndian.AppendUint32(request, 10000) // timeout
	request = append(request, id...)
	request = binary.BigEndian.AppendUint32(request, 16)
	request = append(request, password...)
	closing := binary.BigEndian.AppendUint32(nil, 1)             // xid
	closing = binary.BigEndian.AppendUint32(closing, 0xfffffff5) // closeSession
	packets := append(packet(request), packet(closing)...)
	if _, err := c.Write(packets); err != nil {
		return nil, err
	}
	answer, err = io.ReadAll(c)
	// The session was closed just now (two answers), or had ended before (id
	// 0).
	if err == nil && len(answer) > 0 && len(answer) < 4+36+4+16 && (len(answer) < 20 || binary.BigEndian.Uint64(answer[12:]) != 0) {
		err = fmt.Errorf("the session was not closed: %x", answer)
	}
	return answer, err
}

func packet(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}
