package zkconn

import (
	"net"
	"sync"
)

// outbox writes packets in their order, all together that have come while the last
// were being written. A system call for each would be the largest part of what it
// costs to read many small znodes.
type outbox struct {
	conn   net.Conn
	failed func(error) // is told of the first write that failed, and must close the outbox

	mu      sync.Mutex
	changed sync.Cond
	waiting []byte
	closed  bool
}

// fullOutbox is how many bytes wait before put does: a few transactions.
const fullOutbox = 1 << 20

func newOutbox(conn net.Conn, failed func(error)) *outbox {
	o := &outbox{conn: conn, failed: failed}
	o.changed.L = &o.mu
	go o.run()
	return o
}

// put leaves a packet to be written.
func (o *outbox) put(packet []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) > fullOutbox && !o.closed {
		o.changed.Wait()
	}
	o.waiting = append(o.waiting, packet...)
	o.changed.Broadcast()
}

// close gives up what was not written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

func (o *outbox) run() {
	var writing []byte
	for {
		o.mu.Lock()
		for len(o.waiting) == 0 && !o.closed {
			o.changed.Wait()
		}
		if o.closed {
			o.mu.Unlock()
			return
		}
		writing, o.waiting = o.waiting, writing[:0]
		o.changed.Broadcast()
		o.mu.Unlock()
		if _, err := o.conn.Write(writing); err != nil {
			o.failed(err)
			return
		}
	}
}
