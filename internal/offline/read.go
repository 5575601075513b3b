package offline

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// Side returns the current tree for reading. It has the ACLs of all znodes.
func (t *Tree) Side(func(path string) bool) side.Side { return t }

// begin takes the lock, if the tree can be used.
func (t *Tree) begin(ctx context.Context, path string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := znode.ValidatePath(path); err != nil {
		return err
	}
	t.mu.Lock()
	if t.err != nil {
		t.mu.Unlock()
		return t.err
	}
	return nil
}

// Get reads one znode, with its ACL if that is not open. The error wraps
// [znode.ErrNoNode] if it does not exist.
func (t *Tree) Get(ctx context.Context, path string) (znode.Node, error) {
	if err := t.begin(ctx, path); err != nil {
		return znode.Node{}, err
	}
	defer t.mu.Unlock()
	s, ok, err := t.look(path)
	if err == nil && !ok {
		err = fmt.Errorf("get %s: %w", path, znode.ErrNoNode)
	}
	if err != nil {
		return znode.Node{}, err
	}
	return (&entry{path: path, state: s}).node(), nil
}

// Exists reads a znode's Stat. ok is false if it does not exist.
func (t *Tree) Exists(ctx context.Context, path string) (stat znode.Stat, ok bool, err error) {
	if err := t.begin(ctx, path); err != nil {
		return znode.Stat{}, false, err
	}
	defer t.mu.Unlock()
	s, ok, err := t.look(path)
	return s.stat, ok, err
}

// ACL reads a znode's access control list.
func (t *Tree) ACL(ctx context.Context, path string) ([]znode.ACL, error) {
	n, err := t.Get(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case n.ACL == nil:
		return znode.OpenACL(), nil
	}
	return n.ACL, nil
}

// Children lists a znode's children in byte order. The error wraps
// [znode.ErrNoNode] if the znode does not exist.
func (t *Tree) Children(ctx context.Context, path string) ([]string, error) {
	n, err := t.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	if n.Stat.NumChildren == 0 {
		return nil, nil
	}
	r := t.reader()
	defer r.close()
	m, err := r.snapshot(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, n.Stat.NumChildren)
	prefix := below(path)
	for err = m.seek(prefix + firstName); err == nil && at(m, prefix); {
		name, _, deeper := strings.Cut(string(m.path()[len(prefix):]), "/")
		if deeper { // name itself came before
			err = m.seek(prefix + name + afterSlash)
			continue
		}
		var e entry
		if e, err = m.load(); err == nil && !e.gone {
			names = append(names, name)
		}
		if err == nil {
			err = m.next()
		}
	}
	return names, err
}

// firstName comes before all names. No name begins with a control character, and a
// path that ends with a slash is not below itself.
const firstName = "\x01"

// afterSlash is the character after the slash: everything below "a" is from "a/" to
// "a0".
const afterSlash = "0"

// below is the common beginning of the paths of all znodes below a path.
func below(path string) string {
	if path == "/" {
		return path
	}
	return path + "/"
}

func at(m *merged, prefix string) bool {
	p := m.path()
	return len(p) >= len(prefix) && string(p[:len(prefix)]) == prefix
}

// reader reads a tree repeatedly, each time in its current state. The caller closes
// it.
type reader struct {
	t       *Tree
	cursors map[*run]*cursor
}

// reader returns a reader, which keeps runs open that are merged meanwhile.
func (t *Tree) reader() *reader {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading++
	return &reader{t, map[*run]*cursor{}}
}

func (r *reader) close() {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.t.reading--
	r.t.dropRetired()
}

// snapshot is the current state of a path and everything below it. Later changes don't
// affect it. It is valid until the next snapshot.
func (r *reader) snapshot(root string) (*merged, error) {
	t := r.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, t.err
	}
	hash := hashOf(root)
	var layers []layer
	for i, run := range t.runs {
		if !run.filter.has(hash) {
			continue
		}
		if r.cursors[run] == nil {
			r.cursors[run] = &cursor{run: run}
		}
		layers = append(layers, runLayer{r.cursors[run], len(t.runs) - i})
	}
	if recent := t.recent.entries(root); len(recent) > 0 {
		layers = append(layers, &list{entries: recent})
	}
	return newMerged(layers), nil
}

// nodes yields root and everything below it, in their current state.
func (r *reader) nodes(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		if err := r.each(ctx, root, func(n znode.Node) bool { return yield(n, nil) }); err != nil {
			yield(znode.Node{}, err)
		}
	}
}

// each calls f for each znode, until f returns false.
func (r *reader) each(ctx context.Context, root string, f func(znode.Node) bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := znode.ValidatePath(root); err != nil {
		return err
	}
	m, err := r.snapshot(root)
	if err != nil {
		return err
	}
	if err := m.seek(root); err != nil || string(m.path()) != root {
		return err
	}
	e, err := m.load()
	if err != nil || e.gone || !f(e.node()) {
		return err
	}
	prefix := below(root)
	err = m.seek(prefix + firstName)
	for i := 0; err == nil && at(m, prefix); i++ {
		if i%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e, err = m.load(); err != nil || !e.gone && !f(e.node()) {
			return err
		}
		err = m.next()
	}
	return err
}

// Walk implements [side.Side]. It yields all znodes as they were when it began.
func (t *Tree) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		r := t.reader()
		defer r.close()
		r.nodes(ctx, root)(yield)
	}
}

// Subtrees implements [side.Side]. It yields each subtree as it was at one moment.
func (t *Tree) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[side.Subtree, error] {
	return func(yield func(side.Subtree, error) bool) {
		r := t.reader()
		defer r.close()
		for root := range roots {
			sub := side.Subtree{Root: root}
			err := r.each(ctx, root, func(n znode.Node) bool {
				sub.Nodes = append(sub.Nodes, n)
				return true
			})
			if err != nil {
				yield(side.Subtree{}, err)
				return
			}
			if !yield(sub, nil) {
				return
			}
		}
	}
}
