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
	backend     Backend
	opt         Options
	secret      string // the password of the super user on this server
	dir         string // a folder that only this server uses; Stop removes it
	certificate string // the path of the file; "" without TLS

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

// TLSFiles returns what a client needs for SecureAddress. It is one file, which Stop
// removes. Without Options.TLS the paths are "".
func (s *Server) TLSFiles() TLS {
	return TLS{CA: s.certificate, Cert: s.certificate, Key: s.certificate}
}

// Nodes returns how many servers can be killed and restarted: 0 at an address and
// after Stop.
func (s *Server) Nodes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.nodes)
}

// Kill ends servers at once, without an orderly shutdown (SIGKILL, docker kill): those with the
// given numbers, counted from 0, or all. Their data and ports stay for Restart. At an address the
// error is [ErrNotControlled]. It panics if there is no such server.
func (s *Server) Kill(nodes ...int) error {
	return s.control(nodes, func(i int) error { return s.nodes[i].Kill() })
}

// Restart shuts down the given servers, or all, if they still run, and starts them again with the
// same data and ports. It returns when each is ready. A server of an ensemble serves only if a
// majority runs, so Restart waits for that. Numbers and errors are as for [Server.Kill].
func (s *Server) Restart(ctx context.Context, nodes ...int) error {
	return s.control(nodes,
		func(i int) error { return errors.Join(s.nodes[i].Stop(ctx), s.nodes[i].Start(ctx)) },
		func(i int) error { return s.await(ctx, i) })
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

// control does one thing after the other with the given servers, or all, if the harness started them.
func (s *Server) control(nodes []int, acts ...func(i int) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.hosts == nil:
		return errStopped
	case len(s.nodes) == 0:
		return fmt.Errorf("harness: %s: %w", s.backend, ErrNotControlled)
	}
	if len(nodes) == 0 {
		for i := range s.nodes {
			nodes = append(nodes, i)
		}
	}
	for _, act := range acts {
		var err error
		for _, i := range nodes {
			err = errors.Join(err, act(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) await(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.opt.StartTimeout,
		fmt.Errorf("not ready after %v", s.opt.StartTimeout.Round(time.Millisecond)))
	defer cancel()
	if err := s.awaitReady(ctx, i, s.hosts[i], Client{}); err != nil {
		return err
	}
	if secure := s.secureHosts; secure != nil {
		files := s.TLSFiles()
		return s.awaitReady(ctx, i, secure[i], Client{TLS: &files})
	}
	return nil
}
