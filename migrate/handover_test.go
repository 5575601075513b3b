package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// TestThereAndBack: a release takes every record out of the legacy queue, and a rollback brings it back as it was: name, bytes and ACL. Two
// queues may have records of one name.
func TestThereAndBack(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		tree := corpus(t)
		for _, queue := range []string{"/accessSmall.1", "/accessLarge.1"} {
			put(t, tree, queue+"/mrtQ-000000000077", record(t, legacy.Pending, token(queue)))
		}
		s := serve(t, tree, d)
		owned := zkconn.DigestAuth("owner", "secret")
		s.w, _ = s.open("", owned)
		s.must(s.door().AddAuth("digest", []byte("owner:secret")))
		mine := zk.DigestACL(zk.PermAll, "owner", "secret")
		for _, path := range []string{"/accessSmall.1/mrtQ-000000000077", ingest(1)} {
			s.ensure(path)
			s.setACL(path, append(mine, zk.WorldACL(zk.PermRead)...))
		}
		s.set(ingest(1), record(t, legacy.Pending, job("owned", "1")))
		before := s.legacy()
		migrated := s.mustMigrate(s.options()).Created.Records()
		s.mustVerify()
		res := value(s.tryRelease(migrate.ReleaseOptions{}))(s)
		if res.HandedOver != migrated || len(res.Left) > 0 {
			t.Errorf("%d were migrated, and the release did %+v", migrated, res)
		}
		kept, folder := s.kept(), s.keptFolder()
		if len(kept) != migrated || !slices.Contains(kept, folder+"/small-qid0000000001") || !slices.Contains(kept, folder+"/large-qid0000000001") {
			t.Errorf("kept: %v", kept)
		}
		for _, path := range kept {
			if n := s.tree().Get(path); strings.Contains(string(n.Data), `"jid-1"`) && len(n.ACL) != 2 {
				t.Errorf("%s has the ACL %v", path, n.ACL)
			}
		}
		s.mustVerify()
		undo := s.mustRollback(migrate.RollbackOptions{})
		if undo.GivesBack != migrated || len(undo.Keeps) > 0 {
			t.Errorf("%d were migrated, and the rollback did %+v", migrated, undo)
		}
		if after := s.legacy(); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
		if s.has(keptRoot) {
			t.Error("kept bytes are left")
		}
	})
}

// legacy is the legacy queue as text, with the ACLs, but without the versions of what changed on the way.
func (s *site) legacy() string {
	s.t.Helper()
	var b strings.Builder
	for _, root := range legacyRoots {
		for n := range s.tree().All(root) {
			fmt.Fprintf(&b, "%s = %q %v\n", n.Path, n.Data, n.ACL)
		}
	}
	return b.String()
}

// A release reads again what it relied on when a hold has changed.
func TestHoldChangesDuringARelease(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	other := s.operator()
	s.before(func(n int) {
		if n == 2 {
			other.hold("ops", newqueue.HoldIngest)
		}
	})
	var said []string
	_, err := s.tryRelease(migrate.ReleaseOptions{Limits: single, Notify: func(text string) { said = append(said, text) }})
	if err != nil || len(said) != 1 || !strings.Contains(said[0], "reading both queues again") || s.holdsNow() != "ingest=ops" {
		t.Errorf("%v, it said %q; held: %s", err, said, s.holdsNow())
	}
}

// A job is withdrawn if a legacy worker took its record since. Its batch goes if no job is left in it; else it stays.
func TestWithdrawn(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 5, 2)), d)
		s.mustMigrate(s.options())
		jobs := map[int]string{}
		for _, n := range []int{1, 2, 3} {
			jobs[n] = s.jobOf(ingest(n))
			s.set(ingest(n), record(t, legacy.Completed, job(fmt.Sprint((n-1)/2), fmt.Sprint(n))))
		}
		res, err := s.tryRelease(migrate.ReleaseOptions{})
		if err != nil || res.Withdrawn != 3 || res.HandedOver != 2 || len(res.Lifted) != 3 {
			t.Errorf("%v, %+v", err, res)
		}
		if batches := s.tree().Children("/batches"); !slices.Equal(batches, []string{"bid0000000001", "bid0000000002"}) || len(s.jobs()) != 2 {
			t.Errorf("left: %v, %v", batches, s.jobs())
		}
		if names := s.tree().Children("/batch-uuids"); !slices.Equal(names, []string{"bid-1", "bid-2"}) {
			t.Errorf("names: %v", names)
		}
		for n := range jobs {
			if !s.has(ingest(n)) {
				t.Errorf("%s is gone", ingest(n))
			}
		}
		if got, want := accounted(s.mustVerify()), "total 5: migrated 2, finished 3"; got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	})
}

// Each question has two answers. Nothing is lifted before, everything else is handed over, and what an
// answer removes for good is saved first.
func TestQuestions(t *testing.T) {
	changes := func(s *site) { s.set(ingest(1), record(t, legacy.Completed, job("0", "1"))) }
	for question, c := range map[migration.Question]struct {
		happens func(s *site)
		saves   map[migration.Answer]string // the first znode that is saved
	}{
		migration.QuestionJobGone:  {func(s *site) { s.dropJob(1) }, nil},
		migration.QuestionBoth:     {func(s *site) { s.fails(); changes(s) }, map[migration.Answer]string{migration.AnswerLegacy: "/jobs/jid0000000001"}},
		migration.QuestionVanished: {func(s *site) { s.remove(ingest(1)) }, map[migration.Answer]string{migration.AnswerLegacy: "/jobs/jid0000000001"}},
		migration.QuestionAgain:    {func(s *site) { s.release(); changes(s.recreate(ingest(1))) }, map[migration.Answer]string{migration.AnswerLegacy: "/jobs/jid0000000001", migration.AnswerNew: ingest(1)}},
	} {
		for _, answer := range []migration.Answer{migration.AnswerNew, migration.AnswerLegacy} {
			t.Run(fmt.Sprint(question, " is ", answer), func(t *testing.T) {
				t.Parallel()
				s := serve(t, queueTree(t, pendings(t, 3, 1)), newqueue.MrtZK)
				s.mustMigrate(s.options())
				c.happens(s)
				if question != migration.QuestionAgain {
					res, err := s.tryRelease(migrate.ReleaseOptions{})
					if !errors.Is(err, migrate.ErrUndecided) || len(res.Undecided) != 1 || res.Undecided[0].Question != question || res.HandedOver != 2 || s.holdsNow() != "ingest="+run0 {
						t.Errorf("%v, %+v; held: %s", err, res, s.holdsNow())
					}
				}
				words := answerAll([]migration.Note{{Record: ingest(1)}}, answer)
				_, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{Decisions: words})
				if errors.Is(err, migrate.ErrNotSaved) != (c.saves[answer] != "") {
					t.Errorf("without a file: %v", err)
				}
				_, err = s.tryRelease(migrate.ReleaseOptions{Decisions: words})
				s.must(err)
				if c.saves[answer] != "" && (len(s.lost) == 0 || s.lost[0].Path != c.saves[answer]) {
					t.Errorf("saved: %v", s.lost)
				}
				record, job := s.has(ingest(1)), s.has("/jobs/jid0000000001")
				wantJob := answer == migration.AnswerNew && question != migration.QuestionJobGone
				wantRecord := answer == migration.AnswerLegacy && question != migration.QuestionVanished
				if record != wantRecord || job != wantJob || s.holdsNow() != "" {
					t.Errorf("a record: %t, a job: %t; held: %s", record, job, s.holdsNow())
				}
				s.mustVerify()
				if _, err := s.tryRelease(migrate.ReleaseOptions{Decisions: words}); err != nil {
					t.Errorf("the same once more: %v", err)
				}
			})
		}
	}
	s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	if _, err := s.tryRelease(migrate.ReleaseOptions{Decisions: answerAll([]migration.Note{{Record: "/ingest/none"}}, migration.AnswerNew)}); !errors.Is(err, migrate.ErrNotFound) {
		t.Errorf("about no record: %v", err)
	}
}

func (s *site) recreate(path string) *site {
	s.create(path, nil)
	return s
}

// While a consumed record or a lock is in the legacy queue, nothing of its queue is lifted. The operator's word must count
// them all.
func TestWorkersStopped(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(s *site)
		work    int
		held    string
	}{
		{"one is consumed", func(s *site) { s.create(ingest(9), record(t, legacy.Consumed, job("z", "9"))) }, 1, "ingest=" + run0},
		{"one that was migrated is consumed", func(s *site) { s.set(ingest(1), record(t, legacy.Consumed, job("0", "1"))) }, 1, "ingest=" + run0},
		{"an access record is", func(s *site) {
			s.create("/accessLarge.1/mrtQ-000000000009", record(t, legacy.Consumed, token("9")))
		}, 1, "accessLarge=" + run0 + " accessSmall=" + run0},
		{"two, and a lock", func(s *site) {
			s.create(ingest(8), record(t, legacy.Consumed, job("z", "8")))
			s.create(ingest(9), record(t, legacy.Consumed, job("z", "9")))
			s.create("/mrt.lock/ark", lockOf(s, "jid-8"))
		}, 3, "ingest=" + run0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			c.happens(s)
			for _, stopped := range []int{0, c.work - 1} {
				res, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{WorkersStopped: stopped})
				if !errors.Is(err, migrate.ErrAtWork) || len(res.AtWork) != c.work || s.holdsNow() != c.held {
					t.Errorf("%d: %v, %+v; held: %s", stopped, err, res, s.holdsNow())
				}
			}
			if _, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{WorkersStopped: c.work}); err != nil || s.holdsNow() != "" {
				t.Errorf("%v; held: %s", err, s.holdsNow())
			}
		})
	}
}

// A consumed record that was migrated by choice is not handed over while a lock names it: its worker may be at work.
func TestConsumedRecordWaits(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Consumed, job("a", "1")), ingest(2): record(t, legacy.Consumed, job("a", "2"))}), newqueue.Design)
	s.create("/mrt.lock/ark", lockOf(s, "jid-1"))
	opt := s.options()
	opt.Choices.Consumed = "held"
	s.mustMigrate(opt)
	for _, held := range []bool{true, false} { // a hold that somebody else lifts changes nothing
		if !held {
			s.remove("/locks/queue")
		}
		if _, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrAtWork) || !s.has(ingest(1)) || s.has(ingest(2)) {
			t.Errorf("held %t: %v", held, err)
		}
	}
	s.remove("/mrt.lock/ark")
	if _, err := migrate.Release(t.Context(), s.w, migrate.ReleaseOptions{}); err != nil || s.has(ingest(1)) {
		t.Errorf("%v", err)
	}
}

// A legacy queue in another ensemble is migrated and verified. It can't be handed over, and nothing of it is written. The twin of an ensemble, with the
// same znodes and czxids, is another one.
func TestTwoEnsembles(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		// Both have an election with the same next place, so that only the places themselves differ.
		s.ensure("/migration", "/migration/election")
		twin := serve(t, s.tree(), d)
		resign := twin.lead() // with the name of the place that the migration will have in the target
		before := dump(twin.tree(), "/")
		opt := s.options()
		opt.Limits = single
		if _, err := migrate.Migrate(until(t, migrate.PhaseSending, 1), twin.source(), s.w, opt); !errors.Is(err, migrate.ErrInterrupted) {
			t.Fatal(err)
		}
		s.begin()
		if _, err := s.migrate(s.options()); !errors.Is(err, migrate.ErrOtherSource) {
			t.Errorf("finished from the target's own ensemble: %v", err)
		}
		s.must(errorOf(migrate.Migrate(t.Context(), twin.source(), s.w, s.options())))
		if run := s.status().Newest(); run.Origin.OneEnsemble || len(s.status().Legacy) > 0 {
			t.Errorf("%+v", run.Origin)
		}
		if _, err := migrate.Verify(t.Context(), nil, &s.w.Reader, migrate.VerifyOptions{}); !errors.Is(err, migrate.ErrTwoEnsembles) {
			t.Errorf("verify without a source: %v", err)
		}
		if v, err := migrate.Verify(t.Context(), twin.source(), &s.w.Reader, migrate.VerifyOptions{}); err != nil || !v.OK() || v.Records.Migrated != 3 {
			t.Errorf("verify: %v, %+v", err, v)
		}
		if _, err := s.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrTwoEnsembles) || s.holdsNow() == "" {
			t.Errorf("release: %v", err)
		}
		if all := dump(s.tree(), legacyRoots...); all != dump(twin.tree(), legacyRoots...) || dump(twin.tree(), "/") != before {
			t.Error("a legacy queue was changed")
		}
		resign()
		s.mustRollback(migrate.RollbackOptions{})
		s.mustMigrate(s.options()) // from its own
		s.completes()
		twin.late(900)
		if _, err := migrate.Migrate(t.Context(), twin.source(), s.w, s.options()); !errors.Is(err, migrate.ErrOtherSource) {
			t.Errorf("a further run from the twin: %v", err)
		}
	})
}

// A further run takes its records from the same legacy queue.
func TestOtherOrigin(t *testing.T) {
	tree := queueTree(t, pendings(t, 3, 3))
	for n := range tree.All("/ingest") {
		put(t, tree, "/other", nil)
		put(t, tree, "/other"+n.Path, n.Data)
	}
	s := serve(t, tree, newqueue.MrtZK)
	other, _ := s.open("/other")
	src := value(migrate.OpenSource(t.Context(), &other.Reader, migration.DefaultQueues(), legacy.Options{}))(s)
	s.mustMigrate(s.options())
	p := value(migrate.MakePlan(t.Context(), src, &s.w.Reader, s.options().PlanOptions))(s)
	if problem(p, "other-origin") == nil {
		t.Errorf("%v", p.Problems)
	}
}

// A queue znode that was removed, or created again, is not the one that was migrated: its records seem to have vanished.
// Nothing is handed over before somebody has answered. New records of old names are other records.
func TestOtherSource(t *testing.T) {
	for _, recreated := range []bool{false, true} {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
		s.mustMigrate(s.options())
		s.remove("/ingest")
		if recreated {
			s.create("/ingest", nil)
			s.create(ingest(1), record(t, legacy.Pending, job("new", "new")))
		}
		if _, err := s.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrOtherSource) || !strings.Contains(err.Error(), "/ingest") || len(s.kept()) > 0 {
			t.Errorf("release: %v", err)
		}
		if _, err := s.rollback(migrate.RollbackOptions{}); !errors.Is(err, migrate.ErrOtherSource) || len(s.jobs()) != 3 {
			t.Errorf("rollback: %v", err)
		}
		res, err := s.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerNew}})
		if err != nil || res.Absent != 3 || s.holdsNow() != "" || len(s.jobs()) != 3 {
			t.Errorf("%v, %+v", err, res)
		}
		if !recreated {
			continue
		}
		if res := s.follow(); res.Moved != 1 || len(s.jobs()) != 4 {
			t.Errorf("the new record: %+v", res)
		}
		s.mustVerify()
		if s.has(ingest(1)) || s.holdsNow() != "" {
			t.Error("the new record was not handed over")
		}
	}
}

// Without the right to change the legacy queue, or to create beside it, nothing is migrated, handed over or given back. The error names
// the znode and its ACL.
func TestNoRight(t *testing.T) {
	for path, perms := range map[string]int32{"/ingest": zk.PermRead | zk.PermWrite | zk.PermDelete | zk.PermAdmin, "/accessSmall.1": zk.PermRead | zk.PermCreate | zk.PermAdmin, "/": zk.PermRead | zk.PermDelete | zk.PermAdmin,
		keptRoot: zk.PermRead | zk.PermDelete | zk.PermAdmin} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			forbid := func(s *site, perms int32) {
				s.setACL(path, zk.WorldACL(perms))
			}
			queue := func() *site {
				s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, job("a", "1")), accessRecord: record(t, legacy.Pending, token("t"))}), newqueue.MrtZK)
				s.must(s.queue().Init(t.Context()))
				s.ensure("/migration", "/migration/election")
				return s
			}
			refused := func(s *site, command string, do func() error) {
				t.Helper()
				forbid(s, perms)
				before := dump(s.tree(), "/")
				err := do()
				if !errors.Is(err, migrate.ErrNoPermission) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "world") || dump(s.tree(), "/") != before {
					t.Errorf("%s: %v", command, err)
				}
				forbid(s, zk.PermAll)
				s.must(do())
			}
			release := func(s *site) func() error {
				return func() error { _, err := s.tryRelease(migrate.ReleaseOptions{}); return err }
			}
			refused1 := queue()
			refused1.ensure("/access", "/access/small", "/access/large", "/jobs/states/pending", "/locks", "/locks/queue")
			if path == keptRoot { // of another target
				refused1.ensure(keptRoot)
			}
			refused(refused1, "migrate", func() error { return errorOf(refused1.migrate(refused1.options())) })
			withoutFolder := func() *site {
				if path == "/" {
					refused1.remove(keptRoot)
				}
				return refused1
			}
			refused(withoutFolder(), "release", release(refused1))
			if path == "/accessSmall.1" { // nothing can be tried to be deleted where nothing is
				return
			}
			refused(withoutFolder(), "rollback", func() error { _, err := refused1.rollback(migrate.RollbackOptions{}); return err })
		})
	}
}

// What a release could not hand over, or a rollback not give back as it was, is a problem of the plan.
func TestPlanRefusesWhatCannotGoBack(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
	s.create(ingest(1)+"/below", nil)
	s.setACL(ingest(2), append(zk.DigestACL(zk.PermAll, "someone", "secret"), zk.WorldACL(zk.PermRead)...))
	payload := job("a", "3")
	payload["title"] = strings.Repeat("x", 40<<10)
	s.set(ingest(3), record(t, legacy.Pending, payload))
	opt := s.options().PlanOptions
	opt.MaxBuffer = 60 << 10
	p := s.plan(opt)
	for kind, path := range map[migration.ProblemKind]string{"has-children": ingest(1), "hidden-acl": ingest(2), "too-large": ingest(3)} {
		if found := problem(p, kind); found == nil || found.Path != path || found.Next == "" {
			t.Errorf("%s: %v", kind, p.Problems)
		}
	}
	s.w, _ = s.open("", zkconn.DigestAuth("someone", "secret"))
	if p := s.plan(opt); problem(p, "hidden-acl") != nil {
		t.Errorf("its owner: %v", p.Problems)
	}
}

// A target that was restored alone does not know what was handed over since. The kept bytes show it, and no job is withdrawn.
func TestTargetRestoredAlone(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, then := range []string{"release", "rollback"} {
			s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
			before := s.legacy()
			s.mustMigrate(s.options())
			backup := s.tree()
			s.release()
			s.restoreTarget(backup)
			if then == "rollback" {
				undo, err := s.rollback(migrate.RollbackOptions{Restored: true})
				if err != nil || undo.GivesBack != 4 || s.legacy() != before || len(s.jobs()) != 0 {
					t.Errorf("rollback: %v, %+v", err, undo)
				}
				continue
			}
			res, err := s.tryRelease(migrate.ReleaseOptions{Restored: true, Limits: single})
			if err != nil || res.Absent != 4 || res.Withdrawn != 0 || s.holdsNow() != "" {
				t.Errorf("release: %v, %+v", err, res)
			}
			if run := s.status().Newest(); !run.Restored || s.status().Restored {
				t.Errorf("the run forgets that it was restored: %+v", run)
			}
			if s.mustRollback(migrate.RollbackOptions{}); s.legacy() != before {
				t.Errorf("the legacy queue is\n%s", s.legacy())
			}
		}
	})
}

// A backup was restored, and nothing was released before. An administrator who changes a job has not begun
// it: if a legacy worker did the work of its record and cleaned up, mrtq asks.
func TestRestoredBeforeTheRelease(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
		s.mustMigrate(s.options())
		lifeEvents["a backup is restored znode by znode"](s)
		s.set(s.jobOf(ingest(1))+"/space_needed", []byte("7"))
		s.remove(ingest(1))
		res, err := s.tryRelease(migrate.ReleaseOptions{Restored: true})
		if !errors.Is(err, migrate.ErrUndecided) || len(res.Undecided) != 1 || res.Undecided[0].Question != migration.QuestionVanished || s.holdsNow() == "" {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

// After a rollback, complete removes the kept bytes of what stays, and nobody misses them.
func TestCompleteAfterRollback(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 1)), d)
		s.mustMigrate(s.options())
		s.release()
		s.fails()
		s.mustRollback(migrate.RollbackOptions{})
		if out := value(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{}))(s); out.Removes == 0 {
			t.Fatalf("%+v", out)
		}
		if v := s.mustVerify(); len(v.Notices) > 0 {
			t.Errorf("%v", v.Notices)
		}
	})
}

// Complete removes the kept bytes when everything was handed over. Then there is no way back.
func TestComplete(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
		complete := func(opt migrate.CompleteOptions) (*migrate.CompleteResult, error) {
			return migrate.Complete(t.Context(), s.w, opt)
		}
		if _, err := complete(migrate.CompleteOptions{}); !errors.Is(err, migrate.ErrNoQueue) {
			t.Errorf("nothing was migrated: %v", err)
		}
		s.mustMigrate(s.options())
		if _, err := complete(migrate.CompleteOptions{}); !errors.Is(err, migrate.ErrNotReleased) || !strings.Contains(err.Error(), ingest(1)) {
			t.Errorf("not released: %v", err)
		}
		s.release()
		refused := errors.New("no")
		var asked *migrate.CompleteResult
		if _, err := complete(migrate.CompleteOptions{Confirm: func(c *migrate.CompleteResult) error { asked = c; return refused }}); !errors.Is(err, refused) || asked.Removes != 4 || !slices.Equal(asked.Runs, []string{run0}) {
			t.Errorf("%v, %+v", err, asked)
		}
		s.mustVerify()
		for _, removes := range []int{4, 0} {
			if out, err := complete(migrate.CompleteOptions{}); err != nil || out.Removes != removes || s.has(keptRoot) {
				t.Errorf("%v, %+v", err, out)
			}
		}
		if _, err := s.rollback(migrate.RollbackOptions{Force: true}); !errors.Is(err, migrate.ErrCompleted) || len(s.jobs()) != 4 {
			t.Errorf("rollback: %v", err)
		}
		s.mustVerify()
		// A later run has a way back of its own.
		s.hold("ops", newqueue.QueueHolds...)
		s.late(900)
		s.mustMigrate(s.options())
		s.release()
		if undo := s.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 1 || !s.has(ingest(900)) {
			t.Errorf("%+v", undo)
		}
	})
}

// The rights are tried with transactions that no server carries out. If the answer to one is lost, the release goes on.
func TestTriesAreLost(t *testing.T) {
	for _, done := range []bool{false, true} {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
		s.mustMigrate(s.options())
		act := map[bool]minizk.Action{false: minizk.CutBefore(), true: minizk.CutAfter()}[done]
		fault := s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool { return slices.Contains(op.Paths, "/ingest/mrtq-try") }, Nth: 1, Do: act})
		if res, err := s.tryRelease(migrate.ReleaseOptions{}); err != nil || res.HandedOver != 2 || fault.Fired() != 1 {
			t.Errorf("%v, %+v", err, res)
		}
	}
}

// The last copies are saved once for all records that were read together, and not once for each.
func TestSavedOnceAPart(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 6, 6)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	for n := range 6 {
		s.remove(ingest(n + 1))
	}
	calls, saved := 0, map[string]bool{}
	s.must(errorOf(s.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerLegacy, Save: func(nodes []znode.Node) error {
		calls++
		for _, n := range nodes {
			saved[n.Path] = true
		}
		return nil
	}}})))
	if calls == 0 || calls > 3 { // parts of two are the smallest
		t.Errorf("saved %d times", calls)
	}
	for n := range 6 {
		if status := fmt.Sprintf("/jobs/jid%010d/status", n+1); !saved[status] || s.has(status) {
			t.Errorf("%s: saved %t, there %t", status, saved[status], s.has(status))
		}
	}
}

// Somebody lifts the hold by hand, a new worker begins a job, and legacy workers do the record and clean it up. Nothing is to be decided any
// more, so status, verify and release name it. A job that nobody has begun is a question, as always.
func TestDoneTwice(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		s.mustMigrate(s.options())
		lifeEvents["a hold is lifted by hand"](s)
		worker := value(s.queue().AcquireJob(t.Context(), newqueue.JobPending))(s)
		s.must(worker.Succeed(t.Context()))
		begun, record := "/jobs/"+worker.ID, ingest(1)
		s.remove(record)
		want := []migration.Note{{Record: record, Job: begun, Why: "its job was begun before it was handed over, and it is gone: both queues may have done its work"}}
		same := func(a, b migration.Note) bool { return a.Record == b.Record && a.Job == b.Job && a.Why == b.Why }
		if got := s.verify().Notices; !slices.EqualFunc(got, want, same) {
			t.Errorf("verify: %v", got)
		}
		if got := s.status().Legacy[0].Twice; !slices.EqualFunc(got, want, same) {
			t.Errorf("status: %v", got)
		}
		res := value(s.tryRelease(migrate.ReleaseOptions{}))(s)
		if !slices.EqualFunc(res.Twice, want, same) || res.Absent != 1 || res.HandedOver != 2 {
			t.Errorf("release: %+v", res)
		}
	})
}
