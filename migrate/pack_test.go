package migrate

import (
	"slices"
	"testing"

	"mrtq/internal/znode"
)

// A transaction has at most the allowed number of operations, unless it is one unit alone. All
// units come in order.
func TestPackMost(t *testing.T) {
	const most = 5
	sizes := []int{2, 2, 2, 9, 1, 4, 1}
	var units []unit
	for i, n := range sizes {
		units = append(units, unit{count: 1, ops: slices.Repeat([]znode.Op{znode.Check("/x", int32(i))}, n)})
	}
	var order, packed []int
	for tx := range pack(slices.Values(units), defaultBudget, most, 0) {
		packed = append(packed, len(tx.ops))
		for _, op := range tx.ops {
			if n := len(order); n == 0 || order[n-1] != int(op.Version) {
				order = append(order, int(op.Version))
			}
		}
	}
	if want := []int{4, 2, 9, 5, 1}; !slices.Equal(packed, want) {
		t.Errorf("transactions have %v operations, want %v", packed, want)
	}
	if want := []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(order, want) {
		t.Errorf("units come in the order %v", order)
	}
}
