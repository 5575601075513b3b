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
