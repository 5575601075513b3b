package zkconn

import (
	"encoding/binary"
	"net"
)

// The client library has no call that sends a multi and returns before the
// answer, and two calls from two goroutines race for the wire. So that
// [Writer.Start] can keep its order, the connection tells when a multi has
// been written: the library writes every packet with one Write.

// observedConn tells its session of every multi that goes out.
type observedConn struct {
	net.Conn
	s         *session
	connected bool // the first packet, the connect request, went out
}

const (
	// Of a request packet: length, xid, opcode, 4 bytes each, big-endian.
	opcodeOffset = 4 + 4
	opcodeMulti  = 14
)

func (c *observedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		return n, err
	}
	if c.connected && len(b) >= opcodeOffset+4 && binary.BigEndian.Uint32(b[opcodeOffset:]) == opcodeMulti {
		c.s.multiWritten()
	}
	c.connected = true
	return n, nil
}

// expectMulti gives a channel that is closed when the next multi is written.
func (s *session) expectMulti() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = make(chan struct{})
	return s.written
}

func (s *session) multiWritten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written != nil {
		close(s.written)
		s.written = nil
	}
}
