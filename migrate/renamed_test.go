package migrate_test

import (
	"errors"
	"fmt"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// answersNew is what an operator says who knows of one record that somebody deleted by mistake.
var answersNew = migrate.Decisions{Vanished: migration.AnswerNew}

func many(t *testing.T, d newqueue.Dialect) *site {
	return serve(t, queueTree(t, pendings(t, 9, 9)), d)
}

// A record leaves the legacy queue while a release or a rollback runs. The answer about vanished records is not about that one.
func TestLeavesMeanwhile(t *testing.T) {
	leaves := map[string]func(*site){
		"renamed":               func(s *site) { s.rename(ingest(2), ingest(900)) },
		"done, and cleaned up":  func(s *site) { s.set(ingest(2), record(s.t, legacy.Completed, job("0", "2"))); s.remove(ingest(2)) },
		"taken, and cleaned up": func(s *site) { s.set(ingest(2), record(s.t, legacy.Consumed, job("0", "2"))); s.remove(ingest(2)) },
	}
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for name, leave := range leaves {
			for nth := 1; nth <= 3; nth++ {
				t.Run(fmt.Sprintf("release: %s, before transaction %d", name, nth), func(t *testing.T) {
					s := many(t, d)
					s.mustMigrate(s.options())
					s.remove(ingest(9)) // by mistake; a release looks at it first
					s.before(func(n int) {
						if n == nth {
							leave(s)
						}
					})
					res, err := s.tryRelease(migrate.ReleaseOptions{Decisions: answersNew})
					if name == "renamed" {
						s.must(err)
					} else if !errors.Is(err, migrate.ErrUndecided) {
						t.Errorf("%v, %+v", err, res)
					}
					if res.Absent > 1 {
						t.Errorf("a record that nobody has decided about was marked: %+v", res)
					}
				})
			}
		}
		for name, again := range map[string]bool{"its name is taken": false, "its queue was made again before, and its name is taken": true} {
			t.Run("release: "+name, func(t *testing.T) {
				s := many(t, d)
				s.mustMigrate(s.options())
				if again {
					s.queueAgain(s.data(subject))
				}
				s.remove(ingest(9))
				waiting := migrate.WithProgress(t.Context(), func(p migrate.Phase, _, _ int) { // when it has read the record, nothing shows it another one
					if p == migrate.PhaseAwaitingTurn {
						s.remove(subject)
						another(s)
					}
				})
				if res, err := migrate.Release(waiting, s.w, migrate.ReleaseOptions{Decisions: answersNew}); !errors.Is(err, migrate.ErrUndecided) || res.Absent > 1 {
					t.Errorf("%v, %+v", err, res)
				}
			})
		}
		t.Run("rollback: renamed", func(t *testing.T) {
			s := many(t, d)
			s.mustMigrate(s.options())
			s.remove(ingest(9))
			s.before(func(n int) {
				if n == 2 {
					s.rename(ingest(2), ingest(900))
				}
			})
			undo, err := s.rollback(migrate.RollbackOptions{Decisions: answersNew})
			if err != nil || len(undo.Keeps) != 1 || undo.Keeps[0].Record != ingest(9) {
				t.Errorf("%v, %+v", err, undo)
			}
		})
		t.Run("another target releases", func(t *testing.T) {
			s := many(t, d)
			a, b := s.beside("/a"), s.beside("/b")
			a.mustMigrate(a.options())
			b.mustMigrate(b.options())
			s.remove(ingest(9))
			a.before(func(n int) {
				if n == 1 {
					b.must(errorOf(b.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{Vanished: migration.AnswerLegacy}})))
				}
			})
			res, err := a.tryRelease(migrate.ReleaseOptions{Decisions: answersNew})
			if !errors.Is(err, migrate.ErrUndecided) || res.Absent > 1 || len(res.Undecided) != 8 || res.Undecided[0].Question != migration.QuestionTaken {
				t.Errorf("%v, %+v", err, res)
			}
		})
	})
}

// What a renamed record is known by: its bytes, or else its key, if no other record can be meant.
func TestRenames(t *testing.T) {
	again := job("0", "2")
	again["title"] = "Another title"
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for name, c := range map[string]struct {
			records  map[string][]byte
			happens  func(*site)
			outcome  string // of a release
			question migration.Question
		}{
			"its job was done and cleaned up before": {pendings(t, 2, 2), func(s *site) {
				lifeEvents["a hold is lifted by hand"](s)
				lifeEvents["an administrator deletes a job"](s) // as the cleanup does
				s.rename(ingest(2), ingest(9))
			}, "asks", migration.QuestionBoth},
			"two absent records have its key, and one its bytes": {map[string][]byte{ingest(1): record(t, legacy.Pending, job("0", "2")), ingest(2): record(t, legacy.Pending, again)}, func(s *site) {
				s.remove(ingest(2))
				s.rename(ingest(1), ingest(9))
			}, "asks", migration.QuestionVanished},
			"two absent records have its key": {map[string][]byte{ingest(1): record(t, legacy.Pending, job("0", "2")), ingest(2): record(t, legacy.Pending, again)}, func(s *site) {
				s.create(ingest(9), record(s.t, legacy.Held, again))
				s.remove(ingest(1), ingest(2))
			}, "asks", migration.QuestionVanished},
			"it has the token that is the jobID of another kind": {map[string][]byte{ingest(1): record(t, legacy.Pending, legacy.Payload{"jobID": "xyz", "profile": "p"})}, func(s *site) {
				s.remove(ingest(1))
				s.create("/accessSmall.1/mrtQ-000000000009", record(s.t, legacy.Pending, token("xyz")))
			}, "asks", migration.QuestionVanished},
			"it is a request": {map[string][]byte{accessRecord: record(t, legacy.Pending, token("xyz"))}, func(s *site) {
				s.create("/accessSmall.1/mrtQ-000000000009", record(s.t, legacy.Held, token("xyz")))
				s.remove(accessRecord)
			}, "withdraws", ""},
		} {
			t.Run(name, func(t *testing.T) {
				s := serve(t, queueTree(t, c.records), d)
				s.mustMigrate(s.options())
				c.happens(s)
				got, err := releaseOutcome(s, migrate.ReleaseOptions{WorkersStopped: 100})
				if got != c.outcome || got == "asks" && (len(s.undecided) == 0 || s.undecided[0].Question != c.question) {
					t.Errorf("%s, %v, %v", got, err, s.undecided)
				}
			})
		}
	})
}

// A record was handed over after the backup that was restored. A record with its key that comes later is another one, and the job that was restored has the
// work of the first.
func TestRestoredAndSubmittedAgain(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
		a := s.beside("/a")
		a.mustMigrate(a.options())
		backup := s.tree()
		a.release()
		s.restore(backup, "/a")
		s.create(ingest(9), record(t, legacy.Held, job("0", "2")))
		res, err := a.tryRelease(migrate.ReleaseOptions{Restored: true})
		if err != nil || res.Absent != 2 || res.Withdrawn != 0 || len(a.kept()) != 2 {
			t.Errorf("%v, %+v, kept %v", err, res, a.kept())
		}
	})
}
