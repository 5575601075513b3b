package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// submit creates a znode with the next number, as a client of a live queue does.
func submit(c *zk.Conn, prefix string) (string, error) {
	return c.Create(prefix, []byte("others'"), zk.FlagSequence, zk.WorldACL(zk.PermAll))
}

// Others submit jobs, batches and requests between the migration's transactions. Each takes
// an id, and the migration's ids move up. In the end every batch is whole, and its report
// names its own jobs.
func TestIDsMoveUpUnderOthers(t *testing.T) {
	for _, limit := range []int{1, 4 << 10, 0} {
		t.Run(fmt.Sprintf("transactions of %d bytes", limit), func(t *testing.T) {
			each(t, func(t *testing.T, d newqueue.Dialect) {
				records := map[string][]byte{}
				for i := range 60 {
					status := []legacy.Status{legacy.Pending, legacy.Failed, legacy.Failed, legacy.Completed}[i/15]
					records[ingest(i)] = record(t, status, job(fmt.Sprint(i/15), fmt.Sprint(i)))
					if i%10 == 0 {
						records[fmt.Sprintf("/accessSmall.1/mrtQ-00%010d", i)] = record(t, legacy.Pending, legacy.Payload{"token": fmt.Sprint(i)})
					}
				}
				s := serve(t, queueTree(t, records), d)
				s.ensure("/batches", "/jobs", "/access", "/access/small")
				var others []string
				s.before(func(n int) {
					if n > 100 {
						return // enough ids were taken: let the migration end
					}
					path, err := submit(s.door(), []string{"/jobs/jid", "/batches/bid", "/access/small/qid"}[n%3])
					if err != nil {
						t.Error(err)
					}
					others = append(others, path)
				})
				opt := s.options()
				opt.Limits = migration.TransactionLimits{Bytes: limit}
				reads := 0
				res, err := migrate.Migrate(migrate.WithProgress(t.Context(), func(p migrate.Phase, done, _ int) {
					if p == migrate.PhaseReadingSource && done == 0 {
						reads++
					}
				}), s.source(), s.w, opt)
				s.must(err)
				if res.Created != (migration.Counts{Jobs: 60, Access: 6, Batches: 4}) || reads != 1 {
					t.Errorf("created %+v, and read the source %d times", res.Created, reads)
				}
				tree := s.tree()
				for _, path := range others {
					if n := tree.Get(path); n == nil || string(n.Data) != "others'" {
						t.Errorf("%s of others is not as they made it", path)
					}
				}
				sameNumbers(t, znode.NewTree(), tree)
				if v := s.mustVerify(); v.Unrelated != len(others) || len(others) == 0 {
					t.Errorf("%d of %d are unrelated", v.Unrelated, len(others))
				}
				if undo := s.mustRollback(migrate.RollbackOptions{}); len(undo.Keeps) > 0 || undo.Removes.Jobs != 60 || undo.Unrelated != len(others) {
					t.Errorf("rollback: %+v", undo)
				}
			})
		})
	}
}

// If others take every id, the migration ends with an error and does not wait forever.
func TestEveryIDIsTaken(t *testing.T) {
	t.Parallel()
	s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.Design)
	s.ensure("/batches")
	s.before(func(n int) {
		if n > 1 {
			if _, err := submit(s.door(), "/batches/bid"); err != nil {
				t.Error(err)
			}
		}
	})
	res, err := s.migrate(s.options())
	if !errors.Is(err, migrate.ErrContended) || !strings.Contains(err.Error(), "/batches") || res.Created.Jobs != 0 {
		t.Errorf("%v, created %+v", err, res.Created)
	}
}

// If others keep removing the election, the migration ends with an error and does not wait forever. Once does not matter.
func TestElectionIsRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times int
		want  string
	}{
		{1, "<nil>"},
		{1000, "other clients keep writing to the target: join the election: create /migration/election/n-: no such znode"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := serve(t, queueTree(t, pendings(t, 1, 1)), newqueue.Design)
		removed := 0
		s.beforeEach(func(op minizk.Op) bool { return op.Session == s.session && op.Write }, func(int) {
			if removed < c.times && s.door().Delete("/migration/election", -1) == nil {
				removed++
			}
		})
		if _, err := migrate.Migrate(ctx, s.source(), s.w, s.options()); fmt.Sprint(err) != c.want || removed == 0 {
			t.Errorf("removed %d times:\ngot  %v\nwant %s", removed, err, c.want)
		}
	}
}

// If others keep changing what the plan relies on, the migration ends with an error.
func TestHoldsKeepChanging(t *testing.T) {
	t.Parallel()
	s := serve(t, queueTree(t, pendings(t, 3, 1)), newqueue.Design)
	s.ensure("/jobs", "/locks")
	n, person := 0, s.operator()
	s.before(func(int) {
		n++
		if _, err := migrate.Hold(t.Context(), person.w, migrate.HoldOptions{By: fmt.Sprint("person ", n)}); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.migrate(s.options()); !errors.Is(err, migrate.ErrContended) {
		t.Errorf("%v", err)
	}
}

// A queue whose children were restored from a dump has numbers that ZooKeeper has not given
// yet. The counters move up before the first job, so that no other client gets a taken one.
func TestCountersMoveUp(t *testing.T) {
	t.Parallel()
	s := serve(t, corpus(t), newqueue.Design)
	s.ensure("/jobs", "/jobs/states", "/batches", "/jobs/jid0000000700", "/batches/bid0000000009")
	s.mustMigrate(s.options())
	tree := s.tree()
	if first := slices.MinFunc(tree.Children("/jobs")[1:], strings.Compare); first != "jid0000000701" {
		t.Errorf("the first job is %s", first)
	}
	for prefix, want := range map[string]string{"/jobs/jid": "/jobs/jid0000000711", "/batches/bid": "/batches/bid0000000013"} {
		if got, err := submit(s.door(), prefix); err != nil || got != want {
			t.Errorf("the next one is %s, %v, expected %s", got, err, want)
		}
	}
	s.mustVerify()
	if names := tree.Children("/jobs"); slices.Contains(names, "mrtq-counter") {
		t.Errorf("left: %v", names)
	}
}

// A name that a run gave is never given again, even if the target was restored since, and
// ZooKeeper counts anew. A service that was stopped while it removed the one job would go on
// with the other.
func TestNamesAreGivenOnce(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, pendings(t, 4, 2)), d)
		s.mustMigrate(s.options())
		before := s.jobs()
		s.mustRollback(migrate.RollbackOptions{})
		lifeEvents["a backup is restored znode by znode"](s)
		opt := s.options()
		opt.Restored = true
		s.mustMigrate(opt)
		for _, job := range s.jobs() {
			if slices.Contains(before, job) {
				t.Errorf("%s is given again", job)
			}
		}
		if got, want := s.tree().Children("/batches"), []string{"bid0000000002", "bid0000000003"}; !slices.Equal(got, want) {
			t.Errorf("the batches are %v, expected %v", got, want)
		}
	})
}

func (s *site) jobs() (ids []string) {
	for _, name := range s.tree().Children("/jobs") {
		if strings.HasPrefix(name, newqueue.JobPrefix) {
			ids = append(ids, name)
		}
	}
	return ids
}

// A member of an ensemble may lag behind the others. So each command first asks it to catch
// up, on both sides.
func TestCommandsReadTheNewest(t *testing.T) {
	s := serve(t, corpus(t), newqueue.Design)
	s.mustMigrate(s.options())
	r := &s.w.Reader
	for name, command := range map[string]func(*migrate.Source) error{
		"complete": func(*migrate.Source) error {
			if err := errorOf(migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{})); !errors.Is(err, migrate.ErrNotReleased) {
				return err
			}
			return nil
		},
		"plan": func(src *migrate.Source) error {
			return errorOf(migrate.MakePlan(t.Context(), src, r, s.options().PlanOptions))
		},
		"verify": func(*migrate.Source) error {
			return errorOf(migrate.Verify(t.Context(), nil, r, migrate.VerifyOptions{}))
		},
		"status":  func(*migrate.Source) error { return errorOf(migrate.ReadStatus(t.Context(), r)) },
		"migrate": func(*migrate.Source) error { return errorOf(s.migrate(s.options())) },
		"rollback": func(*migrate.Source) error {
			return errorOf(migrate.PreviewRollback(t.Context(), r, migrate.RollbackOptions{}))
		},
	} {
		newest, root, old := map[int64]bool{}, "/ingest", []string{}
		watch := s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			newest[op.Session] = newest[op.Session] || op.Code == jute.OpSync
			paths := append(op.Paths, op.Path)
			if !newest[op.Session] && slices.Contains(paths, root) {
				old = append(old, fmt.Sprint(op))
			}
			return false
		}})
		src := s.source()
		newest, root = map[int64]bool{}, "/jobs" // the target's session is the same, and must catch up again
		s.must(command(src))
		watch.Remove()
		if len(newest) == 0 || len(old) > 0 {
			t.Errorf("%s reads what may be old: %v", name, old)
		}
	}
}
