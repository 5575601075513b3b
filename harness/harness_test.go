package harness_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"mrtq/harness"
	_ "mrtq/harness/docker" // the docker backend
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// on runs the subtests one by one, because on a small machine containers and
// JVMs would only wait for each other.
func on(t *testing.T, backends []harness.Backend, test func(t *testing.T, b harness.Backend)) {
	t.Helper()
	for _, b := range backends {
		t.Run(string(b), func(t *testing.T) { test(t, b) })
	}
}

// connect returns a plain client that does not use the harness. Tests check with it
// what the harness does.
func connect(t *testing.T, hosts ...string) *zk.Conn {
	t.Helper()
	return connectBy(t, 10*time.Second, net.DialTimeout, hosts...)
}

func connectBy(t *testing.T, timeout time.Duration, dial zk.Dialer, hosts ...string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(hosts, timeout, zk.WithLogInfo(false), zk.WithLogger(quiet{}), zk.WithDialer(dial))
	must(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// eventually retries do until it succeeds, because a client needs some time to notice a
// restart.
func eventually(t *testing.T, do func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := do()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still after 2 min: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func create(t *testing.T, conn *zk.Conn, path, data string) {
	t.Helper()
	if _, err := conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
}

func wantData(t *testing.T, conn *zk.Conn, path, want string) {
	t.Helper()
	eventually(t, func() error {
		got, _, err := conn.Get(path)
		if err == nil && string(got) != want {
			t.Fatalf("%s holds %q, want %q", path, got, want)
		}
		return err
	})
}

func wantChildren(t *testing.T, conn *zk.Conn, path string, want ...string) {
	t.Helper()
	got, _, err := conn.Children(path)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("children of %s: %q, %v; want %q", path, got, err, want)
	}
}

// A server can be used when Start returns, has the same data and address after a
// kill, is empty after Clean, and is gone after Stop. Like a real server with its usual
// tick it grants sessions of at most 40 s.
func TestServerLife(t *testing.T) {
	on(t, harness.Backends(), func(t *testing.T, b harness.Backend) {
		s := harness.ForTest(t, b, harness.Options{})
		address := s.Address()
		if s.Nodes() != 1 || s.SecureAddress() != "" {
			t.Errorf("server says %d nodes, %q", s.Nodes(), s.SecureAddress())
		}
		if b != harness.Embedded {
			wantLine(t, fourLetters(t, address, "conf"), "maxSessionTimeout=40000")
		}
		conn := connect(t, address)
		testClean(t, s, conn)
		create(t, conn, "/kept", "over a kill")

		must(t, s.Kill())
		wantNothingAt(t, address)
		if err := s.Kill(); err != nil {
			t.Errorf("kill a killed server: %v", err)
		}
		must(t, s.Restart(t.Context()))
		if s.Address() != address {
			t.Errorf("address changed from %s to %s", address, s.Address())
		}
		wantData(t, conn, "/kept", "over a kill")
		if err := s.Restart(t.Context()); err != nil {
			t.Fatalf("restart of a running server: %v", err)
		}
		wantData(t, conn, "/kept", "over a kill")

		must(t, s.Stop(t.Context()))
		wantNothingAt(t, address)
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("second stop: %v", err)
		}
		if err := s.Kill(); err == nil || err.Error() != "harness: the server is stopped" {
			t.Errorf("kill after stop: %v", err)
		}
		if s.Address() != "" {
			t.Errorf("a stopped server has the address %s", s.Address())
		}
	})
}

func testClean(t *testing.T, s *harness.Server, conn *zk.Conn) {
	t.Helper()
	create(t, conn, "/a", "")
	for i := range 12 { // more than one transaction of Clean's
		var ops []any
		for j := range 100 {
			ops = append(ops, &zk.CreateRequest{Path: fmt.Sprintf("/a/n%04d", 100*i+j), Acl: zk.WorldACL(zk.PermAll)})
		}
		value(conn.Multi(ops...))(t)
	}
	create(t, conn, "/a/n0007/deep", "")
	create(t, conn, "/a/n0007/deep/zookeeper", "not the server's own")
	value(conn.Create("/locked", nil, 0, zk.DigestACL(zk.PermRead, "nobody", "here")))(t)
	value(conn.Create("/session", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))(t)
	for range 2 { // the second finds a clean server
		must(t, s.Clean(t.Context()))
		wantChildren(t, conn, "/", "zookeeper")
		wantChildren(t, conn, "/zookeeper", "config", "quota")
	}
}

// If one server of an ensemble is killed, the ensemble and a client's session still
// work. The server can join again.
func TestEnsemble(t *testing.T) {
	s := harness.ForTest(t, harness.JVM, harness.Options{Nodes: 3})
	if s.Nodes() != 3 {
		t.Fatalf("%d nodes", s.Nodes())
	}
	hosts := strings.Split(s.Address(), ",")
	conn := connectBy(t, 20*time.Second, net.DialTimeout, hosts...)
	value(conn.Create("/mine", []byte("x"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))(t)
	session := conn.SessionID()
	// Killing the leader is the hardest case: the others must elect a new
	// one.
	victim := slices.IndexFunc(hosts, func(host string) bool {
		return strings.Contains(fourLetters(t, host, "srvr"), "Mode: leader")
	})
	if victim < 0 {
		t.Fatal("no leader")
	}
	must(t, s.Kill(victim))
	wantNothingAt(t, hosts[victim])
	wantData(t, conn, "/mine", "x")
	if conn.SessionID() != session {
		t.Errorf("the session did not survive: %#x, then %#x", session, conn.SessionID())
	}
	eventually(t, func() error {
		_, err := conn.Create("/without-one", nil, 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrNodeExists) { // the answer to the first try was lost
			return nil
		}
		return err
	})

	must(t, s.Restart(t.Context(), victim))
	back := connect(t, hosts[victim])
	value(back.Sync("/"))(t)
	wantChildren(t, back, "/", "mine", "without-one", "zookeeper")
}

// The options reach the server. One in this process has no properties.
func TestOptionsReachTheServer(t *testing.T) {
	on(t, harness.Backends(), func(t *testing.T, b harness.Backend) {
		opt := harness.Options{TickTime: 300 * time.Millisecond, MinSessionTimeout: 700 * time.Millisecond, MaxSessionTimeout: 9 * time.Minute, TLS: true}
		lines := []string{"minSessionTimeout=700", "maxSessionTimeout=540000"}
		if b != harness.Embedded {
			opt.Properties = map[string]string{"globalOutstandingLimit": "54321", "maxClientCnxns": "70"}
			lines = append(lines, "tickTime=300", "maxClientCnxns=70")
		}
		s := harness.ForTest(t, b, opt)
		testTLS(t, s)
		conf := fourLetters(t, s.Address(), "conf")
		for _, line := range lines {
			wantLine(t, conf, line)
		}
	})
}

// Start has a time limit. If it fails, everything that it started is gone.
func TestStartCancelled(t *testing.T) {
	on(t, []harness.Backend{harness.Embedded, harness.JVM}, func(t *testing.T, b harness.Backend) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := harness.Start(ctx, b, harness.Options{}); !errors.Is(err, context.Canceled) && !errors.Is(err, harness.ErrUnavailable) {
			t.Errorf("start with a cancelled context: %v", err)
		}
		_, err := harness.Start(t.Context(), b, harness.Options{StartTimeout: time.Nanosecond})
		if errors.Is(err, harness.ErrUnavailable) && !harness.Required(string(b)) {
			t.Skip(err)
		}
		if !errors.Is(err, context.DeadlineExceeded) && (err == nil || !strings.Contains(err.Error(), "not ready after 0s")) {
			t.Fatalf("start within a nanosecond: %v", err)
		}
	})
}

// A server that writes no file makes no folder: if the process is killed, nothing of it is left.
func TestNoFolderInVain(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := value(harness.Start(t.Context(), harness.Embedded, harness.Options{}))(t)
	defer s.Stop(t.Context())
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("while it runs, there is %v (%v)", left, err)
	}
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
