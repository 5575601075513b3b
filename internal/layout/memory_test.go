package layout_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// heavy is a tree of changes that makes their data only when it is read.
type heavy struct {
	layout.TreeReader
	nodes, size int
}

const heavyFolder = "/zuul/cache/connection/c/cache"

func (h heavy) Walk(ctx context.Context, root string) iter.Seq2[znode.Node, error] {
	return func(yield func(znode.Node, error) bool) {
		for n, err := range h.TreeReader.Walk(ctx, root) {
			if !yield(n, err) {
				return
			}
			for i := 0; i < h.nodes && n.Path == heavyFolder; i++ {
				data := fmt.Appendf(nil, `{"data_uuid":"x","rest":"%*s"}`, h.size, "")
				if !yield(znode.Node{Path: fmt.Sprintf("%s/%064x", heavyFolder, i), Data: data}, nil) {
					return
				}
			}
		}
	}
}

// A check's memory grows with names, not with data: it checks a hundred
// megabytes of data with less than 32 MiB of memory.
func TestMemoryGrowsWithNames(t *testing.T) {
	const nodes, size = 2_000, 64 << 10
	tree := znode.NewTree()
	if err := tree.Put(znode.Node{Path: heavyFolder}); err != nil {
		t.Fatal(err)
	}
	h := heavy{layout.InMemory(tree), nodes, size}
	peak, calls := uint64(0), 0
	m, err := layout.Zuul()
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Check(t.Context(), h, layout.Options{Progress: func(int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		peak, calls = max(peak, m.HeapAlloc), calls+1
	}})
	if err != nil {
		t.Fatal(err)
	}
	if most := uint64(32 << 20); peak > most || calls < nodes/1000 {
		t.Errorf("the heap grew to %d bytes in %d calls, want at most %d", peak, calls, most)
	}
}
