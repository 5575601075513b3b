package client_test

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/newqueue"
	"mrtq/newqueue/client"
)

// counting returns a queue and counts its transactions.
func (w *world) counting(opts ...client.Option) (*atomic.Int32, *client.Queue) {
	w.t.Helper()
	c, q := w.hooked(opts...)
	n := new(atomic.Int32)
	c.multi = func(send send) ([]zk.MultiResponse, error) { n.Add(1); return send() }
	return n, q
}

// TestAcquireLooksFirst: a worker that takes one job after the other sends one transaction for each,
// however many jobs before it are locked.
func TestAcquireLooksFirst(t *testing.T) {
	const jobs = 60
	eachDialect(t, func(t *testing.T, w *world) {
		batchOf(t, w.queue(), jobs)
		counter, q := w.counting()
		for range jobs {
			value(q.AcquireJob(ctx, newqueue.JobPending))(t)
		}
		// A queue finds out once which folder of the holds is missing.
		if n := counter.Load(); n > jobs+3 {
			t.Errorf("%d transactions for %d jobs", n, jobs)
		}
		if j, err := q.AcquireJob(ctx, newqueue.JobPending); err == nil {
			t.Errorf("acquired %s a second time", j.ID)
		}
		w.check()
	})
}

// TestAcquireRoundTrips: an acquisition takes at most six round trips, because it asks at once for
// what does not depend on an earlier answer. In the bubble of package synctest a second takes no time.
func TestAcquireRoundTrips(t *testing.T) {
	shared.LargeParts(t)
	for _, d := range newqueue.Dialects {
		for what, c := range acquirings {
			t.Run(fmt.Sprintf("%s/%s", what, d), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					conn := bubbled(t)
					near := client.Open(conn, d)
					must(t, near.Lock(ctx, newqueue.QueueLock(newqueue.HoldIngest))) // the folder of the holds is there
					must(t, near.Unlock(ctx, newqueue.QueueLock(newqueue.HoldIngest)))
					c.prepare(t, near)
					slow := &hooked{
						Conn:  conn,
						read:  func(string) error { time.Sleep(time.Second); return nil },
						multi: func(send send) ([]zk.MultiResponse, error) { time.Sleep(time.Second); return send() },
					}
					began := time.Now()
					value(c.acquire(ctx, client.Open(slow, d)))(t)
					if trips := time.Since(began) / time.Second; trips > 6 {
						t.Errorf("%d round trips", trips)
					}
				})
			})
		}
	}
}

// bubbled connects to a server inside the test's bubble.
func bubbled(t *testing.T) *zk.Conn {
	t.Helper()
	server := value(minizk.Start(minizk.Options{Private: true, RealTime: true}))(t)
	t.Cleanup(func() { _ = server.Close() })
	dial := func(string, string, time.Duration) (net.Conn, error) { return server.Dial(ctx) }
	conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, 10*time.Second, zk.WithLogger(silent{}), zk.WithDialer(dial))
	must(t, err)
	t.Cleanup(conn.Close)
	return conn
}

// TestHowLongARequestIsTried: docs/library.md says how long.
func TestHowLongARequestIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := func(conn client.Conn) time.Duration {
			began := time.Now()
			if _, err := client.Open(conn, newqueue.Design).IsLocked(ctx, newqueue.QueueLock(newqueue.HoldIngest)); err == nil {
				t.Error("no error")
			}
			return time.Since(began).Round(time.Second)
		}
		conn := bubbled(t)
		if d := took(&hooked{Conn: conn, read: func(string) error { return zk.ErrConnectionClosed }}); d != 2*time.Second {
			t.Errorf("each try fails at once: %v", d)
		}
		refuse := func(string, string, time.Duration) (net.Conn, error) { return nil, net.ErrClosed }
		conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, 10*time.Second, zk.WithLogger(silent{}), zk.WithDialer(refuse))
		must(t, err)
		defer conn.Close()
		if d := took(conn); d < 18*time.Second || d > 22*time.Second {
			t.Errorf("all servers refuse the connection: %v", d)
		}
	})
}
