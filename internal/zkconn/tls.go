package zkconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// TLS names the PEM files of a TLS connection.
type TLS struct {
	CA         string // trusted authorities; "" means the system's
	Cert, Key  string // the client's own; both or neither
	ServerName string // expected in the server's certificate; "" means the host dialed
}

// Config reads the files. The error names the file that can't be used.
func (t *TLS) Config() (*tls.Config, error) {
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
	switch {
	case t.Cert == "" && t.Key == "":
	case t.Cert == "" || t.Key == "":
		return nil, errors.New("TLS client certificate: give both the certificate and its key")
	default:
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("TLS client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// secure makes a TLS connection out of a TCP connection. The server's certificate must
// have the host name that the user wrote, unless another name was given.
func secure(ctx context.Context, conn net.Conn, config *tls.Config, server string) (net.Conn, error) {
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(server) // each server of an Address has a port
	}
	c := tls.Client(conn, config)
	if err := c.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, &tlsError{err}
	}
	return c, nil
}
