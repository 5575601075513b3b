package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func (s *site) follow() *migrate.FollowResult {
	s.t.Helper()
	return value(migrate.Follow(s.t.Context(), s.w, migrate.FollowOptions{Once: true, Every: time.Millisecond, Quiet: time.Millisecond}))(s)
}

// A record that arrives after the release moves: into its batch while that is open, else into one of another name.
func TestFollow(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 3)), d)
		s.mustMigrate(s.options())
		s.release()
		bid := s.batchOf("bid-0")
		s.create(ingest(11), record(t, legacy.Pending, job("0", "11")))
		s.create(ingest(12), record(t, legacy.Pending, job("new", "12")))
		s.create(ingest(13), record(t, legacy.Failed, job("new", "13")))
		s.create(ingest(14), record(t, legacy.Consumed, job("new", "14")))
		s.create(ingest(15), record(t, legacy.Pending, job("0", "11")))
		s.create(ingest(16), []byte("x"))
		res := s.follow()
		if res.Moved != 3 || len(res.Staying) != 3 {
			t.Fatalf("%+v", res)
		}
		for record, batch := range map[string]string{ingest(11): bid, ingest(12): s.batchOf("bid-new"), ingest(13): s.batchOf("bid-new")} {
			if job := s.jobOf(record); string(s.data(job+"/bid")) != batch || s.has(record) {
				t.Errorf("%s is in %s, expected %s", job, s.data(job+"/bid"), batch)
			}
		}
		v := s.verify()
		if len(v.Differences) > 0 {
			t.Errorf("%v", v.Differences)
		}
		for _, n := range []int{1, 2, 3, 11} {
			s.dropJob(n)
		}
		s.create(ingest(20), record(t, legacy.Pending, job("0", "20")))
		s.follow()
		if job := s.jobOf(ingest(20)); string(s.data(job+"/bid")) != s.batchOf("bid-0-2") {
			t.Errorf("%s is in %s", job, s.data(job+"/bid"))
		}
		s.create(ingest(21), record(t, legacy.Pending, job("0", "21")))
		s.follow()
		if job := s.jobOf(ingest(21)); string(s.data(job+"/bid")) != s.batchOf("bid-0-2") {
			t.Errorf("%s is in %s", job, s.data(job+"/bid"))
		}
		if v := s.verify(); len(v.Differences) > 0 {
			t.Errorf("%v", v.Differences)
		}
		s.mustRollback(migrate.RollbackOptions{})
		for _, n := range []int{20, 21, 12, 13} {
			if !s.has(ingest(n)) {
				t.Errorf("%s did not come back", ingest(n))
			}
		}
	})
}

// What keeps follow from beginning, or ends it, is refused with a reason that says what to do.
func TestFollowRefuses(t *testing.T) {
	migrated := func(s *site) { s.mustMigrate(s.options()) }
	released := func(s *site) { migrated(s); s.release() }
	for name, c := range map[string]struct {
		before func(s *site)
		want   error
	}{
		"nothing was migrated": {func(*site) {}, migrate.ErrNoRun},
		"unfinished":           {func(s *site) { s.interrupted(1) }, migrate.ErrUnfinished},
		"rolled back":          {func(s *site) { released(s); s.mustRollback(migrate.RollbackOptions{}) }, migrate.ErrRolledBack},
		"restored":             {func(s *site) { released(s); lifeEvents["a backup is restored znode by znode"](s) }, migrate.ErrRestored},
		"wiped":                {func(s *site) { released(s); s.remove("/migration") }, migrate.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 2)), newqueue.MrtZK)
			c.before(s)
			if _, err := migrate.Follow(t.Context(), s.w, migrate.FollowOptions{Once: true}); !errors.Is(err, c.want) {
				t.Errorf("%v, expected %v", err, c.want)
			}
		})
	}
}

// Follow waits for each queue until it is released, and goes on after a completion.
func TestFollowWaitsForTheRelease(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 3, 2)), d)
		s.mustMigrate(s.options())
		s.ensure("/accessSmall.1")
		s.create("/accessSmall.1/mrtQ-050000000001", record(t, legacy.Pending, token("late")))
		s.create(ingest(11), record(t, legacy.Pending, job("9", "11")))
		if res := s.follow(); res.Moved != 0 || len(res.Staying) != 2 || res.Staying[0].Fate != migration.FateWaits {
			t.Errorf("before the release: %+v", res)
		}
		s.release(newqueue.HoldIngest)
		if res := s.follow(); res.Moved != 1 || len(res.Staying) != 1 {
			t.Errorf("ingest is released: %+v", res)
		}
		s.release()
		if res := s.follow(); res.Moved != 1 || len(res.Staying) != 0 {
			t.Errorf("all is released: %+v", res)
		}
		s.must(errorOf(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{})))
		s.create(ingest(12), record(t, legacy.Pending, job("9", "12")))
		if res := s.follow(); res.Moved != 1 {
			t.Errorf("completed: %+v", res)
		}
		s.mustVerify()
	})
}

// While follow runs, nobody completes the migration, and a second one waits. A rollback ends it.
func TestFollowBesideOthers(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 3, 2)), newqueue.Design)
	s.mustMigrate(s.options())
	s.release()
	other, _ := s.open("/")
	said, ended := make(chan string, 10), make(chan error, 2)
	begin := func(w *migrate.Writer) {
		go func() {
			_, err := migrate.Follow(t.Context(), w, migrate.FollowOptions{Every: time.Millisecond, Notify: func(text string) { said <- text }})
			ended <- err
		}()
	}
	begin(s.w)
	if text := <-said; text != "follow looks at the legacy queue every 1ms, until it is ended" || s.status().Followers != 1 {
		t.Error(text)
	}
	begin(other)
	if text := <-said; !strings.HasPrefix(text, "waiting: another follow is at work (") {
		t.Error(text)
	}
	third, _ := s.open("/")
	if _, err := migrate.Complete(t.Context(), third, migrate.CompleteOptions{}); !errors.Is(err, migrate.ErrFollowed) {
		t.Errorf("complete: %v", err)
	}
	s.create(ingest(11), record(t, legacy.Pending, job("9", "11")))
	for s.has(ingest(11)) {
		time.Sleep(time.Millisecond)
	}
	if _, err := migrate.Rollback(t.Context(), third, migrate.RollbackOptions{}); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-ended; !errors.Is(err, migrate.ErrRolledBack) {
			t.Errorf("after the rollback: %v", err)
		}
	}
	if !s.has(ingest(11)) {
		t.Error("the record did not come back")
	}
}

// A person's hold is lifted while follow moves records: release takes its turn, and reads again what has changed.
func TestReleaseOfAHoldBesideFollow(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 3, 2)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.release()
	s.hold("ops", newqueue.HoldIngest)
	other, _ := s.open("/")
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := migrate.Follow(ctx, other, migrate.FollowOptions{Every: time.Millisecond, Quiet: time.Millisecond})
		ended <- err
	}()
	s.beforeEach(func(op minizk.Op) bool { return op.Session == s.session && op.Write }, func(n int) {
		if n == 1 { // it has read everything
			s.create(ingest(11), record(t, legacy.Pending, job("9", "11")))
			for s.has(ingest(11)) {
				time.Sleep(time.Millisecond)
			}
		}
	})
	if res, err := s.tryRelease(migrate.ReleaseOptions{Queues: []newqueue.QueueHold{newqueue.HoldIngest}, Others: true}); err != nil || len(res.Lifted) != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A reporter that is stopped at each of its steps, while follow looks: a job that comes late is in the report of its batch, or in another batch.
func TestFollowBesideAReporter(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for stop := range 7 {
			s := serve(t, queueTree(t, pendings(t, 2, 2)), d)
			s.mustMigrate(s.options())
			s.release()
			bid := s.batchOf("bid-0")
			folder := newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)
			c := s.door()
			for _, n := range []int{1, 2} { // a worker has finished both
				jid := znode.Name(s.jobOf(ingest(n)))
				s.ensure(newqueue.BatchFolderPath(bid, newqueue.FolderCompleted))
				s.remove(newqueue.BatchEntryPath(bid, newqueue.FolderProcessing, jid))
				s.create(newqueue.BatchEntryPath(bid, newqueue.FolderCompleted, jid), nil)
			}
			var reported []string
			for i, step := range []func(){
				func() {
					if names, _, err := c.Children(folder); err != nil || len(names) > 0 {
						t.Fatalf("the reporter finds %v, %v", names, err)
					}
				},
				func() {
					s.must(errorOf(c.Create("/batches/"+bid+"/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))))
				},
				func() { s.set("/batches/"+bid+"/status", statusOf(t, d, newqueue.BatchReporting)) },
				func() {
					reported, _, _ = c.Children(newqueue.BatchFolderPath(bid, newqueue.FolderCompleted))
				},
				func() { s.set("/batches/"+bid+"/status", statusOf(t, d, newqueue.BatchCompleted)) },
				func() { s.must(c.Delete("/batches/"+bid+"/lock", -1)) },
				func() {},
			} {
				if i == stop {
					s.create(ingest(9), record(t, legacy.Pending, job("0", "9")))
					if res := s.follow(); res.Moved != 1 {
						t.Fatalf("stopped at %d: %+v", stop, res)
					}
				}
				step()
			}
			if in := string(s.data(s.jobOf(ingest(9)) + "/bid")); in == bid {
				t.Errorf("stopped at %d: the job is in the batch that was reported with %v", stop, reported)
			}
		}
	})
}

// A worker finishes the last job of a batch, a reporter locks it or begins its report, after follow has looked and before its transaction: the job
// that comes late is in another batch.
func TestFollowChecksTheBatch(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for name, happens := range map[string]func(s *site, batch, jid string){
			"the last job is finished": func(s *site, batch, jid string) {
				s.ensure(newqueue.BatchFolderPath(znode.Name(batch), newqueue.FolderCompleted))
				s.remove(newqueue.BatchEntryPath(znode.Name(batch), newqueue.FolderProcessing, jid))
				s.create(newqueue.BatchEntryPath(znode.Name(batch), newqueue.FolderCompleted, jid), nil)
			},
			"it is locked": func(s *site, batch, _ string) {
				s.must(errorOf(s.door().Create(batch+"/lock", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))))
			},
			"its report begins": func(s *site, batch, _ string) { s.set(batch+"/status", statusOf(t, d, newqueue.BatchReporting)) },
		} {
			t.Run(name, func(t *testing.T) {
				s := serve(t, queueTree(t, pendings(t, 1, 1)), d)
				s.mustMigrate(s.options())
				s.release()
				batch, jid := newqueue.BatchPath(s.batchOf("bid-0")), znode.Name(s.jobOf(ingest(1)))
				s.create(ingest(9), record(t, legacy.Pending, job("0", "9")))
				s.door()
				happened := false
				s.before(func(int) {
					if !happened {
						happened = true
						happens(s, batch, jid)
					}
				})
				if res := s.follow(); res.Moved != 1 || !happened {
					t.Fatalf("%+v", res)
				}
				if in := s.batchOf("bid-0-2"); in == "" || string(s.data(s.jobOf(ingest(9))+"/bid")) != in {
					t.Errorf("it is in %s", s.data(s.jobOf(ingest(9))+"/bid"))
				}
			})
		}
	})
}

// While follow moves a record it leads, and that is no migration to wait for: status says that follow is at work.
func TestStatusWhileFollowMoves(t *testing.T) {
	s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.MrtZK)
	s.mustMigrate(s.options())
	s.release()
	s.create(ingest(9), record(t, legacy.Pending, job("0", "9")))
	other, looks := s.beside(""), 0
	s.before(func(int) {
		looks++
		if st := other.status(); st.Migrators != 0 || st.Followers != 1 || st.Step == migrate.StepWait {
			t.Errorf("%d migrators, %d followers, next: %s", st.Migrators, st.Followers, st.Step)
		}
	})
	if res := s.follow(); res.Moved != 1 || looks == 0 {
		t.Errorf("%+v", res)
	}
}

// What happens while follow runs, in a queue with more records that stay than one look takes: what comes next is moved all the same.
func TestFollowGoesOn(t *testing.T) {
	const stay = 1200
	for name, happens := range map[string]func(s *site){
		"nothing": func(*site) {},
		"the queue is removed, and made again": func(s *site) {
			s.remove("/ingest")
			s.create("/ingest", nil)
		},
		"the queue is restored from a dump of before the release": func(s *site) {
			s.remove("/ingest")
			s.create("/ingest", nil)
			for n := 1; n <= 3; n++ {
				s.create(ingest(n), record(t, legacy.Pending, job("0", fmt.Sprint(n)))) // each was handed over
			}
		},
		"the servers throttle": func(s *site) {
			n, chained := 0, s.transactions(s.session)
			s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
				if chained(op) {
					n++
				}
				return chained(op) && n%3 == 1
			}, Do: minizk.Refuse(jute.ThrottledOp)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
			s.mustMigrate(s.options())
			s.release()
			for n := range stay {
				s.create(ingest(1000+n), []byte("garbage"))
			}
			ctx, end := context.WithCancel(t.Context())
			events, ended := make(chan migration.Followed, 2*stay), make(chan error, 1)
			go func() {
				_, err := migrate.Follow(ctx, s.w, migrate.FollowOptions{Every: time.Millisecond, Quiet: time.Millisecond, Each: func(r migration.Followed) { events <- r }})
				ended <- err
				close(events)
			}()
			moves := func(n int) {
				t.Helper()
				s.create(ingest(n), record(t, legacy.Pending, job("late", fmt.Sprint(n))))
				for r := range events {
					if r.Fate == migration.FateMoves {
						if r.Record != ingest(n) {
							t.Fatalf("%+v moved", r)
						}
						return
					}
				}
				t.Fatalf("follow has ended: %v", <-ended)
			}
			moves(2500)
			happens(s)
			moves(2501)
			moves(2502)
			end()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if v := s.verify(); v.CountGroup(migration.DamageGroup) > 0 {
				t.Errorf("%v", v.Differences)
			}
		})
	}
}
