package migrate_test

import (
	"cmp"
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

// rollBackTwoKept releases, and rolls back when the jobs of two records were acted on.
func (s *site) rollBackTwoKept() {
	lifeStates["released"](s)
	s.touch(pendingRecord)
	s.touch(heldRecord)
	s.rollBack("")
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
		"a legacy worker would run the changed record again": {happens: func(s *site) {
			lifeStates["released"](s)
			s.touch(completedRecord)
			s.rollBack("")
			s.set(completedRecord, record(t, legacy.Pending, job("a", "9")))
		}, want: migrate.ErrNotVerified, next: migrate.StepLookAtTwice},
		"the same, and the cleanup has removed its job": {happens: func(s *site) {
			lifeStates["released"](s)
			lifeEvents["the hourly cleanup is half way through a batch"](s)
			s.rollBack("")
			s.set(completedRecord, record(t, legacy.Pending, job("a", "9")))
		}, want: migrate.ErrNotVerified, next: migrate.StepLookAtTwice},
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
		blind   migrate.Step // that status names without a source, if not the same
	}{
		"an older rollback kept a job":     {happens: func(s *site) *migrate.Undo { kept(s); s.secondRun(); return s.rollBack("") }, want: migrate.StepKept},
		"and its record was retired":       {happens: func(s *site) *migrate.Undo { kept(s); s.mustRetire(); s.secondRun(); return s.rollBack("") }, want: migrate.StepPlan},
		"nothing was kept":                 {happens: func(s *site) *migrate.Undo { lifeStates["released"](s); return s.rollBack("") }, want: migrate.StepPlan},
		"the older run is not rolled back": {happens: func(s *site) *migrate.Undo { lifeStates["released"](s); s.secondRun(); return s.rollBack("") }, want: migrate.StepPlan},
		"a newer rollback kept a job": {happens: func(s *site) *migrate.Undo {
			lifeStates["released"](s)
			s.secondRun()
			s.release()
			s.touch(ingest(77))
			s.rollBack("")
			return s.rollBack("run0000000000")
		}, want: migrate.StepKept},
		"an older rollback kept an only copy": {happens: func(s *site) *migrate.Undo {
			lifeStates["released"](s)
			s.must(s.door().Delete(pendingRecord, -1))
			s.rollBack("")
			s.secondRun()
			return s.rollBack("")
		}, want: migrate.StepPlan, blind: migrate.StepKept}, // nobody but the source says that it is not there
		"an older rollback kept an only copy, and retire found nothing": {happens: func(s *site) *migrate.Undo {
			lifeStates["released"](s)
			s.must(s.door().Delete(pendingRecord, -1))
			s.rollBack("")
			s.mustRetire()
			s.secondRun()
			return s.rollBack("")
		}, want: migrate.StepPlan},
		"an older one kept two, of which one was changed, named by retire, and deleted": {happens: func(s *site) *migrate.Undo {
			s.rollBackTwoKept()
			s.set(heldRecord, record(t, legacy.Completed, job("b", "3")))
			s.mustRetire()
			s.must(s.door().Delete(heldRecord, -1))
			s.secondRun()
			return s.rollBack("")
		}, want: migrate.StepPlan},
		"an older one kept two, of which one was deleted, and one retired": {happens: func(s *site) *migrate.Undo {
			s.rollBackTwoKept()
			s.must(s.door().Delete(heldRecord, -1))
			s.mustRetire()
			s.secondRun()
			return s.rollBack("")
		}, want: migrate.StepPlan},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			if step := migrate.UndoStep(c.happens(s)); step != c.want {
				t.Errorf("after the rollback: %s, expected %s", step, c.want)
			}
			status, err := migrate.ReadStatus(t.Context(), &s.w.Reader, nil)
			s.must(err)
			if want := cmp.Or(c.blind, c.want); status.Step != want {
				t.Errorf("status without a source: %s, expected %s", status.Step, want)
			}
		})
	}
}

// The only copy that an older rollback kept is no record that could run twice.
func TestOnlyCopyOfOlderRun(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	lifeStates["released"](s)
	s.must(s.door().Delete(pendingRecord, -1))
	s.rollBack("")
	opt := s.options()
	opt.HoldAgain = true
	s.mustMigrate(opt)
	v := s.mustVerify()
	if step := migrate.VerdictStep(v); len(v.Vanished) > 0 || step != migrate.StepRelease {
		t.Errorf("verify: %v; next: %s", v.Vanished, step)
	}
	if status := s.status(); status.Step != migrate.StepRelease {
		t.Errorf("status: next: %s; %+v", status.Step, status.Legacy)
	}
}
