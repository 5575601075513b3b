package migrate_test

import (
	"errors"
	"fmt"
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

// beside is another target of the same legacy queue, with an operator's session of its own.
func (s *site) beside(chroot string) *site {
	s.t.Helper()
	other := &site{t: s.t, server: s.server, dialect: s.dialect, second: s.door(), from: s.w}
	other.w, other.session = s.open(chroot)
	return other
}

func (s *site) restore(backup *znode.Tree, root string) {
	s.t.Helper()
	s.remove(root)
	for n := range backup.All(root) {
		if n.Stat.EphemeralOwner == 0 {
			s.create(n.Path, n.Data)
		}
	}
}

// restoreTarget restores all of a target, and not the kept bytes beside the legacy queue.
func (s *site) restoreTarget(backup *znode.Tree) {
	s.t.Helper()
	for _, root := range append([]string{"/migration"}, queueRoots...) {
		s.restore(backup, root)
	}
}

func (s *site) keptFolder() string {
	s.t.Helper()
	return s.status().Newest().Origin.KeptRunPath()
}

func (s *site) kept() (paths []string) {
	s.t.Helper()
	folder := s.keptFolder()
	for _, name := range s.tree().Children(folder) {
		paths = append(paths, znode.Join(folder, name))
	}
	return paths
}

// Three targets were migrated from one legacy queue before any was released, two of them by mistake. Each record is handed over to
// one of them. The others ask about it, and whatever they do then, the kept bytes stay until their own target gives
// them back.
func TestThreeTargets(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		before := s.legacy()
		right, wrong, other := s.beside("/right"), s.beside("/wrong"), s.beside("/other")
		right.mustMigrate(right.options())
		wrong.mustMigrate(wrong.options())
		first := "/ingest/mrtQ-01000000000099" // it comes first, so its job has the name that the others' first job has
		s.create(first, record(t, legacy.Pending, job("late", "99")))
		other.mustMigrate(other.options())

		if res, err := right.tryRelease(migrate.ReleaseOptions{}); err != nil || res.HandedOver != 3 || len(right.kept()) != 3 {
			t.Fatalf("the right target: %v, %+v, kept %v", err, res, right.kept())
		}
		right.mustVerify()
		for _, target := range []*site{wrong, other} {
			if v := target.verify(); v.Records.Undecided != 3 || kinds(v) != "taken" {
				t.Errorf("verify of another: %s, %v", accounted(v), v.Differences)
			}
			if st := target.status(); st.Step != migrate.StepDecideRecords {
				t.Errorf("status of another: %s", st.Step)
			}
		}

		// The mistyped one can't take them, not even by an answer, and whoever has begun a job there.
		s.remove("/wrong" + newqueue.QueueHoldPath(newqueue.HoldIngest))
		s.set("/wrong"+wrong.jobOf(ingest(1))+"/space_needed", []byte("7"))
		res, err := wrong.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerNew}})
		if !errors.Is(err, migrate.ErrUndecided) || len(res.Undecided) != 3 || res.Absent != 0 || res.Undecided[0].Question != migration.QuestionTaken || res.Undecided[0].Why == "" {
			t.Errorf("release of the wrong target: %v, %+v", err, res)
		}
		// It goes back, and to its end.
		if undo, err := wrong.rollback(migrate.RollbackOptions{}); !errors.Is(err, migrate.ErrUndecided) || len(undo.Undecided) != 3 {
			t.Errorf("rollback of the wrong target: %v, %+v", err, undo)
		}
		if undo := wrong.mustRollback(migrate.RollbackOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerLegacy}}); undo.Removes.Jobs != 3 || undo.GivesBack != 0 {
			t.Errorf("the wrong target was rolled back: %+v", undo)
		}
		if _, err := migrate.Complete(t.Context(), wrong.w, migrate.CompleteOptions{}); err != nil || len(right.kept()) != 3 {
			t.Errorf("the wrong target is complete: %v, the right one keeps %v", err, right.kept())
		}
		// The other one has one record more, and only that is its own.
		if res, err := other.tryRelease(migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrUndecided) || len(res.Undecided) != 3 || res.HandedOver != 1 {
			t.Fatalf("the other target: %v, %+v", err, res)
		}
		if undo := right.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 3 || s.legacy() != before {
			t.Errorf("%+v, before:\n%s\nafter:\n%s", undo, before, s.legacy())
		}
		if undo := other.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 1 || !s.has(first) || s.has(keptRoot) {
			t.Errorf("%+v, kept: %t", undo, s.has(keptRoot))
		}
	})
}

// Somebody deleted the target that has the records, so nobody can roll it back. Its folder is all that is left of it.
func TestTheOtherTargetWasDeleted(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		deleted, right := s.beside("/deleted"), s.beside("/right")
		deleted.mustMigrate(deleted.options())
		right.mustMigrate(right.options())
		deleted.release()
		folder := deleted.keptFolder()
		isNew := migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerNew}}
		s.remove("/deleted")
		if res, err := right.tryRelease(isNew); !errors.Is(err, migrate.ErrUndecided) || len(res.Undecided) != 3 || res.Undecided[0].Why != "roll the other target back first; if that was deleted, delete its folder" {
			t.Errorf("before its folder is deleted: %v, %+v", err, res)
		}
		s.remove(folder)
		if res, err := right.tryRelease(isNew); err != nil || res.Absent != 3 || len(res.Left) > 0 {
			t.Errorf("after it: %v, %+v", err, res)
		}
	})
}

// Two targets share a legacy queue, each releases what the other has not, and each gives back its own records.
func TestTwoTargetsThereAndBack(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, completed := range []bool{false, true} {
			s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
			a, b := s.beside("/a"), s.beside("/b")
			a.mustMigrate(a.options())
			late := "/ingest/mrtQ-01000000000099"
			s.create(late, record(t, legacy.Pending, job("late", "99")))
			before := s.legacy()
			b.mustMigrate(b.options())
			a.release()
			res, err := b.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerLegacy}})
			if err != nil || res.HandedOver != 1 || res.Withdrawn != 3 || len(a.kept()) != 3 || len(b.kept()) != 1 {
				t.Fatalf("%v, %+v; kept: %v, %v", err, res, a.kept(), b.kept())
			}
			b.mustVerify()
			if completed {
				var others []string // who would ask about vanished records afterwards
				out, err := migrate.Complete(t.Context(), b.w, migrate.CompleteOptions{Confirm: func(out *migrate.CompleteResult) error { others = out.Others; return nil }})
				if err != nil || out.Removes != 1 || !slices.Equal(others, []string{"/a"}) {
					t.Errorf("complete: %v, %+v, others: %v", err, out, others)
				}
			} else if undo := b.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 1 {
				t.Errorf("%+v", undo)
			}
			if v := a.mustVerify(); len(v.Notices) > 0 {
				t.Errorf("%v", v.Notices)
			}
			if undo := a.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 3 || s.has(keptRoot) {
				t.Errorf("%+v, kept: %t", undo, s.has(keptRoot))
			}
			if completed {
				s.create(late, record(t, legacy.Pending, job("late", "99")))
			}
			if after := s.legacy(); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
		}
	})
}

func (s *site) folders() []string { return s.tree().Children(keptRoot) }

// Whatever another target does at the moment at which a run begins, and whatever is lost then, the run has one folder, and nobody else has
// it.
func TestTargetsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		before, meanwhile func(other *site)
		folders           int
	}{
		"the other one begins":         {func(*site) {}, func(other *site) { other.mustMigrate(other.options()) }, 2},
		"the other one is rolled back": {func(other *site) { other.mustMigrate(other.options()) }, func(other *site) { other.mustRollback(migrate.RollbackOptions{}) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
			a, b := s.beside("/a"), s.beside("/b")
			c.before(b)
			a.before(func(n int) {
				if n == 1 {
					c.meanwhile(b)
				}
			})
			a.mustMigrate(a.options())
			if all := s.folders(); len(all) != c.folders || !slices.Contains(all, znode.Name(a.keptFolder())) {
				t.Errorf("%v, of which %s is its own", all, a.keptFolder())
			}
			if owner := string(s.data(a.keptFolder())); owner != "/a/migration/runs/"+run0 {
				t.Errorf("its owner is %q", owner)
			}
		})
	}
	for _, lost := range []string{"request", "answer"} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("the %s is lost, killed %t", lost, killed), func(t *testing.T) {
				t.Parallel()
				s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
				if killed {
					s.kill(1, lost == "answer")
					if _, err := s.migrate(s.options()); !errors.Is(err, migrate.ErrSessionLost) {
						t.Fatal(err)
					}
					s.begin()
				} else {
					s.cut(1, lost == "answer")
				}
				s.mustMigrate(s.options())
				if all := s.folders(); !slices.Equal(all, []string{znode.Name(s.keptFolder())}) {
					t.Errorf("folders: %v, of which %s is its own", all, s.keptFolder())
				}
			})
		}
	}
}

// A run that was rolled back gives its folder back, and the next run has another one. If somebody removes the folder, the release makes it
// again.
func TestFoldersComeAndGo(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	first := s.keptFolder()
	s.mustRollback(migrate.RollbackOptions{})
	if s.has(keptRoot) {
		t.Error("the folder is left")
	}
	s.mustMigrate(s.options())
	if second := s.keptFolder(); second == first {
		t.Errorf("%s again", second)
	}
	s.remove(keptRoot)
	s.release()
	if len(s.kept()) != 2 {
		t.Errorf("kept: %v", s.kept())
	}
	// Somebody's own znode stays, and the folder with it.
	s.create(s.keptFolder()+"/note", []byte("x"))
	if out := value(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{}))(s); out.Removes != 2 || !s.has(s.keptFolder()+"/note") {
		t.Errorf("%+v", out)
	}
}

// Two targets were migrated from one legacy queue through different chroots, so their folders for kept bytes are at different places. Who
// was released first has the records, the finished ones, too.
func TestTargetsOfTwoChroots(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := pendings(t, 3, 3)
		records[ingest(3)] = record(t, legacy.Completed, job("0", "3"))
		tree := znode.NewTree()
		put(t, tree, "/s4", []byte{})
		for n := range queueTree(t, records).All("/") {
			if n.Path != "/" {
				put(t, tree, "/s4"+n.Path, n.Data)
			}
		}
		tree.SettleStats(1)
		s := serve(t, tree, d)
		below, above := s.beside("/below"), s.beside("/above")
		below.from, _ = s.open("/s4")
		below.mustMigrate(below.options())
		queues := migration.Queues{Nodes: map[migration.QueueKind][]string{migration.Ingest: {"/s4/ingest"}}}
		src := value(migrate.OpenSource(t.Context(), &s.w.Reader, queues, legacy.Options{}))(s)
		s.must(errorOf(migrate.Migrate(t.Context(), src, above.w, above.options())))
		above.release()
		isNew := migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerNew}}
		if res, err := below.tryRelease(isNew); !errors.Is(err, migrate.ErrUndecided) || res.Absent != 0 || len(res.Undecided) != 3 || res.Undecided[0].Question != migration.QuestionTaken {
			t.Errorf("%v, %+v", err, res)
		}
		var others []string
		s.must(errorOf(migrate.Complete(t.Context(), above.w, migrate.CompleteOptions{Confirm: func(out *migrate.CompleteResult) error { others = out.Others; return nil }})))
		if !slices.Equal(others, []string{"/below"}) {
			t.Errorf("others: %v", others)
		}
	})
}

// releasedThroughChroot returns a server, and the target /new on it, to which a queue of two records was migrated through the chroot /s4, and released.
func releasedThroughChroot(t *testing.T) (s, a *site) {
	tree := znode.NewTree()
	for _, path := range []string{"/s4", "/new"} {
		put(t, tree, path, []byte{})
	}
	for n := range queueTree(t, pendings(t, 2, 2)).All("/") {
		if n.Path != "/" {
			put(t, tree, "/s4"+n.Path, n.Data)
		}
	}
	tree.SettleStats(1)
	s = serve(t, tree, newqueue.Design)
	a = s.beside("/new")
	a.from, _ = s.open("/s4")
	a.mustMigrate(a.options())
	a.release()
	return s, a
}

// A run and the one after it took their records through different chroots. The older one is rolled back through its own.
func TestRollbackOfARunThroughAnotherChroot(t *testing.T) {
	s, a := releasedThroughChroot(t)
	s.remove("/new/jobs/jid0000000001/status")
	a.mustRollback(migrate.RollbackOptions{})
	queues := migration.Queues{Nodes: map[migration.QueueKind][]string{migration.Ingest: {"/s4/ingest"}}}
	src := value(migrate.OpenSource(t.Context(), &s.w.Reader, queues, legacy.Options{}))(s)
	s.must(errorOf(migrate.Migrate(t.Context(), src, a.w, a.options())))
	a.mustRollback(migrate.RollbackOptions{})
	opt := migrate.RollbackOptions{Force: true, Decisions: migrate.Decisions{Save: s.save}}
	if undo, err := migrate.Rollback(t.Context(), a.w, opt); err != nil || undo.GivesBack != 1 || !s.has("/s4"+ingest(1)) {
		t.Errorf("%v, %+v", err, undo)
	}
	if held := a.holdsNow(); held != "" { // the last job that stayed is gone, so the holds of the other run are, too
		t.Errorf("held: %s", held)
	}
}

// A run has a job that stayed, and a later one through another chroot was rolled back whole: the first one's queue decides when the job can run.
func TestOriginOfTheJobsThatStay(t *testing.T) {
	s, a := releasedThroughChroot(t)
	s.set("/new/jobs/jid0000000001/space_needed", []byte("7"))
	a.mustRollback(migrate.RollbackOptions{})
	s.ensure("/other", "/other/ingest")
	s.create("/other"+ingest(1), record(t, legacy.Pending, job("other", "7")))
	a.from, _ = s.open("/other")
	a.mustMigrate(a.options())
	a.mustRollback(migrate.RollbackOptions{})
	s.remove("/other")
	if l := a.status().Legacy; len(l) == 0 || l[0].Records != 1 {
		t.Errorf("status: %+v", l)
	}
	if res, err := migrate.Release(t.Context(), a.w, migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrAtWork) || len(res.AtWork) != 1 || res.AtWork[0].Path != ingest(2) {
		t.Errorf("release: %v, %+v", err, res)
	}
}

// A record was requeued between the migrations of two targets, so they know it by other bytes, and by one key.
func TestTakenAfterARequeue(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := pendings(t, 2, 2)
		records[ingest(2)] = record(t, legacy.Failed, job("0", "2"))
		records[accessRecord] = record(t, legacy.Failed, token("x"))
		s := serve(t, queueTree(t, records), d)
		a, b := s.beside("/a"), s.beside("/b")
		a.mustMigrate(a.options())
		s.set(ingest(2), record(t, legacy.Pending, job("0", "2")))
		s.set(accessRecord, record(t, legacy.Pending, token("x")))
		b.mustMigrate(b.options())
		b.release()
		res, err := a.tryRelease(migrate.ReleaseOptions{Decisions: answersNew})
		if !errors.Is(err, migrate.ErrUndecided) || len(res.Undecided) != 3 || res.Absent != 0 {
			t.Fatalf("%v, %+v", err, res)
		}
		for _, u := range res.Undecided {
			if u.Question != migration.QuestionTaken {
				t.Errorf("%+v", u)
			}
		}
	})
}

// Another target keeps a record's bytes, and nobody may read them: then nobody knows who has the record.
func TestTakenBytesThatAreHidden(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
		a, b := s.beside("/a"), s.beside("/b")
		a.mustMigrate(a.options())
		b.mustMigrate(b.options())
		b.release()
		hidden := b.kept()[0]
		s.setACL(hidden, zk.DigestACL(zk.PermAll, "ingest", "secret"))
		_, err := a.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerNew}})
		if err == nil || !strings.HasPrefix(err.Error(), hidden+" can't be read: ") || !strings.HasSuffix(err.Error(), "a record that is not in the legacy queue may be there; give credentials that can read it") {
			t.Errorf("%v", err)
		}
	})
}

// A backup of a target is restored that is older than its newest run. What that run has handed over is the target's own, and not that of another one. A record
// that only that run had is in neither queue, and verify says where its bytes are.
func TestRestoredBackupThatLacksARun(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		a := s.beside("/a")
		a.mustMigrate(a.options())
		backup := s.tree()
		a.mustRollback(migrate.RollbackOptions{})
		late := "/ingest/mrtQ-01000000000099"
		s.create(late, record(t, legacy.Pending, job("late", "99")))
		a.mustMigrate(a.options())
		a.release()
		kept := a.kept()
		s.restore(backup, "/a")
		res, err := a.tryRelease(migrate.ReleaseOptions{Restored: true})
		if err != nil || res.Absent != 3 || len(res.Undecided) > 0 {
			t.Errorf("release: %v, %+v", err, res)
		}
		v := a.verify()
		i := slices.IndexFunc(v.Differences, func(d migration.Difference) bool { return d.Kind == "lost-record" })
		if len(v.Differences) != 1 || i < 0 || !slices.Contains(kept, v.Differences[i].Path) || string(s.data(v.Differences[i].Path)) != string(record(t, legacy.Pending, job("late", "99"))) {
			t.Errorf("verify: %v", v.Differences)
		}
		s.create(late, s.data(v.Differences[i].Path)) // somebody submits it again
		s.remove(v.Differences[i].Path)
		a.mustVerify()
	})
}

// Such a record is not lost any more if somebody has submitted it again since, in whatever words and under whatever name. An older record with its
// key, or one that was marked as deleted, does not have its work.
func TestLostAndSubmittedAgain(t *testing.T) {
	const lost, again = "/ingest/mrtQ-05000000000099", "/ingest/mrtQ-05000000000100"
	for name, c := range map[string]struct {
		older, since []byte
		names        bool
	}{
		"not again":              {names: true},
		"as it was":              {since: record(t, legacy.Pending, job("late", "99"))},
		"in other words":         {since: record(t, legacy.Held, job("late", "99"))},
		"marked as deleted":      {since: record(t, legacy.Deleted, job("late", "99")), names: true},
		"requeued before":        {older: record(t, legacy.Deleted, job("late", "99")), names: true},
		"requeued and submitted": {older: record(t, legacy.Deleted, job("late", "99")), since: record(t, legacy.Pending, job("late", "99"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := pendings(t, 1, 1)
			if c.older != nil {
				records["/ingest/mrtQ-05000000000098"] = c.older
			}
			s := serve(t, queueTree(t, records), newqueue.Design)
			a := s.beside("/a")
			opt := a.options()
			opt.Choices.Deleted, opt.Restored = migration.Skip, true
			a.mustMigrate(opt)
			a.completes()
			backup := s.tree()
			s.create(lost, record(t, legacy.Pending, job("late", "99")))
			a.mustMigrate(opt)
			a.release()
			s.restore(backup, "/a")
			if c.since != nil {
				s.create(again, c.since)
			}
			names := func() bool { return a.verify().Count(migration.DifferenceLostRecord) > 0 }
			if names() != c.names {
				t.Errorf("it is named: %t", names())
			}
			if c.since == nil || c.names {
				return
			}
			if a.mustMigrate(opt); names() {
				t.Error("it is named after it was migrated again")
			}
		})
	}
}
