package minizk_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	zkclient "github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
)

// A private server has no port. It serves clients in the same process, also after a
// restart.
func TestPrivate(t *testing.T) {
	zk := run(t, minizk.Options{Private: true})
	if zk.Addr() != "private" {
		t.Errorf("its address is %s", zk.Addr())
	}
	conn, events, err := zkclient.Connect([]string{"127.0.0.1:1"}, 10*time.Second, zkclient.WithLogInfo(false), zkclient.WithLogger(silence{}),
		zkclient.WithDialer(func(_, _ string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			return zk.Dial(ctx)
		}))
	must(t, err)
	defer func() {
		conn.Close()
		for range events {
		}
	}()
	big := make([]byte, 900<<10) // more than a pipe holds
	must(t, errorOf(conn.Create("/a", big, zkclient.FlagEphemeral, zkclient.WorldACL(zkclient.PermAll))))
	must(t, zk.Stop())
	if _, err := zk.Dial(t.Context()); !errors.Is(err, minizk.ErrClosed) {
		t.Errorf("dial a stopped server: %v", err)
	}
	must(t, zk.Restart())
	for {
		data, _, err := conn.Get("/a")
		if errors.Is(err, zkclient.ErrConnectionClosed) || errors.Is(err, zkclient.ErrNoServer) || errors.Is(err, io.ErrClosedPipe) {
			continue // the client is connecting
		}
		if err != nil || len(data) != len(big) {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		break
	}
}
