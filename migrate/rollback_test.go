package migrate_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
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

// After the release, a rollback goes job by job: it removes what is as the run left it, and
// keeps what others have worked on, with its batch. It names all that it keeps, and what
// others have removed, because these records must not run again. The layout stays whole.
func TestRollbackJobByJob(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for name, c := range map[string]struct {
			work func(s *site)
			keep map[int]string // record, verdict
		}{
			"nothing was worked on": {func(*site) {}, nil},
			"a worker took a job and let it go": {func(s *site) {
				j, err := s.queue().AcquireJob(t.Context(), newqueue.JobPending)
				s.must(err)
				s.must(j.Unlock(t.Context()))
			}, map[int]string{1: "acted-on"}},
			"a worker has a job": {func(s *site) {
				_, err := s.queue().AcquireJob(t.Context(), newqueue.JobPending)
				s.must(err)
			}, map[int]string{1: "acted-on"}},
			"a worker has moved one": {func(s *site) {
				j, err := s.queue().AcquireJob(t.Context(), newqueue.JobPending)
				s.must(err)
				s.must(j.Succeed(t.Context()))
			}, map[int]string{1: "acted-on"}},
			"an entry was moved": {func(s *site) {
				jid := znode.Name(s.jobOf(ingest(1)))
				s.remove("/jobs/states/pending/05-" + jid)
				s.create("/jobs/states/pending/03-"+jid, nil)
			}, map[int]string{1: "acted-on"}},
			"an entry was made again": {func(s *site) {
				entry := "/jobs/states/pending/05-" + znode.Name(s.jobOf(ingest(1)))
				s.remove(entry)
				s.create(entry, nil)
			}, map[int]string{1: "acted-on"}},
			"a part was removed": {func(s *site) { s.remove(s.jobOf(ingest(1)) + "/priority") }, map[int]string{1: "acted-on"}},
			"a whole job was made again": {func(s *site) {
				tree, root := s.tree(), s.jobOf(ingest(1))
				s.remove(root)
				for n := range tree.All(root) {
					s.create(n.Path, n.Data)
				}
			}, map[int]string{1: "acted-on"}},
			"a job was removed": {func(s *site) {
				jid := znode.Name(s.jobOf(ingest(1)))
				s.remove("/jobs/"+jid, "/jobs/states/pending/05-"+jid, s.entryInBatch(jid))
			}, map[int]string{1: "removed"}},
			"a batch was cleaned up": {func(s *site) {
				for _, n := range []int{1, 2} {
					jid := znode.Name(s.jobOf(ingest(n)))
					s.remove("/jobs/"+jid, "/jobs/states/pending/05-"+jid)
				}
				s.remove("/batches/bid0000000000", "/batch-uuids/bid-0")
			}, map[int]string{1: "removed", 2: "removed"}},
			"two of four": {func(s *site) {
				for _, n := range []int{1, 3} {
					s.set(s.jobOf(ingest(n))+"/space_needed", []byte("7"))
				}
			}, map[int]string{1: "acted-on", 3: "acted-on"}},
			"the only copy": {func(s *site) { s.remove(ingest(4)) }, map[int]string{4: "only-copy"}},
		} {
			t.Run(name, func(t *testing.T) {
				s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
				s.mustMigrate(s.options())
				s.release()
				c.work(s)
				before := s.tree()
				var shown *migrate.Undo
				undo := s.mustRollback(migrate.RollbackOptions{Source: s.source(), Limits: single, Confirm: func(u *migrate.Undo) error {
					copied := *u
					shown = &copied
					if u.State != migrate.Done || len(u.Released) != 3 {
						t.Errorf("it shows %+v", u)
					}
					return nil
				}})
				got := map[int]string{}
				for _, item := range undo.Keeps {
					n, _ := legacy.ParseKey(znode.Name(item.Record))
					got[int(n.Sequence)] = string(item.Action)
					if item.Why == "" || item.Hash.String() == "" {
						t.Errorf("it doesn't say why: %+v", item)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(c.keep) && len(got)+len(c.keep) > 0 {
					t.Errorf("kept %v, expected %v", got, c.keep)
				}
				if removed := 4 - len(c.keep); undo.Removes.Jobs != removed || shown.Removes.Jobs != removed || len(shown.Keeps) != len(undo.Keeps) {
					t.Errorf("removed %+v, and it showed %+v", undo.Removes, shown)
				}
				after := s.tree()
				for _, item := range undo.Keeps {
					if batch := "/batches/" + string(dataAt(before, item.Job+"/bid")); dump(before, item.Job) != dump(after, item.Job) || before.Get(item.Job) != nil && after.Get(batch) == nil {
						t.Errorf("%s is not as it was", item.Job)
					}
				}
				for _, path := range layoutPaths {
					if before.Get(path) != nil && after.Get(path) == nil {
						t.Errorf("%s is gone", path)
					}
				}
				if holds := after.Children("/locks/queue"); !slices.Contains(holds, "ingest") || !slices.Contains(holds, "accessSmall") {
					t.Errorf("the queues are not held: %v", holds)
				}
				v := s.verify()
				if broken := name == "an entry was moved" || name == "a part was removed"; !v.OK() && !broken {
					t.Errorf("verify: %v", v.Differences)
				}
				if v.Records.Returned != 4-len(c.keep) {
					t.Errorf("%+v", v.Records)
				}
				want := migrate.StepPlan
				if len(c.keep) > 0 && name != "the only copy" { // that has no legacy record that could run again
					want = migrate.StepKept
				}
				if status := s.status(); status.Step != want || status.Newest().Kept != len(c.keep) {
					t.Errorf("what to do next is %q, and %d are kept", status.Step, status.Newest().Kept)
				}
			})
		}
	})
}

func dataAt(tree *znode.Tree, path string) []byte {
	if n := tree.Get(path); n != nil {
		return n.Data
	}
	return nil
}

// entryInBatch is the entry of a pending job in its batch.
func (s *site) entryInBatch(jid string) string {
	return newqueue.BatchEntryPath(string(s.data("/jobs/"+jid+"/bid")), newqueue.FolderProcessing, jid)
}

// A job whose record is not in the source any more is kept only if its queue was released:
// before that, nobody can have taken the record but a legacy worker. Without a source,
// nothing is known of records.
func TestRollbackOfTheOnlyCopy(t *testing.T) {
	for _, c := range []struct {
		released, source bool
		kept             int
	}{{true, true, 1}, {true, false, 0}, {false, true, 0}} {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
		s.mustMigrate(s.options())
		if c.released {
			s.release(newqueue.HoldIngest)
		}
		s.remove(ingest(1))
		opt := migrate.RollbackOptions{}
		if c.source {
			opt.Source = s.source()
		}
		if undo := s.mustRollback(opt); len(undo.Keeps) != c.kept {
			t.Errorf("%+v: kept %+v", c, undo.Keeps)
		}
	}
}

// A record may leave the source while a rollback waits for its turn or for an answer.
func TestRecordRemovedWhileTheRollbackAsks(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.release()
	undo := s.mustRollback(migrate.RollbackOptions{Source: s.source(), Confirm: func(*migrate.Undo) error { s.remove(ingest(1)); return nil }})
	if len(undo.Keeps) != 1 || undo.Keeps[0].Record != ingest(1) {
		t.Errorf("kept %+v", undo.Keeps)
	}
}

// What is kept is written down before the run counts as rolled back. If that fails, or the
// process dies, the same rollback goes on.
func TestKeptIsWrittenBeforeTheEnd(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		s.mustMigrate(s.options())
		s.set(s.jobOf(ingest(2))+"/space_needed", []byte("7"))
		full := errors.New("the disk is full")
		_, err := s.rollback(migrate.RollbackOptions{Kept: func(*migrate.Undo) error { return full }})
		if !errors.Is(err, full) {
			t.Errorf("%v", err)
		}
		if state := s.status().Runs[0].State; state != migrate.RollingBack {
			t.Errorf("the run is %s", state)
		}
		var written []migrate.UndoItem
		s.mustRollback(migrate.RollbackOptions{Kept: func(u *migrate.Undo) error { written = u.Keeps; return nil }})
		if len(written) != 1 || written[0].Record != ingest(2) {
			t.Errorf("written: %+v", written)
		}
	})
}

// While the rollback of an older run is not finished, nothing is migrated.
func TestUnfinishedRollbackOfAnOlderRun(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.create(ingest(9), record(t, legacy.Pending, job("z", "9")))
	s.mustMigrate(s.options())
	s.mustRollback(migrate.RollbackOptions{})
	if _, err := migrate.Rollback(until(t, migrate.Removing, 1), s.w, "run0000000000", migrate.RollbackOptions{Now: moment, Limits: single}); !errors.Is(err, migrate.ErrInterrupted) {
		t.Fatalf("not interrupted: %v", err)
	}
	p := problem(s.plan(s.options().Options), migrate.RollbackUnfinished)
	if p == nil || p.Fits != "run0000000000" {
		t.Errorf("%+v", p)
	}
	if st := s.status(); st.Step != migrate.StepFinishRollback || st.Current().ID != "run0000000000" {
		t.Errorf("status: %s of %s", st.Step, st.Current().ID)
	}
	if v := s.verify(); migrate.VerdictStep(v) != migrate.StepFinishRollback || v.Run != "run0000000000" || v.Current.ID != v.Run {
		t.Errorf("verify: %s of %s", migrate.VerdictStep(v), v.Run)
	}
	s.mustRollback(migrate.RollbackOptions{})
	if st := s.status(); st.Step != migrate.StepPlan || st.Current().ID != "run0000000001" {
		t.Errorf("afterwards: %s of %s", st.Step, st.Current().ID)
	}
}

// The newest run is rolled back, and a job of the one before is damaged: the rolled-back run can't
// be rolled back again.
func TestDamageOfAnOlderRun(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.create(ingest(9), record(t, legacy.Pending, job("z", "9")))
	s.mustMigrate(s.options())
	s.mustRollback(migrate.RollbackOptions{})
	s.set(s.jobOf(ingest(2))+"/status", []byte("by hand"))
	if v := s.verify(); migrate.VerdictStep(v) != migrate.StepRepairOlder {
		t.Errorf("%q: %v", migrate.VerdictStep(v), v.Differences)
	}
}

// With Force, a rollback also removes what others have worked on, with all its entries,
// wherever these are. Only a job that a worker has locked stays: the worker is at it.
func TestForcedRollback(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 6, 2)), d)
		before := s.tree()
		s.mustMigrate(s.options())
		s.release()
		acquired, err := s.queue().AcquireJob(t.Context(), newqueue.JobPending)
		s.must(err)
		s.must(acquired.Succeed(t.Context()))
		_, err = s.queue().AcquireJob(t.Context(), newqueue.JobPending) // and keeps it
		s.must(err)
		s.set(s.jobOf(ingest(3))+"/status", []byte("by hand"))
		s.create(s.jobOf(ingest(4))+"/by-hand", nil)
		s.set("/batches/bid0000000000/submission", []byte("{}"))
		if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) != 4 {
			t.Errorf("without force it kept %+v", undo.Keeps)
		}
		if undo, err := s.rollback(migrate.RollbackOptions{Force: true}); !errors.Is(err, migrate.ErrNoRun) {
			t.Errorf("%+v, %v", undo, err)
		}
		// The same at once.
		s = serve(t, before, d)
		s.mustMigrate(s.options())
		s.release()
		_, err = s.queue().AcquireJob(t.Context(), newqueue.JobPending)
		s.must(err)
		if undo := s.mustRollback(migrate.RollbackOptions{Force: true}); len(undo.Keeps) != 1 {
			t.Errorf("locked: %+v", undo)
		}
		// The same without a worker.
		s = serve(t, before, d)
		s.mustMigrate(s.options())
		s.release()
		s.set(s.jobOf(ingest(3))+"/status", []byte("by hand"))
		s.create(s.jobOf(ingest(4))+"/by-hand", nil)
		undo := s.mustRollback(migrate.RollbackOptions{Force: true})
		if len(undo.Keeps) > 0 || undo.Removes != (migrate.Counts{Jobs: 6, Batches: 3}) {
			t.Errorf("%+v", undo)
		}
		after := s.tree()
		for _, parent := range []string{"/jobs/states/pending", "/batches", "/batch-uuids"} {
			if left := after.Children(parent); len(left) > 0 {
				t.Errorf("left in %s: %v", parent, left)
			}
		}
	})
}

// A znode that the session may not delete ends a forced rollback. The error names the znode
// and says what would finish it.
func TestForbiddenZnode(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	s.mustMigrate(s.options())
	forbidden := s.jobOf(ingest(1))
	_, err := s.door().SetACL(forbidden, zk.WorldACL(zk.PermRead), -1)
	s.must(err)
	undo, err := s.rollback(migrate.RollbackOptions{})
	if err != nil || len(undo.Keeps) != 1 || undo.Keeps[0].Job != forbidden {
		t.Errorf("%v, %+v", err, undo)
	}

	s = serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	s.mustMigrate(s.options())
	_, err = s.door().SetACL(forbidden, zk.WorldACL(zk.PermRead), -1)
	s.must(err)
	_, err = s.rollback(migrate.RollbackOptions{Force: true})
	if err == nil || !strings.Contains(err.Error(), forbidden) || !strings.Contains(err.Error(), "permission") || errors.Is(err, migrate.ErrContended) {
		t.Errorf("%v", err)
	}
	// The same command finishes it when the ACL was repaired.
	if !s.has(firstRun) || s.status().Step != migrate.StepFinishRollback {
		t.Errorf("%+v", s.status().Newest())
	}
}

// A rollback's own part of a hold is lifted if the run was never released and nothing was
// kept. Other owners' parts stay. Else the queues stay held (docs/life.md, rule 4).
func TestHoldsAfterRollback(t *testing.T) {
	hold := func(s *site) {
		_, err := migrate.Hold(t.Context(), s.w, migrate.HoldOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}, By: "ops", Why: "checking", Now: moment})
		s.must(err)
	}
	for _, c := range []struct {
		name   string
		change func(s *site)
		owners string // of the ingest hold, after the rollback
	}{
		{"never released", func(*site) {}, ""},
		{"never released, and a person holds it", hold, "ops"},
		{"never released, one was acted on", func(s *site) { s.set(s.jobOf(ingest(1))+"/space_needed", []byte("7")) }, "run0000000000"},
		{"released", func(s *site) { s.release() }, "run0000000000"},
		{"released, and a person holds it", func(s *site) { s.release(); hold(s) }, "ops run0000000000"},
		{"unpaused without mrtq", func(s *site) { s.remove("/locks/queue/ingest") }, "run0000000000"},
		{"paused again by another tool", func(s *site) { s.remove("/locks/queue/ingest"); s.create("/locks/queue/ingest", nil) }, "run0000000000 unknown"},
		{"partly released", func(s *site) { s.release(newqueue.HoldAccessSmall) }, "run0000000000"},
		{"/locks is gone", func(s *site) { s.remove("/locks") }, "run0000000000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, killed := range []bool{false, true} {
				s := serve(t, queueTree(t, pendings(t, 3, 1)), newqueue.MrtZK)
				s.mustMigrate(s.options())
				c.change(s)
				if killed {
					s.kill(3, true)
					if _, err := s.rollback(migrate.RollbackOptions{Limits: single}); err == nil {
						t.Fatal("it was not killed")
					}
					s.begin()
				}
				s.before(func(int) {
					if tree := s.tree(); killed && tree.Get("/locks/queue/ingest") == nil {
						t.Error("the queue is not held while it is rolled back")
					}
				})
				s.mustRollback(migrate.RollbackOptions{Limits: single})
				var owners []string
				for _, h := range s.status().Holds {
					if h.Path == "/locks/queue/ingest" {
						for _, o := range h.Owners {
							owners = append(owners, o.By)
						}
					}
				}
				slices.Sort(owners)
				if got := strings.Join(owners, " "); got != c.owners {
					t.Errorf("killed %t: the owners are %q, expected %q", killed, got, c.owners)
				}
			}
		})
	}
}

// If a queue is unpaused while a rollback removes its jobs, the rollback holds it again, and
// leaves it held.
func TestUnpausedDuringARollback(t *testing.T) {
	for at := 1; at <= 8; at++ {
		s := serve(t, queueTree(t, pendings(t, 3, 1)), newqueue.Design)
		s.mustMigrate(s.options())
		n := 0
		s.before(func(int) {
			if n++; n == at {
				s.remove("/locks/queue/ingest")
			}
		})
		s.mustRollback(migrate.RollbackOptions{Limits: single})
		if !s.has("/locks/queue/ingest") || n < 8 {
			t.Errorf("unpaused before transaction %d of %d: it is not held", at, n)
		}
	}
}

// What is rolled back must be the newest run that was not rolled back. What is not there
// can't be.
func TestWhichRunIsRolledBack(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	try := func(run string, want error) {
		t.Helper()
		before := dump(s.tree(), queueRoots...)
		if _, err := migrate.PreviewRollback(t.Context(), &s.w.Reader, run, migrate.RollbackOptions{}); !errors.Is(err, want) {
			t.Errorf("preview of %q: %v", run, err)
		}
		if _, err := migrate.Rollback(t.Context(), s.w, run, migrate.RollbackOptions{}); !errors.Is(err, want) {
			t.Errorf("%q: %v", run, err)
		}
		if want != nil && dump(s.tree(), queueRoots...) != before {
			t.Errorf("%q: it wrote", run)
		}
	}
	try("", migrate.ErrNoQueue)
	try("run0000000000", migrate.ErrNoQueue)
	s.mustMigrate(s.options())
	s.late(900)
	s.mustMigrate(s.options())
	try("run0000000002", migrate.ErrNoRun)
	try("by hand", migrate.ErrNoRun)
	try("run0000000000", migrate.ErrNotNewest)
	s.release()
	refused := errors.New("no")
	if _, err := s.rollback(migrate.RollbackOptions{Confirm: func(*migrate.Undo) error { return refused }}); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	try("run0000000001", nil)
	try("run0000000001", migrate.ErrNoRun)
	try("", migrate.ErrNoRun)
	try("run0000000000", nil)
}

// What is worked on while a rollback runs is kept, whenever that happens: each delete
// demands the versions that were read.
func TestWorkedOnDuringARollback(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for at := 1; at <= 6; at++ {
			s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
			s.mustMigrate(s.options())
			s.release()
			job := s.jobOf(ingest(1)) // the last one to be removed
			n := 0
			s.before(func(int) {
				if n++; n != at {
					return
				}
				if _, err := s.door().Set(job+"/space_needed", []byte("7"), -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
					t.Error(err)
				}
			})
			undo := s.mustRollback(migrate.RollbackOptions{Limits: single})
			if kept := len(undo.Keeps); kept != 1 && at <= 5 || kept != 0 && at == 6 {
				t.Errorf("before transaction %d: kept %+v", at, undo.Keeps)
			}
			s.mustVerify()
			if s.has(job) != (len(undo.Keeps) == 1) {
				t.Errorf("before transaction %d: the job is there: %t", at, s.has(job))
			}
		}
	})
}

// Verify advises to repair damage. Force, which asks first and names each job, ends damage, too. Without it,
// rollback keeps a job that somebody changed, and its damage.
func TestForcedRollbackEndsDamage(t *testing.T) {
	for name, harm := range map[string]func(s *site, job string){
		"a job's part was written":     func(s *site, job string) { s.set(job+"/priority", []byte("by hand")) },
		"a job's part was deleted":     func(s *site, job string) { s.remove(job + "/bid") },
		"a znode was put below a part": func(s *site, job string) { s.create(job+"/priority/by-hand", nil) },
		"a job's metadata was written": func(s *site, job string) { s.set(job+"/metadata", []byte("by hand")) },
		"the ACL of a part was set": func(s *site, job string) {
			_, err := s.door().SetACL(job+"/metadata", zk.WorldACL(zk.PermRead), -1)
			s.must(err)
		},
		"a job's entry was deleted": func(s *site, job string) {
			s.remove("/jobs/states/pending/" + s.tree().Children("/jobs/states/pending")[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, lifeQueue(t), newqueue.MrtZK)
			s.mustMigrate(s.options())
			harm(s, s.jobOf(pendingRecord))
			if v := s.verify(); migrate.VerdictStep(v) != migrate.StepRepairHeld {
				t.Fatalf("next: %s; %v", migrate.VerdictStep(v), v.Differences)
			}
			var asked *migrate.Undo
			undo := s.mustRollback(migrate.RollbackOptions{Force: true, Confirm: func(u *migrate.Undo) error { asked = u; return nil }})
			if len(undo.Keeps) != 0 || asked == nil || len(asked.Forced) != 1 {
				t.Errorf("kept: %+v; asked about: %+v", undo.Keeps, asked)
			}
			s.mustMigrate(s.options())
			s.mustVerify()
		})
	}
}

// What the operator is asked about is what happens then.
func TestRollbackIsAsPreviewed(t *testing.T) {
	events := maps.Clone(lifeEvents)
	// An entry of a job that is not there keeps its batch. The preview does not read the entries.
	delete(events, "the hourly cleanup is half way through a batch")
	events["the hourly cleanup removed a batch"] = func(s *site) {
		bid := string(s.data(s.jobOf(completedRecord) + "/bid"))
		for _, record := range []string{completedRecord, "/ingest/mrtQ-07000000000005"} {
			s.removeJob(record, newqueue.JobCompleted, 7)
		}
		s.must(removeAll(s.door(), newqueue.BatchPath(bid)))
		s.must(s.door().Delete(newqueue.BatchUUIDsPath+"/bid-c", -1))
	}
	for _, state := range []string{"running", "released"} {
		for name, event := range events {
			t.Run(state+", "+name, func(t *testing.T) {
				t.Parallel()
				s := serve(t, lifeQueue(t), newqueue.MrtZK)
				lifeStates[state](s)
				event(s)
				opt := migrate.RollbackOptions{Source: s.source(), Now: moment}
				preview, foretold := migrate.PreviewRollback(t.Context(), &s.w.Reader, "", opt)
				undo, err := migrate.Rollback(t.Context(), s.w, "", opt)
				if (err == nil) != (foretold == nil) {
					t.Fatalf("%v; the preview: %v", err, foretold)
				}
				if err == nil && (undo.Removes != preview.Removes || !slices.Equal(undo.Keeps, preview.Keeps)) {
					t.Errorf("removed %v and kept %v; the preview: %v, %v", undo.Removes, undo.Keeps, preview.Removes, preview.Keeps)
				}
			})
		}
	}
}
