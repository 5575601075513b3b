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
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Runs that share batches are rolled back newest first, and each takes only what is its own:
// then the target is what it was before it.
func TestRollbackOfSharedBatches(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
		s.mustMigrate(s.options())
		s.completes()
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
	})
}

// After the release, a rollback goes job by job: it gives back the records of those that nobody has begun, and keeps
// what others have worked on, with its batch. It names all that it keeps: these are the only copies. The layout stays whole.
func TestRollbackJobByJob(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for name, c := range map[string]struct {
			work func(s *site)
			keep string // the numbers of records
			gone int
		}{
			"nothing was worked on": {func(*site) {}, "", 0},
			"a worker took a job and let it go": {func(s *site) {
				j := value(s.queue().AcquireJob(t.Context(), newqueue.JobPending))(s)
				s.must(j.Unlock(t.Context()))
			}, "1", 0},
			"a worker has moved one": {func(s *site) {
				j := value(s.queue().AcquireJob(t.Context(), newqueue.JobPending))(s)
				s.must(j.Succeed(t.Context()))
			}, "1", 0},
			"an entry was moved": {func(s *site) {
				jid := znode.Name(s.jobOf(ingest(1)))
				s.remove("/jobs/states/pending/05-" + jid)
				s.create("/jobs/states/pending/03-"+jid, nil)
			}, "1", 0},
			"an entry was made again": {func(s *site) {
				entry := "/jobs/states/pending/05-" + znode.Name(s.jobOf(ingest(1)))
				s.remove(entry)
				s.create(entry, nil)
			}, "1", 0},
			"a part was removed": {func(s *site) { s.remove(s.jobOf(ingest(1)) + "/priority") }, "1", 0},
			"a whole job was made again": {func(s *site) {
				tree, root := s.tree(), s.jobOf(ingest(1))
				s.remove(root)
				for n := range tree.All(root) {
					s.create(n.Path, n.Data)
				}
			}, "1", 0},
			"a job was removed": {func(s *site) { s.dropJob(1) }, "", 1},
			"a batch was cleaned up": {func(s *site) {
				for _, n := range []int{1, 2} {
					jid := znode.Name(s.jobOf(ingest(n)))
					s.remove("/jobs/"+jid, "/jobs/states/pending/05-"+jid)
				}
				s.remove("/batches/bid0000000000", "/batch-uuids/bid-0")
			}, "", 2},
			"two of four": {func(s *site) {
				for _, n := range []int{1, 3} {
					s.set(s.jobOf(ingest(n))+"/space_needed", []byte("7"))
				}
			}, "3 1", 0},
			"kept bytes are missing": {func(s *site) { s.remove(s.keptFolder() + "/" + znode.Name(s.jobOf(ingest(4)))) }, "4", 0},
		} {
			t.Run(name, func(t *testing.T) {
				s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
				legacyBefore := s.tree()
				s.mustMigrate(s.options())
				s.release()
				c.work(s)
				before := s.tree()
				var shown *migrate.RollbackResult
				undo := s.mustRollback(migrate.RollbackOptions{Limits: single, Confirm: func(u *migrate.RollbackResult) error {
					copied := *u
					shown = &copied
					if u.State != migration.RunDone || len(u.Released) != 3 {
						t.Errorf("it shows %+v", u)
					}
					return nil
				}})
				var kept []string
				for _, item := range undo.Keeps {
					n, _ := legacy.ParseKey(znode.Name(item.Record))
					if kept = append(kept, fmt.Sprint(n.Sequence)); item.Why == "" {
						t.Errorf("it doesn't say why: %+v", item)
					}
				}
				stays := len(kept) + c.gone
				if strings.Join(kept, " ") != c.keep || undo.Gone != c.gone {
					t.Errorf("kept %v, %d gone, expected %v, %d", kept, undo.Gone, c.keep, c.gone)
				}
				if back := 4 - stays; undo.Removes.Jobs != back || undo.GivesBack != back || shown.Removes != undo.Removes || shown.GivesBack != back || len(shown.Keeps) != len(undo.Keeps) {
					t.Errorf("removed %+v, gave back %d, and it showed %+v", undo.Removes, undo.GivesBack, shown)
				}
				after := s.tree()
				for _, item := range undo.Keeps {
					if batch := "/batches/" + string(before.Get(item.Job+"/bid").Data); dump(before, item.Job) != dump(after, item.Job) || after.Get(batch) == nil || after.Get(item.Record) != nil {
						t.Errorf("%s is not as it was", item.Job)
					}
				}
				if back := len(after.Children("/ingest")); back != 4-stays {
					t.Errorf("%d records came back", back)
				}
				for _, path := range after.Children("/ingest") {
					if path = "/ingest/" + path; dump(legacyBefore, path) != dump(after, path) {
						t.Errorf("%s did not come back as it was", path)
					}
				}
				for _, path := range layoutPaths {
					if before.Get(path) != nil && after.Get(path) == nil {
						t.Errorf("%s is gone", path)
					}
				}
				// The holds stay for the jobs that stay, until the legacy queue has no work in progress.
				if held := s.holdsNow() != ""; held != (len(kept) > 0) || undo.Held != held {
					t.Errorf("held: %s", s.holdsNow())
				}
				v := s.verify()
				if broken := name == "an entry was moved" || name == "a part was removed"; !v.OK() && !broken || v.Records.NotMigrated != 4-stays {
					t.Errorf("verify: %v, %+v", v.Differences, v.Records)
				}
				if status := s.status(); status.Newest().State != migration.RunRolledBack || status.Newest().Stayed != len(kept) || stays < 4 && status.Step != migrate.StepPlan {
					t.Errorf("what to do next is %q, and %d are kept", status.Step, status.Newest().Stayed)
				}
			})
		}
	})
}

func (s *site) dropJob(n int) {
	s.t.Helper()
	jid := znode.Name(s.jobOf(ingest(n)))
	s.remove(s.entryInBatch(jid), "/jobs/"+jid, "/jobs/states/pending/05-"+jid)
}

func (s *site) entryInBatch(jid string) string {
	return newqueue.BatchEntryPath(string(s.data("/jobs/"+jid+"/bid")), newqueue.FolderProcessing, jid)
}

// While a session has locked a job that stays, the rollback can't end. It gives back everything else, and the same
// rollback ends it when the worker is done. Then a release gives the job back to its workers, when no legacy
// worker is at work.
func TestRollbackBesideAWorker(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
		s.mustMigrate(s.options())
		s.release()
		job := value(s.queue().AcquireJob(t.Context(), newqueue.JobPending))(s)
		for range 2 {
			undo, err := s.rollback(migrate.RollbackOptions{Force: true}) // not even so
			if !errors.Is(err, migrate.ErrAtWork) || !strings.Contains(err.Error(), job.Path()) || len(undo.AtWork) != 1 || len(s.tree().Children("/ingest")) != 3 {
				t.Errorf("%v, %+v", err, undo)
			}
		}
		s.must(job.Fail(t.Context(), "bad digest"))
		if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) != 1 || len(undo.AtWork) != 0 {
			t.Errorf("%+v", undo)
		}
		s.set(ingest(2), record(t, legacy.Consumed, job2())) // a legacy worker begins
		if _, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrAtWork) || s.holdsNow() == "" {
			t.Errorf("%v; held: %s", err, s.holdsNow())
		}
		s.set(ingest(2), record(t, legacy.Completed, job2()))
		if res, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrAtWork) || len(res.AtWork) != 2 || res.AtWork[0].What != migration.ActivityWaiting {
			t.Errorf("two records wait for legacy workers: %v, %+v", err, res)
		}
		for n := 3; n <= 4; n++ {
			s.set(ingest(n), record(t, legacy.Completed, job2()))
		}
		if res, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{}); err != nil || s.holdsNow() != "" || len(s.tree().Children("/ingest")) != 3 {
			t.Errorf("%v, %+v", err, res)
		}
		s.mustVerify()
	})
}

func job2() legacy.Payload { return job("0", "2") }

// A rollback kept a job, and a later run was rolled back whole: what is damaged of that job is named, and --force gives its record back.
func TestKeptByAnOlderRun(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 4, 2)), newqueue.MrtZK)
	lifeStates["one job kept"](s)
	s.mustMigrate(s.options())
	s.mustRollback(migrate.RollbackOptions{})
	if _, err := s.rollback(migrate.RollbackOptions{}); !errors.Is(err, migrate.ErrNoRun) {
		t.Errorf("again: %v", err)
	}
	damaged := serve(t, s.tree(), s.dialect)
	damaged.set(damaged.jobOf(ingest(1))+"/status", []byte("by hand"))
	if v := damaged.verify(); migrate.VerdictStep(v) != migrate.StepRepairKept {
		t.Errorf("%q: %v", migrate.VerdictStep(v), v.Differences)
	}
	if undo := s.mustRollback(migrate.RollbackOptions{Force: true}); undo.GivesBack != 1 || undo.Run != run0 || !s.has(ingest(1)) || s.holdsNow() != "" {
		t.Errorf("%+v, held %s", undo, s.holdsNow())
	}
}

// With Force, a rollback also removes what others have worked on, with all its entries, wherever these are. What it removes is
// saved, and its records come back. A job that an earlier rollback kept can be forced later.
func TestForcedRollback(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, later := range []bool{false, true} {
			s := serve(t, queueTree(t, pendings(t, 6, 2)), d)
			before := dump(s.tree(), "/ingest")
			s.mustMigrate(s.options())
			s.release()
			acquired := value(s.queue().AcquireJob(t.Context(), newqueue.JobPending))(s)
			s.must(acquired.Succeed(t.Context()))
			s.set(s.jobOf(ingest(3))+"/status", []byte("by hand"))
			s.create(s.jobOf(ingest(4))+"/by-hand", nil)
			s.set("/batches/bid0000000000/submission", []byte("{}"))
			if later {
				if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) != 3 {
					t.Errorf("without force it kept %+v", undo.Keeps)
				}
			}
			_, err := migrate.Rollback(t.Context(), s.w, migrate.RollbackOptions{Force: true})
			if !errors.Is(err, migrate.ErrNotSaved) {
				t.Errorf("%v", err)
			}
			var asked []migration.Note
			undo := s.mustRollback(migrate.RollbackOptions{Force: true, Confirm: func(u *migrate.RollbackResult) error { asked = u.Forced; return nil }})
			if len(undo.Keeps) > 0 || undo.Held || len(s.lost) == 0 || len(asked) != 3 || len(undo.Forced) != 3 {
				t.Errorf("%+v; %d znodes are saved; asked about %v", undo, len(s.lost), asked)
			}
			after := s.tree()
			for _, parent := range []string{"/jobs/states/pending", "/batches", "/batch-uuids", "/locks/queue"} {
				if left := after.Children(parent); len(left) > 0 {
					t.Errorf("left in %s: %v", parent, left)
				}
			}
			if after := dump(after, "/ingest"); after != before {
				t.Errorf("the legacy queue is\n%s", after)
			}
			if _, err := s.rollback(migrate.RollbackOptions{Force: true}); !errors.Is(err, migrate.ErrNoRun) {
				t.Errorf("once more: %v", err)
			}
		}
	})
}

// A znode that the session may not delete ends a rollback. The error names the znode
// and says what would finish it.
func TestForbiddenZnode(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	s.mustMigrate(s.options())
	forbidden := s.jobOf(ingest(1))
	s.setACL(forbidden, zk.WorldACL(zk.PermRead|zk.PermAdmin))
	_, err := s.rollback(migrate.RollbackOptions{})
	if err == nil || !strings.Contains(err.Error(), forbidden) || !strings.Contains(err.Error(), "permission") || errors.Is(err, migrate.ErrContended) {
		t.Errorf("%v", err)
	}
	if s.status().Step != migrate.StepFinishRollback {
		t.Errorf("%+v", s.status().Newest())
	}
	s.setACL(forbidden, zk.WorldACL(zk.PermAll))
	s.mustRollback(migrate.RollbackOptions{})
}

// A job stays, a release lets it run, and a second run is rolled back, too: then legacy workers can start, so the queues stay held for
// the job.
func TestSecondRollbackHoldsWhatStayed(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 1)), d)
		s.mustMigrate(s.options())
		s.release()
		s.fails()
		s.mustRollback(migrate.RollbackOptions{})
		s.must(errorOf(s.tryRelease(migrate.ReleaseOptions{WorkersStopped: 2})))
		if held := s.holdsNow(); held != "" {
			t.Fatal(held)
		}
		s.hold("ops", newqueue.QueueHolds...)
		s.mustMigrate(s.options())
		s.mustRollback(migrate.RollbackOptions{})
		if held := s.holdsNow(); held != "accessLarge=ops+run0000000001 accessSmall=ops+run0000000001 ingest=ops+run0000000001" {
			t.Errorf("held: %s", held)
		}
	})
}

// A rollback lifts its run's part of the holds, also after a release. If a job stays, the queues stay held. Other owners' parts stay.
func TestHoldsAfterRollback(t *testing.T) {
	hold := func(s *site) { s.hold("ops", newqueue.HoldIngest) }
	const run = "run0000000000"
	for _, c := range []struct {
		name   string
		change func(s *site)
		after  string // who holds what
	}{
		{"never released", func(*site) {}, ""},
		{"never released, and a person holds it", hold, "ingest=ops"},
		{"never released, and a job was begun", (*site).fails, "accessLarge=" + run + " accessSmall=" + run + " ingest=" + run},
		{"released", func(s *site) { s.release() }, ""},
		{"released, and a person holds it", func(s *site) { s.release(); hold(s) }, "ingest=ops"},
		{"released, and a job was begun", func(s *site) { s.release(); s.fails() }, "accessLarge=" + run + " accessSmall=" + run + " ingest=" + run},
		{"unpaused without mrtq", func(s *site) { s.remove("/locks/queue/ingest") }, ""},
		{"paused again by another tool", func(s *site) { s.remove("/locks/queue/ingest"); s.create("/locks/queue/ingest", nil) }, "ingest=unknown"},
		{"partly released", func(s *site) { s.release(newqueue.HoldAccessSmall) }, ""},
		{"/locks is gone", func(s *site) { s.remove("/locks") }, ""},
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
					s.before(func(int) {
						if s.tree().Get("/locks/queue/ingest") == nil {
							t.Error("the queue is not held while it is rolled back")
						}
					})
				}
				s.mustRollback(migrate.RollbackOptions{Limits: single})
				if got := s.holdsNow(); got != c.after {
					t.Errorf("killed %t: %s, expected %s", killed, got, c.after)
				}
			}
		})
	}
}

// If a queue is unpaused while a rollback removes its jobs, the rollback holds it again before it removes another one.
func TestUnpausedDuringARollback(t *testing.T) {
	for at := 1; at <= 8; at++ {
		s := serve(t, queueTree(t, pendings(t, 3, 1)), newqueue.Design)
		s.mustMigrate(s.options())
		jobs, held := 3, true
		s.before(func(n int) {
			now := len(s.jobs())
			if now < jobs && !held {
				t.Errorf("unpaused before transaction %d: transaction %d removed a job that was not held", at, n-1)
			}
			if n == at {
				s.remove("/locks/queue/ingest")
			}
			jobs, held = now, s.tree().Get("/locks/queue/ingest") != nil
		})
		s.mustRollback(migrate.RollbackOptions{Limits: single})
		if len(s.jobs()) > 0 || s.holdsNow() != "" {
			t.Errorf("unpaused before transaction %d: %v stay, and %s is held", at, s.jobs(), s.holdsNow())
		}
	}
}

// What is not there can't be rolled back, nor what was.
func TestNothingToRollBack(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	try := func(want error) {
		t.Helper()
		before := dump(s.tree(), queueRoots...)
		if _, err := migrate.PreviewRollback(t.Context(), &s.w.Reader, migrate.RollbackOptions{}); !errors.Is(err, want) {
			t.Errorf("preview: %v", err)
		}
		if _, err := migrate.Rollback(t.Context(), s.w, migrate.RollbackOptions{}); !errors.Is(err, want) {
			t.Error(err)
		}
		if want != nil && dump(s.tree(), queueRoots...) != before {
			t.Error("it wrote")
		}
	}
	try(migrate.ErrNoQueue)
	s.mustMigrate(s.options())
	s.release()
	refused := errors.New("no")
	if _, err := s.rollback(migrate.RollbackOptions{Confirm: func(*migrate.RollbackResult) error { return refused }}); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	try(nil)
	try(migrate.ErrNoRun)
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
				preview, previewErr := migrate.PreviewRollback(t.Context(), &s.w.Reader, migrate.RollbackOptions{})
				undo, err := s.rollback(migrate.RollbackOptions{})
				if errors.Is(err, migrate.ErrUndecided) && len(preview.Undecided) > 0 {
					err = nil
				}
				if (err == nil) != (previewErr == nil) {
					t.Fatalf("%v; the preview: %v", err, previewErr)
				}
				if err == nil && (undo.Removes != preview.Removes || undo.GivesBack != preview.GivesBack || !slices.Equal(undo.Keeps, preview.Keeps) || !slices.Equal(undo.Undecided, preview.Undecided)) {
					t.Errorf("got %+v; the preview: %+v", undo, preview)
				}
			})
		}
	}
}
