package harness_test

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
)

// Ticks limit session timeouts. A silent session ends, with its ephemeral znodes,
// because the server uses the machine's clock.
func TestEmbeddedSessionsExpire(t *testing.T) {
	s := harness.ForTest(t, harness.Embedded, harness.Options{TickTime: 10 * time.Millisecond})
	var dialled atomic.Pointer[net.Conn]
	lost := connectBy(t, time.Second, func(network, address string, timeout time.Duration) (net.Conn, error) {
		if dialled.Load() != nil {
			return nil, errors.New("cut off")
		}
		conn, err := net.DialTimeout(network, address, timeout)
		dialled.Store(&conn)
		return conn, err
	}, s.Address())
	value(lost.Create("/session", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)))(t)
	there, _, gone, err := connect(t, s.Address()).ExistsW("/session")
	if err != nil || !there {
		t.Fatalf("%t, %v", there, err)
	}
	(*dialled.Load()).Close()
	select {
	case e := <-gone:
		if e.Type != zk.EventNodeDeleted {
			t.Errorf("got %v", e)
		}
	case <-time.After(10 * time.Second): // twenty ticks are 0.2 s
		t.Error("/session outlives its session")
	}
}
