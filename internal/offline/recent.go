package offline

import (
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// touched is a znode that recent operations looked at or changed, in memory. Those
// below it that they touched hang from it.
type touched struct {
	below map[string]*touched // by name
	known standing
	// changed says that the layers below say something else of it, or may.
	changed bool
	// fresh says that it was made after the layers below: these say nothing of what
	// is below it.
	fresh bool
	state
}

// standing is what is known of a znode.
type standing uint8

const (
	unknown standing = iota // only the layers below say
	there
	gone // or never there
)

// recent is what is in memory.
type recent struct {
	root *touched
	size int // in bytes, roughly
}

func newRecent() *recent { return &recent{root: &touched{}} }

// touchedSize is about what the znode itself takes.
const touchedSize = 280

// place is where a path has its place, made if need be, and the one above it; that
// of the root is nil.
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

// find is the place of a path, if it has one; fresh says that, if not, nothing is
// there.
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

// put says what a znode is like now.
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

// changes are what was changed at or below a path, in path order.
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

// entries are the changes as they are now, whatever happens later.
func (r *recent) entries(root string) []entry {
	changes := r.changes(root)
	entries := make([]entry, len(changes))
	for i, f := range changes {
		entries[i] = f.entry()
	}
	return entries
}
