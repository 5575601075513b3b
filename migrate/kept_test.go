package migrate_test

import (
	"errors"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// touch changes a record's job, so that a rollback keeps it.
func (s *site) touch(record string) { s.set(s.jobOf(record)+"/space_needed", []byte("17")) }

// mustRetire retires, and returns the dump of what was removed.
func (s *site) mustRetire() string {
	s.t.Helper()
	_, dump, err := s.retire(migrate.RetireOptions{})
	s.must(err)
	return dump
}

// rollBack rolls a run back; "" is the newest.
func (s *site) rollBack(run string) *migrate.Undo {
	s.t.Helper()
	undo, err := migrate.Rollback(s.t.Context(), s.w, run, migrate.RollbackOptions{Source: s.source(), Now: moment})
	s.must(err)
	return undo
}

// secondRun migrates a late record in a run of its own.
func (s *site) secondRun() {
	s.late(77)
	opt := s.options()
	opt.HoldAgain = true
	s.mustMigrate(opt)
}

// When everything was rolled back, the legacy workers may run what is left. So release refuses while
// they could run the record of a kept job, whichever run kept it and however that came. If a run is
// not rolled back, the legacy workers are stopped, and its own records need not be retired.
func TestReleaseAfterKept(t *testing.T) {
	kept := lifeStates["rolled back, one job kept"]
	late := ingest(77)
	for name, c := range map[string]struct {
		happens func(*site)
		opt     migrate.ReleaseOptions
		want    error        // nil: it releases
		next    migrate.Step // that status names
	}{
		"a job is kept":     {happens: kept, want: migrate.ErrNotRetired, next: migrate.StepKept},
		"it is retired":     {happens: func(s *site) { kept(s); s.mustRetire() }, next: migrate.StepPlan},
		"and restored then": {happens: func(s *site) { kept(s); s.restore(s.mustRetire()) }, want: migrate.ErrNotRetired, next: migrate.StepKept},
		"it is removed by hand": {happens: func(s *site) { kept(s); s.must(s.door().Delete(pendingRecord, -1)) },
			next: migrate.StepPlan},
		"an older run kept it, and was rolled back last": {happens: func(s *site) {
			lifeStates["released"](s)
			s.secondRun()
			s.rollBack("")
			s.touch(pendingRecord)
			s.rollBack("run0000000000")
		}, want: migrate.ErrNotRetired, next: migrate.StepKept},
		"a later run was rolled back, and kept nothing": {happens: func(s *site) { kept(s); s.secondRun(); s.rollBack("") },
			want: migrate.ErrNotRetired, next: migrate.StepKept},
		"a backup of the target was restored": {happens: func(s *site) { kept(s); lifeEvents["a backup is restored znode by znode"](s) },
			opt: migrate.ReleaseOptions{Restored: true}, want: migrate.ErrNotRetired, next: migrate.StepKept},
		"a difference in another queue": {happens: func(s *site) {
			lifeStates["released"](s)
			s.touch(pendingRecord)
			s.set(s.jobOf(accessRecord)+"/status", s.data(s.jobOf(accessRecord)+"/status"))
			s.rollBack("")
			s.set(pendingRecord, record(t, legacy.Consumed, job("a", "1")))
		}, opt: migrate.ReleaseOptions{Queues: []newqueue.QueueHold{newqueue.HoldAccessSmall, newqueue.HoldAccessLarge}},
			want: migrate.ErrNotRetired, next: migrate.StepLookAtTwice},
		"somebody changed the record, and its job is over": {happens: func(s *site) {
			lifeStates["released"](s)
			s.touch(completedRecord)
			s.rollBack("")
			s.set(completedRecord, record(t, legacy.Deleted, job("a", "9")))
		}, next: migrate.StepPlan},
		"an older run is not released": {happens: func(s *site) {
			lifeStates["done"](s)
			s.secondRun()
			s.touch(late)
			s.rollBack("")
		}},
		"an older run is released": {happens: func(s *site) {
			lifeStates["released"](s)
			s.secondRun()
			s.touch(late)
			s.rollBack("")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			c.happens(s)
			if step := s.status().Step; c.next != "" && step != c.next {
				t.Errorf("next: %s, expected %s", step, c.next)
			}
			if _, err := s.tryRelease(c.opt); c.want == nil && err != nil || !errors.Is(err, c.want) {
				t.Errorf("release: %v, expected %v", err, c.want)
			}
		})
	}
}

// Legacy workers are started after the last rollback. So that one, and a status that is given no source,
// name the retire that is left, even if it was an older rollback that kept a job.
func TestStepAfterLastRollback(t *testing.T) {
	kept := lifeStates["rolled back, one job kept"]
	for name, c := range map[string]struct {
		happens func(*site) *migrate.Undo
		want    migrate.Step
	}{
		"an older rollback kept a job":     {func(s *site) *migrate.Undo { kept(s); s.secondRun(); return s.rollBack("") }, migrate.StepKept},
		"and its record was retired":       {func(s *site) *migrate.Undo { kept(s); s.mustRetire(); s.secondRun(); return s.rollBack("") }, migrate.StepPlan},
		"nothing was kept":                 {func(s *site) *migrate.Undo { lifeStates["released"](s); return s.rollBack("") }, migrate.StepPlan},
		"the older run is not rolled back": {func(s *site) *migrate.Undo { lifeStates["released"](s); s.secondRun(); return s.rollBack("") }, migrate.StepPlan},
		"a newer rollback kept a job": {func(s *site) *migrate.Undo {
			lifeStates["released"](s)
			s.secondRun()
			s.release()
			s.touch(ingest(77))
			s.rollBack("")
			return s.rollBack("run0000000000")
		}, migrate.StepKept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			if step := migrate.UndoStep(c.happens(s)); step != c.want {
				t.Errorf("after the rollback: %s, expected %s", step, c.want)
			}
			status, err := migrate.ReadStatus(t.Context(), &s.w.Reader, nil)
			s.must(err)
			if status.Step != c.want {
				t.Errorf("status without a source: %s, expected %s", status.Step, c.want)
			}
		})
	}
}
