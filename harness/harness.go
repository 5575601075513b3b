// Package harness starts disposable ZooKeeper servers for tests, demonstrations
// and rehearsals, with one call:
//
//	s, err := harness.Start(ctx, harness.JVM, harness.Options{})
//	if err != nil { … }
//	defer s.Stop(ctx)
//	// s.Address() is a connect string for any client
//
// A backend is where the server comes from:
//
//	embedded            a ZooKeeper in this process, see [mrtq/harness/minizk]
//	jvm                 Apache ZooKeeper's own server as a child process
//	docker              the same in a container
//	host:port[,…][/p]   a running server that is not ours, inside a chroot of our own
//
// The first three can be killed and restarted. jvm and docker can also be
// ensembles. On the last, the harness touches only the chroot that Start creates
// and Stop removes. Clients reach all of them over the wire. A server is ready
// when Start returns: a session was opened and /zookeeper was read.
//
// In tests, [ForTest] does the same and cleans up. [Backends] lists the
// backends for a suite.
package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// startAttempts is how often Start chooses ports if they are taken. With ten
// thousand ports, even a second collision is unlikely. Five collisions mean
// that something else is wrong.
const startAttempts = 5

// Start runs a ZooKeeper on the given backend and returns when it is ready for
// use. The caller must Stop the server. ctx limits only the start.
//
// Errors: [*UnavailableError] (matched by [ErrUnavailable]) if the backend is
// not installed here, [*ExitError] if a server ended before it was ready,
// [ErrNotControlled] if an address backend can't do what the options ask. After
// an error nothing is left behind.
func Start(ctx context.Context, backend Backend, opt Options) (*Server, error) {
	opt = opt.withDefaults()
	if err := opt.validate(backend); err != nil {
		return nil, err
	}
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
	s := &Server{backend: backend, opt: opt, secret: newSecret()}
	defer func() {
		if err != nil {
			// A cancelled context kills the servers, because there is nothing
			// to shut down in order.
			hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
			cancel()
			err = errors.Join(err, s.Stop(hurry))
		}
	}()
	if s.dir, err = os.MkdirTemp("", "mrtq-zk-"); err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	if opt.TLS {
		if s.certs, err = makeCertificates(s.dir, time.Now()); err != nil {
			return nil, err
		}
	}
	if s.cluster, err = backend.launcher()(ctx, s); err != nil {
		return nil, err
	}
	if err = s.awaitAll(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// A launcher starts the servers of one backend without waiting for them to be
// ready. On an error it may return what it has started so far, for Stop to
// remove.
type launcher func(ctx context.Context, s *Server) (cluster, error)

// A cluster is what a backend has started: the servers behind one address.
type cluster interface {
	// hosts are the host:port of each server, chroot its prefix of every path
	// ("" or "/a/b").
	hosts() []string
	chroot() string
	// secureHosts are the TLS addresses, nil without TLS.
	secureHosts() []string
	// nodes are the servers that we may kill and start; none when they aren't ours.
	nodes() []node
	// remove ends everything and removes its traces, whatever the context says.
	remove(ctx context.Context) error
}

// A node is one server of a cluster. Its methods are not called concurrently.
type node interface {
	// start runs the server on the data and ports it had before. It does not
	// wait for readiness.
	start(ctx context.Context) error
	// stop shuts down the server in order. kill ends it at once. Both do
	// nothing if the server has ended.
	stop(ctx context.Context) error
	kill() error
	// ended returns nil while the server runs and an *ExitError once it doesn't.
	ended(ctx context.Context) error
	// stranger returns an error if another process answers at the node's
	// address, because it took the port first.
	stranger(ctx context.Context) error
	// lastWords is the end of the server's log.
	lastWords(ctx context.Context) string
}
