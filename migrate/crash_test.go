package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/minizk"
	"mrtq/harness/shared"
	"mrtq/internal/goldenfile"
	"mrtq/internal/jute"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// command is one of the commands that write. do carries it out, and a second call finishes it.
type command struct {
	name  string
	ready func(s *site) // what comes before it
	do    func(s *site) error
}

var commands = []command{
	{"migrate", func(*site) {}, func(s *site) error {
		opt := s.options()
		opt.Limits = single
		return errorOf(s.migrate(opt))
	}},
	{"release", func(s *site) { s.mustMigrate(s.options()) }, func(s *site) error {
		return errorOf(s.tryRelease(migrate.ReleaseOptions{Limits: single}))
	}},
	{"rollback", func(s *site) { s.mustMigrate(s.options()) }, rollbackOnce},
	{"rollback of a released run", func(s *site) {
		s.mustMigrate(s.options())
		s.release()
		s.set(s.jobOf("/ingest/mrtQ-05000000000001")+"/space_needed", []byte("7"))
	}, rollbackOnce},
	{"complete", func(s *site) {
		s.mustMigrate(s.options())
		s.release()
	}, func(s *site) error {
		return errorOf(migrate.Complete(s.t.Context(), s.w, migrate.CompleteOptions{Limits: single}))
	}},
}

func rollbackOnce(s *site) error {
	_, err := s.rollback(migrate.RollbackOptions{Limits: single})
	if errors.Is(err, migrate.ErrNoRun) {
		return nil // it was rolled back before the answer was lost
	}
	return err
}

func (c command) undisturbed(t *testing.T, d newqueue.Dialect) (ready, after *znode.Tree, transactions int) {
	s := serve(t, corpus(t), d)
	c.ready(s)
	ready = s.tree()
	count := s.server.Inject(minizk.Fault{On: s.transactions(s.session)})
	s.must(c.do(s))
	return ready, s.tree(), count.Matched()
}

const keptRoot = "/mrtq-handed-over"

// sameEnd checks that a tree is that of an undisturbed command, but for the versions and
// owners in the runs' own records.
func sameEnd(t *testing.T, want, got *znode.Tree) {
	t.Helper()
	roots := slices.Concat([]string{"/migration/ledger", "/migration/election", keptRoot}, queueRoots, legacyRoots)
	if d := goldenfile.FirstDifference(dump(want, roots...), dump(got, roots...)); d != "" {
		t.Errorf("another tree: %s", d)
	}
}

// Whichever transaction of a command is cut, before or after the server does it, and whether
// the same process goes on or is killed and another one repeats the command: the tree is the
// same in the end. Nothing is made twice, and nothing is lost.
func TestCutAtEveryTransaction(t *testing.T) {
	for i, c := range commands {
		for _, killed := range []bool{false, true} {
			d := newqueue.Dialects[i%2]
			if killed {
				d = newqueue.Dialects[1-i%2]
			}
			ready, want, n := c.undisturbed(t, d)
			if n < 12 {
				t.Fatalf("%s has %d transactions", c.name, n)
			}
			for at := 1; at <= n; at++ {
				for _, done := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/killed %t/%d, done %t", c.name, killed, at, done), func(t *testing.T) {
						t.Parallel()
						s := serve(t, ready, d)
						if killed {
							s.kill(at, done)
							if err := c.do(s); !errors.Is(err, zkconn.ErrSessionLost) {
								t.Fatalf("killed: %v", err)
							}
							s.begin()
						} else {
							s.cut(at, done)
						}
						if err := c.do(s); err != nil {
							t.Fatal(err)
						}
						sameEnd(t, want, s.tree())
						sameRun(t, want, s.tree())
					})
				}
			}
		}
	}
}

func sameRun(t *testing.T, want, got *znode.Tree) {
	t.Helper()
	counts := func(tree *znode.Tree) string {
		run := jsonOf(t, tree.Get("/migration/runs/run0000000000").Data)
		releases, _ := run["releases"].([]any)
		return fmt.Sprint(run["state"], run["created"], run["rolled_back"], run["total"], run["kept"], run["entries"], run["completed"], len(releases))
	}
	if w, g := counts(want), counts(got); w != g {
		t.Errorf("the run's record says %s, expected %s", g, w)
	}
}

// A cancelled wait, or a cancelled reading, is an interruption too. Nothing is written then.
func TestInterruptedWhileReading(t *testing.T) {
	for _, c := range commands {
		for _, phase := range []migrate.Phase{migrate.PhaseReadingSource, migrate.PhaseAwaitingTurn} {
			if phase == migrate.PhaseReadingSource && c.name != "migrate" {
				continue
			}
			t.Run(c.name+"/"+string(phase), func(t *testing.T) {
				s := serve(t, corpus(t), newqueue.Design)
				c.ready(s)
				before := dump(s.tree(), append(queueRoots, legacyRoots...)...)
				ctx := until(t, phase, 0)
				var err error
				switch c.name {
				case "migrate":
					_, err = migrate.Migrate(ctx, s.source(), s.w, s.options())
				case "release":
					_, err = migrate.Release(ctx, s.w, migrate.ReleaseOptions{})
				case "complete":
					_, err = migrate.Complete(ctx, s.w, migrate.CompleteOptions{})
				default:
					_, err = migrate.Rollback(ctx, s.w, migrate.RollbackOptions{})
				}
				if !errors.Is(err, migrate.ErrInterrupted) || dump(s.tree(), append(queueRoots, legacyRoots...)...) != before {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// A server that throttles refuses some transactions. Each command leaves it alone for a
// while, and ends with the same tree. A server that refuses every transaction ends the
// command, and nothing was done.
func TestServerThrottles(t *testing.T) {
	for _, c := range commands {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ready, want, _ := c.undisturbed(t, newqueue.MrtZK)
			s := serve(t, ready, newqueue.MrtZK)
			n, chained := 0, s.transactions(s.session)
			fault := s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
				if chained(op) {
					n++
				}
				return chained(op) && n%9 == 1
			}, Do: minizk.Refuse(jute.ThrottledOp)})
			err := c.do(s)
			if err != nil || fault.Fired() == 0 {
				t.Fatalf("%d refused: %v", fault.Fired(), err)
			}
			sameEnd(t, want, s.tree())
		})
	}
}

func TestServerThrottlesAll(t *testing.T) {
	t.Parallel()
	s := serve(t, corpus(t), newqueue.MrtZK)
	transaction, refused := s.transactions(s.session), 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool {
		if transaction(op) {
			if refused++; refused == 2 { // it would wait for 2 s now, then for 4
				cancel()
			}
		}
		return transaction(op)
	}, Do: minizk.Refuse(jute.ThrottledOp)})
	_, err := migrate.Migrate(ctx, s.source(), s.w, s.options())
	if !errors.Is(err, migrate.ErrInterrupted) || s.has(newqueue.JobsPath) || refused != 2 {
		t.Errorf("%d refused: %v", refused, err)
	}
}

// A server with a smaller jute.maxbuffer than usual drops the connection at each transaction
// that is too large. If the operator says how large it is, all fit. If not, the migration
// finds out.
func TestSmallMaxBuffer(t *testing.T) {
	shared.LargeParts(t)
	const buffer = 48 << 10
	for _, packet := range []int{0, buffer} {
		t.Run(fmt.Sprint("packet ", packet), func(t *testing.T) {
			t.Parallel()
			s := serveWith(t, queueTree(t, pendings(t, 400, 50)), newqueue.MrtZK, minizk.Options{RealTime: true, MaxBuffer: buffer})
			opt := s.options()
			opt.MaxBuffer = packet
			if res := s.mustMigrate(opt); res.Created.Jobs != 400 {
				t.Errorf("%+v", res.Created)
			}
			s.mustVerify()
			dropped := s.resumed()
			if packet != 0 && dropped > 0 || dropped > 4 {
				t.Errorf("the connection was dropped %d times", dropped)
			}
			s.mustRollback(migrate.RollbackOptions{})
			if n := s.resumed() - dropped; n > 4 {
				t.Errorf("the connection was dropped %d times while it was rolled back", n)
			}
		})
	}
}

// resumed is how often sessions were resumed after their connection was cut.
func (s *site) resumed() (n int) {
	for _, e := range s.server.Log() {
		if e.Path == "resumed" {
			n++
		}
	}
	return n
}

// If even the smallest transaction is too large for the server, the error says so.
func TestEveryTransactionIsDropped(t *testing.T) {
	t.Parallel()
	s := serve(t, corpus(t), newqueue.MrtZK)
	transaction := s.transactions(s.session)
	s.server.Inject(minizk.Fault{On: func(op minizk.Op) bool { return transaction(op) && len(op.Paths) > 15 }, Do: minizk.CutBefore()})
	if _, err := s.migrate(s.options()); !errors.Is(err, migrate.ErrDropped) {
		t.Errorf("%v", err)
	}
}

// A batch that is half created never looks done. The client library takes a batch whose
// folder batch-processing is there and empty for done, and reports it. (While a batch is
// rolled back, the hold keeps BatchReport away: docs/deployed-services.md, "Locks".)
func TestNoBatchLooksDoneBeforeItIs(t *testing.T) {
	t.Parallel()
	records := map[string][]byte{}
	for i, status := range []legacy.Status{legacy.Completed, legacy.Completed, legacy.Failed, legacy.Pending, legacy.Completed, legacy.Pending, legacy.Completed} {
		records[ingest(i)] = record(t, status, job("mixed", fmt.Sprint(i)))
		records[ingest(100+i)] = record(t, legacy.Completed, job("ended", fmt.Sprint(i)))
	}
	s := serve(t, queueTree(t, records), newqueue.MrtZK)
	var looksDone []string
	s.before(func(n int) {
		tree := s.server.Snapshot()
		for _, bid := range tree.Children("/batches") {
			entries := 0
			for _, f := range newqueue.BatchFolders {
				entries += len(tree.Children(newqueue.BatchFolderPath(bid, f)))
			}
			processing := newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)
			if tree.Get(processing) != nil && len(tree.Children(processing)) == 0 && entries != 7 {
				looksDone = append(looksDone, fmt.Sprintf("transaction %d: %s with %d of its 7 jobs", n, bid, entries))
			}
		}
	})
	opt := s.options()
	opt.Limits = single
	s.mustMigrate(opt)
	s.mustVerify()
	if len(looksDone) > 0 {
		t.Errorf("%s", strings.Join(looksDone, "\n"))
	}
}

// If the source changes while a migration runs, the migration reads it again and creates
// what it says then. An approved plan is not carried out any further.
func TestSourceChangesMeanwhile(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(s *site, path string)
		approved bool
	}{
		{"removed", func(s *site, path string) { s.remove(path) }, false},
		{"another status", func(s *site, path string) { s.set(path, record(t, legacy.Held, job("a", "changed"))) }, false},
		{"damaged", func(s *site, path string) { s.set(path, []byte("x")) }, false},
		{"damaged, of an approved plan", func(s *site, path string) { s.set(path, []byte("x")) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, queueTree(t, pendings(t, 40, 40)), newqueue.Design)
			opt := s.options()
			if c.approved {
				opt.Approved = s.plan(opt.PlanOptions)
			}
			var said []string
			opt.Notify = func(text string) { said = append(said, text) }
			// The records are read in windows ahead of what is sent, so the change comes
			// before the first transaction.
			changed := false
			s.before(func(int) {
				if !changed {
					changed = true
					c.change(s, ingest(36))
				}
			})
			_, err := s.migrate(opt)
			if c.approved {
				if !errors.Is(err, migrate.ErrStale) {
					t.Errorf("%v", err)
				}
				return
			}
			s.must(err)
			if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, ingest(36)) }) {
				t.Errorf("it said %q", said)
			}
			s.mustVerify()
		})
	}
}
