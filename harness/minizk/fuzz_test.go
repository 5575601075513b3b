//go:build unix

package minizk_test

import (
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// FuzzServer sends arbitrary bytes after a handshake. The server must answer or end the
// connection, and must still work afterwards.
func FuzzServer(f *testing.F) {
	for op := jute.OpCode(-12); op < 110; op++ {
		b := jute.AppendRequestHeader(make([]byte, jute.LenPrefix), jute.RequestHeader{Xid: 1, Op: op})
		b = appendRequest(b, newNode("/fuzz", "x", 0))
		jute.SealFrame(b)
		f.Add(b)
	}
	b := jute.AppendRequestHeader(make([]byte, jute.LenPrefix), jute.RequestHeader{Xid: 1, Op: jute.OpMulti})
	b = appendRequest(b, jute.Request{Op: jute.OpMulti, Ops: []jute.Request{opCreate("/a", 0), opDelete("/a", -1), opSet("/a", "x", -1), opCheck("/", -1)}})
	jute.SealFrame(b)
	f.Add(b)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 { // garbage with a plausible length
		b := make([]byte, 4+rng.IntN(200))
		for j := range b {
			b[j] = byte(rng.Uint32())
		}
		b[0], b[1], b[2], b[3] = 0, 0, 0, byte(len(b)-4)
		f.Add(b)
	}
	s, err := minizk.Start(minizk.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, in []byte) {
		c := plain(t, s)
		write(t, c, append(hello(), in...))
		must(t, c.(*net.TCPConn).CloseWrite())
		ended(t, c)
		s.Advance(time.Minute) // its session and its nodes must be removed
		if s.Snapshot().Get("/") == nil {
			t.Fatalf("the tree is damaged: %v", err)
		}
	})
}
