package migrate_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/restore"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// records are the legacy records that are there.
func (s *site) records() (all []string) {
	src := s.source()
	for _, root := range legacyRoots {
		if src.Kind(root+"/any") == "" {
			continue // the legacy locks
		}
		for _, name := range s.tree().Children(root) {
			all = append(all, root+"/"+name)
		}
	}
	slices.Sort(all)
	return all
}

// of are the records of a retire's items.
func of(items []migrate.RetireItem) []string {
	all := []string{}
	for _, i := range items {
		all = append(all, i.Record)
	}
	slices.Sort(all)
	return all
}

// After the release, retire removes every migrated record and nothing else: the new queue, and
// the records that were not migrated, stay. The file that it wrote brings the legacy queue back.
func TestRetire(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, corpus(t), d)
		opt := s.options()
		opt.Choices.Deleted = "skip"
		s.mustMigrate(opt)
		s.release()
		before := s.tree()
		var asked *migrate.Retired
		res, kept, err := s.retire(migrate.RetireOptions{Confirm: func(r *migrate.Retired) error {
			c := *r
			asked = &c
			return nil
		}})
		s.must(err)
		status := s.status()
		if n := status.Runs[0].Tracked; len(res.Removes) != n || len(asked.Removes) != n || n < 10 || len(res.Stays)+res.Gone+res.Earlier > 0 {
			t.Errorf("removed %d of %d: %+v", len(res.Removes), n, res)
		}
		if left := s.records(); len(left) != res.Others || res.Others == 0 {
			t.Errorf("%d others, and there is %q", res.Others, left)
		}
		if dump(before, queueRoots...) != dump(s.tree(), queueRoots...) {
			t.Error("the new queue has changed")
		}
		s.mustVerify()
		if run := status.Runs[0]; run.State != migrate.Done || run.Retired != run.Tracked || run.Retire.At != moment() {
			t.Errorf("the run is %+v", run)
		}

		s.restore(kept)
		if want, got := dump(before, legacyRoots...), dump(s.tree(), legacyRoots...); want != got {
			t.Errorf("restored:\n%s\nbefore:\n%s", got, want)
		}
		s.mustVerify()
		// What was restored can be removed again.
		if again, _, err := s.retire(migrate.RetireOptions{}); err != nil || len(again.Removes) != len(res.Removes) {
			t.Errorf("again: %+v, %v", again, err)
		}
		if again, _, err := s.retire(migrate.RetireOptions{}); err != nil || again.Earlier != len(res.Removes) || again.Steps != 0 {
			t.Errorf("the third time: %+v, %v", again, err)
		}
	})
}

// After a rollback, retire removes the records of the jobs that were kept, and of those that
// others removed. The others are for the legacy workers.
func TestRetireAfterRollback(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, lifeQueue(t), d)
		all := s.records()
		lifeStates["rolled back, one job kept"](s)
		if step := s.status().Step; step != migrate.StepKept {
			t.Errorf("next: %s", step)
		}
		if step := migrate.VerdictStep(s.verify()); step != migrate.StepKept {
			t.Errorf("next, after a verify: %s", step)
		}
		// Services and legacy workers could work on the same record.
		if _, err := s.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrNotRetired) {
			t.Errorf("released before the retire: %v", err)
		}
		res, _, err := s.retire(migrate.RetireOptions{})
		s.must(err)
		if want := []string{pendingRecord}; !slices.Equal(of(res.Removes), want) || res.Others != len(all)-1 {
			t.Errorf("removed %q, and %d are others", of(res.Removes), res.Others)
		}
		if left := s.records(); len(left) != len(all)-1 || slices.Contains(left, pendingRecord) {
			t.Errorf("there is %q", left)
		}
		if status := s.status(); status.Step != migrate.StepPlan || status.Runs[0].State != migrate.RolledBack {
			t.Errorf("next: %s; %+v", status.Step, status.Runs[0])
		}
		if step := migrate.VerdictStep(s.mustVerify()); step != migrate.StepPlan {
			t.Errorf("next, after a verify: %s", step)
		}
		s.release()
	})
}

// A record that a legacy worker acquires stays, and is named, whenever that happens.
func TestRetireOfAcquiredRecord(t *testing.T) {
	acquire := func(s *site) { s.set(pendingRecord, record(s.t, legacy.Consumed, job("a", "1"))) }
	for name, when := range map[string]func(s *site, opt *migrate.RetireOptions){
		"before": func(s *site, _ *migrate.RetireOptions) { acquire(s) },
		"while the operator is asked": func(s *site, opt *migrate.RetireOptions) {
			opt.Confirm = func(*migrate.Retired) error { acquire(s); return nil }
		},
		"when its bytes are kept": func(s *site, opt *migrate.RetireOptions) {
			opt.SaveRemoved = func(dump func(io.Writer) error) error {
				err := dump(io.Discard)
				acquire(s)
				return err
			}
		},
		"before it is removed": func(s *site, opt *migrate.RetireOptions) {
			opt.Limits = single
			done := false
			s.before(func(int) {
				if run := jsonOf(t, s.data("/migration/runs/run0000000000")); run["state"] == "retiring" && !done {
					done = true
					acquire(s)
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			lifeStates["released"](s)
			opt := migrate.RetireOptions{}
			when(s, &opt)
			res, _, err := s.retire(opt)
			s.must(err)
			if !slices.Equal(of(res.Stays), []string{pendingRecord}) || !slices.Equal(s.records(), []string{pendingRecord}) {
				t.Errorf("stays %q, there is %q", of(res.Stays), s.records())
			}
			if stay := s.status().Runs[0].Retire.Stay; stay != 1 {
				t.Errorf("the run says that %d stay", stay)
			}
			if name == "before" {
				return
			}
			// When the worker has ended, nothing is left to do.
			s.must(s.door().Delete(pendingRecord, -1))
			if res, _, err := s.retire(migrate.RetireOptions{}); err != nil || len(res.Removes)+len(res.Stays) > 0 {
				t.Errorf("again: %+v, %v", res, err)
			}
		})
	}
}

// While a retire is not finished, nothing else writes, and everything names it.
func TestRetireInterrupted(t *testing.T) {
	for _, state := range []string{"released", "rolled back, one job kept"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			lifeStates[state](s)
			retireHalf(s)
			settled := s.tree()
			if status := s.status(); status.Step != migrate.StepFinishRetire || status.Runs[0].State != migrate.Retiring {
				t.Errorf("next: %s; %s", status.Step, status.Runs[0].State)
			}
			if v := s.verify(); v.OK() || migrate.VerdictStep(v) != migrate.StepFinishRetire {
				t.Errorf("verify: %v", v.Differences)
			}
			if _, err := s.rollback(migrate.RollbackOptions{Source: s.source()}); !errors.Is(err, migrate.ErrRetiring) {
				t.Errorf("rollback: %v", err)
			}
			s.late(77)
			opt := s.options()
			opt.HoldAgain = true
			if p := problem(s.plan(opt.Options), migrate.RetireUnfinished); p == nil {
				t.Error("a plan is ready")
			}
			if _, err := migrate.Hold(t.Context(), s.w, migrate.HoldOptions{By: "ops", Why: "checking"}); err != nil {
				t.Error(err)
			}
			if state != "released" { // else no hold is a run's
				if _, err := s.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrUnfinished) {
					t.Errorf("release: %v", err)
				}
			}
			if dump(settled, "/migration/runs") != dump(s.tree(), "/migration/runs") {
				t.Error("the run's record was written")
			}
			_, _, err := s.retire(migrate.RetireOptions{})
			s.must(err)
			if left := s.records(); state == "released" && !slices.Equal(left, []string{ingest(77)}) || slices.Contains(left, pendingRecord) {
				t.Errorf("there is %q", left)
			}
			if run := s.status().Runs[0]; run.State == migrate.Retiring || run.Before != "" {
				t.Errorf("the run is %+v", run)
			}
		})
	}
}

// retireHalf begins a retire, and interrupts it before its end.
func retireHalf(s *site) {
	s.t.Helper()
	_, err := migrate.Retire(until(s.t, migrate.Removing, 1), s.source(), s.w, s.w, migrate.RetireOptions{Limits: single,
		SaveRemoved: func(dump func(io.Writer) error) error { return dump(io.Discard) }})
	if !errors.Is(err, migrate.ErrInterrupted) {
		s.t.Fatalf("not interrupted: %v", err)
	}
}

// After a retire, the jobs are the only copies. A rollback keeps them all, also without SOURCE,
// and also those of an interrupted retire that went on.
func TestRollbackAfterRetire(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, source := range []bool{true, false} {
			s := serve(t, lifeQueue(t), d)
			lifeStates["released"](s)
			before := dump(s.tree(), newqueue.JobsPath, newqueue.AccessPath)
			retireHalf(s)
			_, _, err := s.retire(migrate.RetireOptions{})
			s.must(err)
			opt := migrate.RollbackOptions{Force: true}
			if source {
				opt.Source = s.source()
			}
			undo := s.mustRollback(opt)
			if undo.Removes.Records() != 0 || dump(s.tree(), newqueue.JobsPath, newqueue.AccessPath) != before {
				t.Errorf("with SOURCE %t, the rollback removed %+v", source, undo.Removes)
			}
		}
	})
}

// Retire refuses as long as the legacy queue may be needed, and then nothing was written.
func TestRetireRefuses(t *testing.T) {
	small := func(*testing.T) *znode.Tree { return lifeQueue(t) }
	for name, c := range map[string]struct {
		ready func(s *site)
		opt   migrate.RetireOptions
		want  error
	}{
		"no queue":     {func(*site) {}, migrate.RetireOptions{}, migrate.ErrNoQueue},
		"running":      {lifeStates["running"], migrate.RetireOptions{}, migrate.ErrUnfinished},
		"rolling back": {lifeStates["rolling back"], migrate.RetireOptions{}, migrate.ErrUnfinished},
		"done":         {lifeStates["done"], migrate.RetireOptions{}, migrate.ErrNotReleased},
		"partly":       {lifeStates["partly released"], migrate.RetireOptions{}, migrate.ErrNotReleased},
		"a second run": {func(s *site) {
			lifeStates["released"](s)
			s.late(77)
			opt := s.options()
			opt.HoldAgain = true
			s.mustMigrate(opt)
		}, migrate.RetireOptions{}, migrate.ErrNotReleased},
		"the ledger is damaged": {func(s *site) {
			lifeStates["released"](s)
			s.remove("/migration/ledger")
		}, migrate.RetireOptions{}, migrate.ErrDamaged},
		"restored": {func(s *site) {
			lifeStates["released"](s)
			lifeEvents["a backup is restored znode by znode"](s)
		}, migrate.RetireOptions{}, migrate.ErrRestored},
		"restored, and the operator knows it": {func(s *site) {
			lifeStates["released"](s)
			lifeEvents["a backup is restored znode by znode"](s)
		}, migrate.RetireOptions{Restored: true}, nil},
		"nothing keeps the bytes": {lifeStates["released"], migrate.RetireOptions{SaveRemoved: func(func(io.Writer) error) error { return io.ErrShortWrite }}, io.ErrShortWrite},
		"the operator says no":    {lifeStates["released"], migrate.RetireOptions{Confirm: func(*migrate.Retired) error { return io.ErrClosedPipe }}, io.ErrClosedPipe},
		"another queue": {func(s *site) {
			lifeStates["released"](s)
			s.remove("/ingest")
			s.create("/ingest", nil)
			s.create("/ingest/mrtQ-05000000000001", record(t, legacy.Pending, job("a", "1")))
		}, migrate.RetireOptions{}, migrate.ErrOtherSource},
		"a queue is missing": {func(s *site) {
			lifeStates["released"](s)
			s.remove("/accessSmall.1")
		}, migrate.RetireOptions{}, migrate.ErrOtherSource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, small(t), newqueue.Design)
			c.ready(s)
			roots := slices.Concat(queueRoots, legacyRoots, []string{"/migration/runs"})
			before := dump(s.tree(), roots...)
			if _, _, err := s.retire(c.opt); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%v, expected %v", err, c.want)
			}
			if c.want != nil && dump(s.tree(), roots...) != before {
				t.Error("something was written")
			}
		})
	}
	s := serve(t, small(t), newqueue.Design)
	lifeStates["released"](s)
	if _, err := migrate.Retire(t.Context(), s.source(), s.w, s.w, migrate.RetireOptions{}); !errors.Is(err, migrate.ErrNotSaved) {
		t.Error(err)
	}
	if _, err := migrate.PreviewRetire(t.Context(), s.source(), &s.w.Reader, migrate.RetireOptions{}); err != nil {
		t.Error(err)
	}
}

// A session that lost the target can't remove anything more.
func TestRetireTakenOver(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	lifeStates["released"](s)
	from, _ := s.open("") // to the source: it lives on
	n := 0
	s.before(func(int) {
		if n++; n == 4 {
			s.server.ExpireSession(s.session)
		}
	})
	_, err := migrate.Retire(t.Context(), s.source(), from, s.w, migrate.RetireOptions{Limits: single,
		SaveRemoved: func(dump func(io.Writer) error) error { return dump(io.Discard) }})
	if !errors.Is(err, zkconn.ErrLost) {
		t.Errorf("%v", err)
	}
	s.begin()
	if left := len(s.records()); left < 7 {
		t.Errorf("%d records are left", left)
	}
	_, _, err = s.retire(migrate.RetireOptions{})
	s.must(err)
	if left := s.records(); len(left) > 0 {
		t.Errorf("there is %q", left)
	}
}

// status names the records that legacy workers took after the release. Those that retire
// removed, and those of completed jobs, are none of them.
func TestStatusNamesTakenRecords(t *testing.T) {
	change := lifeEvents["a migrated record changes"]
	for name, c := range map[string]struct {
		state             string
		event             func(s *site)
		changed, vanished []string
		step              migrate.Step
	}{
		"a completed one":      {"released", func(s *site) { s.remove(completedRecord) }, nil, nil, ""},
		"an access request":    {"released", func(s *site) { s.remove(accessRecord) }, nil, []string{accessRecord}, migrate.StepHold},
		"retired":              {retiredState, func(*site) {}, nil, nil, ""},
		"restored and changed": {retiredState, change, []string{pendingRecord}, nil, migrate.StepHold},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			lifeStates[c.state](s)
			c.event(s)
			var changed, vanished []string
			status := s.status()
			for _, l := range status.Legacy {
				changed, vanished = append(changed, l.Changed...), append(vanished, l.Vanished...)
			}
			if !slices.Equal(changed, c.changed) || !slices.Equal(vanished, c.vanished) || status.Step != c.step {
				t.Errorf("changed %q, vanished %q, next: %q; expected %q, %q, %q", changed, vanished, status.Step, c.changed, c.vanished, c.step)
			}
		})
	}
}

// If the answers to all deletes are lost, it is known all the same what was removed.
func TestRetireLosesItsAnswers(t *testing.T) {
	for _, done := range []bool{false, true} {
		s := serve(t, lifeQueue(t), newqueue.MrtZK)
		lifeStates["released"](s)
		all, n, act := len(s.records()), 0, minizk.CutBefore()
		if done {
			act = minizk.CutAfter()
		}
		s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			if op.Session != s.session || op.Code != jute.OpMulti || !slices.Contains(legacyRoots, znode.Parent(op.Paths[0])) {
				return false
			}
			n++
			return n%2 == 1
		}, Do: act})
		res, _, err := s.retire(migrate.RetireOptions{Limits: single})
		s.must(err)
		if len(res.Removes) != all || res.Gone > 0 || n < all || len(s.records()) > 0 {
			t.Errorf("done %t: %d of %d removed, %d gone, in %d deletes", done, len(res.Removes), all, res.Gone, n)
		}
	}
}

// A source that was listed before another retire is listed again.
func TestRetireListsAgain(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	lifeStates["released"](s)
	before, all := s.source(), len(s.records())
	_, _, err := s.retire(migrate.RetireOptions{})
	s.must(err)
	res, err := migrate.Retire(t.Context(), before, s.w, s.w, migrate.RetireOptions{})
	if err != nil || res.Earlier != all || res.Gone > 0 || res.Steps > 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// The ledger is read run by run, and a retire writes to the newest. So a record may be marked
// whose job an older run has taken back since.
func TestOlderRunIsRolledBackAfterRetire(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	lifeStates["released"](s)
	s.late(77)
	opt := s.options()
	opt.HoldAgain = true
	s.mustMigrate(opt)
	s.mustRollback(migrate.RollbackOptions{})
	_, kept, err := s.retire(migrate.RetireOptions{})
	s.must(err)
	s.restore(kept)
	if undo, err := migrate.Rollback(t.Context(), s.w, "run0000000000", migrate.RollbackOptions{Source: s.source()}); err != nil || len(undo.Keeps) > 0 {
		t.Fatalf("%v, %+v", err, undo)
	}
	opt.HoldAgain = false
	if step := s.status().Step; step != migrate.StepPlan {
		t.Errorf("next: %s", step)
	}
	res := s.mustMigrate(opt)
	if res.Created.Records() != 11 {
		t.Errorf("created %+v", res.Created)
	}
	s.mustVerify()
}

// A rollback after a retire, when the records were restored, keeps jobs again. Their records must
// be retired again.
func TestRetireAgainAfterRollback(t *testing.T) {
	s := serve(t, lifeQueue(t), newqueue.MrtZK)
	lifeStates["released"](s)
	_, kept, err := s.retire(migrate.RetireOptions{})
	s.must(err)
	s.restore(kept)
	s.set(s.jobOf(pendingRecord)+"/space_needed", []byte("17"))
	if undo := s.mustRollback(migrate.RollbackOptions{Source: s.source()}); len(undo.Keeps) != 1 {
		t.Errorf("%+v", undo.Keeps)
	}
	if step := s.status().Step; step != migrate.StepKept {
		t.Errorf("next: %s", step)
	}
	if res, _, err := s.retire(migrate.RetireOptions{}); err != nil || !slices.Equal(of(res.Removes), []string{pendingRecord}) {
		t.Errorf("%+v, %v", res, err)
	}
}

// restore loads a dump.
func (s *site) restore(dump string) {
	s.t.Helper()
	tree, err := znode.ReadDump(strings.NewReader(dump))
	s.must(err)
	_, err = restore.Restore(s.t.Context(), s.w, tree, restore.Options{Below: "/", Say: func(string) {}, Progress: func(int, int) {}})
	s.must(err)
}
