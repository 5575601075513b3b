package migrate

import (
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// If another client sets /jobs while a run is at work, /jobs has that data again after the
// rollback, and until then the trace still lists all runs.
func TestJobsIsSetDuringARun(t *testing.T) {
	opt := options(permissive())
	records := fourRecords(t)
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000005"] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-2", "jobID": "five"})
	src := source(t, queue(t, records))
	s.before(t, func(n int) {
		if n == 2 {
			do(t, s, znode.Set("/jobs", []byte("mine"), -1))
		}
	})
	if res := mustMigrate(t, s, src, opt); res.Done.Jobs != 1 {
		t.Errorf("made %+v", res.Done)
	}
	mustVerify(t, src, treeOf(t, s))
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Rollback(t.Context(), "run0000000001", false); err != nil {
		t.Fatal(err)
	}
	do(t, s, znode.Create("/jobs/other", none)) // so that /jobs stays
	if _, err := m.Rollback(t.Context(), "run0000000000", false); err != nil {
		t.Fatal(err)
	}
	if n := treeOf(t, s).Get("/jobs"); string(n.Data) != "mine" {
		t.Errorf("/jobs is %q", n.Data)
	}
}
