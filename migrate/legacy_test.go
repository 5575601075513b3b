package migrate_test

import (
	"slices"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// Status says what is in each legacy queue, who is at work there, and what to do, before and after the release.
func TestStatusOfTheLegacyQueue(t *testing.T) {
	t.Parallel()
	type does = func(*site)
	release := func(s *site) { s.release() }
	take := func(s *site) { s.set(ingest(1), record(t, legacy.Consumed, job("0", "1"))) }
	finish := func(s *site) { s.set(ingest(1), record(t, legacy.Completed, job("0", "1"))) }
	vanish := func(s *site) { s.remove(ingest(1)) }
	late := func(s *site) { s.late(900) }
	lock := func(s *site) { s.create("/mrt.lock/ark", lockOf(s, "jid-1")) }
	again := func(s *site) { s.create(ingest(1), []byte("x")) }
	handOver := func(s *site) { _, _ = s.tryRelease(migrate.ReleaseOptions{WorkersStopped: -1}) }
	keep := func(s *site) { s.fails(); s.mustRollback(migrate.RollbackOptions{}) }
	one := []string{ingest(1)}
	for _, c := range []struct {
		name     string
		do       []does
		migrated int
		atLegacy []string
		asks     migrate.Question // about record 1
		rest     int              // not migrated
		work     int
		step     migrate.Step
	}{
		{name: "migrated", migrated: 4, step: migrate.StepRelease},
		{name: "a worker has a record", do: []does{take}, migrated: 3, atLegacy: one, work: 1, step: migrate.StepRelease},
		{name: "a worker has it, and the others were handed over", do: []does{take, handOver}, rest: 1, work: 1, step: migrate.StepMigrateRest},
		{name: "a worker has finished it", do: []does{finish}, migrated: 3, atLegacy: one, step: migrate.StepRelease},
		{name: "it vanished", do: []does{vanish}, migrated: 3, asks: migrate.LastCopy, step: migrate.StepDecideRecords},
		{name: "a lock is left", do: []does{lock}, migrated: 4, work: 1, step: migrate.StepRelease},
		{name: "a lock is left, and all were handed over", do: []does{lock, handOver}, work: 1, step: migrate.StepRelease},
		{name: "one is late", do: []does{late}, migrated: 4, rest: 1, step: migrate.StepMigrateRest},
		{name: "released", do: []does{release}, step: ""},
		{name: "released, and one is late", do: []does{release, late}, rest: 1, step: migrate.StepMigrateRest},
		{name: "released, and one is there again", do: []does{release, again}, asks: migrate.Again, step: migrate.StepDecideRecords},
		{name: "rolled back", do: []does{release, func(s *site) { s.mustRollback(migrate.RollbackOptions{}) }}, rest: 4, step: migrate.StepPlan},
		{name: "rolled back, and a job is kept", do: []does{release, keep}, rest: 3, step: migrate.StepPlan},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			for _, do := range c.do {
				do(s)
			}
			status := s.status()
			l := status.Legacy[0]
			var asks migrate.Question
			for _, u := range l.Undecided {
				if asks = u.Question; u.Record != ingest(1) {
					t.Errorf("it asks about %s", u.Record)
				}
			}
			if l.Migrated != c.migrated || !slices.Equal(l.AtLegacy, c.atLegacy) && len(c.atLegacy)+len(l.AtLegacy) > 0 || asks != c.asks || len(l.NotMigrated) != c.rest || len(l.AtWork) != c.work || status.Step != c.step {
				t.Errorf("step %q, %+v", status.Step, l)
			}
			if next := migrate.VerdictStep(s.verify()); (c.asks != "") != (next == migrate.StepDecideRecords) {
				t.Errorf("verify's next step is %q", next)
			}
		})
	}
}

// lockOf is the data of a legacy lock that names a jobID: a time, as in the header of a record, and the jobID.
func lockOf(s *site, jobID string) []byte {
	return append(record(s.t, legacy.Pending, legacy.Payload{})[1:9], jobID...)
}
