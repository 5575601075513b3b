package migrate_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/legacyqueue"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// later is a record as a legacy client wrote it after the migration had read it.
func later(s *site, status legacy.Status, payload legacy.Payload) []byte {
	s.t.Helper()
	written := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return value(legacyqueue.Encode(legacy.NewHeader(status, written, legacy.Milliseconds), legacy.JSON, payload))(s)
}

// givesBack is a legacy worker that takes a record and gives it back.
func givesBack(s *site, number int, id string) {
	s.set(ingest(number), later(s, legacy.Consumed, job("a", id)))
	s.set(ingest(number), later(s, legacy.Pending, job("a", id)))
}

// A legacy client that changes records while migrate runs, or between its first look and its first transaction, has not acted on what
// the migration made: verify compares nothing with a later look than migrate had.
func TestChangedWhileMigrating(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for name, c := range map[string]struct {
			at     int // before this transaction
			change func(s *site)
		}{
			"given back before the first transaction": {1, func(s *site) { givesBack(s, 6, "6") }},
			"given back when its batch was there":     {3, func(s *site) { givesBack(s, 6, "6") }},
			"the first one, when its job was there":   {4, func(s *site) { s.set(ingest(3), s.data(ingest(3))) }},
			"with other properties": {1, func(s *site) {
				other := job("a", "6")
				other["submitter"], other["title"] = "Somebody else", "Another title"
				s.set(ingest(6), later(s, legacy.Pending, other))
			}},
			"failed": {1, func(s *site) { s.set(ingest(6), later(s, legacy.Failed, job("a", "6"))) }},
			"consumed at the first look, and out of order then": {1, func(s *site) {
				s.set(ingest(2), later(s, legacy.Pending, job("a", "2")))
				givesBack(s, 6, "6")
			}},
		} {
			t.Run(name, func(t *testing.T) {
				records := map[string][]byte{}
				for i, id := range []string{"1", "2", "3", "4", "5", "6"} {
					records[ingest(i+1)] = record(t, legacy.Pending, job("a", id))
				}
				if name[0] == 'c' {
					records[ingest(2)] = record(t, legacy.Consumed, job("a", "2"))
				}
				s := serve(t, queueTree(t, records), d)
				s.door()
				s.before(func(n int) {
					if n == c.at {
						c.change(s)
					}
				})
				opt := s.options()
				opt.Limits, opt.Choices.Consumed = single, "leave"
				res, err := s.migrate(opt)
				s.must(err)
				if res.Created.Jobs != 6 {
					t.Fatalf("created %+v", res.Created)
				}
				s.mustVerify()
				batch := s.status().Runs[0].Created.Batches
				bid := newqueue.BatchPath("bid0000000000")
				s.set(bid+"/status", s.data(bid+"/status"))
				if got := kinds(s.verify()); got != "acted-on" || batch != 1 {
					t.Errorf("when its batch is written: %s", got)
				}
			})
		}
	})
}

// The same for a run that was interrupted, and whose records changed before it was finished.
func TestChangedBeforeResuming(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Pending, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")), ingest(3): record(t, legacy.Pending, job("a", "3")),
		}), d)
		s.interrupted(1)
		givesBack(s, 3, "3")
		if _, err := s.migrate(s.options()); errors.Is(err, migrate.ErrBlocked) {
			t.Fatal(err)
		}
		s.mustVerify()
	})
}

// A run that begins while verify reads has nothing wrong with it.
func TestBeginsWhileVerifyReads(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
		s.mustMigrate(s.options())
		s.mustRollback(migrate.RollbackOptions{})
		other := s.beside("")
		other.from = other.w // that of the first one waits
		s.beforeEach(func(op minizk.Op) bool {
			return op.Session == s.session && (op.Path == "/migration/runs" || slices.Contains(op.Paths, "/migration/runs"))
		}, func(n int) {
			if n == 1 {
				other.mustMigrate(other.options())
			}
		})
		if v := s.verify(); v.CountGroup(migration.DamageGroup) > 0 {
			t.Errorf("%v", v.Differences)
		}
	})
}
