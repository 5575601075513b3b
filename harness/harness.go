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
	"errors"
	"fmt"
	"os"
	"time"

	"mrtq/harness/internal/node"
)

// startAttempts is how often Start chooses ports before it gives up. There are
// ten thousand ports, so that even two of them are unlikely to be taken. Five
// mean that something else is wrong.
const startAttempts = 5

// Start starts a ZooKeeper on the given backend and returns when it is ready for
// use. The caller must Stop the server. ctx limits only the start.
//
// The error is
//   - an [*UnavailableError], which matches [ErrUnavailable], if the backend is not
//     installed here,
//   - an [*ExitError] if a server ended before it was ready,
//   - [ErrNotControlled] if the backend is an address and opt asks for what only the
//     server's owner can do.
//
// After an error Start has removed everything that it had started. If it could not,
// the error says that, too.
func Start(ctx context.Context, backend Backend, opt Options) (*Server, error) {
	if err := opt.validate(backend); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	var s *Server
	err := retryPorts(func() (err error) {
		s, err = startOnce(ctx, backend, opt)
		return err
	})
	return s, err
}

// retryPorts calls start again while it fails because another process took a port.
func retryPorts(start func() error) error {
	var err error
	for range startAttempts {
		if err = start(); !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return fmt.Errorf("harness: %d times in a row another program took the chosen port: %w", startAttempts, err)
}

// startOnce makes one attempt, on ports of its own choice.
func startOnce(ctx context.Context, backend Backend, opt Options) (_ *Server, err error) {
	s := &Server{backend: backend, opt: opt, secret: newSecret(), cluster: &cluster{}}
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
		if s.certs, err = makeCertificates(s.dir, time.Now()); err != nil {
			return nil, err
		}
	}
	c, err := backend.launcher()(ctx, s)
	if c != nil {
		s.cluster = c
	}
	if err == nil {
		err = s.awaitAll(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A launcher starts the servers of one backend without waiting for them to be
// ready. On an error it may return what it has started so far, for Stop to
// remove.
type launcher func(ctx context.Context, s *Server) (*cluster, error)

// A cluster is what a backend has started: the servers behind one address.
type cluster struct {
	hosts       []string // the host:port of each server
	secureHosts []string // the TLS addresses, nil without TLS
	chroot      string   // the prefix of every path, "" or "/a/b"
	// nodes are the servers that the harness may kill and start: none if it did
	// not start them.
	nodes []node.Node
	// remove ends the servers and removes everything that was created for them,
	// even if ctx is cancelled.
	remove func(ctx context.Context) error
}
