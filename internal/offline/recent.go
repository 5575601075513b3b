package offline

import (
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// touched is the place in memory of a znode that recent operations read or changed, or
// of a parent of such a znode.
type touched struct {
	below map[string]*touched // by name
	known presence
	// changed is true if the runs have, or may have, another state.
	changed bool
	// fresh is true if the znode is newer than the runs, so that they have nothing
	// below it.
	fresh bool
	state
}

// presence says whether a znode exists, as far as memory knows.
type presence uint8

const (
	unknown presence = iota // memory doesn't know: look into the runs
	there
	gone // it does not exist
)

// recent has the changes in memory.
type recent struct {
	root *touched
	size int // roughly, in bytes
}

func newRecent() *recent { return &recent{root: &touched{}} }

// touchedSize is about how many bytes the znode itself takes.
const touchedSize = 280

// place returns the place of a path and that of its parent, nil for the root. It
// creates missing places.
func (r *recent) place(path string) (n, above *touched) {
	n = r.root
	if path == "/" {
		return n, nil
	}
	for rest, more := path[1:], true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		above = n
		if n = above.below[name]; n == nil {
			n = &touched{}
			if above.below == nil {
				above.below = map[string]*touched{}
			}
			above.below[strings.Clone(name)] = n
			r.size += touchedSize + len(name)
		}
	}
	return n, above
}

// find returns the place of a path, if it has one. If it has none, fresh reports
// whether nothing exists there.
func (r *recent) find(path string) (n *touched, fresh bool) {
	n = r.root
	if path == "/" {
		return n, false
	}
	for rest, more := path[1:], true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		fresh = n.fresh && n.known == there
		if n = n.below[name]; n == nil {
			return nil, fresh
		}
	}
	return n, fresh
}

// put sets the current state of a znode.
func (r *recent) put(n *touched, s state) {
	r.size += len(s.data) - len(n.data)
	n.state, n.known, n.changed = s, there, true
}

// found is a znode that was changed, and its path.
type found struct {
	path string
	*touched
}

func (f found) entry() entry { return entry{f.path, f.known == gone, f.state} }

// changes are the changes at or below a path, in path order.
func (r *recent) changes(root string) []found {
	n, _ := r.find(root)
	if n == nil {
		return nil
	}
	var all []found
	var walk func(path string, n *touched)
	walk = func(path string, n *touched) {
		if n.changed {
			all = append(all, found{path, n})
		}
		for name, child := range n.below {
			walk(znode.Join(path, name), child)
		}
	}
	walk(root, n)
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return all
}

// entries is a copy of the changes, which later changes don't affect.
func (r *recent) entries(root string) []entry {
	changes := r.changes(root)
	entries := make([]entry, len(changes))
	for i, f := range changes {
		entries[i] = f.entry()
	}
	return entries
}
