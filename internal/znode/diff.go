package znode

import "fmt"

// Change is one node that differs between the tree that was wanted and the one
// found.
type Change struct {
	Path string
	Want *Node // nil if the node was not wanted
	Got  *Node // nil if it is missing
}

func (c Change) String() string {
	switch {
	case c.Got == nil:
		return c.Path + ": missing"
	case c.Want == nil:
		return c.Path + ": extra"
	}
	return fmt.Sprintf("%s: data is %s, expected %s", c.Path, showData(c.Got.Data), showData(c.Want.Data))
}

// showData makes data readable: quoted, so that no raw byte of it reaches a
// terminal, and cut if it is long.
func showData(b []byte) string {
	const most = 120
	switch {
	case b == nil:
		return "null"
	case len(b) > most:
		return fmt.Sprintf("%q… (%d bytes)", b[:most], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// Diff lists, in path order, the nodes at or below root whose presence or data
// differ. Stats and ACLs are not compared.
func Diff(want, got *Tree, root string) []Change {
	var out []Change
	a, b := want.Paths(root), got.Paths(root)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out = append(out, Change{Path: a[0], Want: want.Get(a[0])})
			a = a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out = append(out, Change{Path: b[0], Got: got.Get(b[0])})
			b = b[1:]
		default:
			w, g := want.Get(a[0]), got.Get(a[0])
			if !SameData(w.Data, g.Data) {
				out = append(out, Change{Path: a[0], Want: w, Got: g})
			}
			a, b = a[1:], b[1:]
		}
	}
	return out
}
