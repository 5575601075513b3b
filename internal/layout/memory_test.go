package layout_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"mrtq/internal/layout"
	"mrtq/internal/side"
	"mrtq/internal/znode"
)

// heavy is a tree of changes that makes their data only when it is read.
type heavy struct {
	side.Side
	names []string
	bytes int
}

const heavyFolder = "/zuul/cache/connection/c/cache"

func (h heavy) Children(ctx context.Context, path string) ([]string, error) {
	if path == heavyFolder {
		return h.names, nil
	}
	return h.Side.Children(ctx, path)
}

func (h heavy) Subtrees(ctx context.Context, roots iter.Seq[string]) iter.Seq2[side.Subtree, error] {
	return func(yield func(side.Subtree, error) bool) {
		for root := range roots {
			if znode.Parent(root) != heavyFolder {
				continue
			}
			data := fmt.Appendf(nil, `{"data_uuid":"x","rest":"%*s"}`, h.bytes, "")
			if !yield(side.Subtree{Root: root, Nodes: []znode.Node{{Path: root, Data: data}}}, nil) {
				return
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
	h := heavy{Side: side.Tree(tree), bytes: size}
	for i := range nodes {
		h.names = append(h.names, fmt.Sprintf("%064x", i))
	}
	peak, calls := uint64(0), 0
	_, err := layout.Check(t.Context(), h, zuul(t), layout.Options{Progress: func(int) {
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
