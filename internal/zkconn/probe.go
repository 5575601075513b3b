package zkconn

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"regexp"
	"time"
)

// mistakenError is a port that speaks TLS where plain was asked of it, or plain
// where TLS was. Neither tongue has a word for that: such a port closes or keeps
// silent, and so it is asked a second time, in the other.
type mistakenError struct{ tls bool }

func (e *mistakenError) Error() string {
	if e.tls {
		return "the port speaks TLS (it answered a TLS greeting), not ZooKeeper's plain protocol"
	}
	return `the port speaks ZooKeeper's plain protocol, not TLS (it answered "srvr" without TLS)`
}

// probing bounds one question to a port that did not answer as it should.
const probing = 2 * time.Second

// speaksTLS reports whether a port answers a TLS greeting, with whatever
// certificate, or alert: nothing is said to it beyond the greeting.
func (s *session) speaksTLS(network, address string) bool {
	ctx, cancel := context.WithTimeout(s.dialing, probing)
	defer cancel()
	conn, err := s.connect(ctx, network, address)
	if err != nil {
		return false
	}
	defer conn.Close()
	heard := &opening{Conn: conn}
	// Its certificate is of no matter here: no session is opened on this.
	_ = tls.Client(heard, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	return beginsTLS(heard.begins)
}

// opening remembers the first bytes that came.
type opening struct {
	net.Conn
	begins []byte
}

func (o *opening) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	if have := len(o.begins); have < 2 {
		o.begins = append(o.begins, b[:min(n, 2-have)]...)
	}
	return n, err
}

// beginsTLS reports whether bytes begin a TLS record: an alert or a handshake.
func beginsTLS(b []byte) bool {
	return len(b) > 1 && (b[0] == 0x15 || b[0] == 0x16) && b[1] == 3
}

// speaksPlain reports whether a port answers one of ZooKeeper's four-letter
// words, which need no session, or says that it has them switched off.
func (s *session) speaksPlain(network, address string) bool {
	ctx, cancel := context.WithTimeout(s.dialing, probing)
	defer cancel()
	conn, err := s.connect(ctx, network, address)
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return false
		}
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return false
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, 256)) // what came before an error counts
	return fourLetter.Match(answer)
}

var fourLetter = regexp.MustCompile(`^(Zookeeper version: |This ZooKeeper instance is not currently serving|srvr is not executed because it is not in the whitelist)`)
