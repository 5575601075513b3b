package side

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// A walk reads twigs ahead. A twig is a znode with a limited number of znodes
// below it. So many small subtrees of a wide znode, such as a queue's jobs, are
// read at a time, and no large subtree is ever completely in memory.
type twig struct {
	nodes []znode.Node // in path order
	wide  []string     // the nodes whose children are not in the twig, in the path order of the children
}

// mostInTwig is how many znodes a twig holds at most.
const mostInTwig = 100

// twig reads the twig that begins at a znode. It is empty if the znode doesn't
// exist.
func (s *session) twig(ctx context.Context, root string) (twig, error) {
	var t twig
	for todo := []string{root}; len(todo) > 0; todo = todo[1:] {
		n, err := s.Get(ctx, todo[0])
		var names []string
		if err == nil && hasChildren(n) {
			if room := mostInTwig - len(t.nodes) - len(todo); int(n.Stat.NumChildren) > room {
				t.wide = append(t.wide, n.Path)
			} else {
				names, err = s.Children(ctx, n.Path)
			}
		}
		if errors.Is(err, znode.ErrNoNode) {
			continue
		}
		if err != nil {
			return twig{}, err
		}
		t.nodes = append(t.nodes, n)
		todo = slices.AppendSeq(todo, joined(n.Path, names))
	}
	slices.SortFunc(t.nodes, byPath)
	slices.SortFunc(t.wide, func(a, b string) int { return strings.Compare(below(a), below(b)) })
	return t, nil
}

func (s *session) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		t, err := s.twig(ctx, root)
		if err != nil {
			yield(znode.Node{}, err)
			return
		}
		w := walker{s: s, ctx: ctx, yield: yield}
		if len(t.nodes) > 0 && w.self(t) {
			w.below(t)
		}
	}
}

// walker yields twigs. Its methods return false when the walk must end.
type walker struct {
	s     *session
	ctx   context.Context
	yield func(znode.Node, error) bool
}

func (w *walker) self(t twig) bool { return w.yield(t.nodes[0], nil) }

// below yields the twig's znodes after its first one. Where the twig lacks a
// znode's children, it yields those at their place.
func (w *walker) below(t twig) bool {
	for _, n := range t.nodes[1:] {
		for len(t.wide) > 0 && below(t.wide[0]) < n.Path {
			if !w.children(t.wide[0]) {
				return false
			}
			t.wide = t.wide[1:]
		}
		if !w.yield(n, nil) {
			return false
		}
	}
	for _, path := range t.wide {
		if !w.children(path) {
			return false
		}
	}
	return true
}

// children yields everything below a znode.
func (w *walker) children(path string) bool {
	names, err := w.s.Children(w.ctx, path)
	if errors.Is(err, znode.ErrNoNode) {
		return true // it vanished
	}
	if err != nil {
		w.yield(znode.Node{}, err)
		return false
	}
	failed := false
	twigs := func(yield func(string, twig) bool) {
		for t, err := range ahead(w.ctx, joined(path, names), lookahead, w.s.twig) {
			if err != nil {
				failed = true
				w.yield(znode.Node{}, err)
				return
			}
			if len(t.nodes) > 0 && !yield(znode.Name(t.nodes[0].Path), t) {
				return
			}
		}
	}
	return inPathOrder(twigs, w.self, func(t twig) bool { return !failed && w.below(t) }) && !failed
}
