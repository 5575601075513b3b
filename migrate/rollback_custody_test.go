package migrate

import (
	"errors"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A rollback keeps another client's znodes inside the ledger, and a copy of a job in the
// place of a job that was done. It also keeps the custody of the done job.
func TestRollbackKeepsWhatOthersPutIntoTheLedger(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	for _, path := range []string{"/migration/ledger/run0000000000/note", "/migration/runs/run0000000000/note", "/migration/ledger/run0000000000/0000000000/note"} {
		s := serve(t, znode.NewTree())
		res := mustMigrate(t, s, src, opt)
		do(t, s, znode.Create(path, []byte("mine")))
		m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
		u, err := m.Rollback(t.Context(), res.Run, false)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if n := treeOf(t, s).Get(path); n == nil || len(u.Kept) == 0 {
			t.Errorf("%s: there is %v, kept %v", path, n, u.Kept)
		}
	}
}

func TestRollbackKeepsCustodyBesideAForgedJob(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, src, opt)
	data := treeOf(t, s).Get("/jobs/jid0000000001").Data
	workOff(t, s, opt.Dialect)
	do(t, s, znode.Create("/jobs/jid0000000099", data))
	u, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept) != 4 {
		t.Errorf("%v, kept %v", err, u.Kept)
	}
	removeAll(t, s, "/jobs/jid0000000099")
	if p := makePlan(t, src, treeOf(t, s), opt); p.Count(ActCreate) > 0 {
		t.Errorf("the plan creates %d jobs a second time", p.Count(ActCreate))
	}
}

// If the ledger is gone, the error says so. It does not say that there was no run.
func TestRollbackOfAWipedRun(t *testing.T) {
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, source(t, queue(t, fourRecords(t))), options(permissive()))
	wipe(t, s)
	if _, err := PlanRollback(t.Context(), side.Tree(treeOf(t, s)), res.Run, false); !errors.Is(err, ErrLedger) {
		t.Errorf("%v", err)
	}
}

// What is left of a rolled back run does not keep an earlier run from being rolled back.
func TestRollbackPastARunThatWasRolledBack(t *testing.T) {
	opt := options(permissive())
	records := fourRecords(t)
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000005"] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-2", "jobID": "five"})
	src := source(t, queue(t, records))
	mustMigrate(t, s, src, opt)
	removeAll(t, s, "/jobs/jid0000000005", "/jobs/states/pending/05-jid0000000005", "/batches/bid0000000002", "/batch-uuids/bid-2")
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Rollback(t.Context(), "run0000000000", false); !errors.Is(err, ErrNotNewest) {
		t.Errorf("the first run before the second: %v", err)
	}
	if u, err := m.Rollback(t.Context(), "run0000000001", false); err != nil || len(u.Kept) != 1 {
		t.Fatalf("%v, kept %v", err, u)
	}
	if u, err := m.Rollback(t.Context(), "run0000000000", false); err != nil || len(u.Kept) != 0 || u.Done.Jobs != 4 {
		t.Fatalf("%v, %+v", err, u)
	}
	p := makePlan(t, src, treeOf(t, s), opt)
	if p.Blocked() || p.Count(ActCreate) != 4 || len(p.Gone) != 1 {
		t.Errorf("problems %v, %d to create, gone %v", p.Problems, p.Count(ActCreate), p.Gone)
	}
	res := mustMigrate(t, s, src, opt)
	if res.Done.Jobs != 4 {
		t.Errorf("made %+v", res.Done)
	}
	for _, d := range verifyTree(src, treeOf(t, s), VerifyOptions{}).Differences {
		if d.Kind != JobGone {
			t.Errorf("%s", d)
		}
	}
}
