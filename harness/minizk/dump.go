package minizk

import (
	"fmt"
	"io"

	"mrtq/harness/minizk/internal/ztree"
	"mrtq/harness/minizk/wire"
	"mrtq/internal/znode"
)

// Snapshot returns a copy of the tree, without the server's own nodes below /zookeeper.
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

// WriteDump writes Snapshot as a dump: one JSON object for each znode, one on a
// line, sorted by path.
func (s *Server) WriteDump(w io.Writer) error {
	t, err := s.Snapshot()
	if err != nil {
		return err
	}
	return znode.WriteDump(w, t)
}

// LoadDump is Load from a dump. The error says which line cannot be read.
func (s *Server) LoadDump(r io.Reader) error {
	t, err := znode.ReadDump(r)
	if err != nil {
		return fmt.Errorf("minizk: %w", err)
	}
	return s.Load(t)
}

// Load replaces the tree by t, except the server's own nodes. It keeps the Stats of t, so that
// versions and the numbers of sequential children continue. The server's zxid is at least t's.
// Ephemeral nodes of an unknown session belong to a session that nobody can resume, and that
// expires like any other. Containers and TTL nodes become persistent nodes, because a dump does
// not tell them apart.
//
// All connections are cut, because what clients know and watch is gone. On error nothing has
// changed.
func (s *Server) Load(t *Tree) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tree, err := s.tree.Restored(func(yield func(ztree.Node) bool) {
		for n := range t.All("/") {
			acls := make([]wire.ACL, len(n.ACL))
			for i, a := range n.ACL {
				acls[i] = wire.ACL{Perms: a.Perms, ID: wire.ID{Scheme: a.Scheme, Name: a.ID}}
			}
			if !yield(ztree.Node{Path: n.Path, Data: n.Data, ACL: acls, Stat: wire.Stat(n.Stat)}) {
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
