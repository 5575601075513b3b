package migrate_test

import (
	"bytes"
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

func accounted(v *migration.Verdict) string {
	r := v.Records
	var parts []string
	for _, c := range []struct {
		name string
		n    int
	}{{"migrated", r.Migrated}, {"removed", r.Removed}, {"at legacy", r.AtLegacy}, {"undecided", r.Undecided}, {"skipped", r.Skipped}, {"finished", r.Finished}, {"quarantined", r.Quarantined}, {"not migrated", r.NotMigrated}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", c.name, c.n))
		}
	}
	return fmt.Sprintf("total %d: %s", r.Total, strings.Join(parts, ", "))
}

// adviceAgrees demands that verify advises what status does, unless it has found damage, or jobs that were acted on: status compares no jobs.
func (s *site) adviceAgrees(v *migration.Verdict, st *migrate.Status) {
	s.t.Helper()
	step := migrate.VerdictStep(v)
	if step == migrate.StepLookFirst {
		step = migrate.StepRelease
	}
	if step != st.Step && v.CountGroup(migration.DamageGroup) == 0 {
		s.t.Errorf("after a verification: %q, status: %q", step, st.Step)
	}
}

// lockOf is the data of a legacy lock that names a jobID: a time, as in the header of a record, and the jobID.
func lockOf(s *site, jobID string) []byte {
	return append(record(s.t, legacy.Pending, legacy.Payload{})[1:9], jobID...)
}

// Every record counts once, whatever became of it. The differences name what somebody must look at. Status counts alike, and
// says who is at work in the legacy queue, and what to do.
func TestEveryRecordCountsOnce(t *testing.T) {
	t.Parallel()
	records := map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")), ingest(3): record(t, legacy.Completed, job("a", "3")),
		ingest(4): record(t, legacy.Deleted, job("a", "4")), ingest(5): []byte("by hand"), ingest(6): record(t, legacy.Held, job("a", "6")),
		"/accessLarge.1/mrtQ-000000000007": record(t, legacy.Pending, token("7")),
	}
	keepOne := func(s *site) {
		s.release()
		s.set(s.jobOf(ingest(1))+"/space_needed", []byte("1"))
		s.mustRollback(migrate.RollbackOptions{})
	}
	consumed := func(s *site) { s.set(ingest(1), record(t, legacy.Consumed, job("a", "1"))) }
	create := func(n int, data []byte) func(*site) { return func(s *site) { s.create(ingest(n), data) } }
	lock := func(s *site) { s.create("/mrt.lock/ark", lockOf(s, "jid-1")) }
	handOver := func(s *site) { _, _ = s.tryRelease(migrate.ReleaseOptions{WorkersStopped: -1}) }
	const all = "total 7: migrated 5, skipped 1, quarantined 1"
	for _, c := range []struct {
		name   string
		change func(s *site)
		want   string
		kinds  string
		extra  func(v *migration.Verdict) bool
		work   int // signs of legacy work
		step   migrate.NextStep
	}{
		{"as migrated", func(*site) {}, all, "ok", func(v *migration.Verdict) bool { return v.Due == 5 }, 0, migrate.StepRelease},
		{"released", func(s *site) { s.release() }, all, "ok", func(v *migration.Verdict) bool { return v.Due == 0 && v.NotCompared == 0 }, 0, ""},
		{"changed", consumed, "total 7: migrated 4, at legacy 1, skipped 1, quarantined 1", "ok", func(v *migration.Verdict) bool { return v.Legacy[0].Record == ingest(1) }, 1, migrate.StepRelease},
		{"changed, and its job was removed by an administrator", func(s *site) { s.dropJob(1); s.set(ingest(1), []byte("x")) },
			"total 7: migrated 4, at legacy 1, skipped 1, quarantined 1", "ok", nil, 0, migrate.StepRelease},
		{"changed, and its job was begun", func(s *site) { consumed(s); s.fails() }, "total 7: migrated 4, undecided 1, skipped 1, quarantined 1", "both", nil, 1, migrate.StepDecideRecords},
		{"vanished", func(s *site) { s.remove(ingest(1)) }, "total 7: migrated 4, undecided 1, skipped 1, quarantined 1", "vanished", nil, 0, migrate.StepDecideRecords},
		{"vanished, but it was finished", func(s *site) { s.remove(ingest(3)) }, all, "ok", nil, 0, migrate.StepRelease},
		{"vanished, and its job was removed", func(s *site) { s.dropJob(1); s.remove(ingest(1)) },
			"total 7: migrated 4, removed 1, skipped 1, quarantined 1", "acted-on", func(v *migration.Verdict) bool { return len(v.Removed) == 1 }, 0, migrate.StepRelease},
		{"its job was removed", func(s *site) { s.dropJob(1) }, "total 7: migrated 4, undecided 1, skipped 1, quarantined 1", "job-gone", nil, 0, migrate.StepDecideRecords},
		{"its job was removed after the release", func(s *site) { s.release(); s.dropJob(1) }, "total 7: migrated 4, removed 1, skipped 1, quarantined 1", "ok",
			func(v *migration.Verdict) bool { return len(v.Removed) == 1 && v.Removed[0].Record == ingest(1) }, 0, ""},
		{"there again after the release", func(s *site) { s.release(); s.create(ingest(1), []byte("x")) }, "total 7: migrated 4, undecided 1, skipped 1, quarantined 1", "again", nil, 0, migrate.StepDecideRecords},
		{"its kept bytes are gone", func(s *site) {
			s.release()
			s.remove(s.keptFolder() + "/" + znode.Name(s.jobOf(ingest(1))))
		}, all, "ok",
			func(v *migration.Verdict) bool { return len(v.Notices) == 1 && v.Notices[0].Record == ingest(1) }, 0, ""},
		{"completed", func(s *site) {
			s.release()
			s.must(errorOf(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{})))
		}, all, "ok", func(v *migration.Verdict) bool { return v.NotCompared == 5 }, 0, ""},
		{"completed after a rollback that kept one", func(s *site) {
			keepOne(s)
			s.mustMigrate(s.options())
			s.release()
			s.must(errorOf(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{})))
		}, "total 7: migrated 6, quarantined 1", "ok", func(v *migration.Verdict) bool { return v.NotCompared == 6 && len(v.Notices) == 0 }, 0, ""},
		{"late", func(s *site) { s.late(900) }, "total 8: migrated 5, skipped 1, quarantined 1, not migrated 1", "ok",
			func(v *migration.Verdict) bool { return slices.Equal(v.NotMigrated, []string{ingest(900)}) }, 0, migrate.StepRelease},
		{"late, and a legacy worker has it", create(900, record(t, legacy.Consumed, job("a", "900"))), "total 8: migrated 5, skipped 1, quarantined 1, not migrated 1", "ok", nil, 1, migrate.StepRelease},
		{"late, and finished", create(900, record(t, legacy.Completed, job("a", "900"))), "total 8: migrated 5, skipped 1, finished 1, quarantined 1", "ok", nil, 0, migrate.StepRelease},
		{"late, and left out by choice", create(900, record(t, legacy.Deleted, job("a", "900"))), "total 8: migrated 5, skipped 2, quarantined 1", "ok", nil, 0, migrate.StepRelease},
		{"late, and undecodable", create(900, []byte("x")), "total 8: migrated 5, skipped 1, quarantined 2", "ok", nil, 0, migrate.StepRelease},
		{"repaired", func(s *site) { s.set(ingest(5), record(t, legacy.Pending, job("a", "5"))) }, "total 7: migrated 5, skipped 1, not migrated 1", "ok", nil, 0, migrate.StepRelease},
		{"rolled back", func(s *site) { s.mustRollback(migrate.RollbackOptions{}) }, "total 7: skipped 1, finished 1, quarantined 1, not migrated 4", "ok", nil, 0, migrate.StepPlan},
		{"rolled back, and one is kept", keepOne, "total 7: migrated 1, skipped 1, finished 1, quarantined 1, not migrated 3", "ok", nil, 0, migrate.StepPlan},
		{"rolled back, and the record of the kept one is there again", func(s *site) { keepOne(s); s.create(ingest(1), []byte("x")) },
			"total 7: undecided 1, skipped 1, finished 1, quarantined 1, not migrated 3", "again", nil, 0, migrate.StepDecideRecords},
		{"changed, and the others were handed over", func(s *site) { consumed(s); handOver(s) }, "total 7: migrated 4, skipped 1, quarantined 1, not migrated 1", "ok", nil, 1, migrate.StepRelease},
		{"a legacy worker has finished it", func(s *site) { s.set(ingest(1), record(t, legacy.Completed, job("a", "1"))) }, "total 7: migrated 4, at legacy 1, skipped 1, quarantined 1", "ok", nil, 0, migrate.StepRelease},
		{"a lock is left", lock, all, "ok", nil, 1, migrate.StepRelease},
		{"a lock is left, and all were handed over", func(s *site) { lock(s); handOver(s) }, all, "ok", nil, 1, migrate.StepRelease},
		{"released, and one is late", func(s *site) { s.release(); s.late(900) }, "total 8: migrated 5, skipped 1, quarantined 1, not migrated 1", "ok", nil, 0, migrate.StepFollow},
		{"released, and a person holds a queue", func(s *site) { s.release(); s.hold("ops", newqueue.HoldIngest) }, all, "ok", nil, 0, migrate.StepReleaseOthers},
		{"rolled back, one is kept, and legacy workers have done the others", func(s *site) {
			keepOne(s)
			s.set(ingest(2), record(t, legacy.Completed, job("a", "2")))
			s.set(ingest(6), record(t, legacy.Completed, job("a", "6")))
			s.remove("/accessLarge.1/mrtQ-000000000007")
		}, "total 6: migrated 1, skipped 1, finished 3, quarantined 1", "ok", nil, 0, migrate.StepRelease},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, records), newqueue.MrtZK)
			opt := s.options()
			opt.Choices.Deleted = "skip"
			s.mustMigrate(opt)
			c.change(s)
			v := s.verify()
			if got := accounted(v); got != c.want {
				t.Errorf("%s\nexpected %s", got, c.want)
			}
			if got := kinds(v); got != c.kinds {
				t.Errorf("%v, expected %s", v.Differences, c.kinds)
			}
			if c.extra != nil && !c.extra(v) {
				t.Errorf("not migrated %v, legacy %v, removed %v, notices %v, %d due, %d not compared", v.NotMigrated, v.Legacy, v.Removed, v.Notices, v.Due, v.NotCompared)
			}
			status := s.status()
			var l struct{ finished, left, atLegacy, undecided, rest, work int }
			for _, queue := range status.Legacy {
				l.finished, l.left, l.atLegacy, l.undecided = l.finished+queue.Finished, l.left+queue.Left, l.atLegacy+len(queue.AtLegacy), l.undecided+len(queue.Undecided)
				l.rest, l.work = l.rest+len(queue.NotMigrated), l.work+len(queue.AtWork)
			}
			if s.adviceAgrees(v, status); l.work != c.work || status.Step != c.step {
				t.Errorf("%d at work, expected %d; next: %q", l.work, c.work, status.Step)
			}
			if l.finished != v.Records.Finished || l.left != v.Records.Skipped+v.Records.Quarantined || l.atLegacy != v.Records.AtLegacy || l.undecided != v.Records.Undecided || l.rest != v.Records.NotMigrated {
				t.Errorf("status: %+v", l)
			}
		})
	}
}

// The same with more records than are compared together. What is missed and what differs is
// found in several parts at the same time.
func TestManyRecords(t *testing.T) {
	t.Parallel()
	const n, bad = 2600, 1300
	records := map[string][]byte{}
	for i := 1; i <= n; i++ {
		records[ingest(10*i)] = record(t, legacy.Pending, job(fmt.Sprint(i/100), fmt.Sprint(i)))
	}
	for i := n / 2; i < n; i++ { // among those that are read while the first ones are compared
		records[ingest(10*i+5)] = []byte("x")
	}
	s := serve(t, queueTree(t, records), newqueue.Design)
	s.mustMigrate(s.options())
	const acted, damaged = 130, 13
	for i := range acted {
		s.set(jobNumber(1+i*n/acted)+"/space_needed", []byte("1"))
	}
	for i := range damaged {
		s.remove(jobNumber(2+i*n/damaged) + "/priority")
	}
	v := value(migrate.Verify(t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{Quarantined: map[string][][]byte{}}))(s)
	if got, want := accounted(v), fmt.Sprintf("total %d: migrated %d, quarantined %d", n+bad, n, bad); got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
	if v.Count("acted-on") != acted || v.Count("layout") != damaged || v.Count("not-kept") != bad {
		t.Errorf("%d acted on, %d damaged, %d not kept", v.Count("acted-on"), v.Count("layout"), v.Count("not-kept"))
	}
	if states := v.States["pending"]; states != n {
		t.Errorf("states %v", v.States)
	}
}

// jobNumber is the job of the n-th pending record. Their ids follow the records' order.
func jobNumber(n int) string {
	return newqueue.JobPath(newqueue.SequenceID(newqueue.JobPrefix, int32(n)))
}

// If a quarantine file lacks a record's bytes, verify names the record.
func TestVerifyLooksIntoTheQuarantine(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{ingest(1): []byte("no record"), ingest(2): record(t, legacy.Pending, job("a", "2"))}), newqueue.Design)
	s.mustMigrate(s.options())
	for kept, want := range map[string]string{"no record": "ok", "another": "not-kept"} {
		v, err := migrate.Verify(t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{Quarantined: map[string][][]byte{ingest(1): {[]byte(kept)}}})
		if err != nil || kinds(v) != want {
			t.Errorf("the file keeps %q: %v, %v", kept, v.Differences, err)
		}
	}
}

// The bytes of records that can't be decoded are kept before anything is written; without a
// place to keep them, nothing is.
func TestQuarantineMustBeSaved(t *testing.T) {
	s := serve(t, corpus(t), newqueue.Design)
	before := s.tree()
	opt := s.options()
	opt.SaveQuarantined = nil
	if _, err := s.migrate(opt); !errors.Is(err, migrate.ErrNotSaved) {
		t.Errorf("%v", err)
	}
	full := errors.New("the disk is full")
	opt.SaveQuarantined = func([]migration.Record) error { return full }
	if _, err := s.migrate(opt); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if d := znode.Diff(before, s.tree(), "/"); len(d) > 0 {
		t.Errorf("written: %v", d)
	}
	var kept []migration.Record
	opt.SaveQuarantined = func(bad []migration.Record) error { kept = bad; return nil }
	s.mustMigrate(opt)
	for _, r := range kept {
		if n := before.Get(r.Path); !bytes.Equal(n.Data, r.Data) || r.Err == nil || strings.TrimSpace(r.Err.Error()) == "" {
			t.Errorf("%s: kept %q, it has %q", r.Path, r.Data, n.Data)
		}
	}
	if len(kept) == 0 {
		t.Error("nothing was kept")
	}
}
