package harness

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateName is the name of the file with a certificate and its key. Both the server and its clients
// use it, and each trusts no other.
const certificateName = "tls.pem"

// certificateLife is longer than any test, and too short for other uses.
const certificateLife = 24 * time.Hour

func makeCertificate(folder string) (file string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	t := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "mrtq harness"},
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:             time.Now().Add(-time.Hour), // containers' clocks differ a little
		NotAfter:              time.Now().Add(certificateLife),
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, t, t, &private.PublicKey, private)
	if err != nil {
		return "", err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	file = filepath.Join(folder, certificateName)
	return file, errors.Join(
		pem.Encode(&b, &pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		os.WriteFile(file, b.Bytes(), 0o600))
}

func serverTLS(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	own, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, fmt.Errorf("harness: %s: %w", file, err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(text)
	return &tls.Config{
		Certificates: []tls.Certificate{own},
		ClientCAs:    clients,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		MinVersion:   tls.VersionTLS12,
	}, nil
}
