package migrate_test

import (
	"fmt"
	"testing"

	"mrtq/legacy"
	"mrtq/newqueue"
)

// A batchID that can't be the name of a znode keeps no other record from being migrated, and
// an inventory record may name any batch: what is migrated, verify passes.
func TestOddBatchIDs(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := map[string][]byte{ingest(1): record(t, legacy.Pending, job("a", "1"))}
		for i, id := range []string{"bid-a/b", "bid-a\x00b", "..", ".", "bid-\ud7ff\ue000", "bid-😀", "/", "states", "bid-100% a"} {
			payload := job("a", fmt.Sprint(10+i))
			payload["batchID"] = id
			records[ingest(10+i)] = record(t, legacy.Pending, payload)
		}
		records[inventoryRecord] = record(t, legacy.Pending, legacy.Payload{"manifestURL": "http://store.example/manifest/1/ark%3A%2F99999%2F7", "batchID": "bid-foreign"})
		s := serve(t, queueTree(t, records), d)
		p := s.plan(s.options().Options)
		for _, x := range p.Problems {
			t.Errorf("problem: %s", x)
		}
		s.mustMigrate(s.options())
		s.mustVerify()
		s.release()
		s.mustVerify()
	})
}

// Two batchIDs that have the same name in the new queue are named, and nothing is written.
func TestBatchIDsOfOneName(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Pending, job("a/b", "1")),
			ingest(2): record(t, legacy.Pending, job("a%2Fb", "2")),
		}), d)
		p := problem(s.plan(s.options().Options), "batch-exists")
		if p == nil || p.Path != ingest(2) || p.Message != `batchID "bid-a%2Fb" has the same name in the new queue, /batch-uuids/bid-a%2Fb, as batchID "bid-a/b"` {
			t.Errorf("%+v", p)
		}
	})
}
