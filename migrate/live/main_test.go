package live

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
)

func TestMain(m *testing.M) { shared.Main(m) }

var testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// site is a server, a session through which the tests change its tree, and a
// Looker. The clock of both is the server's.
type site struct {
	*testing.T
	zk   *minizk.Server
	conn *zk.Conn
	*Looker
}

// serve starts an empty server and a Looker at its /new.
func serve(t *testing.T, auth ...zkconn.Auth) *site {
	t.Helper()
	server := minizk.RunWith(t, minizk.Options{Now: testNow, MinTimeout: 24 * time.Hour})
	conn, _, err := zk.Connect([]string{server.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	r, err := zkconn.OpenReader(t.Context(), zkconn.Config{Address: zkconn.Address{Servers: []string{server.Addr()}, Chroot: "/new"}, Auth: auth})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return &site{t, server, conn, NewLooker(r, server.Now)}
}

// make creates znodes below /new, and their parents.
func (s *site) make(paths ...string) {
	s.Helper()
	for _, path := range paths {
		at := ""
		for _, name := range strings.Split(strings.TrimPrefix("/new"+path, "/"), "/") {
			at += "/" + name
			if _, err := s.conn.Create(at, []byte{}, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
				s.Fatal(at, err)
			}
		}
	}
}

// lock creates an ephemeral znode.
func (s *site) lock(path string) {
	s.Helper()
	if _, err := s.conn.Create("/new"+path, []byte{}, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		s.Fatal(path, err)
	}
}

func (s *site) delete(paths ...string) {
	s.Helper()
	for _, path := range paths {
		if err := s.conn.Delete("/new"+path, -1); err != nil {
			s.Fatal(path, err)
		}
	}
}

// look looks once, after what the tests changed.
func (s *site) look() View {
	s.Helper()
	if err := s.r.Sync(s.Context()); err != nil {
		s.Fatal(err)
	}
	snap, err := s.Look(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return snap
}

// reads counts the requests that f sends to the server, except pings.
func (s *site) reads(f func()) map[jute.OpCode]int64 {
	s.Helper()
	s.zk.ResetCounts()
	f()
	c := s.zk.Counts()
	if c.Writes > 0 {
		s.Errorf("%d writes", c.Writes)
	}
	delete(c.ByOp, jute.OpPing)
	delete(c.ByOp, jute.OpSync)
	return c.ByOp
}
