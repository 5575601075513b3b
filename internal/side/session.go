package side

import (
	"context"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/pace"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Session is a session with a server as a side. ZooKeeper's own /zookeeper is
// left out. A znode that vanishes while it is read counts as missing. If the
// session may not read a znode, that is an error, unless the session marks such
// znodes ([zkconn.Reader.MarkUnreadable]). acl says which znodes' ACLs are read.
// Each costs one more request. nil means none.
//
// A leaf costs one request: its Stat says that it has no children. How many
// requests are under way adapts to the server; see [pace.Gate].
func Session(r *zkconn.Reader, acl func(path string) bool) Side {
	if acl == nil {
		acl = func(string) bool { return false }
	}
	return &session{r: r, acl: acl}
}

// Server returns the session that a side reads, or nil if it reads none.
func Server(s Side) *zkconn.Reader {
	if on, ok := s.(*session); ok {
		return on.r
	}
	return nil
}

// AllACLs reads the ACL of every znode.
func AllACLs(string) bool { return true }

type session struct {
	r   *zkconn.Reader
	acl func(path string) bool
}

// Small subtrees are read in groups, and several groups at once: enough for the
// most requests that may be under way.
const together = 32

var lookahead = pace.ReadsTogether.Most

func (s *session) Get(ctx context.Context, path string) (znode.Node, error) {
	return s.r.Look(ctx, path, s.acl(path))
}

func (s *session) Children(ctx context.Context, path string) ([]string, error) {
	names, err := s.r.Children(ctx, path)
	if err != nil {
		return nil, err
	}
	return s.sorted(path, names), nil
}

// sorted are the names of a znode's children in order, without ZooKeeper's own.
func (s *session) sorted(path string, names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return name == systemName && s.r.System(znode.Join(path, name)) })
	slices.Sort(names)
	return names
}

// systemName is the name of ZooKeeper's own subtree.
const systemName = "zookeeper"

func (s *session) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[Subtree, error] {
	return func(yield func(Subtree, error) bool) {
		for some, err := range ahead(ctx, chunks(roots, together), lookahead, s.subtreesUntil) {
			for _, sub := range some {
				if !yield(sub, nil) {
					return
				}
			}
			if err != nil {
				yield(Subtree{}, err)
				return
			}
		}
	}
}

// subtreesUntil reads some subtrees, up to the first that can't be read.
func (s *session) subtreesUntil(ctx context.Context, roots []string) ([]Subtree, error) {
	subs, err := s.subtrees(ctx, roots)
	if err == nil || ctx.Err() != nil {
		return subs, err
	}
	subs = nil
	for i := range roots {
		one, err := s.subtrees(ctx, roots[i:i+1])
		if err != nil {
			return subs, err
		}
		subs = append(subs, one...)
	}
	return subs, nil
}

// chunks yields the values of in, size at a time.
func chunks[T any](in iter.Seq[T], size int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		var some []T
		for item := range in {
			if some = append(some, item); len(some) == size {
				if !yield(some) {
					return
				}
				some = nil
			}
		}
		if len(some) > 0 {
			yield(some)
		}
	}
}

// nextGeneration returns the paths of the children of some znodes. of has an index for
// each parent. ofChild gives each child its parent's index.
func (s *session) nextGeneration(ctx context.Context, parents []string, of map[string]int) (paths []string, ofChild map[string]int, err error) {
	lists, err := s.childrenAll(ctx, parents)
	if err != nil {
		return nil, nil, err
	}
	ofChild = map[string]int{}
	for k, names := range lists {
		for path := range joined(parents[k], names) {
			ofChild[path] = of[parents[k]]
			paths = append(paths, path)
		}
	}
	return paths, ofChild, nil
}

// subtrees reads some subtrees together, one generation after the other.
func (s *session) subtrees(ctx context.Context, roots []string) ([]Subtree, error) {
	subs := make([]Subtree, len(roots))
	of := make(map[string]int, len(roots)) // index into subs, by a path of this generation
	for i, root := range roots {
		subs[i].Root = root
		of[root] = i
	}
	for paths := roots; len(paths) > 0; {
		nodes, err := s.r.LookAll(ctx, paths, s.acl)
		if err != nil {
			return nil, err
		}
		var parents []string
		for _, n := range nodes {
			i := of[n.Path]
			subs[i].Nodes = append(subs[i].Nodes, n)
			if hasChildren(n) {
				parents = append(parents, n.Path)
			}
		}
		if paths, of, err = s.nextGeneration(ctx, parents, of); err != nil {
			return nil, err
		}
	}
	for _, sub := range subs {
		slices.SortFunc(sub.Nodes, byPath)
	}
	return subs, nil
}

func byPath(a, b znode.Node) int { return strings.Compare(a.Path, b.Path) }

// childrenAll are the names of several znodes' children. A missing znode has
// none.
func (s *session) childrenAll(ctx context.Context, paths []string) ([][]string, error) {
	lists, err := s.r.ChildrenAll(ctx, paths)
	for i := range lists {
		lists[i] = s.sorted(paths[i], lists[i])
	}
	return lists, err
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
