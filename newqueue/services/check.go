package services

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/layoutmap"
)

// Check compares a tree in dialect mrt-zk with every demand, and returns the
// violations in the order of ids and paths. No client may write while the tree is
// read.
func Check(tree *znode.Tree) []Violation {
	var all []Violation
	items := map[string]*item{}
	c := newChecker(func(_ *item, v Violation) { all = append(all, v) })
	c.waiting = map[string]*item{}
	c.done = func(it *item) { items[it.path] = &item{path: it.path, state: it.state, worker: it.worker} }
	report, err := layout.Check(context.Background(), layout.InMemory(tree), layoutmap.Map(newqueue.MrtZK), layout.Options{
		Natives: []layout.NewNative{layoutmap.Places(newqueue.MrtZK), func(func(layout.Found)) layout.Native { return c }},
	})
	switch {
	case errors.Is(err, layout.ErrNoMatch):
		c.Done(time.Time{})
	case err != nil:
		panic(err) // reading a tree in memory does not fail
	default:
		for _, f := range report.Findings {
			if d := statedBy[f.Rule]; d != nil {
				all = append(all, d.violation(f, items))
			}
		}
	}
	sortViolations(all)
	return all
}

// CheckContent compares the JSON objects of one batch, job or request with
// every demand on the objects alone. It ignores the demands on their place in
// the tree, so it needs no tree.
func CheckContent(i Item) []Violation {
	all := i.item().violations()
	sortViolations(all)
	return all
}

func sortViolations(all []Violation) {
	slices.SortStableFunc(all, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Demand.ID, b.Demand.ID), strings.Compare(a.Path, b.Path), strings.Compare(a.What, b.What))
	})
}
