package migrate_test

import (
	"slices"
	"testing"

	"mrtq/migrate"
	"mrtq/newqueue"
)

// While the operator is asked, nobody else has to wait: the command has no place in the election. What was asked about
// is looked at again afterwards, and if there is another reason to ask, the operator is asked again.
func TestAskingIsNotLeading(t *testing.T) {
	for name, of := range map[string]struct {
		run       func(s *site, asked func() error) error
		meanwhile func(s *site)
		asks      int
	}{
		"rollback": {rollBackAsking, func(*site) {}, 1},
		"rollback, and the queues are released meanwhile": {rollBackAsking, func(s *site) { s.release() }, 2},
		"complete": {completeAsking, func(*site) {}, 1},
		"complete, and a later run is released meanwhile": {completeAsking, func(s *site) {
			s.late(900)
			s.mustMigrate(s.further())
			s.release()
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			var migrators []int
			err := of.run(s, func() error {
				migrators = append(migrators, s.status().AtWork)
				if len(migrators) == 1 {
					of.meanwhile(s)
				}
				return nil
			})
			if want := make([]int, of.asks); err != nil || !slices.Equal(migrators, want) {
				t.Errorf("%v; migrators while the operator was asked: %v, want %v", err, migrators, want)
			}
		})
	}
}

func rollBackAsking(s *site, asked func() error) error {
	return errorOf(s.rollback(migrate.RollbackOptions{Force: true, Confirm: func(*migrate.Undo) error { return asked() }}))
}

func completeAsking(s *site, asked func() error) error {
	s.release()
	return errorOf(migrate.Complete(s.t.Context(), s.w, migrate.CompleteOptions{Now: moment, Confirm: func(*migrate.Completed) error { return asked() }}))
}
