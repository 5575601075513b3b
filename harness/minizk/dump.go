package minizk

import (
	"fmt"

	"mrtq/internal/znode"
	"mrtq/internal/ztree"
)

// Snapshot returns a copy of the tree, without /zookeeper, where the server's own nodes are. The
// copy shares the nodes' data and ACLs with the server, so do not change these.
func (s *Server) Snapshot() (*znode.Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := znode.NewTree()
	for n := range s.tree.Nodes("/") {
		// Data is shared: neither side ever changes it in place.
		if err := t.Put(n); err != nil {
			return nil, fmt.Errorf("minizk: %w", err)
		}
	}
	return t, nil
}

// Load replaces the tree by t, except /zookeeper, where the server's own nodes are. It keeps the
// Stats of t, so that versions and the numbers of sequential children continue, and raises the
// server's zxid to t's. If t has an ephemeral node whose session the server does not know, the
// server adds that session. No client can resume it, and it expires like any other. Containers and
// TTL nodes become persistent nodes, because a dump does not tell them apart.
//
// Load cuts all connections, because what the clients know and watch no longer exists. The error is that a
// path of t is invalid, or is below an ephemeral node. Then nothing has changed.
func (s *Server) Load(t *znode.Tree) error {
	l := ztree.NewLoader()
	for n := range t.All("/") {
		if err := l.Add(*n); err != nil {
			return fmt.Errorf("minizk: load: %w", err)
		}
	}
	s.replace(l.Tree())
	return nil
}

// replace gives the server another tree.
func (s *Server) replace(tree *ztree.Tree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropAll()
	s.adopt(tree)
}

// adopt makes a tree the server's own, with the sessions that own its ephemeral nodes. The caller
// holds mu.
func (s *Server) adopt(tree *ztree.Tree) {
	if s.opt.NoExtendedTypes {
		tree.RefuseTTL()
	}
	s.tree = tree
	s.zxid = max(s.zxid, tree.Zxid())
	for _, id := range tree.Owners() {
		if s.sessions.byID[id] == nil {
			ss := &session{id: id, timeout: s.opt.MaxTimeout}
			ss.touch(s.clock.now())
			s.sessions.byID[id] = ss
		}
	}
}
