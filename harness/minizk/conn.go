package minizk

import (
	"bufio"
	"encoding/binary"
	"net"
	"time"

	"mrtq/internal/jute"
	"mrtq/internal/ztree"
)

type conn struct {
	s     *Server
	nc    net.Conn
	br    *bufio.Reader
	out   *outQueue
	frame []byte  // reused for each request
	req   request // reused for each request

	// Server.mu guards what follows.
	since        time.Time // when it was accepted
	session      *session  // nil before the handshake
	ids          []jute.ID
	received     int64
	last         lastOp
	event, reply []byte // reused for each packet
}

// readBuffer, in bytes, is enough for a burst of small requests. It is no larger because there may
// be ten thousand connections.
const readBuffer = 16 << 10

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{
		s: s, nc: nc, br: bufio.NewReaderSize(nc, readBuffer),
		out: newOutQueue(nc), ids: identitiesOf(nc),
	}
	if s.opt.Super {
		c.addIdentity(ztree.Super)
	}
	return c
}

// serve serves a connection: one four-letter word, or a handshake and then requests one by one.
// Data that cannot be answered ends the connection.
func (c *conn) serve() {
	defer c.out.abort()
	// This removes the connection's watches before the client can see that the connection ended.
	defer func() {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		c.s.disconnected(c)
	}()
	head, err := c.br.Peek(jute.LenPrefix)
	if err != nil {
		return
	}
	if word := string(head); isWord(word) {
		c.s.answerWord(word, c.nc)
		return
	}
	if !c.handshake() {
		return
	}
	for c.next() {
		if !c.handle() {
			// The replies that are queued already are still sent.
			c.out.silence()
			_ = c.out.flush() // the connection is ending either way
			return
		}
	}
}

// flushAt is how many bytes of replies may wait while the client keeps sending. So the server
// holds at most this and one reply for a client that never reads.
const flushAt = 64 << 10

// next reads a frame. If the read may have to wait, next first flushes the replies. It returns
// false if the connection must end.
func (c *conn) next() bool {
	if c.out.waiting() > flushAt || !c.frameReady() {
		c.req = request{} // the wait may be long, so a large buffer is not kept
		if c.out.flush() != nil {
			return false
		}
	}
	b, err := jute.ReadFrame(c.br, c.frame[:0], c.s.opt.MaxBuffer)
	if err != nil {
		return false
	}
	if cap(b) <= keepBuffer {
		c.frame = b
	}
	c.req.payload = b
	return true
}

func (c *conn) frameReady() bool {
	have := c.br.Buffered()
	if have < jute.LenPrefix {
		return false
	}
	head, err := c.br.Peek(jute.LenPrefix)
	return err == nil && have-jute.LenPrefix >= int(binary.BigEndian.Uint32(head))
}

// Notify implements ztree.Watcher. The caller holds Server.mu.
func (c *conn) Notify(e jute.WatcherEvent) {
	b := append(c.event[:0], make([]byte, jute.LenPrefix)...)
	b = jute.AppendReplyHeader(b, jute.ReplyHeader{Xid: jute.XidNotification, Zxid: -1})
	b = jute.AppendWatcherEvent(b, e)
	jute.SealFrame(b)
	c.event = b
	if c == c.s.current {
		c.out.add(b) // the next reply flushes it
		return
	}
	c.out.notify(b)
}

// Identities implements ztree.Watcher. The caller holds Server.mu.
func (c *conn) Identities() []jute.ID { return c.ids }

// caller returns the session and the identities of this connection. Hold Server.mu to call it.
func (c *conn) caller() ztree.Caller {
	return ztree.Caller{Session: c.session.id, IDs: c.ids}
}

// alive reports whether the connection may still send requests. It is false once the connection
// was cut, or its session has ended or has moved to another connection. Then requests are not
// done, even if the server received them before. The caller holds Server.mu.
func (c *conn) alive() bool {
	select {
	case <-c.out.done:
		return false
	default:
		return c.s.sessions.byID[c.session.id] == c.session && c.session.conn == c
	}
}
