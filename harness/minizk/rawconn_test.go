package minizk_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"

	"mrtq/internal/jute"
)

// ioTimeout is the limit of every read and write. So if a server is silent, the test fails and does
// not hang.
const ioTimeout = 20 * time.Second

// maxReply is the longest reply accepted, in bytes: a million children fit.
const maxReply = 1 << 27

// rawConn is a bare ZooKeeper client. It sends the packets that it is given, and returns the
// packets that come back, in order. So a test sees what ordinary clients hide: exact reply bytes,
// the order of notifications and replies, malformed packets, pipelining. It is not safe for
// concurrent use, except that one goroutine may send while another reads.
type rawConn struct {
	net.Conn
	r   *bufio.Reader
	w   *bufio.Writer
	xid int32

	// Session is the server's answer to Connect.
	Session jute.ConnectResponse
}

var errOtherXid = errors.New("a reply to xid")

type rawPacket struct {
	jute.ReplyHeader
	Body []byte
}

func dialRaw(addr string) (*rawConn, error) {
	c, err := net.DialTimeout("tcp", addr, ioTimeout)
	if err != nil {
		return nil, err
	}
	return newRaw(c), nil
}

func newRaw(c net.Conn) *rawConn {
	return &rawConn{Conn: c, r: bufio.NewReaderSize(c, 64<<10), w: bufio.NewWriterSize(c, 64<<10)}
}

func openRaw(addr string, timeout time.Duration) (*rawConn, error) {
	c, err := dialRaw(addr)
	if err != nil {
		return nil, err
	}
	_, err = c.Connect(jute.ConnectRequest{TimeoutMillis: int32(timeout.Milliseconds()), Password: make([]byte, jute.PasswordLen), HasReadOnly: true})
	if err != nil {
		c.Close()
		return nil, err
	}
	if c.Session.TimeoutMillis == 0 {
		c.Close()
		return nil, fmt.Errorf("session refused by %s", addr)
	}
	return c, nil
}

// Connect sends the first packet, which opens or resumes a session, and returns the answer. If the
// server refuses the session, the answer's TimeoutMillis is 0.
func (c *rawConn) Connect(req jute.ConnectRequest) (jute.ConnectResponse, error) {
	if err := c.WriteFrame(jute.AppendConnectRequest(nil, req)); err != nil {
		return jute.ConnectResponse{}, err
	}
	b, err := c.ReadFrame()
	if err != nil {
		return jute.ConnectResponse{}, err
	}
	d := jute.NewDecoder(b)
	resp := d.ConnectResponse()
	if err := end(d); err != nil {
		return jute.ConnectResponse{}, err
	}
	c.Session = resp
	return resp, nil
}

// Queue buffers a request for Flush and returns its xid.
func (c *rawConn) Queue(op jute.OpCode, body []byte) (int32, error) {
	c.xid++
	return c.xid, c.QueueXid(c.xid, op, body)
}

// QueueXid buffers a request for Flush with the given xid.
func (c *rawConn) QueueXid(xid int32, op jute.OpCode, body []byte) error {
	var head [12]byte
	b := jute.AppendInt(head[:0], int32(8+len(body)))
	b = jute.AppendRequestHeader(b, jute.RequestHeader{Xid: xid, Op: op})
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	_, err := c.w.Write(body)
	return err
}

// Flush sends the buffered requests.
func (c *rawConn) Flush() error {
	if err := c.SetWriteDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	return c.w.Flush()
}

// WriteFrame sends payload with its length before it.
func (c *rawConn) WriteFrame(payload []byte) error {
	if _, err := c.w.Write(jute.AppendInt(nil, int32(len(payload)))); err != nil {
		return err
	}
	if _, err := c.w.Write(payload); err != nil {
		return err
	}
	return c.Flush()
}

// ReadFrame reads one payload.
func (c *rawConn) ReadFrame() ([]byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(ioTimeout)); err != nil {
		return nil, err
	}
	return jute.ReadFrame(c.r, nil, maxReply)
}

// ReadPacket reads the next reply or notification.
func (c *rawConn) ReadPacket() (rawPacket, error) {
	b, err := c.ReadFrame()
	if err != nil {
		return rawPacket{}, err
	}
	d := jute.NewDecoder(b)
	h := d.ReplyHeader()
	if d.Err() != nil {
		return rawPacket{}, d.Err()
	}
	return rawPacket{ReplyHeader: h, Body: b[jute.ReplyHeaderLen:]}, nil
}

// Do sends one request and reads up to its reply. It also returns the notifications that came before
// the reply, in their order.
func (c *rawConn) Do(op jute.OpCode, body []byte) (reply rawPacket, before []rawPacket, err error) {
	xid, err := c.Queue(op, body)
	if err != nil {
		return rawPacket{}, nil, err
	}
	return c.await(xid)
}

// DoXid does the same as Do, with the given xid.
func (c *rawConn) DoXid(xid int32, op jute.OpCode, body []byte) (reply rawPacket, before []rawPacket, err error) {
	if err := c.QueueXid(xid, op, body); err != nil {
		return rawPacket{}, nil, err
	}
	return c.await(xid)
}

func (c *rawConn) await(xid int32) (reply rawPacket, before []rawPacket, err error) {
	if err := c.Flush(); err != nil {
		return rawPacket{}, nil, err
	}
	for {
		p, err := c.ReadPacket()
		if err != nil {
			return rawPacket{}, before, err
		}
		if p.Xid == jute.XidNotification && xid != jute.XidNotification {
			before = append(before, p)
			continue
		}
		if p.Xid != xid {
			return p, before, fmt.Errorf("%w %d instead of %d", errOtherXid, p.Xid, xid)
		}
		return p, before, nil
	}
}
