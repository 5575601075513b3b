package migrate_test

import (
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// Runs that share batches are rolled back newest first, and each takes only what is its own:
// then the target is what it was before it.
func TestRollbackOfSharedBatches(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
		empty := s.tree()
		s.mustMigrate(s.options())
		one := s.tree()
		// Into both batches, and into folders that they did not have; and a new batch.
		s.create(ingest(11), record(t, legacy.Failed, job("0", "11")))
		s.create(ingest(12), record(t, legacy.Completed, job("1", "12")))
		s.create(ingest(13), record(t, legacy.Pending, job("new", "13")))
		s.mustMigrate(s.options())
		s.mustVerify()

		s.mustRollback(migrate.RollbackOptions{})
		for _, n := range []int{11, 12, 13} {
			s.remove(ingest(n))
		}
		rolledBack(t, one, s.tree())
		s.mustVerify()
		undo, err := migrate.Rollback(t.Context(), s.w, "run0000000000", migrate.RollbackOptions{})
		if err != nil || len(undo.Keeps) > 0 {
			t.Fatalf("%v, %+v", err, undo)
		}
		rolledBack(t, empty, s.tree())
		s.mustVerify()
		res := s.mustMigrate(s.options())
		if res.Run != "run0000000002" || res.Created.Jobs != 4 {
			t.Errorf("%s created %+v", res.Run, res.Created)
		}
		s.mustVerify()
	})
}
