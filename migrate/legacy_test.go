package migrate_test

import (
	"bytes"
	"slices"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// Status names the records that a legacy worker has taken since they were migrated, as verify does, and what to
// do: before the release roll back, later hold the queues. A record whose job is over can't run
// again, and after a rollback the records of kept jobs have to be removed.
func TestStatusNamesWhatLegacyWorkersTook(t *testing.T) {
	t.Parallel()
	release := func(s *site) { s.release() }
	take := func(s *site) { s.set(ingest(1), record(t, legacy.Consumed, job("b0000", "1"))) }
	complete := func(s *site) {
		status := s.jobOf(ingest(1)) + "/status"
		s.set(status, bytes.Replace(s.data(status), []byte(`"Pending"`), []byte(`"Completed"`), 1))
	}
	holdAll := func(s *site) {
		_, err := migrate.Hold(t.Context(), s.w, migrate.HoldOptions{By: "alice"})
		s.must(err)
	}
	vanish := func(s *site) { s.remove(ingest(1)) }
	keep := func(s *site) {
		s.set(s.jobOf(ingest(1))+"/priority", []byte("3"))
		s.mustRollback(migrate.RollbackOptions{})
	}
	one, none := []string{ingest(1)}, []string{}
	for _, c := range []struct {
		name                     string
		do                       []func(*site)
		changed, vanished, twice []string
		step                     migrate.Step
	}{
		{"nothing happened", nil, none, none, none, migrate.StepRelease},
		{"taken before the release", []func(*site){take}, one, none, one, migrate.StepStopLegacy},
		{"removed before the release", []func(*site){vanish}, none, one, one, migrate.StepStopLegacy},
		{"taken", []func(*site){release, take}, one, none, one, migrate.StepHold},
		{"removed", []func(*site){release, vanish}, none, one, one, migrate.StepHold},
		{"taken, and the queues are held", []func(*site){release, take, holdAll}, one, none, one, migrate.StepLookAtTwice},
		{"taken, and the job is over", []func(*site){release, complete, take}, one, none, none, ""},
		{"removed, and the job is over", []func(*site){release, complete, vanish}, none, none, none, ""},
		{"a kept job's record is there", []func(*site){release, keep}, none, none, none, migrate.StepKept},
		{"a kept job's record was removed", []func(*site){release, keep, vanish}, none, one, none, migrate.StepPlan}, // nothing is left to retire
		{"a kept job's record was taken", []func(*site){release, keep, take}, one, none, one, migrate.StepLookAtTwice},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			for _, do := range c.do {
				do(s)
			}
			status, err := migrate.ReadStatus(t.Context(), &s.w.Reader, s.source())
			s.must(err)
			l := status.Legacy[0]
			if !slices.Equal(l.Changed, c.changed) || !slices.Equal(l.Vanished, c.vanished) || !slices.Equal(l.Twice, c.twice) || status.Step != c.step {
				t.Errorf("step %q, %+v", status.Step, l)
			}
			named, v := []string{}, s.verify()
			for _, d := range v.Differences {
				if d.Kind.Group() == migrate.MovedRecords {
					named = append(named, d.Record)
				}
			}
			for _, r := range v.Vanished {
				named = append(named, r.Record)
			}
			if !slices.Equal(named, c.twice) {
				t.Errorf("verify names %v: %+v, %+v", named, v.Differences, v.Vanished)
			}
			if next := migrate.VerdictStep(v); c.step == migrate.StepHold && next != c.step {
				t.Errorf("verify's next step is %q, status' is %q", next, c.step)
			}
			alone, err := migrate.ReadLegacy(t.Context(), &s.w.Reader, s.source())
			s.must(err)
			if !slices.Equal(alone[0].Twice, c.twice) || len(alone) != len(status.Legacy) {
				t.Errorf("alone: %+v", alone)
			}
		})
	}
}
