package zkconn_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mrtq/internal/zkconn"
)

// expiredAnswer is how a server answers a handshake for a session that it has ended: timeout, id and password are zero.
const expiredAnswer = "\x00\x00\x00\x25" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x10" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00"

// If the server's certificate has expired, the advice is about the certificate, and not to leave out --tls.
func TestExpiredCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1000, 0), IPAddresses: []net.IP{{127, 0, 0, 1}}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	must(t, err)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server := listen(t, func(c net.Conn) { _ = tls.Server(c, config).Handshake() })
	addr, err := zkconn.ParseAddress(server)
	must(t, err)
	_, err = zkconn.OpenReader(t.Context(), zkconn.Config{Address: addr, TLS: &zkconn.TLS{CA: ca}, GiveUp: impatient})
	if err == nil || !strings.Contains(err.Error(), "the server's certificate is refused: certificate has expired") ||
		!strings.HasSuffix(err.Error(), "; the server needs a certificate that is valid now. If it has one, check this machine's clock") {
		t.Error(err)
	}
}
