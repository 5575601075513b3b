package session_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"mrtq/harness/internal/session"
	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
)

// A session is one connection. If there is none, mrtq's own client says why.
func TestOpen(t *testing.T) {
	s, err := minizk.Start(minizk.Options{Private: true, RealTime: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var dials atomic.Int32
	var down atomic.Bool
	cfg := zkconn.Config{Address: zkconn.Address{Servers: []string{"127.0.0.1:0"}}, GiveUpAfter: time.Second, Dial: func(ctx context.Context) (net.Conn, error) {
		if dials.Add(1); down.Load() {
			return nil, errors.New("down")
		}
		return s.Dial(ctx)
	}}
	conn, err := session.Open(t.Context(), cfg)
	if err != nil || dials.Load() != 1 {
		t.Fatalf("%d connections, %v", dials.Load(), err)
	}
	conn.Close()
	down.Store(true)
	if _, err := session.Open(t.Context(), cfg); !errors.As(err, new(*zkconn.ConnectError)) {
		t.Errorf("nobody is there: %v", err)
	}
}
