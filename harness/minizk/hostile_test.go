//go:build unix

package minizk_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

func well(t testing.TB, s *minizk.Server, old *rawConn) {
	t.Helper()
	want(t, "the old client", do(t, old, opRead(jute.OpExists, "/")), jute.OK)
	c, err := openRaw(s.Addr(), sessionTimeout)
	if err != nil {
		t.Fatalf("a new client: %v", err)
	}
	defer c.Close()
	want(t, "the new client", do(t, c, opRead(jute.OpExists, "/")), jute.OK)
}

func ended(t testing.TB, c net.Conn) []byte {
	t.Helper()
	must(t, c.SetReadDeadline(time.Now().Add(20*time.Second)))
	b, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("the server has not ended the connection: %v", err)
	}
	return b
}

func plain(t testing.TB, s *minizk.Server) net.Conn {
	t.Helper()
	c := value(net.Dial("tcp", s.Addr()))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

func write(t testing.TB, c net.Conn, b []byte) {
	t.Helper()
	must(t, errorOf(c.Write(b)))
}

// hello is a valid handshake.
func hello() []byte {
	b := jute.AppendConnectRequest(make([]byte, jute.LenPrefix), jute.ConnectRequest{TimeoutMillis: 4000, Password: make([]byte, 16), HasReadOnly: true})
	jute.SealFrame(b)
	return b
}

// TestHugeLengthTakesNoMemory: the server allocates no memory for a length
// before the bytes arrive.
func TestHugeLengthTakesNoMemory(t *testing.T) {
	s := run(t, minizk.Options{MaxBuffer: 1 << 30})
	old := raw(t, s)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := raw(t, s)
	for _, body := range [][]byte{
		{0x7f, 0xff, 0xff, 0xff},
		append(jute.AppendString(nil, "/a"), 0x7f, 0xff, 0xff, 0xff),
		append(jute.AppendBuffer(jute.AppendString(nil, "/a"), nil), 0x7f, 0xff, 0xff, 0xff),
	} {
		if p, _, err := c.Do(jute.OpCreate, body); err != nil || p.Err != jute.MarshallingError {
			t.Fatalf("%v, %v", p, err)
		}
	}
	for range 20 { // a frame with only its length
		c := plain(t, s)
		write(t, c, jute.AppendInt(nil, 1<<30))
	}
	well(t, s, old)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
}

// TestSlowClients: the server disconnects a client that sends nothing, or only a part of a
// handshake. It also disconnects a client whose session expires in the middle of a request.
func TestSlowClients(t *testing.T) {
	s := run(t, minizk.Options{})
	old, halting := raw(t, s), raw(t, s)
	var slow []net.Conn
	for _, said := range []string{"", "r", "ruo", "\x00\x00\x00\x2d", "\x00\x00\x00\x2d\x00\x00\x00"} {
		c := plain(t, s)
		write(t, c, []byte(said))
		slow = append(slow, c)
	}
	well(t, s, old) // by then the others have been accepted, because connections are accepted in order
	s.Advance(9 * time.Second)
	for _, c := range slow {
		must(t, c.SetReadDeadline(time.Now().Add(time.Millisecond)))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("after 9 s: %v, want it to be open", err)
		}
	}
	s.Advance(2 * time.Second)
	for _, c := range slow {
		ended(t, c)
	}
	well(t, s, old)
	write(t, halting.Conn, []byte{0, 0, 0, 50, 0})
	s.Advance(sessionTimeout - 5*time.Second)
	ended(t, halting.Conn)
	well(t, s, old)
}

// TestClientThatStopsReading: the server stops doing the requests of a client that does not read
// its replies, and disconnects it when too many notifications wait for it. Other clients notice
// nothing.
func TestClientThatStopsReading(t *testing.T) {
	s := run(t, minizk.Options{})
	a := raw(t, s)
	long := "/" + strings.Repeat("n", 10000)
	silent := raw(t, s)
	must(t, silent.Conn.(*net.TCPConn).SetReadBuffer(4096))
	want(t, "watch", do(t, silent, jute.Request{Op: jute.OpAddWatch, Path: "/", Kind: jute.WatchPersistentRecursive}), jute.OK)
	connected := func() bool {
		for _, ss := range s.Sessions() {
			if ss.ID == silent.Session.SessionID {
				return ss.Connected
			}
		}
		return false
	}
	// The kernel takes some megabytes first.
	for i := 0; connected(); i++ {
		if i > 20000 {
			t.Fatal("200 MB of notifications were not enough")
		}
		want(t, "create", do(t, a, newNode(long, "", 0)), jute.OK)
		want(t, "delete", do(t, a, jute.Request{Op: jute.OpDelete, Path: long, Version: -1}), jute.OK)
	}
	well(t, s, a)

	// This client sends requests and never reads. The server holds at most one reply for it.
	want(t, "create", do(t, a, newNode("/big", strings.Repeat("x", 900_000), 0)), jute.OK)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	asker := raw(t, s)
	for range 2000 {
		must(t, errorOf(asker.Queue(packet(opRead(jute.OpGetData, "/big")))))
	}
	must(t, asker.Flush())
	well(t, s, a)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 64<<20 {
		t.Errorf("%d bytes are held for a client that does not read", grown)
	}
}

// TestIdleClientsHoldNoMemory: the memory of a large request and its reply is freed when they are
// done, not when the client sends its next request.
func TestIdleClientsHoldNoMemory(t *testing.T) {
	s := run(t, minizk.Options{})
	old := raw(t, s)
	want(t, "create", do(t, old, newNode("/big", strings.Repeat("x", 1_000_000), 0)), jute.OK)
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	twice := jute.Request{Op: jute.OpMultiRead, Ops: slices.Repeat([]jute.Request{opRead(jute.OpGetData, "/big")}, 2)}
	for range 20 {
		c := raw(t, s)
		want(t, "2 MB", do(t, c, twice), jute.OK)
	}
	well(t, s, old)
	if grown := held() - before; grown > 10<<20 {
		t.Errorf("%d bytes are held for 20 clients that have got all they asked for", grown)
	}
}

// TestManyConnections opens a thousand connections: half of them have sessions, and half send
// nothing.
func TestManyConnections(t *testing.T) {
	const n = 1000
	s := run(t, minizk.Options{})
	old := raw(t, s)
	for i := range n {
		if i%2 == 1 {
			plain(t, s)
			continue
		}
		want(t, "create", do(t, raw(t, s), newNode(fmt.Sprint("/e", i), "", 1)), jute.OK)
	}
	if got := len(s.Sessions()); got != n/2+1 {
		t.Errorf("%d sessions, want %d", got, n/2+1)
	}
	well(t, s, old)
	s.Advance(sessionTimeout + time.Second)
	if tree := s.Snapshot(); tree.Len() != 1 {
		t.Errorf("%d nodes are left", tree.Len())
	}
}
