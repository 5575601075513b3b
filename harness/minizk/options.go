package minizk

import (
	"cmp"
	"crypto/tls"
	"time"

	"mrtq/internal/jute"
)

// Options says how a server behaves. The zero value is right for most tests.
type Options struct {
	// Addr is the address to listen on; "" is 127.0.0.1 and a free port.
	Addr string
	// Private means that the server opens no port. Clients can connect only with Server.Dial.
	// Addr and TLS are not used.
	Private bool
	// RealTime means that the server uses the machine's clock. Programs need it, and so do
	// clients that measure time themselves. Otherwise only Advance moves the server's clock.
	RealTime bool
	// Now is when a manual clock starts; zero is the present. Session ids begin with it, so with
	// a fixed Now the server gives the same ids each time. Not used with RealTime.
	Now time.Time
	// MinTimeout and MaxTimeout limit the session timeouts that clients can get. 0 is 4 s and
	// 40 s, as on a real server with the usual tickTime of 2 s.
	MinTimeout, MaxTimeout time.Duration
	// ContainerInterval is how often the server looks for container and TTL nodes to remove, like
	// a real server's property znode.container.checkIntervalMs. With RealTime it looks no more
	// often than every 50 ms. 0 is a minute, as on a real server, because some recipes fail if
	// the server removes an empty container at once.
	ContainerInterval time.Duration
	// Tree is what the server holds at first. Its ephemeral nodes must have no children. Their
	// sessions are open, as after [Server.Load]. The tree belongs to the server until that is
	// closed. Then it has what clients have changed, and the server's own nodes below /zookeeper.
	// Nil is an empty tree.
	Tree *Tree
	// Bare means that the server has no nodes of its own below /zookeeper. What Tree has there is its
	// users', as in the dump of a chroot.
	Bare bool
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
}

func (o Options) withDefaults() Options {
	if o.Now.IsZero() {
		o.Now = newStart()
	}
	o.Tree = cmp.Or(o.Tree, NewTree())
	o.Addr = cmp.Or(o.Addr, "127.0.0.1:0")
	o.MinTimeout = cmp.Or(o.MinTimeout, 4*time.Second)
	o.MaxTimeout = cmp.Or(o.MaxTimeout, max(40*time.Second, o.MinTimeout))
	o.ContainerInterval = cmp.Or(o.ContainerInterval, time.Minute)
	o.MaxBuffer = cmp.Or(o.MaxBuffer, jute.MaxBuffer)
	return o
}
