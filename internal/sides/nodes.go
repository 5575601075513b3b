package sides

import (
	"context"
	"iter"
	"maps"
	"slices"

	"mrtq/internal/znode"
)

// Nodes loads a dump, and yields all its znodes in the order of a dump, with their ACLs. It needs no server, and so has what a server would not show: a dump's
// znodes of ZooKeeper itself. The errors are those of [Open].
func Nodes(ctx context.Context, p Place, opt Options) (iter.Seq[znode.Node], error) {
	l, err := load(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	return l.nodes(), nil
}

func (l *loaded) nodes() iter.Seq[znode.Node] {
	return func(yield func(znode.Node) bool) {
		system := slices.Sorted(maps.Keys(l.system))
		for n := range l.tree.Nodes("/") {
			for len(system) > 0 && system[0] < n.Path {
				if !yield(l.system[system[0]]) {
					return
				}
				system = system[1:]
			}
			if !yield(n) {
				return
			}
		}
		for _, path := range system {
			if !yield(l.system[path]) {
				return
			}
		}
	}
}
