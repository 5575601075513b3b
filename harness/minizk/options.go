package minizk

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"mrtq/internal/jute"
)

// Options says how a server behaves. The zero value is right for most tests.
type Options struct {
	// Addr is the address to listen on; "" is 127.0.0.1 and a free port.
	Addr string
	// Private means that the server opens no port. Clients can connect only with Server.Dial.
	// Addr is not used.
	Private bool
	// RealTime means that the server uses the machine's clock. Programs need it, and so do
	// clients that measure time themselves. Otherwise only Advance moves the server's clock.
	RealTime bool
	// Now is when a manual clock starts; zero is the present. Session ids begin with it, so with
	// a fixed Now the server gives the same ids each time.
	Now time.Time
	// MinTimeout and MaxTimeout limit the session timeouts that clients can get. 0 is 4 s and
	// 40 s, as on a real server with the usual tickTime of 2 s.
	MinTimeout, MaxTimeout time.Duration
	// ContainerInterval is how often the server looks for container and TTL nodes to remove, like
	// a real server's property znode.container.checkIntervalMs. With RealTime it looks no more
	// often than every 50 ms. 0 is a minute, as on a real server, because some recipes fail if
	// the server removes an empty container at once.
	ContainerInterval time.Duration
	// MaxBuffer is the longest packet that the server accepts, in bytes, like a real server's
	// property jute.maxbuffer. 0 is jute.MaxBuffer.
	MaxBuffer int
	// TLS, if not nil, opens a second port for TLS, see Server.SecureAddr. Its clients have the
	// same identities as clients of the first port, because there is no scheme x509.
	TLS *tls.Config
	// SuperDigest is a user to whom no ACL applies: user:base64(sha1(user:password)), like a real
	// server's property zookeeper.DigestAuthenticationProvider.superDigest. "" means that there
	// is none.
	SuperDigest string
	// Super means that no ACL applies to any client, as if all were that user.
	Super bool
	// NoExtendedTypes means that the server refuses TTL nodes, as a real server does unless its
	// configuration sets extendedTypesEnabled.
	NoExtendedTypes bool
	// LogSize is how many entries Log keeps; 0 is 1000.
	LogSize int
}

// The defaults of Options.
const (
	defaultMinTimeout        = 4 * time.Second
	defaultMaxTimeout        = 40 * time.Second
	defaultContainerInterval = time.Minute
	defaultLogSize           = 1000
)

func (o Options) withDefaults() (Options, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if o.MinTimeout == 0 {
		o.MinTimeout = defaultMinTimeout
	}
	if o.MaxTimeout == 0 {
		o.MaxTimeout = max(defaultMaxTimeout, o.MinTimeout)
	}
	if o.ContainerInterval == 0 {
		o.ContainerInterval = defaultContainerInterval
	}
	if o.MaxBuffer == 0 {
		o.MaxBuffer = jute.MaxBuffer
	}
	if o.LogSize == 0 {
		o.LogSize = defaultLogSize
	}
	switch {
	case o.Private && o.TLS != nil:
		return o, fmt.Errorf("minizk: Private and TLS together: a private server has no port for TLS")
	case o.MinTimeout < time.Millisecond || o.MaxTimeout < o.MinTimeout:
		return o, fmt.Errorf("minizk: MinTimeout %v, MaxTimeout %v: expected at least 1ms, and MaxTimeout not below MinTimeout", o.MinTimeout, o.MaxTimeout)
	case o.ContainerInterval < 0:
		return o, fmt.Errorf("minizk: ContainerInterval %v must not be negative", o.ContainerInterval)
	case o.MaxBuffer < 0 || o.LogSize < 0:
		return o, fmt.Errorf("minizk: MaxBuffer %d, LogSize %d: neither may be negative", o.MaxBuffer, o.LogSize)
	case o.RealTime && !o.Now.IsZero():
		return o, fmt.Errorf("minizk: Now (%v) and RealTime together: the machine's clock cannot be set", o.Now)
	}
	return o, nil
}

// host is the host of Addr. Listening reports whether it is valid.
func (o Options) host() string {
	host, _, _ := net.SplitHostPort(o.Addr)
	return host
}
