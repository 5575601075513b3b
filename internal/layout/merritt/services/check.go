package services

import (
	"cmp"
	"slices"
	"strings"
)

// CheckContent compares the JSON objects of one batch, job or request with
// every demand on the objects alone. It ignores the demands on their place in
// the tree, so it needs no tree.
func CheckContent(i Item) []Violation {
	all := i.item().violations()
	slices.SortStableFunc(all, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Demand.ID, b.Demand.ID), strings.Compare(a.Path, b.Path), strings.Compare(a.What, b.What))
	})
	return all
}
