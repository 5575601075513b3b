package migrate

import (
	"errors"
	"testing"

	"mrtq/internal/znode"
)

// Somebody else's znodes inside the ledger, and a copy of a job in place of the
// one that is done, survive a rollback; the custody of what is done does, too.
func TestRollbackKeepsWhatOthersPutIntoTheLedger(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	for _, path := range []string{"/migration/ledger/run0000000000/note", "/migration/runs/run0000000000/note", "/migration/ledger/run0000000000/0000000000/note"} {
		s := serve(t, znode.NewTree())
		res := mustMigrate(t, s, src, opt)
		do(t, s, znode.Create(path, []byte("mine")))
		m := &Migrator{Target: s.Target, Now: clock()}
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
	u, err := (&Migrator{Target: s.Target, Now: clock()}).Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept) != 4 {
		t.Errorf("%v, kept %v", err, u.Kept)
	}
	removeAll(t, s, "/jobs/jid0000000099")
	if p := MakePlan(src, treeOf(t, s), opt); p.Count(ActCreate) > 0 {
		t.Errorf("%d are made anew", p.Count(ActCreate))
	}
}

// That the ledger is gone is said, and not that there was no run.
func TestRollbackOfAWipedRun(t *testing.T) {
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, source(t, queue(t, fourRecords(t))), options(permissive()))
	wipe(t, s)
	if _, err := PlanRollback(treeOf(t, s), res.Run, false); !errors.Is(err, ErrLedger) {
		t.Errorf("%v", err)
	}
}
