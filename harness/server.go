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

	mu      sync.Mutex
	cluster *cluster // after Stop it has no hosts
}

// Address returns the connect string: host:port of every server, comma-separated,
// and at an address the chroot that Start created. Kill and Restart don't change
// it. After Stop it is "".
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.cluster.hosts, ",") + s.cluster.chroot
}

// SecureAddress returns the connect string of the TLS ports, or "" without
// Options.TLS and after Stop.
func (s *Server) SecureAddress() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.cluster.secureHosts, ",")
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
	return len(s.cluster.nodes)
}

// NodeAddress returns the host:port of server i, counted from 0. It panics if
// there is no such server, and after Stop.
func (s *Server) NodeAddress(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cluster.hosts[i]
}

// Kill ends all servers at once, without an orderly shutdown (SIGKILL, docker
// kill). Their data and ports stay for Restart. At an address the error is
// [ErrNotControlled].
func (s *Server) Kill() error {
	return s.eachNode(func(n node.Node) error { return n.Kill() })
}

// KillNode kills server i, counted from 0, as Kill does.
func (s *Server) KillNode(i int) error {
	return s.oneNode(i, func(n node.Node) error { return n.Kill() })
}

// Restart shuts down the servers that still run, and starts all servers again with
// the same data and ports. It returns when each is ready. At an address the error
// is [ErrNotControlled]. If a server ends before it is ready, it is an
// [*ExitError].
func (s *Server) Restart(ctx context.Context) error {
	if err := s.eachNode(func(n node.Node) error { return errors.Join(n.Stop(ctx), n.Start(ctx)) }); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.awaitAll(ctx)
}

// RestartNode restarts server i, counted from 0, as Restart does. A server of an
// ensemble serves only if a majority runs, so RestartNode waits for that.
func (s *Server) RestartNode(ctx context.Context, i int) error {
	return s.oneNode(i, func(n node.Node) error {
		if err := errors.Join(n.Stop(ctx), n.Start(ctx)); err != nil {
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
	if s.cluster.hosts == nil {
		return errStopped
	}
	root, client := "/", s.super()
	if s.backend.IsAddress() {
		root, client = s.cluster.chroot, s.opt.Client
	}
	err := withSession(ctx, s.cluster.hosts, client, func(w *zkconn.Writer) error { return w.RemoveBelow(ctx, root) })
	if err != nil {
		return fmt.Errorf("harness: clean %s: %w", root, err)
	}
	return nil
}

// Stop shuts down the servers and removes everything: processes, containers,
// data (except in Options.DataDir), and at an address the chroot that Start
// created. If ctx is cancelled, Stop kills the servers, but still removes
// everything. On a stopped server it does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if s.cluster.remove != nil {
		err = s.cluster.remove(ctx)
	}
	s.cluster = &cluster{}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
		s.dir = ""
	}
	return err
}

var errStopped = errors.New("harness: the server is stopped")

func (s *Server) eachNode(do func(node.Node) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes, err := s.controlled()
	for _, n := range nodes {
		err = errors.Join(err, do(n))
	}
	return err
}

func (s *Server) oneNode(i int, do func(node.Node) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes, err := s.controlled()
	if err != nil {
		return err
	}
	if i < 0 || i >= len(nodes) {
		return fmt.Errorf("harness: no server %d among %d", i, len(nodes))
	}
	return do(nodes[i])
}

func (s *Server) controlled() ([]node.Node, error) {
	if s.cluster.hosts == nil {
		return nil, errStopped
	}
	nodes := s.cluster.nodes
	if len(nodes) == 0 {
		return nil, fmt.Errorf("harness: %s: %w", s.backend, ErrNotControlled)
	}
	return nodes, nil
}

// awaitAll waits for every server. In an ensemble each one must serve, because
// a test may kill one and rely on the others.
func (s *Server) awaitAll(ctx context.Context) error {
	for i := range s.cluster.hosts {
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
	if len(s.cluster.nodes) == 0 {
		return nil // an address: the session that created our chroot has shown that it is ready
	}
	if err := s.awaitReady(ctx, i, s.cluster.hosts[i], Client{}); err != nil {
		return err
	}
	if secure := s.cluster.secureHosts; secure != nil {
		return s.awaitReady(ctx, i, secure[i], Client{TLS: &s.certs.files})
	}
	return nil
}
