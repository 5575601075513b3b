package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

const (
	firstRun   = "/migration/runs/run0000000000"
	firstEntry = "/migration/ledger/run0000000000/0000000/0000000000"
)

// If the migration's own records are damaged, everything that writes refuses, and names what
// is missing or damaged. Holding queues is still possible, and so is a release that hands
// nothing over, because nobody may want to wait for a dump.
func TestDamagedLedger(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(s *site)
		names  string
	}{
		{"/migration is gone", func(s *site) { s.remove("/migration") }, "run0000000001"},
		{"all runs are gone", func(s *site) { s.remove("/migration/runs") }, "run0000000001"},
		{"the newest run is gone", func(s *site) { s.remove("/migration/runs/run0000000001") }, "run0000000001"},
		{"an earlier run is gone", func(s *site) { s.remove(firstRun) }, firstRun},
		{"a run's entries are gone", func(s *site) { s.remove("/migration/ledger/run0000000000") }, firstEntry},
		{"a group is gone", func(s *site) { s.remove(znode.Parent(firstEntry)) }, firstEntry},
		{"an entry is gone", func(s *site) { s.remove(firstEntry) }, firstEntry},
		{"an entry is cut", func(s *site) { s.set(firstEntry, s.data(firstEntry)[:20]) }, firstEntry},
		{"an entry is another's", func(s *site) {
			s.set(firstEntry, s.data(strings.ReplaceAll(firstEntry, "run0000000000", "run0000000001")))
		}, "handed over to /jobs/jid0000000002, and no entry created that"},
		{"a run's record is text", func(s *site) { s.set(firstRun, []byte("by hand")) }, firstRun},
		{"a run's record is another's", func(s *site) { s.set(firstRun, s.data("/migration/runs/run0000000001")) }, firstRun},
		{"the ledger is as it was before the second run", func(s *site) {
			s.remove("/migration/runs/run0000000001", "/migration/ledger/run0000000001")
		}, "run0000000001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			s.completes()
			s.late(900)
			s.mustMigrate(s.options())
			s.late(901)
			c.damage(s)
			before := dump(s.tree(), "/")
			ctx := t.Context()
			src := s.source()
			damaged := func(what string, err error) {
				t.Helper()
				if !errors.Is(err, migrate.ErrDamaged) || !strings.Contains(fmt.Sprint(err), c.names) || !strings.Contains(fmt.Sprint(err), "restore /migration") {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := migrate.MakePlan(ctx, src, &s.w.Reader, s.options().PlanOptions)
			damaged("plan", err)
			_, err = s.migrate(s.options())
			damaged("migrate", err)
			_, err = migrate.Verify(ctx, nil, &s.w.Reader, migrate.VerifyOptions{})
			damaged("verify", err)
			_, err = migrate.Release(ctx, s.w, migrate.ReleaseOptions{})
			damaged("release", err)
			_, err = s.rollback(migrate.RollbackOptions{Force: true})
			damaged("rollback", err)
			_, err = migrate.PreviewRollback(ctx, &s.w.Reader, migrate.RollbackOptions{})
			damaged("preview", err)
			_, err = migrate.Find(ctx, &s.w.Reader, ingest(1))
			damaged("find", err)
			if status := s.status(); !strings.Contains(status.Damage, c.names) || status.Step != migrate.StepRestoreLedger {
				t.Errorf("status says %q, and %q", status.Damage, status.Step)
			}
			if after := dump(s.tree(), "/"); after != before {
				t.Errorf("something was written")
			}
			if _, err := migrate.Hold(ctx, s.w, migrate.HoldOptions{By: "ops"}); err != nil {
				t.Errorf("hold: %v", err)
			}
			if res, err := migrate.Release(ctx, s.w, migrate.ReleaseOptions{LedgerDamaged: true, Others: true}); err != nil || len(res.Lifted) != 3 {
				t.Errorf("release without verifying: %+v, %v", res, err)
			}
		})
	}
}

// The way out of a damaged ledger is a dump that was made after the last run; a whole target may also have been put back znode by znode.
// mrtq notices both, and asks for an explicit word. Then nothing shows which jobs came from one transaction, and only what shows counts.
func TestRestored(t *testing.T) {
	restores := map[string]func(*site){
		"the ledger": func(s *site) {
			saved := s.tree()
			s.remove("/migration")
			for n := range saved.All("/migration") {
				s.create(n.Path, n.Data)
			}
		},
		"the target": lifeEvents["a backup is restored znode by znode"],
	}
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for what, restore := range restores {
			t.Run(what, func(t *testing.T) {
				s := serve(t, queueTree(t, pendings(t, 6, 2)), d)
				s.interrupted(3)
				restore(s)
				opt := s.options()
				if res, err := s.migrate(opt); !errors.Is(err, migrate.ErrBlocked) || problem(res.Plan, "restored") == nil {
					t.Errorf("migrate: %v", err)
				}
				opt.Restored = true
				s.mustMigrate(opt)
				s.mustVerify()
				s.set(s.jobOf(ingest(1))+"/space_needed", []byte("7"))
				if got := kinds(s.verify()); got != "acted-on" {
					t.Errorf("verify says %s", got)
				}
				s.release()
				if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) != 1 || undo.Keeps[0].Record != ingest(1) {
					t.Errorf("kept %v", undo.Keeps)
				}
			})
		}
	})
}

// A restore of /migration is noticed also when nothing is held or due any more: what verify and status name as the next step ends it,
// although there is nothing to hand over and no hold to lift.
func TestRestoredAfterRelease(t *testing.T) {
	for name, before := range map[string]func(s *site){
		"released":    func(s *site) { s.release() },
		"rolled back": func(s *site) { s.mustRollback(migrate.RollbackOptions{}) },
		"completed, and another rolled back": func(s *site) {
			s.mustMigrate(s.options())
			s.completes()
			s.late(900)
			s.mustMigrate(s.options())
			s.mustRollback(migrate.RollbackOptions{})
		},
		"held by a person":     func(s *site) { s.release(); s.hold("ops", newqueue.HoldIngest) },
		"partly released":      func(s *site) { s.release(newqueue.HoldIngest) },
		"completed":            lifeStates["completed"],
		"a job that was kept":  func(s *site) { s.release(); s.fails(); s.mustRollback(migrate.RollbackOptions{}) },
		"released by somebody": func(s *site) { s.release(newqueue.HoldAccessSmall); s.remove("/locks/queue/ingest") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 2)), newqueue.MrtZK)
			if !strings.HasPrefix(name, "completed") {
				s.mustMigrate(s.options())
			}
			before(s)
			saved := s.tree()
			s.remove("/migration")
			for n := range saved.All("/migration") {
				s.create(n.Path, n.Data)
			}
			v := s.verify()
			if got := kinds(v); got != "restored" || migrate.VerdictStep(v) != migrate.StepRestored {
				t.Errorf("verify: %s, %s", got, migrate.VerdictStep(v))
			}
			if st := s.status(); !st.Restored || st.Step != migrate.StepRestored && st.Step != migrate.StepPlan {
				t.Errorf("status: %s", st.Step)
			}
			if _, err := s.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrRestored) {
				t.Errorf("release: %v", err)
			}
			res := value(s.tryRelease(migrate.ReleaseOptions{Restored: true}))(s)
			if res.Transactions == 0 {
				t.Error("release --restored wrote nothing")
			}
			s.mustVerify()
			if st := s.status(); st.Restored || st.Step == migrate.StepRestored {
				t.Errorf("status in the end: %s", st.Step)
			}
			s.must(errorOf(s.tryRelease(migrate.ReleaseOptions{})))
		})
	}
}

// A restored target has records to decide about, or late ones. No answer is taken before the operator knows of the restore, so that comes first.
func TestRestoredComesFirst(t *testing.T) {
	for name, c := range map[string]struct {
		before func(s *site)
		then   migrate.NextStep
	}{
		"undecided": {func(s *site) { s.remove(ingest(1)) }, migrate.StepDecideRecords},
		"late":      {func(s *site) { s.late(900) }, migrate.StepFollow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			c.before(s)
			lifeEvents["a backup is restored znode by znode"](s)
			steps := func(want migrate.NextStep) {
				t.Helper()
				if v, st := migrate.VerdictStep(s.verify()), s.status().Step; v != want || st != want {
					t.Errorf("verify: %s, status: %s; want %s", v, st, want)
				}
			}
			steps(migrate.StepRestored)
			if _, err := s.tryRelease(migrate.ReleaseOptions{Restored: true}); err != nil && !errors.Is(err, migrate.ErrUndecided) {
				t.Errorf("release: %v", err)
			}
			steps(c.then)
			s.must(errorOf(s.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerLegacy}})))
		})
	}
}

// More entries than a group has are in several, and read back as one ledger.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	const n = 5
	records := map[string][]byte{}
	for i := range n {
		records[fmt.Sprintf("/accessSmall.1/mrtQ-00%010d", i)] = record(t, legacy.Pending, token(fmt.Sprint(i)))
	}
	s := serve(t, queueTree(t, records), newqueue.MrtZK)
	opt := s.options()
	opt.Limits = single
	s.mustMigrate(opt)
	if groups := s.tree().Children("/migration/ledger/run0000000000"); !slices.Equal(groups, []string{"0000000", "0000001", "0000002"}) {
		t.Errorf("groups %v", groups)
	}
	if v := s.mustVerify(); v.Records.Migrated != n {
		t.Errorf("%+v", v.Records)
	}
	if undo := s.mustRollback(migrate.RollbackOptions{}); undo.Removes.Access != n {
		t.Errorf("%+v", undo.Removes)
	}
	if v := s.verify(); v.Records.NotMigrated != n {
		t.Errorf("%+v", v.Records)
	}
}

// What others put beside the migration's own records changes nothing, and stays.
func TestForeignNamesInTheLedger(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	s.ensure("/migration", "/migration/m1", "/migration/m3") // the markers of CDL's migration script
	s.mustMigrate(s.options())
	for _, path := range []string{"/migration/runs/strange", "/migration/runs/run-1", firstRun + "/note", "/migration/ledger/strange", "/migration/ledger/run0000000000/note", firstEntry + "/note"} {
		s.create(path, []byte("mine"))
	}
	s.mustVerify()
	s.mustRollback(migrate.RollbackOptions{})
	if string(s.data(firstRun+"/note")) != "mine" || !s.has("/migration/m1") {
		t.Error("the rollback removed unrelated znodes")
	}
}
