package migrate_test

import (
	"errors"
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// A target is restored from a backup that does not know that a record was handed over, and another record has its name since: the kept bytes
// are the only copy of the first one's, and its job has the work.
func TestAnotherAfterARestore(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
		s.mustMigrate(s.options())
		backup := s.tree()
		s.release()
		s.create(ingest(1), record(t, legacy.Pending, job("late", "99")))
		s.restoreTarget(backup)
		if res, err := s.tryRelease(migrate.ReleaseOptions{Restored: true}); err != nil || res.Absent != 2 || res.Withdrawn != 0 {
			t.Errorf("%v, %+v", err, res)
		}
		if s.mustRollback(migrate.RollbackOptions{}); s.has(ingest(2)) == false {
			t.Error("the record whose name nobody has was not given back")
		}
	})
}

// What another target has taken stays a question, if the record is submitted again under another name: both jobs would run.
func TestTakenAndSubmittedAgain(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := pendings(t, 1, 1)
		s := serve(t, queueTree(t, records), d)
		one, other := s.beside("/one"), s.beside("/other")
		one.mustMigrate(one.options())
		other.mustMigrate(other.options())
		one.fails()
		other.release()
		s.create(ingest(77), records[ingest(1)])
		res, err := one.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{RecordIs: map[string]migration.Answer{ingest(1): migration.AnswerNew}}})
		if len(res.Undecided) != 1 || res.Undecided[0].Question != migration.QuestionTaken || res.Undecided[0].Why == "" {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

// An inventory record is known by its manifest: another one that has got its name is not it.
func TestAnotherInventoryRecord(t *testing.T) {
	manifest := func(id string) []byte {
		return record(t, legacy.Pending, legacy.Payload{"manifestURL": "http://store.example.org/manifest/1/ark%3A%2F99999%2F" + id})
	}
	s := serve(t, queueTree(t, map[string][]byte{inventoryRecord: manifest("8")}), newqueue.Design)
	s.mustMigrate(s.options())
	s.remove(inventoryRecord)
	s.create(inventoryRecord, manifest("9"))
	res, err := s.tryRelease(migrate.ReleaseOptions{})
	if len(res.Undecided) != 1 || res.Undecided[0].Question != migration.QuestionVanished || res.Withdrawn != 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

// A withdrawal saves bytes that were kept, if the record has others now.
func TestWithdrawalSavesKeptBytes(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 2, 2)), newqueue.Design)
	s.mustMigrate(s.options())
	backup, was := s.tree(), s.data(ingest(1))
	s.release()
	s.create(ingest(1), record(t, legacy.Held, job("0", "1")))
	s.restoreTarget(backup)
	var saved []znode.Node
	opt := migrate.ReleaseOptions{Restored: true}
	opt.Save = func(nodes []znode.Node) error { saved = append(saved, nodes...); return nil }
	if res, err := migrate.Release(t.Context(), s.w, opt); err != nil || res.Withdrawn != 1 {
		t.Fatalf("%v, %+v", err, res)
	}
	if !slices.ContainsFunc(saved, func(n znode.Node) bool { return string(n.Data) == string(was) }) {
		t.Errorf("%v", saved)
	}
}

// A withdrawal saves a job whose record was overwritten with what has no key or can't be decoded: nothing else has its work. A record that never
// had a key, or that a legacy worker has finished, has its work still.
func TestWithdrawalSavesJobOfOverwrittenRecord(t *testing.T) {
	const first, withoutKey = `{"batchID":"bid-0","filename":"1.zip"}`, `{"batchID":"bid-0","filename":"2.zip"}`
	text := func(payload string) []byte {
		return append(record(t, legacy.Pending, legacy.Payload{})[:9], payload...)
	}
	for name, c := range map[string]struct {
		was, is []byte
		saves   bool
	}{
		"without a key":        {record(t, legacy.Pending, job("0", "1")), text(withoutKey), true},
		"not decodable":        {record(t, legacy.Pending, job("0", "1")), []byte("oops"), true},
		"never a key, garbage": {text(first), []byte("oops"), true},
		"never a key":          {text(first), text(withoutKey), false},
		"finished":             {record(t, legacy.Pending, job("0", "1")), record(t, legacy.Completed, job("0", "1")), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, queueTree(t, map[string][]byte{ingest(1): c.was}), newqueue.Design)
			s.mustMigrate(s.options())
			job := s.jobOf(ingest(1))
			s.set(ingest(1), c.is)
			if res, err := s.tryRelease(migrate.ReleaseOptions{}); err != nil || res.Withdrawn != 1 {
				t.Fatalf("%v, %+v", err, res)
			}
			if saved := slices.ContainsFunc(s.lost, func(n znode.Node) bool { return n.Path == job }); saved != c.saves {
				t.Errorf("%v", s.lost)
			}
		})
	}
}

// A record gets the name of one that was handed over, follow moves it, and both jobs stand: every command knows both.
func TestTwoRecordsOfOneName(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
		s.mustMigrate(s.options())
		s.release()
		s.create(ingest(1), record(t, legacy.Pending, job("late", "99")))
		s.follow()
		v := s.mustVerify()
		if st := s.status(); v.Records.Migrated != 3 || v.Unrelated != 0 || st.Newest().HandedOver != 3 {
			t.Errorf("verify: %+v, %d of others; status: %+v", v.Records, v.Unrelated, st.Runs)
		}
		if undo := s.mustRollback(migrate.RollbackOptions{}); undo.GivesBack != 2 || len(undo.Keeps) != 1 {
			t.Errorf("%+v", undo)
		}
		if again := value(legacy.Decode(znode.Name(ingest(1)), s.data(ingest(1)), legacy.Options{}))(s); again.Payload["jobID"] != job("late", "99")["jobID"] {
			t.Errorf("%v", again.Payload)
		}
	})
}

// What is found by a job's id, or by that of the work, is the record of that job, also if another record has its name.
func TestFindsEachOfOneName(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.Design)
	s.mustMigrate(s.options())
	s.release()
	s.create(ingest(1), record(t, legacy.Pending, job("late", "99")))
	s.follow()
	for id, want := range map[string]struct{ job, work, standing string }{
		"jid0000000001": {"/jobs/jid0000000001", "jid-1", "handed-over"},
		"jid-1":         {"/jobs/jid0000000001", "jid-1", "handed-over"},
		"jid0000000002": {"/jobs/jid0000000002", "jid-99", "handed-over"},
		"jid-99":        {"/jobs/jid0000000002", "jid-99", "handed-over"},
		ingest(1):       {"/jobs/jid0000000002", "jid-99", "handed-over"},
	} {
		item := value(migrate.Find(t.Context(), &s.w.Reader, id))(s)
		if item.Record == nil || item.Job != want.job || string(item.Standing) != want.standing || item.Record.Legacy.Payload["jobID"] != want.work {
			t.Errorf("%s: %s, %s, %+v", id, item.Job, item.Standing, item.Record)
		}
	}
}

// A record that was handed over is there again, after another one of its name was handed over, too: somebody must decide, and it is not
// migrated again.
func TestThereAgainAfterAnother(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := pendings(t, 1, 1)
		s := serve(t, queueTree(t, records), d)
		s.mustMigrate(s.options())
		s.release()
		s.create(ingest(1), record(t, legacy.Pending, job("late", "99")))
		s.follow()
		s.create(ingest(1), records[ingest(1)])
		if p := s.plan(s.options().PlanOptions); p.Count(migration.ActionCreate) != 0 || p.Count(migration.ActionChanged) != 1 {
			t.Errorf("plan: %+v", p.Records)
		}
		l := s.status().Legacy[0]
		if len(l.Undecided) != 1 || l.Undecided[0].Job != "/jobs/jid0000000001" || len(l.NotMigrated) != 0 {
			t.Errorf("status: %+v", l)
		}
		if v := s.verify(); v.Records.Undecided != 1 || len(v.NotMigrated) != 0 {
			t.Errorf("verify: %+v", v.Records)
		}
		if item := value(migrate.Find(t.Context(), &s.w.Reader, ingest(1)))(s); item.Standing != "again" || item.Job != "/jobs/jid0000000001" {
			t.Errorf("show: %s, %s", item.Standing, item.Job)
		}
	})
}

// One that was handed over is there again under its name, and another that had the name since is not there: an answer that names the record could be
// about either, so it is taken for neither.
func TestAnswerAboutTwoOfOneName(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		records := pendings(t, 1, 1)
		s := serve(t, queueTree(t, records), d)
		s.mustMigrate(s.options())
		s.completes()
		s.create(ingest(1), record(t, legacy.Pending, job("late", "99")))
		s.mustMigrate(s.options())
		s.remove(ingest(1))
		s.create(ingest(1), records[ingest(1)])
		one := migrate.Decisions{RecordIs: map[string]migration.Answer{ingest(1): migration.AnswerLegacy}}
		res, err := s.tryRelease(migrate.ReleaseOptions{Decisions: one})
		if !errors.Is(err, migrate.ErrUndecided) || res.Withdrawn != 0 || len(res.Undecided) != 2 || res.Undecided[0].Why == "" || res.Undecided[1].Why == "" {
			t.Errorf("%v, %+v", err, res)
		}
		one.Vanished = migration.AnswerNew // for the one that is not there
		if res, err = s.tryRelease(migrate.ReleaseOptions{Decisions: one}); err != nil || res.Withdrawn != 1 || res.Absent != 1 || s.has("/jobs/jid0000000001") {
			t.Errorf("%v, %+v", err, res)
		}
	})
}

// Two records of one name must be decided about, and neither is absent: an answer that names the record is taken for neither, and one that names its
// job is about that one.
func TestAnswerThatNamesAJob(t *testing.T) {
	const first, second = "/jobs/jid0000000001", "/jobs/jid0000000002"
	for name, c := range map[string]struct {
		happens func(s *site, data []byte)
		renamed bool
	}{
		"one was handed over and is there again, and the other was renamed and begun": {happens: func(s *site, data []byte) {
			s.remove(newqueue.QueueHoldPath(newqueue.HoldIngest))
			s.set(second+"/space_needed", []byte("7"))
			s.rename(ingest(1), ingest(77))
			s.create(ingest(1), data)
		}, renamed: true},
		"both were handed over, and what has their name has no key": {happens: func(s *site, _ []byte) {
			s.release()
			s.create(ingest(1), []byte("garbage"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := pendings(t, 1, 1)
			s := serve(t, queueTree(t, records), newqueue.Design)
			s.mustMigrate(s.options())
			s.completes()
			s.create(ingest(1), record(t, legacy.Pending, job("late", "99")))
			s.mustMigrate(s.options())
			c.happens(s, records[ingest(1)])
			is := func(answers map[string]migration.Answer) (*migrate.ReleaseResult, error) {
				return s.tryRelease(migrate.ReleaseOptions{Decisions: migrate.Decisions{RecordIs: answers}})
			}
			res, err := is(map[string]migration.Answer{ingest(1): migration.AnswerLegacy})
			if !errors.Is(err, migrate.ErrUndecided) || res.Withdrawn != 0 || len(res.Undecided) != 2 || res.Undecided[0].Why == "" || res.Undecided[1].Why == "" {
				t.Fatalf("%v, %+v", err, res)
			}
			if _, err = is(map[string]migration.Answer{"/jobs/jid0000000099": migration.AnswerNew}); !errors.Is(err, migrate.ErrNotFound) {
				t.Errorf("a job that no run created: %v", err)
			}
			res, err = is(map[string]migration.Answer{first: migration.AnswerLegacy})
			if !errors.Is(err, migrate.ErrUndecided) || res.Withdrawn != 1 || len(res.Undecided) != 1 || res.Undecided[0].Job != second || s.has(first) {
				t.Errorf("%v, %+v", err, res)
			}
			for range 2 { // who gives the command again, does it with the same answers
				if res, err = is(map[string]migration.Answer{first: migration.AnswerLegacy, second: migration.AnswerNew}); err != nil {
					t.Errorf("%v, %+v", err, res)
				}
			}
			if !s.has(second) || s.has(ingest(77)) || s.has(ingest(1)) != c.renamed {
				t.Errorf("%s", s.legacy())
			}
		})
	}
}

// Its queue is made again, and a record is submitted again under another name: it is renamed, and release and rollback take it as such.
func TestSubmittedAgainInAQueueThatWasMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, command := range []string{"release", "rollback"} {
			records := pendings(t, 1, 1)
			s := serve(t, queueTree(t, records), d)
			s.mustMigrate(s.options())
			s.remove("/ingest")
			s.ensure("/ingest")
			s.create(ingest(77), records[ingest(1)])
			if command == "rollback" {
				s.mustRollback(migrate.RollbackOptions{})
			} else if res, err := s.tryRelease(migrate.ReleaseOptions{}); err != nil || res.Withdrawn != 1 {
				t.Errorf("%v, %+v", err, res)
			}
			if len(s.jobs()) != 0 || !s.has(ingest(77)) {
				t.Errorf("%s: %v", command, s.jobs())
			}
		}
	})
}

// A plan of some of the queue nodes knows nothing of the others: a record that is not listed is not gone.
func TestPlanOfFewerQueues(t *testing.T) {
	records := pendings(t, 1, 1)
	records["/ingest2/mrtQ-05000000000001"] = record(t, legacy.Pending, job("b", "7"))
	s := serve(t, queueTree(t, records), newqueue.Design)
	all := migration.DefaultQueues()
	all.Nodes[migration.Ingest] = []string{"/ingest", "/ingest2"}
	src := value(migrate.OpenSource(t.Context(), &s.w.Reader, all, legacy.Options{}))(s)
	s.must(errorOf(migrate.Migrate(t.Context(), src, s.w, s.options())))
	s.release(newqueue.HoldAccessSmall)
	s.create(ingest(9), record(t, legacy.Pending, job("b", "7")))
	p := s.plan(s.options().PlanOptions)
	if p.Count(migration.ActionCreate) != 1 || p.Count(migration.ActionChanged) != 0 {
		t.Errorf("%+v", p.Records)
	}
}

// What is advised can be carried out, and then something else is advised, until nothing is left: a plan of late records is refused while
// a migrated one waits whose queue was made again or whose name is taken, so its release comes first.
func TestAdviceEnds(t *testing.T) {
	puts := func(number int, id string) func(*site) {
		return func(s *site) { s.create(ingest(number), record(s.t, legacy.Pending, job(id, id))) }
	}
	for name, happens := range map[string]func(*site){
		"a late record": puts(9, "9"),
		"it was renamed, and another one has its name": both(renames, another),
		"its queue was made again, it was submitted again under another name, and one comes late": func(s *site) {
			data := s.data(subject)
			s.remove("/ingest")
			s.ensure("/ingest")
			s.create(ingest(77), data)
			puts(78, "78")(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, queueTree(t, map[string][]byte{subject: record(t, legacy.Pending, job("0", "2"))}), newqueue.Design)
			s.mustMigrate(s.options())
			happens(s)
			var done []migrate.NextStep
			for step := s.status().Step; step != ""; step = s.status().Step {
				if v := migrate.VerdictStep(s.verify()); v != step && step != migrate.StepPlan {
					t.Errorf("verify: %s, status: %s", v, step)
				}
				if done = append(done, step); len(done) > 4 {
					t.Fatalf("it does not end: %v", done)
				}
				switch step {
				case migrate.StepRelease:
					s.release()
				case migrate.StepFollow:
					s.follow()
				case migrate.StepPlan:
					s.mustMigrate(s.options())
				default:
					t.Fatalf("%v", done)
				}
			}
		})
	}
}
