// Package harness starts disposable ZooKeeper servers for tests, demonstrations
// and rehearsals. One call starts a server:
//
//	s, err := harness.Start(ctx, harness.JVM, harness.Options{})
//	if err != nil { … }
//	defer s.Stop(ctx)
//	// s.Address() is a connect string for any client
//
// In a test, [ForTest] starts a server and stops it when the test ends:
//
//	s := harness.ForTest(t, harness.TestBackend(), harness.Options{})
//
// A backend says where the server comes from:
//
//	embedded            a ZooKeeper in this process, see [mrtq/harness/minizk]
//	jvm                 Apache ZooKeeper's own server as a child process
//	docker              Apache ZooKeeper's own server in a container; import mrtq/harness/docker, too
//	host:port[,…][/p]   a running server that the harness did not start
//
// The harness can kill and restart the first three. jvm can also be an
// ensemble. At an address, Start creates a chroot, Stop removes it, and the
// harness changes nothing else. Clients reach all four over the network. When
// Start returns, the server is ready: the harness has opened a session with it
// and read /zookeeper.
//
// A killed process leaves its chroot and its containers behind. The chroot's data says
// which process made it. Containers have the label [ContainerLabel]. On Linux a jvm server ends with the process that started it.
package harness

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
)

// Start starts a ZooKeeper on the given backend and returns when it is ready for
// use. The caller must Stop the server. ctx limits only the start.
//
// The error is
//   - an [*UnavailableError], which matches [ErrUnavailable], if the backend is not
//     installed here,
//   - [ErrNotControlled] if the backend is an address and opt asks for what only the
//     server's owner can do.
//
// After an error Start has removed everything that it had started. If it could not,
// the error says that, too.
func Start(ctx context.Context, backend Backend, opt Options) (_ *Server, err error) {
	if err := opt.validate(backend); err != nil {
		return nil, err
	}
	s := &Server{backend: backend, opt: opt.withDefaults(), secret: rand.Text()}
	defer func() {
		if err != nil {
			// With a cancelled context Stop kills the servers: they hold
			// nothing that an orderly shutdown would save.
			hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
			cancel()
			err = errors.Join(err, s.Stop(hurry))
		}
	}()
	if opt.TLS || backend == JVM { // a killed process leaves it behind, so nobody makes one in vain
		if s.dir, err = os.MkdirTemp("", "mrtq-zk-"); err != nil {
			return nil, fmt.Errorf("harness: %w", err)
		}
	}
	if opt.TLS {
		if s.certificate, err = makeCertificate(s.dir); err != nil {
			return nil, fmt.Errorf("harness: make a certificate: %w", err)
		}
	}
	launch := (*Server).launchAddress
	switch backend {
	case Embedded:
		launch = (*Server).launchEmbedded
	case JVM:
		launch = (*Server).launchJVM
	case Docker:
		launch = (*Server).launchDocker
	}
	if err := launch(s, ctx); err != nil {
		return nil, err
	}
	for i := range s.nodes { // none at an address: the session that created our chroot has shown that it is ready
		if err := s.await(ctx, i); err != nil {
			return nil, err
		}
	}
	return s, nil
}
