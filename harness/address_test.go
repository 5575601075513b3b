package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/internal/zkconn"
)

// startAddress starts the address backend on a server where another client has
// data below /base.
func startAddress(t *testing.T) (s *harness.Server, owner *zk.Conn) {
	t.Helper()
	real := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	owner = connect(t, real.Address())
	create(t, owner, "/base", "")
	create(t, owner, "/base/precious", "x")
	backend := value(harness.ParseBackend(real.Address() + "/base"))(t)
	return harness.ForTest(t, backend, harness.Options{}), owner
}

func chroot(t *testing.T, s *harness.Server) string {
	t.Helper()
	_, root, ok := strings.Cut(s.Address(), "/base/")
	if !ok || !strings.HasPrefix(root, "mrtq-") || strings.Contains(root, "/") {
		t.Fatalf("no chroot of its own in %s", s.Address())
	}
	return "/base/" + root
}

func TestAddress(t *testing.T) {
	s, owner := startAddress(t)
	root := chroot(t, s)
	note, _, err := owner.Get(root)
	if err != nil || !strings.HasPrefix(string(note), "made by mrtq's test harness on ") {
		t.Errorf("the chroot says %q, %v", note, err)
	}
	create(t, owner, root+"/a", "")
	create(t, owner, root+"/a/b", "")
	create(t, owner, root+"/zookeeper", "an ordinary name in a chroot")
	must(t, s.Clean(t.Context()))
	wantChildren(t, owner, root)
	wantChildren(t, owner, "/base", strings.TrimPrefix(root, "/base/"), "precious")

	for name, err := range map[string]error{
		"Kill": s.Kill(), "Kill(0)": s.Kill(0), "Restart": s.Restart(t.Context()), "Restart(0)": s.Restart(t.Context(), 0),
	} {
		backend := strings.TrimSuffix(s.Address(), strings.TrimPrefix(root, "/base"))
		want := "harness: " + backend + ": mrtq did not start that server and can't control it; use the jvm or the docker backend"
		if !errors.Is(err, harness.ErrNotControlled) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if s.Nodes() != 0 {
		t.Errorf("%d servers can be killed, want 0", s.Nodes())
	}
}

func TestAddressLeavesNothing(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		s, owner := startAddress(t)
		root := chroot(t, s)
		create(t, owner, root+"/a", "")
		create(t, owner, root+"/a/b", "")
		ctx, cancel := context.WithCancel(t.Context())
		if cancelled {
			cancel()
		}
		if err := s.Stop(ctx); err != nil {
			t.Errorf("cancelled %v: %v", cancelled, err)
		}
		cancel()
		wantChildren(t, owner, "/base", "precious")
	}
}

func TestAddressRefusals(t *testing.T) {
	real := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	owner := connect(t, real.Address())
	value(owner.Create("/readonly", nil, 0, zk.WorldACL(zk.PermRead)))(t)
	for _, tc := range []struct {
		suffix string
		opt    harness.Options
		want   string // after the address
	}{
		{"/missing", harness.Options{}, ": the chroot /missing does not exist there; create it first"},
		{"/readonly", harness.Options{}, `: no permission to create a znode in "/readonly/" there; give credentials, or an address with a chroot that is open to all`},
	} {
		b := harness.Backend(real.Address() + tc.suffix)
		_, err := harness.Start(t.Context(), b, tc.opt)
		if want := "harness: " + string(b) + tc.want; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	wantChildren(t, owner, "/", "readonly", "zookeeper")

	b := harness.Backend(real.Address())
	for name, opt := range map[string]harness.Options{
		"Nodes": {Nodes: 3}, "TLS": {TLS: true},
		"Properties": {Properties: map[string]string{"a": "b"}}, "TickTime": {TickTime: 1e9}, "MinSessionTimeout": {MinSessionTimeout: 1e9},
	} {
		_, err := harness.Start(t.Context(), b, opt)
		want := "harness: Options." + name + " with the address " + string(b) + ": mrtq did not start that server and can't control it; use the jvm or the docker backend"
		if !errors.Is(err, harness.ErrNotControlled) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// With credentials, the harness creates a chroot that no other client can read.
func TestAddressWithCredentials(t *testing.T) {
	real := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	mine := harness.Options{Client: harness.Client{Credentials: []zkconn.Auth{zkconn.DigestAuth("me", "secret")}}}
	if text := fmt.Sprintf("%v %+v %#v", mine, mine, mine); strings.Contains(text, "secret") {
		t.Errorf("the options show the password: %s", text)
	}
	s := harness.ForTest(t, harness.Backend(real.Address()), mine)
	_, root, _ := strings.Cut(s.Address(), "/")
	stranger := connect(t, real.Address())
	if _, _, err := stranger.Get("/" + root); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("another client can read the chroot: %v", err)
	}
	if err := s.Clean(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	wantChildren(t, stranger, "/", "zookeeper")
}

// The harness can use a server's TLS port as its address.
func TestAddressOverTLS(t *testing.T) {
	real := harness.ForTest(t, harness.TestBackend(), harness.Options{TLS: true})
	files := real.TLSFiles()
	s := harness.ForTest(t, harness.Backend(real.SecureAddress()), harness.Options{Client: harness.Client{TLS: &files}})
	wantChildren(t, connect(t, real.Address()), "/", s.Address()[strings.LastIndexByte(s.Address(), '/')+1:], "zookeeper")
}

// If nothing answers, Start returns an error within the given time and does not
// hang.
func TestAddressWithoutServer(t *testing.T) {
	_, err := harness.Start(t.Context(), "127.0.0.1:1", harness.Options{StartTimeout: 2e8})
	if err == nil || !strings.HasPrefix(err.Error(), "harness: 127.0.0.1:1: cannot open a session with ZooKeeper at 127.0.0.1:1: no session after 200ms (last: the connection is refused)") {
		t.Error(err)
	}
}

// The harness reads a connect string as every other part of mrtq does. What it refuses, TestParseAddressErrors of zkconn has.
func TestParseBackend(t *testing.T) {
	for s, isAddress := range map[string]bool{
		"jvm": false, "docker": false, "h:2181": true, "a:1,b:65535": true, "a:1/x": true, "a:1,b:2/x/y": true, "[::1]:2181/x": true,
		"localhost": true, "a, b:2/x/": true,
	} {
		b, err := harness.ParseBackend(s)
		if err != nil || string(b) != s || b.IsAddress() != isAddress {
			t.Errorf("%q: %q, %v, IsAddress %v", s, b, err, b.IsAddress())
		}
	}
	for _, s := range []string{"", ":2181", "h:0", "h:x", "h:1,", "h:1//a", "h:1/.."} {
		_, why := zkconn.ParseAddress(s)
		_, err := harness.ParseBackend(s)
		if want := fmt.Sprintf("unknown backend %q: expected embedded, jvm, docker or an address: %v", s, why); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
