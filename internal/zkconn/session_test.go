package zkconn_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"mrtq/harness"
	"mrtq/harness/shared"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// If a server is gone for good, a session gives up after GiveUpAfter, and every
// waiting call returns.
func TestServerGone(t *testing.T) {
	shared.NoLeak(t)
	s := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	addr := value(zkconn.ParseAddress(s.Address()))(t)
	w := openWriter(t, zkconn.Config{Address: addr, GiveUpAfter: 600 * time.Millisecond})
	must(t, s.Kill())
	within(t, time.Minute, "all calls", func() {
		want := "the ZooKeeper session is lost: no server of " + addr.String() + " could be reached for 600ms (last: the connection is refused)"
		_, err := w.Get(t.Context(), "/")
		wantMessage(t, err, "get /: "+want)
		err = w.Multi(t.Context(), []znode.Op{znode.Check("/", -1)})
		wantMessage(t, err, "nothing was sent: "+want)
		if !errors.Is(err, zkconn.ErrSessionLost) || errors.Is(err, zkconn.ErrUnknownOutcome) {
			t.Errorf("%#v", err)
		}
	})
}

// A session that expires while no packet passes is lost. Its ephemerals are
// gone, so nothing may be written as if they existed.
func TestExpiry(t *testing.T) {
	w, p := setup(t, zkconn.Config{SessionTimeout: 4 * time.Second})
	direct := w.Address()
	direct.Servers = []string{server(t).Address()}
	other := openWriter(t, zkconn.Config{Address: direct})
	path := value(w.CreateEphemeral(t.Context(), "/x-", nil, nil))(t)
	p.stall(true)
	pending := start(t, w, znode.Create("/late", nil))
	within(t, time.Minute, "the expiry", func() {
		eventually(t, func() bool { _, there, err := other.Exists(t.Context(), path); return !there && err == nil })
	})
	p.cut()
	p.stall(false)
	within(t, time.Minute, "the pending write", func() {
		if err := <-pending; !errors.Is(err, zkconn.ErrUnknownOutcome) {
			t.Errorf("%v", err)
		}
		_, err := w.Get(t.Context(), "/")
		wantMessage(t, err, "get /: the ZooKeeper session is lost: it expired on the server")
		err = w.Multi(t.Context(), []znode.Op{znode.Create("/later", nil)})
		wantMessage(t, err, "nothing was sent: the ZooKeeper session is lost: it expired on the server")
	})
	w.Close()
	for _, path := range []string{"/late", "/later"} {
		if _, ok, err := other.Exists(t.Context(), path); ok || err != nil {
			t.Errorf("%s was written after the session's end (%v)", path, err)
		}
	}
}

// A request that breaks the connection each time is not repeated for ever.
func TestReadThatBreaksTheConnection(t *testing.T) {
	w, p := setup(t, zkconn.Config{GiveUpAfter: impatient})
	p.decide(always(cutBefore, func(p packet) bool { return p.opcode() == 4 || isMultiRead(p) }))
	if _, err := w.GetAll(t.Context(), []string{"/", "/b"}); !errors.Is(err, zkconn.ErrSessionLost) {
		t.Errorf("many reads: %v", err)
	}
	within(t, time.Minute, "giving up", func() {
		_, err := w.Get(t.Context(), "/")
		wantMessage(t, err, "get /: the ZooKeeper session is lost: the connection broke at each attempt for 2s (last: the server closed the connection)")
	})
	if _, ok, err := w.Exists(t.Context(), "/"); !ok || err != nil {
		t.Errorf("other requests: %t, %v", ok, err)
	}
}

// Calls end with their context, even if the server doesn't answer. The goroutines
// that they leave end with the session.
func TestContext(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	multi(t, w, znode.Create("/x", nil))
	p.decide(always(swallow, func(p packet) bool { return p.answer }))
	for name, call := range map[string]func(context.Context) error{
		"Get":             func(ctx context.Context) error { return second(w.Get(ctx, "/")) },
		"Sync":            w.Sync,
		"Tree":            func(ctx context.Context) error { return second(w.Tree(ctx)) },
		"Multi":           func(ctx context.Context) error { return w.Multi(ctx, []znode.Op{znode.Check("/", -1)}) },
		"CreateEphemeral": func(ctx context.Context) error { return second(w.CreateEphemeral(ctx, "/e-", nil, nil)) },
		"SetACL":          func(ctx context.Context) error { return w.SetACL(ctx, "/x", nil) },
		"MakeChroot":      func(ctx context.Context) error { return second(w.MakeChroot(ctx)) },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop it")
		within(t, 30*time.Second, name, func() {
			time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
			err := call(ctx)
			if !errors.Is(err, stop) {
				t.Errorf("%s: %v", name, err)
			}
			writes := name == "Multi" || name == "CreateEphemeral" || name == "SetACL"
			if writes != errors.Is(err, zkconn.ErrUnknownOutcome) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Close ends the calls under way. Otherwise a read would be repeated for ever.
func TestCloseEndsCalls(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	p.decide(always(swallow, func(p packet) bool { return p.answer }))
	seen := len(p.requests())
	answers := make(chan error, 2)
	go func() { answers <- second(w.Get(t.Context(), "/")) }()
	pending := start(t, w, znode.Check("/", -1))
	eventually(t, func() bool { return len(p.requests()) >= seen+2 })
	within(t, 30*time.Second, "Close", w.Close)
	wantMessage(t, <-pending, "the connection was lost before the answer came: the write may or may not have happened (the ZooKeeper session was closed)")
	wantMessage(t, <-answers, "get /: the ZooKeeper session was closed")
	w.Close() // does nothing
}

// welcome is the answer of a server that opens the session 1.
const welcome = "\x00\x00\x00\x25" + "\x00\x00\x00\x00" + "\x00\x00\x27\x10" + "\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x10" + "0123456789abcdef" + "\x00"

// A server that violates the protocol only breaks the connection.
func TestHostileServer(t *testing.T) {
	shared.NoLeak(t)
	for name, answer := range map[string]string{
		"shorter than its header": "\x00\x00\x00\x04\xff\xff\xff\xff", // an event
		"empty":                   "\x00\x00\x00\x00",
		"a gigabyte":              "\x40\x00\x00\x00",
		"unasked":                 "\x00\x00\x00\x10" + "\x00\x00\x03\xe7" + "\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, _ := zkconn.ParseAddress(listen(t, func(c net.Conn) {
				read(c, 49)
				c.Write([]byte(welcome))
				read(c, 4+8+4+len("/")+1) // getData
				c.Write([]byte(answer))
			}))
			r := openReader(t, zkconn.Config{Address: addr, GiveUpAfter: time.Second})
			within(t, time.Minute, "the error", func() {
				_, err := r.Get(t.Context(), "/")
				if !errors.Is(err, zkconn.ErrSessionLost) && !errors.As(err, new(*zkconn.ResponseTooLargeError)) {
					t.Errorf("%v", err)
				}
			})
			r.Close()
		})
	}
}
