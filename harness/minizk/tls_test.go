//go:build unix

package minizk_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
)

// TestTLS: the secure port serves clients with TLS. A client without TLS, or one that sends nothing,
// is disconnected and does not disturb the others.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	s := run(t, minizk.Options{TLS: &tls.Config{Certificates: web.TLS.Certificates}})
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	old := raw(t, s)
	secure := func(ctx context.Context, network, addr string) (net.Conn, error) {
		return (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "example.com"}}).DialContext(ctx, network, addr)
	}
	nc := value(secure(t.Context(), "tcp", s.SecureAddr()))(t)
	c := newRaw(nc)
	defer c.Close()
	must(t, errorOf(c.Connect(jute.ConnectRequest{TimeoutMillis: 20000, HasReadOnly: true})))
	want(t, "create", do(t, c, newNode("/tls", "x", 1)), jute.OK)
	want(t, "read", do(t, old, opRead(jute.OpExists, "/tls")), jute.OK)
	for _, said := range []string{"", "GET / HTTP/1.1\r\n\r\n"} {
		plain := value(net.Dial("tcp", s.SecureAddr()))(t)
		defer plain.Close()
		must(t, errorOf(io.WriteString(plain, said)))
		// If a later client has been served, this one has been accepted.
		later := value(secure(t.Context(), "tcp", s.SecureAddr()))(t)
		later.Close()
		s.Advance(11 * time.Second)
		ended(t, plain)
		want(t, "still there", do(t, c, opRead(jute.OpExists, "/tls")), jute.OK)
		want(t, "still there", do(t, old, opRead(jute.OpExists, "/tls")), jute.OK)
	}
	must(t, s.Restart())
	if _, err := c.ReadPacket(); err == nil {
		t.Error("Restart left a secure connection")
	}
}
