package harness

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"mrtq/internal/zkconn"
)

// A server may take longer to bind its port than zkconn tries by default. Only the context ends
// the attempt.
func TestSlowStart(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second) // by default it is 5 s
	defer cancel()
	err = withSession(ctx, []string{host}, Client{}, func(*zkconn.Writer) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it gave up before the context ended: %v", err)
	}
}
