package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"mrtq/harness/internal/node"
	"mrtq/internal/zkconn"
)

// A Server is a running ZooKeeper, standalone or an ensemble. Its methods may
// be called concurrently. Methods that change its state wait for each other.
type Server struct {
	backend Backend
	opt     Options
	secret  string        // the password of the super user on this server
	dir     string        // a folder that only this server uses; Stop removes it
	certs   *certificates // nil without TLS

	mu          sync.Mutex
	hosts       []string // the host:port of each server; none after Stop
	secureHosts []string // the TLS addresses, nil without TLS
	chroot      string   // the prefix of every path, "" or "/a/b"
	// nodes are the servers that the harness may kill and start: none if it did
	// not start them.
	nodes []node.Node
	// remove ends the servers and removes everything that was created for them,
	// even if ctx is cancelled.
	remove func(ctx context.Context) error
}

// Address returns the connect string: host:port of every server, comma-separated,
// and at an address the chroot that Start created. Kill and Restart don't change
// it. After Stop it is "".
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.hosts, ",") + s.chroot
}

// SecureAddress returns the connect string of the TLS ports, or "" without
// Options.TLS and after Stop.
func (s *Server) SecureAddress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.secureHosts, ",")
}

// TLSFiles returns the paths of the files that a client needs for
// SecureAddress. Stop removes the files. Without Options.TLS the paths are "".
func (s *Server) TLSFiles() TLS {
	if s.certs == nil {
		return TLS{}
	}
	return s.certs.files
}

// Nodes returns how many servers can be killed and restarted: 0 at an address and
// after Stop.
func (s *Server) Nodes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.nodes)
}

// NodeAddress returns the host:port of server i, counted from 0. It panics if
// there is no such server, and after Stop.
func (s *Server) NodeAddress(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hosts[i]
}

// Kill ends all servers at once, without an orderly shutdown (SIGKILL, docker
// kill). Their data and ports stay for Restart. At an address the error is
// [ErrNotControlled].
func (s *Server) Kill() error {
	return s.control(func() (err error) {
		for _, n := range s.nodes {
			err = errors.Join(err, n.Kill())
		}
		return err
	})
}

// KillNode kills server i, counted from 0, as Kill does. It panics if there is no such server.
func (s *Server) KillNode(i int) error {
	return s.control(func() error { return s.nodes[i].Kill() })
}

// Restart shuts down the servers that still run, and starts all servers again with
// the same data and ports. It returns when each is ready. At an address the error
// is [ErrNotControlled].
func (s *Server) Restart(ctx context.Context) error {
	return s.control(func() error {
		for _, n := range s.nodes {
			if err := errors.Join(n.Stop(ctx), n.Start(ctx)); err != nil {
				return err
			}
		}
		return s.awaitAll(ctx)
	})
}

// RestartNode restarts server i, counted from 0, as Restart does. A server of an
// ensemble serves only if a majority runs, so RestartNode waits for that. It panics if there is no such server.
func (s *Server) RestartNode(ctx context.Context, i int) error {
	return s.control(func() error {
		if err := errors.Join(s.nodes[i].Stop(ctx), s.nodes[i].Start(ctx)); err != nil {
			return err
		}
		return s.await(ctx, i)
	})
}

// Clean removes every znode but /zookeeper, or at an address everything below the
// chroot that Start created. On servers that the harness started, ACLs don't
// prevent that. Sessions stay. If a removed znode is recreated, its children are
// numbered from 0 again. Children of the root, or of the chroot, are not.
func (s *Server) Clean(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hosts == nil {
		return errStopped
	}
	root, client := "/", s.super()
	if s.backend.IsAddress() {
		root, client = s.chroot, s.opt.Client
	}
	err := withSession(ctx, s.hosts, client, func(w *zkconn.Writer) error { return w.RemoveBelow(ctx, root) })
	if err != nil {
		return fmt.Errorf("harness: clean %s: %w", root, err)
	}
	return nil
}

// Stop shuts down the servers and removes everything: processes, containers,
// data, and at an address the chroot that Start created. If ctx is cancelled, Stop kills the servers, but still removes
// everything. On a stopped server it does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.remove != nil {
		err = s.remove(ctx)
	}
	s.hosts, s.secureHosts, s.chroot, s.nodes, s.remove = nil, nil, "", nil, nil
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
		s.dir = ""
	}
	return err
}

var errStopped = errors.New("harness: the server is stopped")

// control does something with the servers, if the harness started them.
func (s *Server) control(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.hosts == nil:
		return errStopped
	case len(s.nodes) == 0:
		return fmt.Errorf("harness: %s: %w", s.backend, ErrNotControlled)
	}
	return do()
}

// awaitAll waits for every server. In an ensemble each one must serve, because
// a test may kill one and rely on the others.
func (s *Server) awaitAll(ctx context.Context) error {
	for i := range s.hosts {
		if err := s.await(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) await(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout,
		fmt.Errorf("not ready after %v", s.opt.StartTimeout.Round(time.Millisecond)))
	defer cancel()
	if len(s.nodes) == 0 {
		return nil // an address: the session that created our chroot has shown that it is ready
	}
	if err := s.awaitReady(ctx, i, s.hosts[i], Client{}); err != nil {
		return err
	}
	if secure := s.secureHosts; secure != nil {
		return s.awaitReady(ctx, i, secure[i], Client{TLS: &s.certs.files})
	}
	return nil
}
