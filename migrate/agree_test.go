package migrate_test

import (
	"errors"
	"testing"

	"mrtq/migrate"
	"mrtq/newqueue"
)

// While the operator is asked, nobody else has to wait: the command has no place in the election. What was asked about
// is looked at again afterwards, and if it is not the same, nothing is done.
func TestAskingIsNotLeading(t *testing.T) {
	for name, of := range map[string]struct {
		run       func(s *site, asked func() error) error
		meanwhile func(s *site)
		want      error
	}{
		"rollback": {rollBackAsking, func(*site) {}, nil},
		"rollback, and the queues are released meanwhile": {rollBackAsking, func(s *site) { s.release() }, migrate.ErrHoldsChanged},
		"complete": {completeAsking, func(*site) {}, nil},
		"complete, and a record is followed meanwhile": {completeAsking, func(s *site) {
			s.late(900)
			s.follow()
		}, migrate.ErrHoldsChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			asks := 0
			err := of.run(s, func() error {
				if asks++; s.status().Migrators != 0 {
					t.Error("it leads while the operator is asked")
				}
				of.meanwhile(s)
				return nil
			})
			if !errors.Is(err, of.want) || asks != 1 {
				t.Errorf("%v, expected %v; asked %d times", err, of.want, asks)
			}
		})
	}
}

func rollBackAsking(s *site, asked func() error) error {
	return errorOf(s.rollback(migrate.RollbackOptions{Force: true, Confirm: func(*migrate.RollbackResult) error { return asked() }}))
}

func completeAsking(s *site, asked func() error) error {
	s.release()
	return errorOf(migrate.Complete(s.t.Context(), s.w, migrate.CompleteOptions{Confirm: func(*migrate.CompleteResult) error { return asked() }}))
}
