package zkconn

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"mrtq/internal/jute"
)

// conn is one connection of a session, from the end of its handshake on. Two goroutines
// serve it: one writes the requests that callers queue, and pings; the other reads the
// answers. The server answers requests in their order. So the oldest request under way is
// the one whose answer comes next, and an answer to another one breaks the connection.
type conn struct {
	s       *session
	net     *idleConn
	in      *bufio.Reader
	timeout time.Duration // of the session, as granted by the server
	wake    chan struct{} // holds a token if requests are to be written
	broken  chan struct{} // closed when err is set
	running sync.WaitGroup

	mu      sync.Mutex
	err     error // why the connection is broken; nil while it is open
	xid     int32 // of the newest request
	out     []byte
	pending []*call // the requests under way, oldest first
}

type call struct {
	packet []byte
	reads  int // how many znodes it reads

	xid  int32
	done chan struct{} // closed when it has an answer, or can't get one any more
	code jute.Code
	body []byte // the answer, without its header
	err  error  // a *brokenError; or a *ResponseTooLargeError, if fewer znodes may be asked for
}

// newPacket begins a request. Its length and xid are filled in when it is sent.
func newPacket(op jute.OpCode, size int) []byte {
	return jute.AppendRequestHeader(make([]byte, jute.LenPrefix, jute.LenPrefix+8+size), jute.RequestHeader{Op: op})
}

// newCall makes a request of a whole packet, which reads this many znodes.
func newCall(packet []byte, reads int) *call {
	jute.SealFrame(packet)
	return &call{packet: packet, reads: reads, done: make(chan struct{})}
}

const readBufferSize = 64 << 10

func newConn(s *session, nc *idleConn, in *bufio.Reader, timeout time.Duration) *conn {
	nc.limit = min(timeout*2/3, s.cfg.GiveUpAfter/2) // so there is time for another attempt
	nc.extendDeadline()
	c := &conn{
		s: s, net: nc, in: in, timeout: timeout,
		wake: make(chan struct{}, 1), broken: make(chan struct{}),
	}
	s.cfg.Log.Debug("zookeeper connection", "server", nc.RemoteAddr(), "timeout", timeout)
	c.running.Go(c.writeRequests)
	c.running.Go(func() {
		for {
			if err := c.readAnswer(); err != nil {
				c.fail(err)
				return
			}
		}
	})
	return c
}

func (c *conn) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

func (c *conn) send(r *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	if c.xid++; c.xid < 0 { // negative ones have a meaning of their own
		c.xid = 1
	}
	r.xid = c.xid
	binary.BigEndian.PutUint32(r.packet[jute.LenPrefix:], uint32(r.xid))
	if len(c.pending) == 0 {
		c.net.extendDeadline()
	}
	c.pending = append(c.pending, r)
	c.queue(r.packet)
	return true
}

// queue adds a packet to those that are written next. The caller holds c.mu.
func (c *conn) queue(packet []byte) {
	c.out = append(c.out, packet...)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// writeRequests writes what is queued, and pings so that the server keeps the session and
// answers.
func (c *conn) writeRequests() {
	ping := jute.AppendRequestHeader(make([]byte, jute.LenPrefix), jute.RequestHeader{Xid: jute.XidPing, Op: jute.OpPing})
	jute.SealFrame(ping)
	tick := time.NewTicker(c.net.limit / 2)
	defer tick.Stop()
	var written []byte // a buffer for the next requests
	for {
		select {
		case <-c.broken:
			return
		case <-c.wake:
		case <-tick.C:
			c.mu.Lock()
			c.queue(ping)
			c.mu.Unlock()
		}
		c.mu.Lock()
		out := c.out
		c.out = written[:0]
		c.mu.Unlock()
		if _, err := c.net.Write(out); err != nil {
			c.fail(err)
			return
		}
		written = out
	}
}

func (c *conn) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) > 0
}

func (c *conn) readAnswer() error {
	head, err := c.in.Peek(jute.LenPrefix)
	if err != nil {
		return err
	}
	size := int64(binary.BigEndian.Uint32(head)) - jute.ReplyHeaderLen
	if size < 0 {
		return errAnswer
	}
	if head, err = c.in.Peek(jute.LenPrefix + jute.ReplyHeaderLen); err != nil {
		return err
	}
	h := jute.NewDecoder(head[jute.LenPrefix:]).ReplyHeader()
	c.in.Discard(len(head))
	// A server that answers pings may have lost a request. So while one is under way, only answers count.
	if h.Xid != jute.XidPing || !c.asked() {
		c.net.received()
		c.net.answering = true
		defer func() { c.net.answering = false }()
	}
	if h.Xid == jute.XidPing {
		_, err = io.CopyN(io.Discard, c.in, size)
		return err
	}
	return c.answer(h, size)
}

// answer gives an answer, of which size bytes are still to be read, to its request.
func (c *conn) answer(h jute.ReplyHeader, size int64) error {
	c.mu.Lock()
	if len(c.pending) == 0 || c.pending[0].xid != h.Xid {
		c.mu.Unlock()
		return errAnswer
	}
	r := c.pending[0]
	c.mu.Unlock()
	var body []byte
	var tooLarge error
	if whole, limit := size+jute.ReplyHeaderLen, c.s.cfg.MaxResponse; whole > int64(limit) {
		tooLarge = &ResponseTooLargeError{Size: int(whole), Limit: limit}
		if r.reads < 2 {
			c.s.end(tooLarge)
			return tooLarge
		}
		// The answers about fewer znodes may be short enough.
		if _, err := io.CopyN(io.Discard, c.in, size); err != nil {
			return err
		}
	} else {
		var err error
		if body, err = jute.ReadPayload(c.in, int32(size), make([]byte, 0, min(size, initialAlloc)), limit); err != nil {
			return err
		}
	}
	c.s.seen.Store(max(c.s.seen.Load(), h.Zxid))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err // the request has been told that already
	}
	c.pending = c.pending[1:]
	r.code, r.body, r.err = h.Err, body, tooLarge
	c.s.done(r)
	return nil
}

// initialAlloc is how many bytes an answer gets before they come. More is allocated as they come,
// because its length may be a lie.
const initialAlloc = 1 << 20

// fail breaks the connection. The requests under way get no answer.
// Only the first call counts.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = &brokenError{plainCause(err)}
	close(c.broken)
	c.net.Close()
	if slices.ContainsFunc(c.pending, func(r *call) bool { return r.reads > 1 }) {
		c.s.many.cut(errors.Is(err, os.ErrDeadlineExceeded))
	}
	for _, r := range c.pending {
		r.err = c.err
		c.s.done(r)
	}
	c.pending, c.out = nil, nil
}

func (c *conn) finish(cause error) {
	r := newCall(newPacket(jute.OpCloseSession, 0), 0)
	if c.send(r) {
		select {
		case <-r.done:
		case <-time.After(closeTimeout):
		}
	}
	c.fail(cause)
}

const closeTimeout = time.Second

// idleConn is a network connection on which each wait for an answer has a limit. Without requests
// under way, the answers to pings count. A long answer may take its time.
type idleConn struct {
	net.Conn
	limit     time.Duration
	answering bool   // what is read now belongs to an answer
	beat      func() // called with each part of an answer
}

func (p *idleConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if n > 0 && p.answering {
		p.received()
	}
	return n, err
}

func (p *idleConn) received() {
	p.extendDeadline()
	p.beat()
}

func (p *idleConn) extendDeadline() { p.SetReadDeadline(time.Now().Add(p.limit)) }
