package migrate

import (
	"context"
	"slices"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// The collections of a target are those of its batches, in either dialect.
func TestReadCollections(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001":           record(t, legacy.Pending, ingestRecord(legacy.Payload{"batchID": "bid-1", "profile": "other"})),
		"/ingest/mrtQ-05000000000002":           record(t, legacy.Pending, ingestRecord(legacy.Payload{"batchID": "bid-2", "profile": "demo"})),
		"/ingest/mrtQ-05000000000003":           record(t, legacy.Pending, ingestRecord(legacy.Payload{"batchID": "bid-3", "profile": "demo"})),
		"/mrt.inventory.full/mrtQ-000000000001": record(t, legacy.Completed, legacy.Payload{"manifestURL": "http://store/m/ark"}),
		"/accessSmall.1/mrtQ-000000000002":      record(t, legacy.Pending, legacy.Payload{"token": "t"}),
	}
	for _, d := range newqueue.Dialects {
		opt := options(permissive())
		opt.Dialect = d
		target := serve(t, znode.NewTree())
		mustMigrate(t, target, source(t, queue(t, records)), opt)
		tree := treeOf(t, target)
		if err := tree.Put(znode.Node{Path: "/batches/bid0000000099"}); err != nil {
			t.Fatal(err)
		}
		if err := tree.Put(znode.Node{Path: "/batches/bid0000000099/submission", Data: []byte("no JSON")}); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCollections(context.Background(), side.Tree(tree))
		if want := []string{"demo", "other"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", d, got, err, want)
		}
	}
}
