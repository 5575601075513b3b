// Package layouts has the maps of layouts that mrtq knows by name: of the new queue
// (merritt), of the legacy queue (merritt-legacy) and of Zuul's tree (zuul). With a
// map come the rules that a map can't express, which are Go code.
//
// [Named] returns a map, and its Check compares a tree with it.
//
// The package is for mrtq itself, because its functions have types of internal
// packages.
package layouts

import (
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/layout"
	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/newqueue"
	"mrtq/newqueue/layoutmap"
	"mrtq/newqueue/services"
)

// Names are the names of the maps. Callers must not change it.
var Names = []string{"merritt", "merritt-legacy", "zuul"}

// Options choose a variant of a map.
type Options struct {
	Dialect string         // of merritt: "design" or "mrt-zk", "" for design
	Queues  rules.Queues   // of merritt-legacy: where the queues are; without Nodes, at the default places
	Legacy  legacy.Options // of merritt-legacy: how to decode its records
}

// ErrUnknown says that there is no map with a name.
var ErrUnknown = errors.New("no such map")

// Named returns the map with a name, in the variant that opt chooses. The caller owns
// it. The error wraps [ErrUnknown] if there is no such map. Otherwise it says what is
// wrong with opt.
func Named(name string, opt Options) (*layout.Map, error) {
	switch name {
	case "merritt":
		return merritt(opt.Dialect)
	case "merritt-legacy":
		if opt.Queues.Nodes == nil {
			opt.Queues = rules.DefaultQueues()
		}
		m, err := legacyMap(opt.Queues, opt.Legacy)
		if err != nil {
			return nil, err
		}
		return m, m.AddGoRules(newDuplicates)
	case "zuul":
		return layout.Zuul()
	}
	return nil, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(Names, ", "))
}

func merritt(dialect string) (*layout.Map, error) {
	d := newqueue.Dialects[0]
	if dialect != "" {
		var err error
		if d, err = newqueue.ParseDialect(dialect); err != nil {
			return nil, err
		}
	}
	m, err := layoutmap.Load(d)
	if err != nil {
		return nil, err
	}
	if err := m.AddGoRules(layoutmap.Sessions); err != nil || d != newqueue.MrtZK {
		return m, err
	}
	return m, services.AddTo(m)
}
