// Package merritt has the map of the new queue (merritt.yaml), with the rules that a map can't
// express, which are Go code: those that compare jobs, batches and their entries with each other
// (places.go), and what the deployed services demand (package services).
//
// [Named] returns a map, and its Check compares a tree with it. [Problems] compares a tree in
// memory with the rules of the new layout alone.
package merritt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Names are the names of the maps. Callers must not change it.
var Names = []string{"merritt", "zuul"}

// ErrUnknown says that there is no map with a name.
var ErrUnknown = errors.New("no such schema")

// Named returns the map with a name, which the caller owns. dialect is that of merritt, "" for design.
// The error wraps [ErrUnknown] if there is no such schema. Otherwise it says what is wrong with dialect.
func Named(name, dialect string) (*layout.Map, error) {
	switch name {
	case "merritt":
		d := newqueue.Dialects[0]
		if dialect != "" {
			var err error
			if d, err = newqueue.ParseDialect(dialect); err != nil {
				return nil, err
			}
		}
		m := load(d)
		m.AddGoRules(sessions)
		if d == newqueue.MrtZK {
			services.AddTo(m)
		}
		return m, nil
	case "zuul":
		return layout.Zuul()
	}
	return nil, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(Names, ", "))
}

// Problems returns every place where a tree breaks a rule of the layout, in path order. It
// leaves out what the map only warns about, and what only the deployed services demand.
//
// It looks only below /batches, /batch-uuids, /jobs, /access and /locks. It checks
// whether locks are ephemeral if the tree has Stats. No client may write while the tree is
// read, because the client library changes one znode after the other.
func Problems(tree *znode.Tree, d newqueue.Dialect) []layout.Finding {
	report, err := plain[d]().Check(context.Background(), layout.InMemory(tree), layout.Options{})
	switch {
	case errors.Is(err, layout.ErrNoMatch):
		return nil
	case err != nil: // reading a tree in memory should never fail
		return []layout.Finding{{Path: "/", Rule: "layout", Severity: layout.Error, Found: err.Error()}}
	}
	var problems []layout.Finding
	for _, f := range report.Findings {
		if f.Severity == layout.Error {
			problems = append(problems, f)
		}
	}
	return problems
}
