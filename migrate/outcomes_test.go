package migrate_test

import (
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// outcomes counts records by their outcome, without those that are not in the source any more.
func outcomes(records []migrate.RecordStatus) map[migrate.Outcome]int {
	counts := map[migrate.Outcome]int{}
	for _, r := range records {
		if r.Reason != "it is not in the source any more" {
			counts[r.Outcome]++
		}
	}
	return counts
}

// The list of all records has the numbers of a verification, whatever became of the records
// and whether or not there is a saved plan.
func TestRecordsHaveTheNumbersOfVerify(t *testing.T) {
	t.Parallel()
	records := map[string][]byte{
		ingest(1): record(t, legacy.Pending, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")), ingest(3): record(t, legacy.Completed, job("a", "3")),
		ingest(4): record(t, legacy.Deleted, job("a", "4")), ingest(5): []byte("by hand"), "/accessLarge.1/mrtQ-000000000007": record(t, legacy.Pending, token("7")),
	}
	for _, c := range []struct {
		name   string
		change func(s *site)
	}{
		{"as migrated", func(*site) {}},
		{"changed", func(s *site) { s.set(ingest(1), record(t, legacy.Consumed, job("a", "1"))) }},
		{"vanished", func(s *site) { s.remove(ingest(1)) }},
		{"late", func(s *site) { s.late(900) }},
		{"missed", func(s *site) { s.late(0) }},
		{"its job was removed", func(s *site) {
			jid := znode.Name(s.jobOf(ingest(1)))
			s.remove(s.entryInBatch(jid), "/jobs/"+jid, "/jobs/states/pending/05-"+jid)
		}},
		{"rolled back", func(s *site) { s.mustRollback(migrate.RollbackOptions{}) }},
		{"rolled back, one is kept", func(s *site) {
			s.remove("/locks/queue/ingest") // as an administrator releases it
			s.set(s.jobOf(ingest(1))+"/space_needed", []byte("1"))
			s.mustRollback(migrate.RollbackOptions{})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, records), newqueue.MrtZK)
			opt := s.options()
			opt.Choices.Deleted = "skip"
			plan := s.plan(opt.Options)
			s.mustMigrate(opt)
			c.change(s)
			want := s.verify().Records
			for name, saved := range map[string]*migrate.Plan{"with its plan": plan, "without a plan": nil} {
				all, err := migrate.ReadRecords(t.Context(), &s.w.Reader, s.source(), saved)
				s.must(err)
				n := outcomes(all)
				got := want
				got.Total, got.Waiting = 0, 0
				for _, k := range n {
					got.Total += k
				}
				got.Migrated, got.Removed, got.Skipped = n["migrated"]+n["changed"], n["removed"], n["skipped"]
				got.Quarantined, got.Late, got.Missed, got.Returned = n["quarantined"], n["late"], n["missed"], n["not migrated"]
				if got != want {
					t.Errorf("%s: %+v, verify has %+v", name, got, want)
				}
				for _, r := range all {
					if there := r.Outcome == "migrated" || r.Outcome == "changed"; there != (r.State != "") || there && r.Job == "" {
						t.Errorf("%s: %+v", name, r)
					}
				}
			}
		})
	}
}

// A record that a plan would migrate is called so until the plan's run begins, also if an
// earlier run was rolled back.
func TestRecordsOfAPlan(t *testing.T) {
	t.Parallel()
	s := serve(t, queueTree(t, pendings(t, 5, 5)), newqueue.Design)
	opt := s.options()
	check := func(saved *migrate.Plan, src *migrate.Source, want migrate.Outcome, state string) {
		t.Helper()
		all, err := migrate.ReadRecords(t.Context(), &s.w.Reader, src, saved)
		s.must(err)
		if len(all) != 5 {
			t.Fatalf("%d records", len(all))
		}
		for _, r := range all {
			if r.Outcome != want || r.State != state {
				t.Errorf("%+v, want %s, in state %q", r, want, state)
			}
		}
	}
	first := s.plan(opt.Options)
	check(first, s.source(), migrate.WillBeCreated, "pending")
	s.mustMigrate(opt)
	check(first, s.source(), "migrated", "pending")
	s.mustRollback(migrate.RollbackOptions{})
	check(first, s.source(), "not migrated", "")
	second := s.plan(opt.Options)
	check(second, s.source(), migrate.WillBeCreated, "pending")
	check(second, nil, migrate.WillBeCreated, "pending")
}
