package migrate_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func (s *site) batchOf(id string) string { return string(s.data(newqueue.BatchUUIDPath(id))) }

func (s *site) own(bid string) string {
	var b strings.Builder
	tree := s.tree()
	for n := range tree.All("/batches/" + bid) {
		if strings.Count(n.Path, "/") < 5 && strings.Count(strings.TrimPrefix(n.Path, "/batches/"), "/") < 3 {
			fmt.Fprintf(&b, "%s = %q version %d\n", n.Path, n.Data, n.Stat.Version)
		}
	}
	return b.String()
}

// A later run adds jobs to a batch, and folders that it needs. Nothing else of the batch is
// ever changed: what the records say otherwise is a warning.
func TestExistingBatchStaysAsItIs(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		first := job("B", "1")
		first["notification"] = "one@example.org"
		s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, first)}), d)
		s.mustMigrate(s.options())
		bid := s.batchOf("bid-B")
		before := s.own(bid)
		for i, c := range []struct {
			status legacy.Status
			change string
			value  any
		}{
			{legacy.Pending, "", nil},
			{legacy.Failed, "title", "another"}, // of one object, not of the batch
			{legacy.Completed, "submitter", "Somebody"},
			{legacy.Held, "type", "manifest"},
			{legacy.Pending, "profile", "other_content"},
			{legacy.Pending, "notification", "two@example.org"},
			{legacy.Pending, "update", true},
		} {
			payload := job("B", fmt.Sprint(10+i))
			payload["notification"] = "one@example.org"
			if c.change != "" {
				payload[c.change] = c.value
			}
			// It would come first in the old queue's order.
			path := fmt.Sprintf("/ingest/mrtQ-0100%010d", 10+i)
			s.completes()
			s.create(path, record(t, c.status, payload))
			s.mustMigrate(s.options())
			s.mustVerify()
		}
		after := s.own(bid)
		for _, folder := range []string{"batch-failed", "batch-completed"} {
			after = strings.ReplaceAll(after, fmt.Sprintf("/batches/%s/states/%s = \"\" version 0\n", bid, folder), "")
		}
		if after != before {
			t.Errorf("the batch was\n%sand is now\n%s", before, after)
		}
		if runs := s.status().Runs; len(runs) != 8 {
			t.Errorf("%d runs", len(runs))
		}
	})
}

// A batch that is not open takes no more jobs: the plan leaves them out, and follow moves them. When it was cleaned
// up, its name can be used again. A name that others use is refused.
func TestBatchThatIsNotOpen(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, c := range []struct {
			name    string
			change  func(s *site, bid string)
			problem string
			says    string
		}{
			{"open", func(*site, string) {}, "", ""},
			{"completed", func(s *site, bid string) {
				s.set("/batches/"+bid+"/status", statusOf(t, d, newqueue.BatchCompleted))
			}, "", "bid-0-2"},
			{"failed", func(s *site, bid string) {
				s.set("/batches/"+bid+"/status", statusOf(t, d, newqueue.BatchFailed))
			}, "", "bid-0-2"},
			{"reporting", func(s *site, bid string) {
				s.set("/batches/"+bid+"/status", statusOf(t, d, newqueue.BatchReporting))
			}, "", "bid-0-2"},
			{"unreadable", func(s *site, bid string) { s.set("/batches/"+bid+"/status", []byte("by hand")) }, "batch-finished", ""},
			{"cleaned up", func(s *site, bid string) { s.remove("/batches/"+bid, "/batch-uuids/bid-0") }, "", ""},
			{"half cleaned up", func(s *site, bid string) { s.remove("/batches/" + bid) }, "batch-exists", "bid-0"},
			{"another batch has its name", func(s *site, bid string) {
				s.remove("/batches/"+bid, "/batch-uuids/bid-0")
				s.must(errorOf(s.queue().CreateBatch(t.Context(), newqueue.Submission{BatchID: "bid-0"})))
			}, "batch-exists", "bid-0"},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := serve(t, queueTree(t, pendings(t, 1, 1)), d)
				s.mustMigrate(s.options())
				s.completes()
				bid := s.batchOf("bid-0")
				s.dropJob(1) // it is worked off and cleaned up
				c.change(s, bid)
				s.create(ingest(2), record(t, legacy.Pending, job("0", "2")))
				res, err := s.migrate(s.options())
				if c.problem != "" {
					p := problem(res.Plan, migration.ProblemKind(c.problem))
					if !errors.Is(err, migrate.ErrBlocked) || p == nil || !strings.Contains(p.Message, c.says) || p.Next == "" {
						t.Errorf("%v: %v", err, res.Plan.Problems)
					}
					return
				}
				s.must(err)
				if c.says != "" {
					s.release()
					s.follow()
					if s.tree().Get("/batch-uuids/"+c.says) == nil {
						t.Errorf("no %s", c.says)
					}
				}
				if job := s.jobOf(ingest(2)); (string(s.data(job+"/bid")) == bid) != (c.name == "open") {
					t.Errorf("%s is in %s", job, s.data(job+"/bid"))
				}
				s.mustVerify()
			})
		}
	})
}

func statusOf(t *testing.T, d newqueue.Dialect, state newqueue.BatchState) []byte {
	t.Helper()
	data, err := newqueue.ToObject(d, newqueue.BatchStatus{State: state, LastModified: moment()}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The folder batch-processing of a batch without unfinished jobs comes last. A run that was
// interrupted closes the batches that it has begun, whatever has become of their records
// meanwhile. The report of a failed batch names its own jobs.
func TestInterruptedRunClosesItsBatches(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, c := range []struct {
			name   string
			change func(s *site) // between the interruption and the end
			record int           // that it changes
			// What verify says in the end, if that record was migrated before, and if not.
			migrated, not string
		}{
			{"nothing", func(*site) {}, 22, "ok", "ok"},
			{"the last record of a batch is gone", func(s *site) { s.remove(ingest(22)) }, 22, "vanished", "ok"},
			{"the last record of a done batch is gone", func(s *site) { s.remove(ingest(12)) }, 12, "ok", "ok"},
			{"the first record of a batch is gone", func(s *site) { s.remove(ingest(21)) }, 21, "vanished", "ok"},
			{"the last record has another status", func(s *site) { s.set(ingest(22), record(t, legacy.Completed, job("failed", "22"))) }, 22, "at legacy", "ok"},
			{"the first record has another status", func(s *site) { s.set(ingest(21), record(t, legacy.Completed, job("failed", "21"))) }, 21, "at legacy", "ok"},
			{"one more record", func(s *site) { s.create(ingest(23), record(t, legacy.Failed, job("failed", "23"))) }, 22, "blocked", "ok"},
			{"a batch is deleted with its jobs", func(s *site) {
				for _, n := range []int{11, 12} {
					if job := s.jobOf(ingest(n)); job != "" {
						s.remove(job, "/jobs/states/completed/05-"+znode.Name(job))
					}
				}
				s.remove("/batches/"+s.batchOf("bid-done"), "/batch-uuids/bid-done", ingest(12))
			}, 11, "acted-on", ""},
		} {
			t.Run(c.name, func(t *testing.T) {
				for after := 1; after <= 4; after++ {
					records := map[string][]byte{
						ingest(11): record(t, legacy.Completed, job("done", "11")), ingest(12): record(t, legacy.Completed, job("done", "12")),
						ingest(21): record(t, legacy.Failed, job("failed", "21")), ingest(22): record(t, legacy.Failed, job("failed", "22")),
						ingest(99): record(t, legacy.Pending, job("open", "99")),
					}
					s := serve(t, queueTree(t, records), d)
					s.interrupted(after)
					want := c.not
					if s.jobOf(ingest(c.record)) != "" {
						want = c.migrated
					}
					c.change(s)
					_, err := s.migrate(s.options())
					if errors.Is(err, migrate.ErrBlocked) && want == "blocked" {
						continue // the batch is closed: it takes no more jobs
					}
					s.must(err)
					v := s.verify()
					got := kinds(v)
					if v.OK() && v.Records.AtLegacy > 0 {
						got = "at legacy"
					}
					if got != want {
						t.Errorf("after %d: verify says %s, expected %s: %v", after, got, want, v.Differences)
					}
					for _, uuid := range s.tree().Children("/batch-uuids") {
						bid := s.batchOf(uuid)
						if !s.has(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)) {
							t.Errorf("after %d: %s is not closed", after, uuid)
						}
					}
				}
			})
		}
	})
}

// If a batchID can't be a znode's name, a plan in dialect mrt-zk has a problem, because no
// service would find the batch. In dialect design it has a warning. Every other batchID is
// a name as it is, and the batch is found by it.
func TestBatchIDAsAName(t *testing.T) {
	for _, c := range []struct {
		id  string
		bad bool
	}{
		{"Überführung 漢字", false},
		{"a/b", true},
		{"cut \xed\xa0\xbd", true},
	} {
		each(t, func(t *testing.T, d newqueue.Dialect) {
			payload := job("", "one")
			payload["batchID"] = c.id
			s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, payload), ingest(2): record(t, legacy.Pending, payload)}), d)
			opt := s.options()
			opt.Choices.Unserviceable = "block"
			p := s.plan(opt.PlanOptions)
			if warned := strings.Contains(fmt.Sprint(findings(p, migration.EffectWarning)), "can't be a znode's name"); warned != (c.bad && d == newqueue.Design) {
				t.Errorf("%q: findings: %v", c.id, p.Findings)
			}
			if blocked := strings.Contains(fmt.Sprint(p.Problems), "no znode can have this name"); blocked != (c.bad && d == newqueue.MrtZK) {
				t.Errorf("%q: problems: %v", c.id, p.Problems)
			}
			s.mustMigrate(s.options())
			s.mustVerify()
			if names := s.tree().Children("/batch-uuids"); len(names) != 1 || !c.bad && names[0] != c.id {
				t.Errorf("%q is found by %q", c.id, names)
			}
			s.completes()
			payload["jobID"] = "jid-late"
			s.create(ingest(3), record(t, legacy.Pending, payload))
			s.mustMigrate(s.options())
			s.mustVerify()
			if names := s.tree().Children("/batches"); len(names) != 1 {
				t.Errorf("%q: a later record's batch is another: %q", c.id, names)
			}
			s.mustRollback(migrate.RollbackOptions{})
		})
	}
}

// Two batchIDs that have the same name in the new queue are named, and nothing is written.
func TestBatchIDsOfOneName(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Pending, job("a/b", "1")),
			ingest(2): record(t, legacy.Pending, job("a%2Fb", "2")),
		}), d)
		p := problem(s.plan(s.options().PlanOptions), "batch-exists")
		if p == nil || p.Path != ingest(2) || p.Message != `batchID "bid-a%2Fb" has the same name in the new queue, /batch-uuids/bid-a%2Fb, as batchID "bid-a/b"` {
			t.Errorf("%+v", p)
		}
	})
}

// In dialect mrt-zk, a run's own batches have names that the services accept (R06). No legacy
// batch may have such a name.
func TestNamesOfARunsOwnBatches(t *testing.T) {
	for d, want := range map[newqueue.Dialect][]string{
		newqueue.Design: {"run0000000000-inventory", "run0000000000-unbatched"},
		newqueue.MrtZK:  {"bid-run0000000000-inventory", "bid-run0000000000-unbatched"},
	} {
		alone := job("", "1")
		delete(alone, "batchID")
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1):                               record(t, legacy.Pending, alone),
			"/mrt.inventory.full/mrtQ-000000000001": record(t, legacy.Completed, legacy.Payload{"manifestURL": "http://store/m/ark", "batchID": "bid-foreign"}),
		}), d)
		s.mustMigrate(s.options())
		s.mustVerify()
		if names := s.tree().Children("/batch-uuids"); !slices.Equal(names, want) {
			t.Errorf("%s: batches are found by %q, expected %q", d, names, want)
		}
		for _, name := range want {
			payload := job("", "2")
			payload["batchID"] = name
			taken := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, payload)}), d)
			if p := taken.plan(taken.options().PlanOptions); problem(p, "batch-exists") == nil {
				t.Errorf("%s: a legacy batch may be called %s: %v", d, name, p.Problems)
			}
		}
		// A later run has batches of its own.
		s.completes()
		s.create(ingest(2), record(t, legacy.Pending, alone))
		s.mustMigrate(s.options())
		s.mustVerify()
		if n := len(s.tree().Children("/batches")); n != 3 {
			t.Errorf("%s: %d batches", d, n)
		}
	}
}

// Records of one batch that disagree about its submission are named in the plan, two for
// each property. The first one's value goes into the submission.
func TestRecordsOfABatchDisagree(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		a, b := job("B", "1"), job("B", "2")
		b["submitter"], b["profile"] = "Somebody", "other_content"
		s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, a), ingest(2): record(t, legacy.Pending, b), ingest(3): record(t, legacy.Pending, b)}), d)
		p := s.plan(s.options().PlanOptions)
		for _, property := range []string{"submitter", "profile"} {
			n := 0
			for _, w := range findings(p, migration.EffectWarning) {
				if strings.Contains(w, "batch bid-B differ in "+property+": ") && strings.Contains(w, ingest(1)) && strings.Contains(w, ingest(2)) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s is named %d times: %v", property, n, p.Findings)
			}
		}
		s.mustMigrate(s.options())
		s.mustVerify()
		submission, err := newqueue.Parse[newqueue.Submission](d, s.data("/batches/"+s.batchOf("bid-B")+"/submission"))
		if err != nil || submission.Submitter != "Library" || submission.ProfileName != "merritt_content" || submission.ErcWhat != "" {
			t.Errorf("%+v, %v", submission, err)
		}
	})
}

// An administrator gives a migrated record another name that has no jobID. The plan of the rest says that it might run twice.
func TestRenamedRecordMightRunTwice(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		keyless := job("batch", "2")
		delete(keyless, "jobID")
		renamed := record(t, legacy.Pending, keyless)
		s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, job("batch", "1")), ingest(2): renamed}), d)
		s.mustMigrate(s.options())
		if twice := findings(s.plan(s.options().PlanOptions), migration.EffectRunsTwice); len(twice) > 0 {
			t.Errorf("nothing was renamed: %v", twice)
		}
		s.remove(ingest(2))
		s.create(ingest(9), record(t, legacy.Held, keyless)) // with the same bytes it would be known
		want := ingest(9) + ": the legacy queue no longer has 1 of the migrated records, and nothing shows whether this is one of them under another name: it might run twice"
		if twice := findings(s.plan(s.options().PlanOptions), migration.EffectRunsTwice); !slices.Equal(twice, []string{want}) {
			t.Errorf("got %v", twice)
		}
	})
}

// A run that is finished takes the records that it had when it began. What comes later is left out, whatever its batch, and follow moves it.
func TestLateRecordOfAnUnfinishedRun(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Completed, job("done", "1")),
			ingest(2): record(t, legacy.Pending, job("open", "2")),
			ingest(3): record(t, legacy.Pending, job("open", "3")),
		}), d)
		s.interrupted(2)
		s.create(ingest(7), []byte("garbage"))
		s.create(ingest(8), record(t, legacy.Pending, job("done", "8")))
		s.create(ingest(9), record(t, legacy.Pending, job("open", "9")))
		s.begin()
		opt := s.options()
		opt.Choices.Undecodable = migration.Block // it is not asked about either
		p := s.plan(opt.PlanOptions)
		var want []string
		for _, n := range []int{7, 8, 9} {
			want = append(want, ingest(n)+": it came since run0000000000 began: after the release, follow moves it")
		}
		if late := findings(p, migration.EffectWarning); !slices.Equal(late, want) || problem(p, migration.ProblemUndecodable) != nil {
			t.Errorf("findings %v, problems %v", late, p.Problems)
		}
		s.mustMigrate(s.options())
		if got, want := accounted(s.verify()), "total 6: migrated 3, quarantined 1, not migrated 2"; got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
		s.release()
		if res := s.follow(); res.Moved != 2 || len(res.Staying) != 1 {
			t.Errorf("%+v", res)
		}
		if names := s.tree().Children("/batch-uuids"); !slices.Equal(names, []string{"bid-done", "bid-done-2", "bid-open"}) {
			t.Errorf("batches %q", names)
		}
		s.mustVerify()
	})
}

// A service, or an administrator, removes a batch of the unfinished run with its jobs. The
// batch's other records get a new batch, so that the run can be finished.
func TestBatchOfTheUnfinishedRunIsRemoved(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{
			ingest(1): record(t, legacy.Pending, job("one", "1")),
			ingest(2): record(t, legacy.Pending, job("one", "2")),
			ingest(3): record(t, legacy.Pending, job("one", "3")),
		}), d)
		s.interrupted(2)
		bid := s.batchOf("bid-one")
		for _, id := range s.jobs() {
			s.remove("/jobs/states/pending/05-"+id, newqueue.JobPath(id))
		}
		s.remove(newqueue.BatchPath(bid), newqueue.BatchUUIDPath("bid-one"))
		s.begin()
		s.mustMigrate(s.options())
		if now := s.batchOf("bid-one"); now == bid || len(s.jobs()) != 1 {
			t.Errorf("batch %s with jobs %v", now, s.jobs())
		}
		if got, want := accounted(s.verify()), "total 3: migrated 1, undecided 2"; got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
		undo, err := s.rollback(migrate.RollbackOptions{})
		if !errors.Is(err, migrate.ErrUndecided) || len(undo.Undecided) != 2 {
			t.Fatalf("%v, %+v", err, undo)
		}
		s.mustRollback(migrate.RollbackOptions{Decisions: answerAll(undo.Undecided, migration.AnswerLegacy)})
		if s.has(newqueue.BatchUUIDPath("bid-one")) || accounted(s.mustVerify()) != "total 3: not migrated 3" {
			t.Errorf("%s", accounted(s.verify()))
		}
	})
}

// A record that the unfinished run has quarantined is repaired, and its batch is finished. Nobody
// works before the run is released, so the plan says to roll it back.
func TestRepairedRecordOfAFinishedBatch(t *testing.T) {
	s := serve(t, queueTree(t, map[string][]byte{
		ingest(1): record(t, legacy.Completed, job("done", "1")),
		ingest(2): []byte("x"),
		ingest(3): record(t, legacy.Pending, job("open", "3")),
		ingest(4): record(t, legacy.Pending, job("open", "4")),
	}), newqueue.MrtZK)
	s.interrupted(2)
	s.set(ingest(2), record(t, legacy.Pending, job("done", "2")))
	s.begin()
	const next = "roll back run0000000000, and migrate again: nobody cleans the batch up while the run is unfinished"
	if p := problem(s.plan(s.options().PlanOptions), "batch-finished"); p == nil || p.Next != next {
		t.Errorf("%+v", p)
	}
	s.mustRollback(migrate.RollbackOptions{})
	s.mustMigrate(s.options())
	s.mustVerify()
}
