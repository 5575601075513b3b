// Package layouts has the maps of layouts that mrtq knows by name: of the new queue
// (merritt), of the legacy queue (merritt-legacy) and of Zuul's tree (zuul). With a
// map come the rules that a map can't express, which are Go code.
//
// [Named] returns a [Layout], and [Layout.Check] compares a tree with it.
//
// The package is for mrtq itself, because its functions have types of internal
// packages.
package layouts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/newqueue"
	"mrtq/newqueue/layoutmap"
	"mrtq/newqueue/services"
)

// Layout is a map, and the code of the rules that the map can't express.
type Layout struct {
	Map     *layout.Map
	Natives []layout.NewNative
}

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
func Named(name string, opt Options) (Layout, error) {
	switch name {
	case "merritt":
		return merritt(opt.Dialect)
	case "merritt-legacy":
		if opt.Queues.Nodes == nil {
			opt.Queues = rules.DefaultQueues()
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

// Check compares a tree with the layout, and returns a report of what differs. It
// ignores opt.Natives. An error comes from reading the tree, or wraps
// layout.ErrNoMatch if the tree has none of the map's roots.
//
// What a session that has locked a batch, job or request may leave between two writes is information. If the tree
// is a server's, Check first gives the session time to go on.
func (l Layout) Check(ctx context.Context, s layout.TreeReader, opt layout.Options) (*layout.Report, error) {
	report, working, err := l.check(ctx, s, opt)
	if err != nil || !slices.ContainsFunc(report.Findings, func(f layout.Finding) bool { return working.Of(f) != 0 }) {
		return report, err
	}
	if opt.Looks > 1 {
		select {
		case <-time.After(layoutmap.Patience):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if report, working, err = l.check(ctx, s, opt); err != nil {
			return nil, err
		}
	}
	for i := range report.Findings {
		f := &report.Findings[i]
		if session := working.Of(*f); session != 0 {
			f.Severity, f.Repair, f.LockedBy = layout.Info, "", fmt.Sprintf("%#x", session)
		}
	}
	return report, nil
}

// check also returns the locks of sessions, as the last look saw them.
func (l Layout) check(ctx context.Context, s layout.TreeReader, opt layout.Options) (*layout.Report, *layoutmap.Locks, error) {
	var working *layoutmap.Locks
	opt.Natives = append(slices.Clone(l.Natives), func(func(layout.Found)) layout.Native {
		working = layoutmap.NewLocks()
		return working
	})
	report, err := layout.Check(ctx, s, l.Map, opt)
	return report, working, err
}
