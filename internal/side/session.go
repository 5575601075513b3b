package side

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/pace"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Session is a session with a server as a side. ZooKeeper's own /zookeeper is left
// out. A znode that vanishes while it is read is not there; one that may not be
// read is an error, or is marked, if the session says so
// ([zkconn.Reader.MarkUnreadable]). The ACLs are read of those znodes that acl
// says, at the price of one more request each; nil means none.
//
// A leaf costs one request: its Stat says that it has no children. How many
// requests are under way adapts to the server; see [pace.Gate].
func Session(r *zkconn.Reader, acl func(path string) bool) Side {
	if acl == nil {
		acl = func(string) bool { return false }
	}
	return &session{r: r, acl: acl}
}

// Server is the session that a side reads; nil if it reads none.
func Server(s Side) *zkconn.Reader {
	if on, ok := s.(*session); ok {
		return on.r
	}
	return nil
}

// AllACLs is for a session whose ACLs all count.
func AllACLs(string) bool { return true }

type session struct {
	r   *zkconn.Reader
	acl func(path string) bool
}

// lookahead is how many subtrees are read at once: enough for the most requests
// that may be under way.
var lookahead = pace.Reads.Most

func (s *session) Get(ctx context.Context, path string) (znode.Node, error) {
	return s.r.Look(ctx, path, s.acl(path))
}

func (s *session) Children(ctx context.Context, path string) ([]string, error) {
	names, err := s.r.Children(ctx, path)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return s.r.System(znode.Join(path, name)) })
	slices.Sort(names)
	return names, nil
}

func (s *session) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return ahead(ctx, roots, lookahead, func(ctx context.Context, root string) (Subtree, error) {
		nodes, err := s.subtree(ctx, root)
		slices.SortFunc(nodes, byPath)
		return Subtree{Root: root, Nodes: nodes}, err
	})
}

func byPath(a, b znode.Node) int { return strings.Compare(a.Path, b.Path) }

// subtree reads a znode and all that is below it, in no order; nothing if it is
// not there.
func (s *session) subtree(ctx context.Context, path string) ([]znode.Node, error) {
	n, names, err := s.look(ctx, path)
	if err != nil || n == nil {
		return nil, err
	}
	nodes := []znode.Node{*n}
	for below, err := range ahead(ctx, joined(path, names), lookahead, s.subtree) {
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, below...)
	}
	return nodes, nil
}

// look reads a znode and the names of its children; nil if it is not there.
func (s *session) look(ctx context.Context, path string) (*znode.Node, []string, error) {
	n, err := s.Get(ctx, path)
	var names []string
	if err == nil && hasChildren(n) {
		names, err = s.Children(ctx, path)
	}
	switch {
	case errors.Is(err, znode.ErrNoNode):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return &n, names, nil
}

func hasChildren(n znode.Node) bool { return n.Unreadable == "" && n.Stat.NumChildren > 0 }

func joined(parent string, names []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range names {
			if !yield(znode.Join(parent, name)) {
				return
			}
		}
	}
}
