package zkconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/openfile"
)

// TLS names the PEM files of a TLS connection.
type TLS struct {
	CA         string // trusted authorities; "" means the system's
	Cert, Key  string // the client's own; both or neither
	ServerName string // expected in the server's certificate; "" means the host dialed
}

func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CA != "" {
		pem, err := openfile.ReadAll(t.CA)
		if err != nil {
			return nil, fmt.Errorf("TLS authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS authorities: %s holds no PEM certificate", t.CA)
		}
	}
	switch {
	case t.Cert == "" && t.Key == "":
	case t.Cert == "" || t.Key == "":
		return nil, fmt.Errorf("TLS client certificate: give both the certificate and its key")
	default:
		pair, err := keyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("TLS client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := openfile.ReadAll(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := openfile.ReadAll(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// dialer returns the function with which the library connects. It stops when the session
// ends. It keeps the host names that the user wrote, because certificates are checked
// against them. It also records why it failed, because the library only logs that.
func (s *session) dialer(config *tls.Config) zk.Dialer {
	return func(network, address string, _ time.Duration) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(s.dialing, s.patience())
		defer cancel()
		if config == nil && !s.cfg.Eager && s.suspected(address) && s.speaksTLS(network, address) {
			err := &mistakenError{tls: true}
			s.noteFailure(address, err)
			return nil, err
		}
		conn, err := s.connect(ctx, network, address)
		if err == nil && config != nil {
			conn, err = secure(ctx, conn, config, address)
			if noTLSAnswer(err) && !s.opened() && s.speaksPlain(network, address) {
				err = &mistakenError{tls: false}
			}
		}
		if err != nil {
			s.noteFailure(address, err)
			return nil, err
		}
		w := newWire(conn, s, address)
		if err := s.use(w); err != nil {
			w.Close()
			return nil, err
		}
		return w, nil
	}
}

func (s *session) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if s.cfg.Dial != nil {
		return s.cfg.Dial(ctx)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return conn, plainCause(err)
}

func secure(ctx context.Context, conn net.Conn, config *tls.Config, address string) (net.Conn, error) {
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		config = config.Clone()
		config.ServerName = host
	}
	c := tls.Client(conn, config)
	if err := c.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &tlsError{err}
	}
	return c, nil
}

// noTLSAnswer reports whether a TLS handshake failed before the other side sent
// any TLS.
func noTLSAnswer(err error) bool {
	var shaking *tlsError
	return errors.As(err, &shaking) && !hopeless(err)
}

// tlsError says that a TLS handshake failed on this side.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return "TLS handshake: " + plainCause(e.err).Error() }
func (e *tlsError) Unwrap() error { return e.err }

// servers gives the library the servers in turn. The library's own provider
// resolves names only once, and makes the library wait a second before it
// reconnects to the server that it lost.
type servers struct {
	s           *session
	list        []string
	next, tried int // servers tried since the last success or pause
}

// Init gets the servers already shuffled.
func (p *servers) Init(list []string) error {
	p.list = list
	return nil
}

// Len implements [zk.HostProvider].
func (p *servers) Len() int { return len(p.list) }

// Next returns true, which means to pause, whenever all servers have been tried
// without success.
func (p *servers) Next() (server string, pause bool) {
	if pause = p.tried == len(p.list); pause {
		p.tried = 0
		p.s.allFailed()
	}
	if p.s.cfg.Eager && p.next > 0 {
		pause = p.s.pauseEager()
	}
	server = p.list[p.next%len(p.list)]
	p.next++
	p.tried++
	return server, pause
}

// pauseEager waits between two eager attempts, and reports whether the session is
// over. Then the library must pause, because only in a pause does it notice that
// it was closed.
func (s *session) pauseEager() (over bool) {
	select {
	case <-time.After(eagerPause):
		return false
	case <-s.dialing.Done():
		return true
	}
}

// Connected is called when a session has been opened or resumed.
func (p *servers) Connected() { p.tried = 0 }

// clientLog receives the library's log.
type clientLog struct{ s *session }

func (l clientLog) Printf(format string, args ...any) {
	l.s.cfg.Log.Debug("zookeeper client", "says", fmt.Sprintf(format, args...))
}
