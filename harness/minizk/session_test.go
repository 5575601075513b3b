package minizk_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

func TestExpireSession(t *testing.T) {
	s := run(t, minizk.Options{})
	a, b := raw(t, s), raw(t, s)
	want(t, "create", do(t, a, newNode("/eph", "", 1)), jute.OK)
	if got := s.Sessions(); len(got) != 2 || got[0].ID != a.Session.SessionID || !got[0].Connected || !slices.Equal(got[0].Ephemerals, []string{"/eph"}) || got[0].Timeout != sessionTimeout {
		t.Errorf("sessions %+v", got)
	}
	must(t, a.Close())
	want(t, "the node must outlive the connection", do(t, b, opRead(jute.OpExists, "/eph")), jute.OK)
	a = resumed(t, s, a)
	if !s.ExpireSession(a.Session.SessionID) || s.ExpireSession(a.Session.SessionID) {
		t.Error("ExpireSession: want true, then false")
	}
	want(t, "but must not outlive the session", do(t, b, opRead(jute.OpExists, "/eph")), jute.NoNode)
	if _, err := a.ReadPacket(); err == nil {
		t.Error("still connected")
	}
	defer func() {
		if got, want := recover(), "minizk: ExpireSession(0): the client has no session yet; wait until it is connected"; got != want {
			t.Errorf("of a client that is not connected yet: %v, want %s", got, want)
		}
	}()
	s.ExpireSession(0)
}

// TestAdvanceInSteps: a client that sends nothing between the steps loses its session, although each step is shorter than its timeout.
func TestAdvanceInSteps(t *testing.T) {
	s := run(t, minizk.Options{})
	talks, silent := raw(t, s), raw(t, s)
	for range 3 {
		s.Advance(sessionTimeout / 2)
		want(t, "a client that sends something", do(t, talks, jute.Request{Op: jute.OpSync, Path: "/"}), jute.OK)
	}
	if got := s.Sessions(); len(got) != 1 || got[0].ID != talks.Session.SessionID {
		t.Errorf("sessions %+v, want that of %#x, and not that of %#x", got, talks.Session.SessionID, silent.Session.SessionID)
	}
}

// TestAwaitWatch: a test waits until a client watches a path, in each of the ways to do that.
func TestAwaitWatch(t *testing.T) {
	s := run(t, minizk.Options{})
	c := raw(t, s)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("long enough"))
	if err := s.AwaitWatch(ctx, "/a"); err == nil || err.Error() != "minizk: no client watches /a: long enough" {
		t.Errorf("without a watch: %v", err)
	}
	for path, r := range map[string]jute.Request{
		"/exists": {Op: jute.OpExists, Watch: true}, "/add": {Op: jute.OpAddWatch, Kind: jute.WatchPersistentRecursive}, "/": {Op: jute.OpGetChildren2, Watch: true},
		"/again": {Op: jute.OpSetWatches, Watches: [][]string{{}, {"/again"}, {}}},
	} {
		r.Path = path
		watched := make(chan error, 1)
		go func() { watched <- s.AwaitWatch(t.Context(), path) }()
		do(t, c, jute.Request{Op: jute.OpExists, Path: path})
		select {
		case err := <-watched:
			t.Fatalf("%s: %v before the watch was set", path, err)
		default:
		}
		do(t, c, r)
		must(t, <-watched)
		must(t, s.AwaitWatch(t.Context(), path))
	}
	watched := make(chan error, 1)
	go func() { watched <- s.AwaitWatch(t.Context(), "/never") }()
	must(t, s.Close())
	if err := <-watched; !errors.Is(err, minizk.ErrClosed) {
		t.Errorf("of a closed server: %v", err)
	}
}

// TestSessionOfAnEarlierServer: if a server replaces another at the same address, a client of the
// earlier server cannot resume its session, and does not get another client's.
func TestSessionOfAnEarlierServer(t *testing.T) {
	first := run(t, minizk.Options{RealTime: true})
	orphan := raw(t, first)
	must(t, first.Close())
	next := run(t, minizk.Options{RealTime: true, Addr: first.Addr()})
	stranger := raw(t, next)
	c := value(dialRaw(next.Addr()))(t)
	defer c.Close()
	resp, err := c.Connect(jute.ConnectRequest{TimeoutMillis: 20000, SessionID: orphan.Session.SessionID, Password: orphan.Session.Password, HasReadOnly: true})
	if err != nil || resp.TimeoutMillis != 0 {
		t.Errorf("the client of the earlier server gets %+v, %v, want that its session has ended", resp, err)
	}
	want(t, "the other client", do(t, stranger, opRead(jute.OpExists, "/")), jute.OK)
}

// TestManualClock: nothing expires by itself, and a session that pings in time does not
// expire.
func TestManualClock(t *testing.T) {
	start := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	s := run(t, minizk.Options{Now: start})
	a, b := raw(t, s), raw(t, s)
	want(t, "create", do(t, a, newNode("/eph", "", 1)), jute.OK)
	if got := nodeAt(t, s, "/eph").Stat.Ctime; got != start.UnixMilli() {
		t.Errorf("ctime %d, want %d", got, start.UnixMilli())
	}
	for range 5 {
		s.Advance(sessionTimeout / 2)
		want(t, "b", do(t, b, jute.Request{Op: jute.OpSync, Path: "/"}), jute.OK)
	}
	if len(s.Sessions()) != 1 || nodeAt(t, s, "/eph") != nil {
		t.Errorf("a should have expired: %+v", s.Sessions())
	}
	s.Advance(sessionTimeout)
	want(t, "exactly at its timeout", do(t, b, jute.Request{Op: jute.OpSync, Path: "/"}), jute.OK)
}

func TestRealClockExpires(t *testing.T) {
	s := run(t, minizk.Options{RealTime: true, MinTimeout: 50 * time.Millisecond})
	c := value(openRaw(s.Addr(), 50*time.Millisecond))(t)
	defer c.Close()
	if _, err := c.ReadPacket(); !errors.Is(err, io.EOF) {
		t.Errorf("want the server to end the connection, got %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Advance of a real clock did not panic")
		}
	}()
	s.Advance(time.Second)
}

func TestRestartKeepsTreeAndSessions(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	want(t, "create", do(t, a, newNode("/eph", "x", 1)), jute.OK)
	for _, stop := range []bool{false, true} {
		addr := s.Addr()
		if stop {
			must(t, s.Stop())
			if c, err := dialRaw(addr); err == nil {
				c.Close()
				t.Fatal("a stopped server has accepted a connection")
			}
		}
		must(t, s.Restart())
		if s.Addr() != addr {
			t.Fatalf("address %s, was %s", s.Addr(), addr)
		}
		if _, err := a.ReadPacket(); err == nil {
			t.Fatal("the old connection still works")
		}
		a = resumed(t, s, a)
		want(t, "exists", do(t, a, opRead(jute.OpExists, "/eph")), jute.OK)
	}
	must(t, s.Close())
	if err := s.Restart(); !errors.Is(err, minizk.ErrClosed) {
		t.Errorf("Restart after Close: %v", err)
	}
}

// TestStoppedServerEndsNoSession: no session expires while the server is stopped, and Restart
// starts all timeouts again.
func TestStoppedServerEndsNoSession(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	want(t, "create", do(t, a, newNode("/eph", "", 1)), jute.OK)
	must(t, s.Stop())
	s.Advance(time.Hour)
	if nodeAt(t, s, "/eph") == nil {
		t.Fatal("a stopped server has ended a session")
	}
	must(t, s.Restart())
	s.Advance(sessionTimeout)
	resumed(t, s, a)
	s.Advance(sessionTimeout + time.Second)
	if nodeAt(t, s, "/eph") != nil || len(s.Sessions()) != 0 {
		t.Errorf("sessions %+v", s.Sessions())
	}
}
