package migrate_test

import (
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// The legacy workers may have finished all records on the night. What comes later is moved all the same: the migration of an empty queue begins a
// run, whose release lets follow begin.
func TestAnEmptyQueueIsMigrated(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, nil), d)
		s.mustMigrate(s.options())
		s.release()
		s.create(ingest(11), record(t, legacy.Pending, job("new", "11")))
		if res := s.follow(); res.Moved != 1 || len(res.Staying) != 0 {
			t.Errorf("%+v", res)
		}
		if v := s.verify(); len(v.Differences) > 0 {
			t.Errorf("%v", v.Differences)
		}
		if again := s.mustMigrate(s.options()); again.Transactions != 0 {
			t.Errorf("a second migration: %d transactions", again.Transactions)
		}
		s.mustRollback(migrate.RollbackOptions{})
		if !s.has(ingest(11)) {
			t.Error("the record did not come back")
		}
		s.remove(ingest(11)) // a legacy worker did it
		s.mustMigrate(s.options())
		s.release()
		s.create(ingest(12), record(t, legacy.Pending, job("new", "12")))
		if res := s.follow(); res.Moved != 1 {
			t.Errorf("after the rollback: %+v", res)
		}
	})
}
