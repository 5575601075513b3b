package zkconn

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"regexp"
	"time"
)

// If a port speaks TLS and the client doesn't, or the reverse, neither protocol has an
// error for that: such a port closes the connection or stays silent. So the session asks
// the port a second time in the other protocol.

// probing is how long the second attempt may take.
const probing = 2 * time.Second

// speaksTLS reports whether a port answers a TLS greeting, with any certificate
// or alert. It sends nothing but the greeting.
func (s *session) speaksTLS(ctx context.Context, server string) bool {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	conn, err := s.dial(ctx, server)
	if err != nil {
		return false
	}
	defer conn.Close()
	heard := &firstBytes{Conn: conn}
	// The certificate doesn't matter, because no session is opened on this
	// connection.
	_ = tls.Client(heard, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx)
	return beginsTLS(heard.begins)
}

// firstBytes records the first bytes that came.
type firstBytes struct {
	net.Conn
	begins []byte
}

func (o *firstBytes) Read(b []byte) (int, error) {
	n, err := o.Conn.Read(b)
	if have := len(o.begins); have < 2 {
		o.begins = append(o.begins, b[:min(n, 2-have)]...)
	}
	return n, err
}

// beginsTLS reports whether b begins with a TLS record: an alert or a handshake.
func beginsTLS(b []byte) bool {
	return len(b) > 1 && (b[0] == 0x15 || b[0] == 0x16) && b[1] == 3
}

// speaksPlain reports whether a port answers one of ZooKeeper's four-letter
// words, which need no session, or says that they are switched off.
func (s *session) speaksPlain(ctx context.Context, server string) bool {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	conn, err := s.dial(ctx, server)
	if err != nil {
		return false
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return false
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, 256)) // the bytes before an error count
	return fourLetter.Match(answer)
}

var fourLetter = regexp.MustCompile(`^(Zookeeper version: |This ZooKeeper instance is not currently serving|srvr is not executed because it is not in the whitelist)`)
