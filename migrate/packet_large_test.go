package migrate

import (
	"fmt"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// The largest job that a plan allows fits a packet, also with the largest record of a run.
func TestLargeJobBesideAFullRecord(t *testing.T) {
	opt := options(permissive())
	const root = "/services/merritt/production/ingest-workers/legacy-queue-of-ingest"
	queues := Queues{Nodes: map[QueueKind][]string{Ingest: {root}}}
	records := map[string][]byte{}
	for i := range tailEntries - 2 {
		records[fmt.Sprintf("%s/mrtQ-%02d%d%d%010d", root, i%100, i/100%2, i/7%10, i)] = record(t, legacy.Pending, legacy.Payload{"jobID": fmt.Sprint(i)})
	}
	large := func(n int) *Source {
		records[root+"/mrtQ-99190000009999"] = record(t, legacy.Pending, legacy.Payload{"jobID": "large", "note": strings.Repeat("x", n)})
		tree := znode.NewTree()
		for i, c := range root {
			if i > 0 && c == '/' {
				put(t, tree, root[:i], none)
			}
		}
		put(t, tree, root, none)
		for path, data := range records {
			put(t, tree, path, data)
		}
		tree.SetDefaultStats(1)
		src, err := ReadSource(tree, queues, legacy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	// Find the largest job that the plan allows.
	low, high := 100_000, 1<<20
	for high-low > 16 {
		if mid := (low + high) / 2; makePlan(t, large(mid), znode.NewTree(), opt).Blocked() {
			high = mid
		} else {
			low = mid
		}
	}
	s := serve(t, znode.NewTree())
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Migrate(t.Context(), static(large(low)), opt, nil); err != nil {
		t.Errorf("with a record of %d bytes: %v", low, err)
	}
}
