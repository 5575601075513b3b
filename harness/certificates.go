package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is longer than any test, and too short for other uses.
const certificateLife = 24 * time.Hour

// certificates are the files of a server's certificate and of a client's. Each has signed
// itself, and each side trusts only the other's.
type certificates struct {
	folder                 string
	clientName, serverName string // file names within folder; the latter holds key and certificate
	files                  TLS
}

// makeCertificates writes certificates for a server on this machine and a client into dir.
func makeCertificates(dir string, now time.Time) (*certificates, error) {
	c := &certificates{folder: filepath.Join(dir, "tls"), clientName: "client.pem", serverName: "server.pem"}
	c.files = TLS{
		CA:   filepath.Join(c.folder, "ca.pem"),
		Cert: filepath.Join(c.folder, c.clientName),
		Key:  filepath.Join(c.folder, "client-key.pem"),
	}
	server, serverKey, err := selfSigned("localhost", now)
	client, clientKey, clientErr := selfSigned("mrtq harness client", now)
	err = errors.Join(err, clientErr,
		os.Mkdir(c.folder, 0o755),
		os.WriteFile(c.files.CA, server, 0o644),
		os.WriteFile(filepath.Join(c.folder, c.serverName), append(serverKey, server...), 0o600),
		os.WriteFile(c.files.Cert, client, 0o644),
		os.WriteFile(c.files.Key, clientKey, 0o600))
	if err != nil {
		return nil, fmt.Errorf("harness: make certificates: %w", err)
	}
	return c, nil
}

// selfSigned returns a certificate and its key, as PEM.
func selfSigned(name string, now time.Time) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	t := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		SerialNumber:          big.NewInt(now.UnixNano()),
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:             now.Add(-time.Hour), // containers' clocks differ a little
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &private.PublicKey, private)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), nil
}

// server returns the TLS configuration of a server in this process. The server
// accepts only clients with the client's certificate.
func (c *certificates) server() (*tls.Config, error) {
	file := filepath.Join(c.folder, c.serverName)
	own, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	client, err := os.ReadFile(c.files.Cert)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(client)
	return &tls.Config{
		Certificates: []tls.Certificate{own},
		ClientCAs:    clients,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		MinVersion:   tls.VersionTLS12,
	}, nil
}
