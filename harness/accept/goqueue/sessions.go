package goqueue

import (
	"context"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/newqueue/client"
)

// sessions keeps the open sessions that no scenario uses at the moment. Later
// scenarios use them again, because opening a session takes longer than most
// scenarios. The locks and watches of an earlier scenario do not matter, because they
// are in another chroot.
type sessions struct {
	cfg zkconn.Config

	mu   sync.Mutex
	idle []*zk.Conn
}

// take returns a session, which the caller puts back or closes.
func (p *sessions) take(ctx context.Context) (*zk.Conn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		defer p.mu.Unlock()
		conn := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return conn, nil
	}
	p.mu.Unlock()
	return session.Open(ctx, p.cfg)
}

func (p *sessions) put(conn *zk.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, conn)
}

// close closes all sessions that were put back.
func (p *sessions) close() {
	var closing sync.WaitGroup
	for _, conn := range p.idle {
		closing.Go(conn.Close)
	}
	closing.Wait()
}

// unsorted lists children in reverse order. ZooKeeper does not promise an order, and
// this detects code that relies on one.
type unsorted struct{ client.Conn }

func (u unsorted) Children(path string) ([]string, *zk.Stat, error) {
	names, stat, err := u.Conn.Children(path)
	return lastFirst(names), stat, err
}

func (u unsorted) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, changed, err := u.Conn.ChildrenW(path)
	return lastFirst(names), stat, changed, err
}

func lastFirst(names []string) []string {
	slices.Sort(names)
	slices.Reverse(names)
	return names
}
