package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is longer than any test, and too short for other uses.
const certificateLife = 24 * time.Hour

// certificates are the authority of one server and the certificates that it
// signed.
type certificates struct {
	folder             string
	caName, serverName string // file names within folder; the latter holds key and certificate
	files              TLS
}

// makeCertificates writes three certificates into dir: a new authority's, one for
// a server on this machine and one for a client. It does not keep the
// authority's key.
func makeCertificates(dir string, now time.Time) (*certificates, error) {
	c := &certificates{folder: filepath.Join(dir, "tls"), caName: "ca.pem", serverName: "server.pem"}
	c.files = TLS{
		CA:   filepath.Join(c.folder, c.caName),
		Cert: filepath.Join(c.folder, "client.pem"),
		Key:  filepath.Join(c.folder, "client-key.pem"),
	}
	if err := c.write(now); err != nil {
		return nil, fmt.Errorf("harness: make certificates: %w", err)
	}
	return c, nil
}

func (c *certificates) write(now time.Time) error {
	if err := os.Mkdir(c.folder, 0o755); err != nil {
		return err
	}
	ca := template("mrtq harness CA", now)
	ca.IsCA, ca.BasicConstraintsValid, ca.KeyUsage = true, true, x509.KeyUsageCertSign
	caPair, err := sign(ca, nil)
	if err != nil {
		return err
	}
	server := template("localhost", now)
	server.DNSNames = []string{"localhost"}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	serverPair, err := sign(server, caPair)
	if err != nil {
		return err
	}
	clientPair, err := sign(template("mrtq harness client", now), caPair)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		path string
		data []byte
		mode os.FileMode
	}{
		{c.files.CA, caPair.certPEM, 0o644},
		{filepath.Join(c.folder, c.serverName), append(serverPair.keyPEM, serverPair.certPEM...), 0o600},
		{c.files.Cert, clientPair.certPEM, 0o644},
		{c.files.Key, clientPair.keyPEM, 0o600},
	} {
		if err := os.WriteFile(f.path, f.data, f.mode); err != nil {
			return err
		}
	}
	return nil
}

func template(name string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		NotBefore:   now.Add(-time.Hour), // containers' clocks differ a little
		NotAfter:    now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

type pair struct {
	cert            *x509.Certificate
	key             *ecdsa.PrivateKey
	certPEM, keyPEM []byte
}

// sign creates a key and a certificate for it, signed by ca, or self-signed if ca is
// nil.
func sign(t *x509.Certificate, ca *pair) (*pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if t.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, err
	}
	parent, signer := t, key
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, t, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &pair{
		cert: cert, key: key,
		certPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		keyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}
