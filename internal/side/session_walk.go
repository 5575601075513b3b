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
// below it. Thus a walk reads many small subtrees of a wide znode at a time, such
// as a queue's jobs, and never has a large subtree completely in memory.
type twig struct {
	nodes []znode.Node // in path order
	wide  []string     // the nodes whose children are not in the twig, in the path order of the children
}

// mostInTwig is how many znodes a twig holds at most.
const mostInTwig = 100

// twigs reads the twigs that begin at some znodes together, one generation
// after the other. A twig is empty if its znode doesn't exist.
func (s *session) twigs(ctx context.Context, roots []string) ([]twig, error) {
	twigs := make([]twig, len(roots))
	of := make(map[string]int, len(roots)) // index into twigs, by a path of this generation
	for i, root := range roots {
		of[root] = i
	}
	for paths := roots; len(paths) > 0; {
		nodes, err := s.r.LookAll(ctx, paths, s.acl)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			t := &twigs[of[n.Path]]
			t.nodes = append(t.nodes, n)
		}
		var parents []string
		planned := make(map[int]int) // znodes of the next generation, by twig
		for _, n := range nodes {
			if !hasChildren(n) {
				continue
			}
			i := of[n.Path]
			t := &twigs[i]
			if room := mostInTwig - len(t.nodes) - planned[i]; int(n.Stat.NumChildren) > room {
				t.wide = append(t.wide, n.Path)
				continue
			}
			planned[i] += int(n.Stat.NumChildren)
			parents = append(parents, n.Path)
		}
		if paths, of, err = s.nextGeneration(ctx, parents, of); err != nil {
			return nil, err
		}
	}
	for i := range twigs {
		t := &twigs[i]
		slices.SortFunc(t.nodes, byPath)
		slices.SortFunc(t.wide, func(a, b string) int { return strings.Compare(below(a), below(b)) })
	}
	return twigs, nil
}

func (s *session) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		twigs, err := s.twigs(ctx, []string{root})
		if err != nil {
			yield(znode.Node{}, err)
			return
		}
		w := walker{s: s, ctx: ctx, yield: yield}
		if t := twigs[0]; len(t.nodes) > 0 && w.self(t) {
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
		for some, err := range ahead(w.ctx, chunks(joined(path, names), together), lookahead, w.s.twigs) {
			if err != nil {
				failed = true
				w.yield(znode.Node{}, err)
				return
			}
			for _, t := range some {
				if len(t.nodes) > 0 && !yield(znode.Name(t.nodes[0].Path), t) {
					return
				}
			}
		}
	}
	return inPathOrder(twigs, w.self, func(t twig) bool { return !failed && w.below(t) }) && !failed
}
