package zkconn_test

import (
	"testing"
	"time"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// If a znode is deleted while the connection is lost, who waits for that looks again.
func TestGoneWhileDisconnected(t *testing.T) {
	w, p := setup(t, zkconn.Config{})
	direct := w.Address()
	direct.Servers = []string{server(t).Address()}
	other := openWriter(t, zkconn.Config{Address: direct})
	multi(t, w, znode.Create("/a", nil))
	gone, asked := make(chan error, 1), len(p.requests())
	go func() { gone <- w.WaitRemoved(t.Context(), "/a") }()
	eventually(t, func() bool { return len(p.requests()) > asked })
	p.refuse(true)
	multi(t, other, znode.Delete("/a", -1))
	p.refuse(false)
	within(t, time.Minute, "waiting", func() {
		if err := <-gone; err != nil {
			t.Error(err)
		}
	})
}
