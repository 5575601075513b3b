package minizk

import (
	"net"
	"sync"
)

// outQueue holds the packets to send on one connection. The goroutine that reads the connection
// also flushes its replies, when it has nothing left to read. So a client that sends many requests
// at once gets its replies in few writes, and the server stops reading from a client that does not
// read. pushLoop flushes the notifications that other connections cause.
type outQueue struct {
	nc net.Conn

	push chan struct{} // asks pushLoop to flush
	done chan struct{} // closed when the connection is to end
	once sync.Once

	flushing sync.Mutex // held while writing; guards spare
	spare    []byte

	mu       sync.Mutex // guards what follows; taken within Server.mu, never around it
	buf      []byte
	pushed   int  // how many bytes of buf are notifications that other connections caused
	silenced bool // add and notify do nothing any more
}

// keepBuffer is the largest buffer, in bytes, that is kept to be used again. Large replies have
// larger ones.
const keepBuffer = 256 << 10

// maxQueue limits the notifications that wait for a client that does not read, in bytes. Replies need
// no limit: the server stops reading from a client that does not read its replies.
const maxQueue = 16 << 20

func newOutQueue(nc net.Conn) *outQueue {
	return &outQueue{nc: nc, push: make(chan struct{}, 1), done: make(chan struct{})}
}

func (q *outQueue) add(packet []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.silenced {
		q.buf = append(q.buf, packet...)
	}
}

func (q *outQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.buf)
}

// notify queues a packet that another connection caused. It cuts the connection if more than maxQueue
// bytes of such packets wait. The client's own replies do not count, however large, because they
// come only while it sends requests.
func (q *outQueue) notify(packet []byte) {
	q.mu.Lock()
	tooMany := false
	if !q.silenced {
		q.buf = append(q.buf, packet...)
		q.pushed += len(packet)
		tooMany = q.pushed > maxQueue
	}
	q.mu.Unlock()
	if tooMany {
		q.abort()
		return
	}
	select {
	case q.push <- struct{}{}:
	default: // pushLoop has been asked already, and will send this packet too
	}
}

func (q *outQueue) flush() error {
	q.flushing.Lock()
	defer q.flushing.Unlock()
	q.mu.Lock()
	b := q.buf
	q.buf, q.pushed = q.spare[:0], 0
	q.mu.Unlock()
	q.spare = nil
	if len(b) == 0 {
		q.spare = b
		return nil
	}
	_, err := q.nc.Write(b)
	if cap(b) <= keepBuffer {
		q.spare = b
	}
	return err
}

func (q *outQueue) pushLoop() {
	for {
		select {
		case <-q.done:
			return
		case <-q.push:
			if q.flush() != nil {
				q.abort()
				return
			}
		}
	}
}

// silence makes the queue ignore further packets. Queued packets may still be flushed.
func (q *outQueue) silence() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.silenced = true
}

// abort ends the connection at once. The reader notices at its next read.
func (q *outQueue) abort() {
	q.silence()
	q.once.Do(func() {
		close(q.done)
		q.nc.Close()
	})
}
