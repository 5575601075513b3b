package zkconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// TLS names the files of a TLS connection, all PEM.
type TLS struct {
	CA         string // whom to trust; "" means the system's authorities
	Cert, Key  string // the client's own; both or neither
	ServerName string // expected in the server's certificate; "" means the host dialed
}

func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("TLS authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS authorities: %s holds no PEM certificate", t.CA)
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("TLS client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// dialer remembers why it failed, which the library only logs.
func (s *session) dialer() (zk.Dialer, error) {
	var config *tls.Config
	if s.cfg.TLS != nil {
		var err error
		if config, err = s.cfg.TLS.config(); err != nil {
			return nil, err
		}
	}
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		// The library's one second is short for TLS over a distance.
		d := &net.Dialer{Timeout: max(timeout, 5*time.Second)}
		var conn net.Conn
		var err error
		if config == nil {
			conn, err = d.Dial(network, address)
		} else {
			conn, err = tls.DialWithDialer(d, network, address, s.verifying(config, address))
		}
		if err != nil {
			s.noteDial(err)
			return nil, err
		}
		return &observedConn{Conn: conn, s: s}, nil
	}, nil
}

// verifying fills in the name to verify: the library dials resolved addresses,
// the certificate names the host that the user wrote.
func (s *session) verifying(config *tls.Config, address string) *tls.Config {
	if config.ServerName != "" {
		return config
	}
	c := config.Clone()
	host, port, _ := net.SplitHostPort(address)
	c.ServerName = host
	for _, server := range s.cfg.Address.Servers {
		h, p, _ := net.SplitHostPort(server)
		if p != port {
			continue
		}
		ips, _ := net.LookupHost(h)
		for _, ip := range ips {
			if ip == host {
				c.ServerName = h
			}
		}
	}
	return c
}

func (s *session) noteDial(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialErr = err
}

// clientLog gets what the library has to say. It is the library's only way of
// telling that a handshake failed or that an answer was too large.
type clientLog struct{ s *session }

func (l clientLog) Printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.s.cfg.Log.Debug("zookeeper client", "says", text)
	var size, limit int
	const tooLarge = "recv loop terminated: received packet from server with length %d, which exceeds max buffer size %d"
	if n, _ := fmt.Sscanf(text, tooLarge, &size, &limit); n == 2 {
		l.s.end(&ResponseTooLargeError{Size: size, Limit: limit})
	}
	if cause, ok := strings.CutPrefix(text, "authentication failed: "); ok {
		l.s.noteDial(handshakeError{cause})
	}
}

// handshakeError is a connection that was accepted and then spoke no ZooKeeper.
type handshakeError struct{ cause string }

func (e handshakeError) Error() string { return "the server closed the handshake (" + e.cause + ")" }

func (s *session) connectError(err error) *ConnectError {
	return &ConnectError{Address: s.cfg.Address.String(), Err: err, Hint: s.hint(err)}
}

func (s *session) hint(err error) string {
	var dns *net.DNSError
	var handshake handshakeError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	switch {
	case errors.As(err, &dns), strings.Contains(err.Error(), "no such host"), strings.Contains(err.Error(), "lookup "):
		return "check the host name"
	case errors.As(err, &record):
		return "this port speaks no TLS: use the secure port, or leave out --tls"
	case errors.As(err, &unknown):
		return "the server's certificate is signed by none of the authorities in --tls-ca"
	case errors.As(err, &host):
		return "give the name that the certificate holds with --tls-server-name"
	case strings.Contains(err.Error(), "tls: "):
		return "the server refused the TLS handshake: it may want a client certificate (--tls-cert, --tls-key), or this port speaks no TLS"
	case errors.As(err, &handshake) && s.cfg.TLS == nil:
		return "check that this is a ZooKeeper client port; if it is its secure port, use --tls"
	case errors.As(err, &handshake):
		return "check that this is a ZooKeeper secure client port"
	}
	return "check the address and that the server runs"
}
