package harness_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness"
)

// A client with the files of TLSFiles can use the secure port, and sees the same
// tree as at the plain port. A client without our certificate gets no session.
func testTLS(t *testing.T, s *harness.Server) {
	t.Helper()
	files := s.TLSFiles()
	pair := value(tls.LoadX509KeyPair(files.Cert, files.Key))(t)
	ca := value(os.ReadFile(files.CA))(t)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatalf("no certificate in %s", files.CA)
	}
	conf := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, ServerName: "localhost"}
	conn := connectBy(t, 10*time.Second, func(network, address string, timeout time.Duration) (net.Conn, error) {
		return tls.DialWithDialer(&net.Dialer{Timeout: timeout}, network, address, conf)
	}, s.SecureAddress())
	eventually(t, func() error { // a slow JVM may not be done with the first handshake in time
		_, err := conn.Create("/secret", []byte("whispered"), 0, zk.WorldACL(zk.PermAll))
		return err
	})
	wantData(t, connect(t, s.Address()), "/secret", "whispered")

	for name, conf := range map[string]*tls.Config{
		"no client certificate": {RootCAs: roots, ServerName: "localhost"},
		"unknown authority":     {Certificates: []tls.Certificate{pair}, ServerName: "localhost"},
		"another host's name":   {RootCAs: roots, Certificates: []tls.Certificate{pair}, ServerName: "example.org"},
	} {
		if err := shakeHands(s.SecureAddress(), conf); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// shakeHands also reads a byte, because in TLS 1.3 the server refuses a client
// after the handshake.
func shakeHands(address string, conf *tls.Config) error {
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", address, conf)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err = conn.Read(make([]byte, 1)); os.IsTimeout(err) {
		return nil // still open, because the server waits for a request
	}
	return err
}
