package minizk

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"mrtq/harness/minizk/wire"
)

// Options of a server. The zero value is right for most tests.
type Options struct {
	// Addr is the address to listen on; "" is 127.0.0.1 and a free port.
	Addr string
	// Private opens no port: clients can connect only with Server.Dial, and
	// Addr is not used.
	Private bool
	// RealTime lets time pass by itself, for programs, and for clients whose own clock a
	// manual one would contradict. Otherwise only Advance moves time.
	RealTime bool
	// Now is where a manual clock starts; zero is the present. Session ids begin with it, so with
	// a fixed Now they are the same each time.
	Now time.Time
	// MinTimeout and MaxTimeout limit the session timeouts that clients get. 0 is 4 s and 40 s,
	// two and twenty of a server's usual ticks.
	MinTimeout, MaxTimeout time.Duration
	// ContainerInterval is how often the server looks for container and TTL nodes to remove, as a
	// server's property znode.container.checkIntervalMs. With a real clock it does not look more
	// often than every 50 ms. 0 is a minute, as on a real server, because recipes rely on
	// containers that are not removed at once.
	ContainerInterval time.Duration
	// MaxBuffer is jute.maxbuffer, the longest packet accepted, in bytes. 0 is wire.MaxBuffer.
	MaxBuffer int
	// MaxQueue limits the bytes of notifications that wait for a client that does not read. If
	// more wait, the client is disconnected. (The server stops reading the requests of a client
	// that does not read replies.) 0 is 16 MiB.
	MaxQueue int
	// TLS, if not nil, adds a second port for it, see Server.SecureAddr. Its clients have the
	// same identities as those of the plain port: no x509.
	TLS *tls.Config
	// SuperDigest is the identity to which no ACL applies, like a server's property
	// zookeeper.DigestAuthenticationProvider.superDigest: user:base64(sha1(user:password)).
	// "" is none.
	SuperDigest string
	// NoExtendedTypes refuses TTL nodes, as a server does whose configuration does not set
	// extendedTypesEnabled.
	NoExtendedTypes bool
	// LogSize is how many operations Log keeps; 0 is 1000.
	LogSize int
}

// The defaults of Options.
const (
	defaultMinTimeout        = 4 * time.Second
	defaultMaxTimeout        = 40 * time.Second
	defaultContainerInterval = time.Minute
	defaultMaxQueue          = 16 << 20
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
		o.MaxBuffer = wire.MaxBuffer
	}
	if o.MaxQueue == 0 {
		o.MaxQueue = defaultMaxQueue
	}
	if o.LogSize == 0 {
		o.LogSize = defaultLogSize
	}
	switch {
	case o.Private && o.TLS != nil:
		return o, fmt.Errorf("minizk: Private and TLS together: a private server has no port for TLS")
	case o.MinTimeout < time.Millisecond || o.MaxTimeout < o.MinTimeout:
		return o, fmt.Errorf("minizk: session timeouts from %v to %v: want at least 1ms, and the shorter one first", o.MinTimeout, o.MaxTimeout)
	case o.ContainerInterval < 0:
		return o, fmt.Errorf("minizk: ContainerInterval %v: want none below 0", o.ContainerInterval)
	case o.MaxBuffer < 0 || o.MaxQueue < 0 || o.LogSize < 0:
		return o, fmt.Errorf("minizk: MaxBuffer %d, MaxQueue %d, LogSize %d: want none below 0", o.MaxBuffer, o.MaxQueue, o.LogSize)
	case o.RealTime && !o.Now.IsZero():
		return o, fmt.Errorf("minizk: Now is %v and RealTime is set: a real clock starts at the present", o.Now)
	}
	return o, nil
}

// host is the host of Addr. Listening reports whether it is valid.
func (o Options) host() string {
	host, _, _ := net.SplitHostPort(o.Addr)
	return host
}
