package minizk_test

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
)

// connect opens a session with the go-zookeeper client and waits until it is
// open.
func connect(t testing.TB, addr string) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	c, events, err := zk.Connect([]string{addr}, sessionTimeout, zk.WithLogger(silence{}), zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	await(t, events, zk.StateHasSession)
	return c, events
}

func await(t testing.TB, events <-chan zk.Event, state zk.State) {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case e := <-events:
			if e.State == state {
				return
			}
		case <-timeout:
			t.Fatalf("no %v", state)
		}
	}
}

// awaitOperation waits until a server has done an operation.
func awaitOperation(t testing.TB, s *minizk.Server, op minizk.OpCode) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(s.Log(), func(e minizk.Entry) bool { return e.Op == op }) {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("no %v", op)
		}
	}
}

// TestGoClientSurvives: the go-zookeeper client reconnects after a cut connection and after a
// restart with the same session, and gets a new session when its own has expired.
func TestGoClientSurvives(t *testing.T) {
	s := run(t, minizk.Options{})
	c, events := connect(t, s.Addr())
	world := zk.WorldACL(zk.PermAll)
	if _, err := c.Create("/eph", nil, zk.FlagEphemeral, world); err != nil {
		t.Fatal(err)
	}
	_, _, watch, err := c.GetW("/eph")
	if err != nil {
		t.Fatal(err)
	}
	id := c.SessionID()
	if !s.Disconnect(id) {
		t.Fatal("no connection")
	}
	await(t, events, zk.StateHasSession)
	if c.SessionID() != id {
		t.Errorf("session %#x, was %#x", c.SessionID(), id)
	}
	// The client sets its watches again by itself. Until it has, another request is a data race
	// inside of it: sendSetWatches reads the zxid that recvLoop writes.
	awaitOperation(t, s, minizk.OpSetWatches)
	if _, err := c.Set("/eph", []byte("x"), -1); err != nil {
		t.Fatal(err)
	}
	if e := <-watch; e.Type != zk.EventNodeDataChanged {
		t.Errorf("event %+v", e)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	await(t, events, zk.StateHasSession)
	s.ExpireSession(id)
	await(t, events, zk.StateExpired)
	await(t, events, zk.StateHasSession)
	if ok, _, err := c.Exists("/eph"); ok || err != nil {
		t.Errorf("exists %v, %v", ok, err)
	}
}
