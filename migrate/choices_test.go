package migrate

import (
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A job whose record was removed from the legacy queue still counts in its batch: the next
// migration leaves the batch alone.
func TestBatchOfAVanishedRecordIsNotStale(t *testing.T) {
	rec := func(status legacy.Status, name string) []byte {
		return record(t, status, legacy.Payload{"batchID": "bid-0", "jobID": name})
	}
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": rec(legacy.Pending, "one"),
		"/ingest/mrtQ-05000000000002": rec(legacy.Completed, "two"),
	}
	opt := options(permissive())
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, records)), opt)
	before := dumpOf(t, treeOf(t, s), "/batches")
	delete(records, "/ingest/mrtQ-05000000000001")
	if res := mustMigrate(t, s, source(t, queue(t, records)), opt); res.Steps != 0 {
		t.Errorf("there is nothing to do, and it did %+v", res.Done)
	}
	if after := dumpOf(t, treeOf(t, s), "/batches"); after != before {
		t.Errorf("the batch of a pending job was written: %s", firstDifference(before, after))
	}
}

// If a record is declared done although a migration would create a job for it, the plan has a problem.
// It does not ignore the declaration.
func TestDoneForARecordThatIsNotLost(t *testing.T) {
	opt := options(permissive())
	opt.Done = []string{"/ingest/mrtQ-05000000000001"}
	p := makePlan(t, source(t, queue(t, fourRecords(t))), znode.NewTree(), opt)
	if problemAt(p, NotGone, opt.Done[0]) == nil {
		t.Errorf("problems %v, %d to create", p.Problems, p.Count(ActCreate))
	}
}

// A plan that creates no job does not set a hold again that the operator has released.
func TestNoHoldsWhereNoJobIsMade(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, opt)
	removeAll(t, s, "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs/states/pending/05-jid0000000001", "/jobs/states/pending/05-jid0000000002",
		"/batches/bid0000000000", "/batch-uuids/bid-0")
	releaseHolds(t, s)
	wipe(t, s)
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	opt.Done = []string{All}
	mustMigrate(t, s, src, opt)
	if holds := treeOf(t, s).Children("/locks/queue"); len(holds) > 0 {
		t.Errorf("held: %v", holds)
	}
}
