package client_test

import (
	"sync"

	"github.com/go-zookeeper/zk"

	"mrtq/newqueue/client"
)

// hooked is a connection that a test interferes with. A hook that is nil does nothing.
type hooked struct {
	client.Conn
	session *session
	read    func(path string) error // before each read
	seen    func(path string)       // after each Stat that was read
	watched func(path string)       // after each watch that was set
	reading sync.RWMutex            // a test that holds it keeps the queue from reading

	mu    sync.Mutex
	multi func(send) ([]zk.MultiResponse, error) // instead of a transaction
}

type send func() ([]zk.MultiResponse, error)

func (w *world) hooked(opts ...client.Option) (*hooked, *client.Queue) {
	w.t.Helper()
	conn, s := connect(w.t, address(w.t))
	c := &hooked{Conn: conn, session: s}
	return c, client.Open(c, w.d, append([]client.Option{client.WithRoot(w.root)}, opts...)...)
}

// next sets a hook for the next transaction only. nil takes the hook away.
func (c *hooked) next(hook func(send) ([]zk.MultiResponse, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hook == nil {
		c.multi = nil
		return
	}
	c.multi = func(s send) ([]zk.MultiResponse, error) {
		c.mu.Lock()
		c.multi = nil
		c.mu.Unlock()
		return hook(s)
	}
}

// meddle lets another client do something between a decision's last read and its write.
func (c *hooked) meddle(do func()) {
	c.next(func(s send) ([]zk.MultiResponse, error) { do(); return s() })
}

// lose loses the answer of the next write: before the write is sent, or after the server
// has done it. Then others do something.
func (c *hooked) lose(before bool, others ...func()) {
	c.next(func(s send) ([]zk.MultiResponse, error) {
		if !before {
			if _, err := s(); err != nil {
				return nil, err
			}
		}
		for _, do := range others {
			do()
		}
		return nil, zk.ErrConnectionClosed
	})
}

func (c *hooked) Multi(ops ...any) ([]zk.MultiResponse, error) {
	c.mu.Lock()
	hook := c.multi
	c.mu.Unlock()
	send := func() ([]zk.MultiResponse, error) { return c.Conn.Multi(ops...) }
	if hook == nil {
		return send()
	}
	return hook(send)
}

func (c *hooked) before(path string) error {
	if c.read == nil {
		return nil
	}
	return c.read(path)
}

// reconnect lets a client whose queue was kept from reading connect again. The queue reads when
// a watch has fired: go-zookeeper's sendSetWatches and recvLoop race for lastZxid if another
// answer comes before it has set its watches again (go-zookeeper/zk, pull request 35).
func (c *hooked) reconnect(back func()) {
	back()
	<-c.session.fired
	c.reading.Unlock()
}

func (c *hooked) Get(path string) ([]byte, *zk.Stat, error) {
	c.reading.RLock()
	defer c.reading.RUnlock()
	if err := c.before(path); err != nil {
		return nil, nil, err
	}
	return c.Conn.Get(path)
}

func (c *hooked) Exists(path string) (bool, *zk.Stat, error) {
	c.reading.RLock()
	defer c.reading.RUnlock()
	if err := c.before(path); err != nil {
		return false, nil, err
	}
	ok, stat, err := c.Conn.Exists(path)
	if c.seen != nil {
		c.seen(path)
	}
	return ok, stat, err
}

func (c *hooked) Children(path string) ([]string, *zk.Stat, error) {
	c.reading.RLock()
	defer c.reading.RUnlock()
	if err := c.before(path); err != nil {
		return nil, nil, err
	}
	return c.Conn.Children(path)
}

func (c *hooked) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, changed, err := c.Conn.ChildrenW(path)
	if err == nil && c.watched != nil {
		c.watched(path)
	}
	return names, stat, changed, err
}

func (c *hooked) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	ok, stat, changed, err := c.Conn.ExistsW(path)
	if err == nil && c.watched != nil {
		c.watched(path)
	}
	return ok, stat, changed, err
}
