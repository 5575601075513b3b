package minizk

import (
	"fmt"

	"mrtq/internal/ztree"
)

// Snapshot returns a copy of the tree, without /zookeeper, where the server's own nodes are. The
// copy shares the nodes' data and ACLs with the server, so do not change these.
func (s *Server) Snapshot() *Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.db.Snapshot()
}

// Load replaces the tree by a copy of t, except /zookeeper, where the server's own nodes are. It keeps the
// Stats of t, so that versions and the numbers of sequential children continue, and raises the
// server's zxid to t's. If t has an ephemeral node whose session the server does not know, the
// server adds that session. No client can resume it, and it expires like any other. Containers and
// TTL nodes become persistent nodes, because a dump does not tell them apart.
//
// Load cuts all connections, because what the clients know and watch no longer exists. The error is that a
// node of t is below an ephemeral node. Then nothing has changed.
func (s *Server) Load(t *Tree) error {
	nodes := NewTree()
	for n := range t.All("/") {
		if err := nodes.Add(*n); err != nil {
			return fmt.Errorf("minizk: load: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropAll()
	s.adopt(nodes)
	return nil
}

// adopt makes znodes the server's own, with the sessions that own its ephemeral nodes. The caller
// holds mu.
func (s *Server) adopt(nodes *Tree) {
	s.db = ztree.New(nodes, s.opt.Bare)
	if s.opt.NoExtendedTypes {
		s.db.RefuseTTL()
	}
	s.zxid = max(s.zxid, s.db.Zxid())
	for _, id := range s.db.Owners() {
		if s.sessions.byID[id] == nil {
			ss := &session{id: id, timeout: s.opt.MaxTimeout}
			ss.touch(s.clock.now())
			s.sessions.byID[id] = ss
		}
	}
}
