package rawzk

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"mrtq/harness/minizk/wire"
)

// Pipeline sends n requests in batches of window and reads every reply. It does little more
// than copying, so that figures measure the server. body is called for each request and
// appends its record. The first reply that is not OK is an error.
func (c *Conn) Pipeline(n, window int, op wire.OpCode, body func(b []byte, i int) []byte) error {
	var buf []byte
	for done := 0; done < n; {
		if err := c.SetDeadline(time.Now().Add(ioTimeout)); err != nil {
			return err
		}
		batch := min(window, n-done)
		buf = buf[:0]
		for i := range batch {
			start := len(buf)
			buf = append(buf, make([]byte, wire.LenPrefix)...)
			buf = wire.AppendRequestHeader(buf, wire.RequestHeader{Xid: int32(done + i + 1), Op: op})
			buf = body(buf, done+i)
			binary.BigEndian.PutUint32(buf[start:], uint32(len(buf)-start-wire.LenPrefix))
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
		for range batch {
			if err := c.skipReply(); err != nil {
				return err
			}
		}
		done += batch
	}
	return nil
}

// skipReply reads a reply and looks only at its header.
func (c *Conn) skipReply() error {
	head, err := c.r.Peek(wire.LenPrefix + wire.ReplyHeaderLen)
	if err != nil {
		return err
	}
	n := int(binary.BigEndian.Uint32(head))
	h := wire.NewDecoder(head[wire.LenPrefix:]).ReplyHeader()
	if h.Err != wire.OK {
		return fmt.Errorf("rawzk: reply to %d: %w", h.Xid, h.Err)
	}
	_, err = c.r.Discard(wire.LenPrefix + n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
