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
	"mrtq/newqueue"
)

// accounted are the numbers of a verdict, in the order of their fields.
func accounted(v *migrate.Verdict) string {
	r := v.Records
	return fmt.Sprintf("total %d: migrated %d, removed %d, skipped %d, quarantined %d, late %d, missed %d, returned %d",
		r.Total, r.Migrated, r.Removed, r.Skipped, r.Quarantined, r.Late, r.Missed, r.Returned)
}

// Every record counts once, whatever became of it. The differences name what could run twice
// or never.
func TestEveryRecordCountsOnce(t *testing.T) {
	t.Parallel()
	records := map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")), ingest(3): record(t, legacy.Completed, job("a", "3")),
		ingest(4): record(t, legacy.Deleted, job("a", "4")), ingest(5): []byte("by hand"), ingest(6): record(t, legacy.Held, job("a", "6")),
		"/accessLarge.1/mrtQ-000000000007": record(t, legacy.Pending, token("7")),
	}
	removeJob := func(s *site, n int) {
		jid := znode.Name(s.jobOf(ingest(n)))
		s.remove(s.entryInBatch(jid), "/jobs/"+jid, "/jobs/states/pending/05-"+jid)
	}
	const before = "total 7: migrated 5, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 0"
	for _, c := range []struct {
		name   string
		change func(s *site)
		want   string
		kinds  string
		extra  func(v *migrate.Verdict) bool
	}{
		{"as migrated", func(*site) {}, before, "ok", nil},
		{"changed", func(s *site) { s.set(ingest(1), record(t, legacy.Consumed, job("a", "1"))) }, before, "changed", nil},
		{"changed, but its job is completed", func(s *site) { s.set(ingest(3), record(t, legacy.Pending, job("a", "3"))) }, before, "ok",
			func(v *migrate.Verdict) bool { return len(v.Notices) == 1 }},
		{"changed, and its job was removed", func(s *site) { removeJob(s, 1); s.set(ingest(1), []byte("x")) },
			"total 7: migrated 4, removed 1, skipped 1, quarantined 1, late 0, missed 0, returned 0", "acted-on", func(v *migrate.Verdict) bool { return len(v.Notices) == 1 && len(v.Removed) == 1 }},
		{"vanished", func(s *site) { s.remove(ingest(1)) }, "total 6: migrated 4, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 0", "vanished", nil},
		{"vanished, but its job is completed", func(s *site) { s.remove(ingest(3)) }, "total 6: migrated 4, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 0", "ok", nil},
		{"vanished, and its job was removed", func(s *site) { removeJob(s, 1); s.remove(ingest(1)) },
			"total 6: migrated 4, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 0", "acted-on", func(v *migrate.Verdict) bool { return len(v.Removed) == 0 }},
		{"vanished after the release", func(s *site) { s.release(); s.remove(ingest(1)) }, "total 6: migrated 4, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 0", "ok", nil},
		{"changed after the release", func(s *site) { s.release(); s.set(ingest(1), []byte("x")) }, before, "changed", nil},
		{"late", func(s *site) { s.late(900) }, "total 8: migrated 5, removed 0, skipped 1, quarantined 1, late 1, missed 0, returned 0", "ok",
			func(v *migrate.Verdict) bool { return slices.Equal(v.Late, []string{ingest(900)}) }},
		{"late in a queue that was empty", func(s *site) {
			s.create("/accessSmall.1/mrtQ-000000000000", record(t, legacy.Pending, token("0")))
		}, "total 8: migrated 5, removed 0, skipped 1, quarantined 1, late 1, missed 0, returned 0", "ok", nil},
		{"missed", func(s *site) { s.late(0) }, "total 8: migrated 5, removed 0, skipped 1, quarantined 1, late 0, missed 1, returned 0", "missed", nil},
		{"late and skipped", func(s *site) { s.create(ingest(900), record(t, legacy.Deleted, job("a", "900"))) }, "total 8: migrated 5, removed 0, skipped 2, quarantined 1, late 0, missed 0, returned 0", "ok", nil},
		{"late and undecodable", func(s *site) { s.create(ingest(900), []byte("x")) }, "total 8: migrated 5, removed 0, skipped 1, quarantined 2, late 0, missed 0, returned 0", "ok", nil},
		{"late, with a number that has wrapped", func(s *site) {
			s.create("/ingest/mrtQ-0500-2147483648", record(t, legacy.Pending, job("a", "w")))
		}, "total 8: migrated 5, removed 0, skipped 1, quarantined 1, late 1, missed 0, returned 0", "ok", nil},
		{"repaired", func(s *site) { s.set(ingest(5), record(t, legacy.Pending, job("a", "5"))) }, "total 7: migrated 5, removed 0, skipped 1, quarantined 0, late 0, missed 1, returned 0", "missed", nil},
		{"removed by hand", func(s *site) { removeJob(s, 1) }, "total 7: migrated 4, removed 1, skipped 1, quarantined 1, late 0, missed 0, returned 0", "acted-on",
			func(v *migrate.Verdict) bool { return len(v.Removed) == 1 && v.Removed[0].Record == ingest(1) }},
		{"rolled back", func(s *site) { s.mustRollback(migrate.RollbackOptions{}) }, "total 7: migrated 0, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 5", "ok", nil},
		{"rolled back, one is kept", func(s *site) {
			s.release()
			s.set(s.jobOf(ingest(1))+"/space_needed", []byte("1"))
			s.mustRollback(migrate.RollbackOptions{})
		}, "total 7: migrated 1, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 4", "ok", nil},
		{"rolled back, and the record of a kept job changes", func(s *site) {
			s.release()
			s.set(s.jobOf(ingest(1))+"/space_needed", []byte("1"))
			s.mustRollback(migrate.RollbackOptions{})
			s.set(ingest(1), record(t, legacy.Consumed, job("a", "1")))
		}, "total 7: migrated 1, removed 0, skipped 1, quarantined 1, late 0, missed 0, returned 4", "changed", nil},
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
				t.Errorf("late %v, gone %v, notices %v", v.Late, v.Removed, v.Notices)
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
	v, err := migrate.Verify(t.Context(), s.source(), &s.w.Reader, migrate.VerifyOptions{Quarantined: map[string][][]byte{}})
	s.must(err)
	if got, want := accounted(v), fmt.Sprintf("total %d: migrated %d, removed 0, skipped 0, quarantined %d, late 0, missed 0, returned 0", n+bad, n, bad); got != want {
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

// Verify reads every property of a record back from its job, by rules of its own. If one
// can't be read back, it says so, beside any other difference.
func TestVerifyReadsRecordsBack(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		payload := job("a", "1")
		payload["kept"], payload["nothing"], payload["profile_name"], payload["legacy.x"] = "x", nil, "reserved", "y"
		s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, payload), "/accessSmall.1/mrtQ-000000000001": record(t, legacy.Pending, token("t"))}), d)
		s.mustMigrate(s.options())
		s.mustVerify()
	})
}

// If a quarantine file lacks a record's bytes, verify names the record.
func TestVerifyLooksIntoTheQuarantine(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{ingest(1): []byte("no record"), ingest(2): record(t, legacy.Pending, job("a", "2"))}), newqueue.Design)
	s.mustMigrate(s.options())
	for kept, want := range map[string]string{"no record": "ok", "another": "not-kept"} {
		v, err := migrate.Verify(t.Context(), s.source(), &s.w.Reader, migrate.VerifyOptions{Quarantined: map[string][][]byte{ingest(1): {[]byte(kept)}}})
		if err != nil || kinds(v) != want {
			t.Errorf("the file keeps %q: %v, %v", kept, v.Differences, err)
		}
	}
}

// Late records are migrated by a later run. Those of a finished migration need HoldAgain once
// a queue was released; without it nothing is written.
func TestLateRecords(t *testing.T) {
	for _, c := range []struct {
		name     string
		released []newqueue.QueueHold
		late     bool
		refused  int // queues that would be held again
	}{
		{"nothing is left to do", newqueue.QueueHolds, false, 0},
		{"released, and one is late", newqueue.QueueHolds, true, 3},
		{"released in part", []newqueue.QueueHold{newqueue.HoldAccessSmall}, true, 1},
		{"held, and one is late", nil, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, queueTree(t, pendings(t, 3, 1)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			if c.released != nil {
				s.release(c.released...)
			}
			if c.late {
				s.late(900)
			}
			before := dump(s.tree(), "/")
			res, err := s.migrate(s.options())
			if errors.Is(err, migrate.ErrBlocked) != (c.refused > 0) || c.refused == 0 && err != nil {
				t.Fatalf("%v", err)
			}
			if c.refused == 0 {
				return
			}
			n := 0
			for _, p := range res.Plan.Problems {
				if p.Kind == "released" {
					n++
				}
			}
			if n != c.refused || dump(s.tree(), "/") != before {
				t.Errorf("%d problems: %v", n, res.Plan.Problems)
			}
			opt := s.options()
			opt.HoldAgain = true
			if res := s.mustMigrate(opt); res.Created.Jobs != 1 || len(s.tree().Children("/locks/queue")) < 3 {
				t.Errorf("asked for: %+v", res.Created)
			}
			s.mustVerify()
		})
	}
}

// A plan to migrate a record again names what that risks, as for one that is new.
func TestRisksOfMigratingAgain(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Failed, legacy.Payload{"jobID": "jid-1"})}), newqueue.MrtZK)
	opt := s.options()
	opt.Choices.Failed = "failed"
	s.mustMigrate(opt)
	job := s.jobOf(ingest(1))
	batch := "/batches/" + string(s.tree().Get(job+"/bid").Data)
	s.remove(s.entryInBatch(znode.Name(job)), job, batch)
	opt.Again = []string{ingest(1)}
	for _, r := range s.plan(opt.Options).Risks {
		if r.Chosen && r.About == "failed" && slices.Equal(r.Never, []string{ingest(1)}) {
			return
		}
	}
	t.Errorf("risks: %+v", s.plan(opt.Options).Risks)
}

// A record whose job was removed is migrated again only by an explicit word, and then gets a
// new job. One whose job is there never is.
func TestAgain(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 1)), d)
		s.mustMigrate(s.options())
		first := s.jobOf(ingest(1))
		jid := znode.Name(first)
		s.remove(s.entryInBatch(jid), first, "/jobs/states/pending/05-"+jid, "/batches/bid0000000000", "/batch-uuids/bid-0")
		if res := s.mustMigrate(s.options()); res.Steps > 0 || res.Plan.Count("removed") != 1 {
			t.Errorf("unasked: %v", res.Plan.Counts())
		}
		opt := s.options()
		opt.Again = []string{ingest(1), ingest(2), ingest(77)}
		res, err := s.migrate(opt)
		if !errors.Is(err, migrate.ErrBlocked) || problem(res.Plan, "no-such-record") == nil || len(res.Plan.Problems) != 1 {
			t.Errorf("%v", err)
		}
		opt.Again = []string{ingest(1)}
		if res := s.mustMigrate(opt); res.Created.Jobs != 1 {
			t.Errorf("%+v", res.Created)
		}
		again := s.jobOf(ingest(1))
		if again == first || !s.has(again) {
			t.Errorf("the record became %s again", again)
		}
		if res := s.mustMigrate(opt); res.Steps > 0 {
			t.Errorf("the same command once more: %+v", res.Created)
		}
		if v := s.verify(); kinds(v) != "acted-on" || len(v.Differences) != 1 || v.Differences[0].Path != "/batches/bid0000000000" {
			t.Errorf("verify: %v", v.Differences) // somebody has removed the batch
		}
		// Rolled back, the older entry counts again: the record is not migrated unasked.
		s.mustRollback(migrate.RollbackOptions{})
		if job := s.jobOf(ingest(1)); job != first {
			t.Errorf("after the rollback the record became %s, expected %s", job, first)
		}
		if res := s.mustMigrate(s.options()); res.Steps > 0 {
			t.Errorf("unasked: %v", res.Plan.Counts())
		}
		opt.Again = []string{"all"}
		if res := s.mustMigrate(opt); res.Created.Jobs != 1 {
			t.Errorf("all: %+v", res.Created)
		}
	})
}

// The bytes of records that can't be decoded are kept before anything is written; without a
// place to keep them, nothing is.
func TestQuarantineNeedsKeep(t *testing.T) {
	s := serve(t, corpus(t), newqueue.Design)
	before := s.tree()
	opt := s.options()
	opt.SaveQuarantined = nil
	if _, err := s.migrate(opt); !errors.Is(err, migrate.ErrNotSaved) {
		t.Errorf("%v", err)
	}
	full := errors.New("the disk is full")
	opt.SaveQuarantined = func([]migrate.Record) error { return full }
	if _, err := s.migrate(opt); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if d := znode.Diff(before, s.tree(), "/"); len(d) > 0 {
		t.Errorf("written: %v", d)
	}
	var kept []migrate.Record
	opt.SaveQuarantined = func(bad []migrate.Record) error { kept = bad; return nil }
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
