package zkconn

import (
	"context"
	"errors"
	"iter"

	"mrtq/internal/part"
	"mrtq/internal/znode"
)

// mostInBranch is how many znodes a walk reads of a small subtree at once. So it reads many
// small subtrees of a wide znode at a time, such as a queue's jobs, and never has a large
// subtree completely in memory.
const mostInBranch part.Size = 100

// Walk yields root and everything below it in path order, or nothing if
// root doesn't exist. It ends after the first error. Unlike in a subtree,
// there can be any number of znodes: only the lists of children are held as a whole.
func (r *Reader) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		branches, err := r.branches(ctx, []string{root}, mostInBranch.N())
		if err != nil {
			yield(znode.Node{}, err)
			return
		}
		w := walker{r: r, ctx: ctx, yield: yield}
		if b := branches[0]; len(b.nodes) > 0 && w.self(b) {
			w.below(b)
		}
	}
}

// walker yields branches. Its methods return false when the walk must end.
type walker struct {
	r     *Reader
	ctx   context.Context
	yield func(znode.Node, error) bool
}

func (w *walker) self(b branch) bool { return w.yield(b.nodes[0], nil) }

// below yields the branch's znodes after its first one. Where the branch lacks a
// znode's children, it yields those at their place.
func (w *walker) below(b branch) bool {
	for _, n := range b.nodes[1:] {
		for len(b.wide) > 0 && below(b.wide[0]) < n.Path {
			if !w.children(b.wide[0]) {
				return false
			}
			b.wide = b.wide[1:]
		}
		if !w.yield(n, nil) {
			return false
		}
	}
	for _, path := range b.wide {
		if !w.children(path) {
			return false
		}
	}
	return true
}

// children yields everything below a znode, in path order. "a/x" comes after both "a" and
// "a-b", because "-" is before the slash. So a sibling's branch waits until the names
// before its slash have been yielded.
func (w *walker) children(path string) bool {
	names, err := w.r.Children(w.ctx, path)
	if errors.Is(err, znode.ErrNoNode) {
		return true // it vanished
	}
	if err != nil {
		w.yield(znode.Node{}, err)
		return false
	}
	paths := func(yield func(string) bool) {
		for _, name := range names {
			if !yield(znode.Join(path, name)) {
				return
			}
		}
	}
	var waiting []branch // each comes before those in front of it
	flush := func(next string) bool {
		for n := len(waiting); n > 0 && (next == "" || below(waiting[n-1].root) < next); n-- {
			b := waiting[n-1]
			waiting = waiting[:n-1]
			if !w.below(b) {
				return false
			}
		}
		return true
	}
	for group, err := range w.r.groups(w.ctx, paths, mostInBranch.N()) {
		if err != nil {
			w.yield(znode.Node{}, err)
			return false
		}
		for _, b := range group {
			if len(b.nodes) == 0 {
				continue // it vanished
			}
			if !flush(b.root) || !w.self(b) {
				return false
			}
			waiting = append(waiting, b)
		}
	}
	return flush("")
}
