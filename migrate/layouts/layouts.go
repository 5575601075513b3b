// Package layouts are the maps that mrtq knows by name, each with the rules that
// Go implements for it.
package layouts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/layout"
	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/layoutmap"
	"mrtq/newqueue/services"
)

// Layout is a map and the rules that go with it.
type Layout struct {
	Map     *layout.Map
	Natives []layout.NewNative
}

// Names are the maps that [Named] knows.
var Names = []string{"merritt", "merritt-legacy", "zuul"}

// Options say more about a map.
type Options struct {
	Dialect string         // of merritt, "" for the default
	Queues  migrate.Queues // of merritt-legacy; without nodes, the default ones
	Legacy  legacy.Options
}

// ErrUnknown says that no map has a name.
var ErrUnknown = errors.New("no such map")

// Named is a map that mrtq brings along. The error wraps [ErrUnknown] for any
// other name.
func Named(name string, opt Options) (Layout, error) {
	switch name {
	case "merritt":
		return merritt(opt.Dialect)
	case "merritt-legacy":
		if opt.Queues.Nodes == nil {
			opt.Queues = migrate.DefaultQueues()
		}
		m, err := legacyMap(opt.Queues, opt.Legacy)
		return Layout{m, []layout.NewNative{newDuplicates}}, err
	case "zuul":
		m, err := layout.Zuul()
		return Layout{Map: m}, err
	}
	return Layout{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(Names, ", "))
}

func merritt(dialect string) (Layout, error) {
	d := newqueue.Dialects[0]
	if dialect != "" {
		var err error
		if d, err = newqueue.ParseDialect(dialect); err != nil {
			return Layout{}, err
		}
	}
	m, err := layoutmap.Load(d)
	if err != nil {
		return Layout{}, err
	}
	l := Layout{m, []layout.NewNative{layoutmap.Places(d)}}
	if d == newqueue.MrtZK {
		if err := services.AddRules(m); err != nil {
			return Layout{}, err
		}
		l.Natives = append(l.Natives, services.Rules)
	}
	return l, nil
}

// Check holds a tree to a map.
func (l Layout) Check(ctx context.Context, s side.Side, opt layout.Options) (*layout.Report, error) {
	opt.Natives = l.Natives
	return layout.Check(ctx, s, l.Map, opt)
}

// Near is how well a tree matches a map: which of its roots are there, and below
// which znode.
type Near struct {
	Name  string
	Below string // "/" where a target is usually given
	Roots []string
	Of    int
}

// Nearest is the map of which most is in a tree, at its root or below one of the
// znodes there. ok is false where nothing of any map is there.
func Nearest(ctx context.Context, s side.Side) (best Near, ok bool, err error) {
	top, err := s.Children(ctx, "/")
	if err != nil {
		return Near{}, false, err
	}
	places := map[string][]string{"/": top}
	for _, name := range top {
		below, err := s.Children(ctx, "/"+name)
		if err != nil && !errors.Is(err, znode.ErrNoNode) {
			return Near{}, false, err
		}
		places["/"+name] = below
	}
	for _, name := range Names {
		l, err := Named(name, Options{})
		if err != nil {
			return Near{}, false, err
		}
		for at, there := range places {
			n := Near{Name: name, Below: at, Of: len(l.Map.Roots)}
			for _, root := range l.Map.Roots {
				if slices.Contains(there, strings.TrimPrefix(root, "/")) {
					n.Roots = append(n.Roots, root)
				}
			}
			if len(n.Roots) > 0 && (!ok || nearer(n, best)) {
				best, ok = n, true
			}
		}
	}
	return best, ok, nil
}

// nearer reports whether a matches better than b: more of its roots are there,
// then nearer to the root of the tree.
func nearer(a, b Near) bool {
	x, y := len(a.Roots)*b.Of, len(b.Roots)*a.Of
	switch {
	case x != y:
		return x > y
	case (a.Below == "/") != (b.Below == "/"):
		return a.Below == "/"
	}
	return a.Name+a.Below < b.Name+b.Below
}
