package harness_test

import (
	"context"
	"errors"
	"fmt"
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

// onEach runs a subtest per backend.
func onEach(t *testing.T, test func(t *testing.T, b harness.Backend)) {
	t.Helper()
	on(t, harness.Backends(), test)
}

// apache lists the backends that run Apache's own server. They can be ensembles.
var apache = []harness.Backend{harness.JVM, harness.Docker}

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
	conn, events, err := zk.Connect(hosts, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
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
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := do()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still after 30 s: %v", err)
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
// kill, is empty after Clean, and is gone after Stop.
func TestServerLife(t *testing.T) {
	onEach(t, func(t *testing.T, b harness.Backend) {
		s := harness.ForTest(t, b, harness.Options{})
		address := s.Address()
		if s.Backend() != b || s.Nodes() != 1 || s.NodeAddress(0) != address || s.SecureAddress() != "" {
			t.Errorf("server says %s, %d nodes, %s, %q", s.Backend(), s.Nodes(), s.NodeAddress(0), s.SecureAddress())
		}
		conn := connect(t, address)
		create(t, conn, "/kept", "over a kill")

		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		wantNothingAt(t, address)
		if err := s.Kill(); err != nil {
			t.Errorf("kill a killed server: %v", err)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Address() != address {
			t.Errorf("address changed from %s to %s", address, s.Address())
		}
		wantData(t, conn, "/kept", "over a kill")
		if err := s.Restart(t.Context()); err != nil {
			t.Fatalf("restart of a running server: %v", err)
		}
		wantData(t, conn, "/kept", "over a kill")

		if err := s.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
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

func TestClean(t *testing.T) {
	onEach(t, func(t *testing.T, b harness.Backend) {
		s := harness.ForTest(t, b, harness.Options{})
		conn := connect(t, s.Address())
		create(t, conn, "/a", "")
		for i := range 1500 { // more than one transaction of Clean's
			create(t, conn, fmt.Sprintf("/a/n%04d", i), "")
		}
		create(t, conn, "/a/n0007/deep", "")
		create(t, conn, "/a/n0007/deep/zookeeper", "not the server's own")
		if _, err := conn.Create("/locked", nil, 0, zk.DigestACL(zk.PermRead, "nobody", "here")); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Create("/session", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		if err := s.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantChildren(t, conn, "/", "zookeeper")
		wantChildren(t, conn, "/zookeeper", "config", "quota")
		if err := s.Clean(t.Context()); err != nil {
			t.Errorf("clean a clean server: %v", err)
		}
	})
}

// If one server of an ensemble is killed, the ensemble and a client's session still
// work. The server can join again.
func TestEnsemble(t *testing.T) {
	on(t, apache, func(t *testing.T, b harness.Backend) {
		s := harness.ForTest(t, b, harness.Options{Nodes: 3})
		if s.Nodes() != 3 {
			t.Fatalf("%d nodes", s.Nodes())
		}
		hosts := []string{s.NodeAddress(0), s.NodeAddress(1), s.NodeAddress(2)}
		conn, events, err := zk.Connect(hosts, 20*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			conn.Close()
			for range events {
			}
		}()
		if _, err := conn.Create("/mine", []byte("x"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		session := conn.SessionID()
		// Killing the leader is the hardest case: the others must elect a new
		// one.
		victim := slices.IndexFunc(hosts, func(host string) bool {
			return strings.Contains(fourLetters(t, host, "srvr"), "Mode: leader")
		})
		if victim < 0 {
			t.Fatal("no leader")
		}
		if err := s.KillNode(victim); err != nil {
			t.Fatal(err)
		}
		wantNothingAt(t, hosts[victim])
		wantData(t, conn, "/mine", "x")
		if conn.SessionID() != session {
			t.Errorf("the session did not survive: %#x, then %#x", session, conn.SessionID())
		}
		if conn.Server() == hosts[victim] {
			t.Errorf("still on the killed server %s", conn.Server())
		}
		eventually(t, func() error {
			_, err := conn.Create("/without-one", nil, 0, zk.WorldACL(zk.PermAll))
			if errors.Is(err, zk.ErrNodeExists) { // the answer to the first try was lost
				return nil
			}
			return err
		})

		if err := s.RestartNode(t.Context(), victim); err != nil {
			t.Fatal(err)
		}
		back := connect(t, hosts[victim])
		if _, err := back.Sync("/"); err != nil {
			t.Fatal(err)
		}
		wantChildren(t, back, "/", "mine", "without-one", "zookeeper")
		if err := s.KillNode(3); err == nil || err.Error() != "harness: no server 3 among 3" {
			t.Errorf("kill of a server that doesn't exist: %v", err)
		}
	})
}

func TestOptionsReachTheServer(t *testing.T) {
	on(t, apache, func(t *testing.T, b harness.Backend) {
		s := harness.ForTest(t, b, harness.Options{
			JuteMaxBuffer: 4 << 20,
			TickTime:      300 * time.Millisecond,

			MinSessionTimeout: 700 * time.Millisecond,

			Properties: map[string]string{"snapCount": "54321", "maxSessionTimeout": "7000"},
		})
		conf := fourLetters(t, s.Address(), "conf")
		for _, line := range []string{"tickTime=300", "minSessionTimeout=700", "maxSessionTimeout=7000", "maxClientCnxns=0"} {
			wantLine(t, conf, line)
		}
		envi := fourLetters(t, s.Address(), "envi")
		if b == harness.JVM { // envi shows only some system properties; the server's behaviour shows the others
			wantLine(t, envi, "user.dir=")
		}
		conn := connect(t, s.Address())
		// A write above ZooKeeper's own limit of 1 MiB also needs a client that can send it.
		big, events, err := zk.Connect([]string{s.Address()}, 10*time.Second,
			zk.WithLogInfo(false), zk.WithLogger(quiet{}), zk.WithMaxConnBufferSize(8<<20))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			big.Close()
			for range events {
			}
		}()
		if _, err := big.Create("/big", make([]byte, 3<<20), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Errorf("3 MiB with jute.maxbuffer at 4 MiB: %v", err)
		}
		wantChildren(t, conn, "/", "big", "zookeeper")
	})
}

// Start has a time limit. If it fails, everything that it started is gone.
func TestStartCancelled(t *testing.T) {
	onEach(t, func(t *testing.T, b harness.Backend) {
		harness.ForTest(t, b, harness.Options{}) // skips if there is none
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := harness.Start(ctx, b, harness.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("start with a cancelled context: %v", err)
		}
		_, err := harness.Start(t.Context(), b, harness.Options{StartTimeout: time.Nanosecond})
		if !errors.Is(err, context.DeadlineExceeded) && (err == nil || !strings.Contains(err.Error(), "not ready after 0s")) {
			t.Fatalf("start within a nanosecond: %v", err)
		}
	})
}

// BenchmarkStart measures how long a backend takes to be ready.
func BenchmarkStart(b *testing.B) {
	for _, backend := range harness.Backends() {
		for _, nodes := range []int{1, 3} {
			b.Run(fmt.Sprintf("%s/%d", backend, nodes), func(b *testing.B) {
				for b.Loop() {
					s, err := harness.Start(b.Context(), backend, harness.Options{Nodes: nodes})
					if errors.Is(err, harness.ErrUnavailable) || errors.Is(err, errors.ErrUnsupported) {
						b.Skip(err)
					}
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					if err := s.Stop(b.Context()); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		}
	}
}
