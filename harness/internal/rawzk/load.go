package rawzk

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"mrtq/internal/jute"
)

// resultHeaderLen is the width of a [jute.MultiHeader], in bytes.
const resultHeaderLen = 9

// Pipeline sends n requests in batches of window and reads every reply. It does little more than
// copy bytes, so that figures show the server's work and not the client's. It calls body for each
// request, which appends the request's record to b. If a reply is not OK, Pipeline returns its error
// and stops.
func (c *Conn) Pipeline(n, window int, op jute.OpCode, body func(b []byte, i int) []byte) error {
	var buf []byte
	for done := 0; done < n; {
		if err := c.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
			return err
		}
		batch := min(window, n-done)
		buf = buf[:0]
		for i := range batch {
			start := len(buf)
			buf = append(buf, make([]byte, jute.LenPrefix)...)
			buf = jute.AppendRequestHeader(buf, jute.RequestHeader{Xid: int32(done + i + 1), Op: op})
			buf = body(buf, done+i)
			binary.BigEndian.PutUint32(buf[start:], uint32(len(buf)-start-jute.LenPrefix))
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
		for range batch {
			if err := c.skipReply(op == jute.OpMulti); err != nil {
				return err
			}
		}
		done += batch
	}
	return nil
}

// skipReply reads a reply and looks only at its header. For a multi it also looks at the header of
// the first result, because only the results of a refused multi say that it was refused.
func (c *Conn) skipReply(multi bool) error {
	head, err := c.r.Peek(jute.LenPrefix + jute.ReplyHeaderLen)
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(head))
	h := jute.NewDecoder(head[jute.LenPrefix:]).ReplyHeader()
	if h.Err != jute.OK {
		return fmt.Errorf("rawzk: reply to %d: %w", h.Xid, h.Err)
	}
	if multi {
		const headers = jute.LenPrefix + jute.ReplyHeaderLen + resultHeaderLen
		if head, err = c.r.Peek(headers); err != nil {
			return err
		}
		result := jute.NewDecoder(head[jute.LenPrefix+jute.ReplyHeaderLen:]).MultiHeader()
		if result.Op == jute.OpError && !result.Done {
			return fmt.Errorf("rawzk: reply to %d, a multi: it was refused", h.Xid)
		}
	}
	_, err = c.r.Discard(jute.LenPrefix + n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Stream sends n requests with about window of them under way, and reads every reply. If a reply is
// not OK, or a multi was refused, Stream returns that as an error and closes the connection.
func (c *Conn) Stream(n, window int, request func(i int) (jute.OpCode, []byte)) error {
	underWay, over := make(chan jute.OpCode, window), make(chan struct{})
	sent := make(chan error, 1)
	go func() {
		sent <- c.sendAll(n, underWay, over, request)
		close(underWay)
	}()
	for op := range underWay {
		err := c.SetReadDeadline(time.Now().Add(ioTimeout))
		if err == nil {
			err = c.skipReply(op == jute.OpMulti)
		}
		if err != nil {
			close(over)
			c.Close() // otherwise a sender that waits for the server would wait for ever
			<-sent
			return err
		}
	}
	return <-sent
}

// sendAll sends the requests. It stops when over is closed.
func (c *Conn) sendAll(n int, underWay chan<- jute.OpCode, over <-chan struct{}, request func(i int) (jute.OpCode, []byte)) error {
	for i := range n {
		op, body := request(i)
		if err := c.SetWriteDeadline(time.Now().Add(ioTimeout)); err != nil {
			return err
		}
		if err := c.QueueXid(int32(i+1), op, body); err != nil {
			return err
		}
		select {
		case underWay <- op:
			continue
		default:
		}
		if err := c.Flush(); err != nil {
			return err
		}
		select {
		case underWay <- op:
		case <-over:
			return nil
		}
	}
	return c.Flush()
}
