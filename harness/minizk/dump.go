package minizk

import (
	"fmt"
	"io"

	"mrtq/harness/minizk/internal/ztree"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// Snapshot returns a copy of the tree, without /zookeeper, where the server's own nodes are. The
// copy shares the nodes' data with the server, so do not change the bytes.
func (s *Server) Snapshot() (*Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := znode.NewTree()
	for n := range s.tree.All() {
		acls := make([]znode.ACL, len(n.ACL))
		for i, a := range n.ACL {
			acls[i] = znode.ACL{Perms: a.Perms, Scheme: a.ID.Scheme, ID: a.ID.Name}
		}
		// Data is shared: neither side ever changes it in place.
		if err := t.Put(znode.Node{Path: n.Path, Data: n.Data, Stat: znode.Stat(n.Stat), ACL: acls}); err != nil {
			return nil, fmt.Errorf("minizk: %w", err)
		}
	}
	return t, nil
}

// WriteDump writes what Snapshot returns as a dump: a line with a JSON object for each znode,
// sorted by path.
func (s *Server) WriteDump(w io.Writer) error {
	t, err := s.Snapshot()
	if err != nil {
		return err
	}
	return znode.WriteDump(w, t)
}

// LoadDump reads a dump and calls Load. If a line of the dump cannot be read, the error says
// which, and nothing has changed.
func (s *Server) LoadDump(r io.Reader) error {
	t, err := znode.ReadDump(r)
	if err != nil {
		return fmt.Errorf("minizk: %w", err)
	}
	return s.Load(t)
}

// Load replaces the tree by t, except /zookeeper, where the server's own nodes are. It keeps the
// Stats of t, so that versions and the numbers of sequential children continue, and raises the
// server's zxid to t's. If t has an ephemeral node whose session the server does not know, the
// server adds that session. No client can resume it, and it expires like any other. Containers and
// TTL nodes become persistent nodes, because a dump does not tell them apart.
//
// Load cuts all connections, because what the clients know and watch is gone. The error is that a
// path of t is invalid, or is below an ephemeral node. Then nothing has changed.
func (s *Server) Load(t *Tree) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree, err := s.tree.Restored(func(yield func(ztree.Node) bool) {
		for n := range t.All("/") {
			acls := make([]jute.ACL, len(n.ACL))
			for i, a := range n.ACL {
				acls[i] = jute.ACL{Perms: a.Perms, ID: jute.ID{Scheme: a.Scheme, Name: a.ID}}
			}
			if !yield(ztree.Node{Path: n.Path, Data: n.Data, ACL: acls, Stat: jute.Stat(n.Stat)}) {
				return
			}
		}
	})
	if err != nil {
		return fmt.Errorf("minizk: load: %w", err)
	}
	s.dropAll()
	s.tree = tree
	s.zxid = max(s.zxid, t.Zxid())
	for _, id := range tree.Owners() {
		if s.sessions.byID[id] == nil {
			ss := &session{id: id, timeout: s.opt.MaxTimeout}
			ss.touch(s.clock.now())
			s.sessions.byID[id] = ss
		}
	}
	return nil
}
