package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/jute"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// If the answer to any one transaction is lost, whether it was done or not, the tree is the
// same in the end, and every job is counted once.
func TestLostAnswerAtEveryTransaction(t *testing.T) {
	src := source(t, corpus(t))
	whole := serve(t, znode.NewTree())
	m := &Migrator{Target: whole.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	res, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dumpOf(t, treeOf(t, whole), newQueueRoots...)
	for at := 1; at <= res.Steps; at++ {
		for _, carried := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, carried out %t", at, carried), func(t *testing.T) {
				t.Parallel()
				s := serve(t, znode.NewTree())
				fault := s.cut(at, carried)
				m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
				got, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
				if err != nil {
					t.Fatal(err)
				}
				if fault.Fired() != 1 {
					t.Errorf("%d answers were lost", fault.Fired())
				}
				if got.Done != res.Done {
					t.Errorf("done %+v, want %+v", got.Done, res.Done)
				}
				tree := treeOf(t, s)
				if d := firstDifference(want, dumpOf(t, tree, newQueueRoots...)); d != "" {
					t.Errorf("another tree: %s", d)
				}
				mustVerify(t, src, tree)
			})
		}
	}
}

// If a migration is killed before or after any transaction, the next one finishes it with
// the same result.
func TestKilledAtEveryTransaction(t *testing.T) {
	src := source(t, corpus(t))
	opt := options(permissive())
	whole := liveTarget(t, newqueue.Design)
	m := &Migrator{Target: whole.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	res, err := m.Migrate(t.Context(), static(src), opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dumpOf(t, treeOf(t, whole), newQueueRoots...)
	for at := 1; at <= res.Steps; at++ {
		for _, carried := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, carried out %t", at, carried), func(t *testing.T) {
				t.Parallel()
				s := liveTarget(t, newqueue.Design)
				s.kill(t, at, carried)
				m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
				if _, err := m.Migrate(t.Context(), static(src), opt, nil); !errors.Is(err, zkconn.ErrLost) {
					t.Fatalf("killed: %v", err)
				}
				s.begin(t)
				mustMigrate(t, s, src, opt)
				tree := treeOf(t, s)
				if d := firstDifference(want, dumpOf(t, tree, newQueueRoots...)); d != "" {
					t.Errorf("another tree: %s", d)
				}
				mustVerify(t, src, tree)
			})
		}
	}
}

// If a rollback is killed before or after any transaction, the next one finishes it.
func TestRollbackKilledAtEveryTransaction(t *testing.T) {
	atEveryRollback(t, func(t *testing.T, s *site, res *Result, at int, carried, last bool) {
		s.kill(t, at, carried)
		m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
		if _, err := m.Rollback(t.Context(), res.Run, false); !errors.Is(err, zkconn.ErrLost) {
			t.Fatalf("killed: %v", err)
		}
		if last && carried {
			return // the run is gone
		}
		s.begin(t)
		m = &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
		if _, err := m.Rollback(t.Context(), res.Run, false); err != nil {
			t.Fatalf("then: %v", err)
		}
	})
}

// If any answer to a rollback is lost, the rollback looks again and finishes. Every job is
// counted once.
func TestRollbackLosesAnAnswerAtEveryTransaction(t *testing.T) {
	atEveryRollback(t, func(t *testing.T, s *site, res *Result, at int, carried, last bool) {
		fault := s.cut(at, carried)
		m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
		u, err := m.Rollback(t.Context(), res.Run, false)
		if err != nil || fault.Fired() != 1 {
			t.Fatalf("%d answers lost: %v", fault.Fired(), err)
		}
		if u.Done != res.Done {
			t.Errorf("removed %+v, want %+v", u.Done, res.Done)
		}
	})
}

// atEveryRollback calls rollback once for each transaction of a rollback, each time on a new
// migrated site. Afterwards the tree must be what it was before the migration.
func atEveryRollback(t *testing.T, rollback func(t *testing.T, s *site, res *Result, at int, carried, last bool)) {
	t.Helper()
	whole := liveTarget(t, newqueue.Design)
	before := dumpOf(t, treeOf(t, whole), "/")
	res := mustMigrate(t, whole, source(t, corpus(t)), options(permissive()))
	migrated := treeOf(t, whole)
	transactions := whole.zk.Inject(minizk.Fault{On: whole.transactions()})
	m := &Migrator{Target: whole.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	if _, err := m.Rollback(t.Context(), res.Run, false); err != nil {
		t.Fatal(err)
	}
	n := transactions.Met()
	for at := 1; at <= n; at++ {
		for _, carried := range []bool{false, true} {
			t.Run(fmt.Sprintf("at %d, carried out %t", at, carried), func(t *testing.T) {
				t.Parallel()
				s := serve(t, migrated)
				rollback(t, s, res, at, carried, at == n)
				if d := firstDifference(before, dumpOf(t, treeOf(t, s), "/")); d != "" {
					t.Errorf("another tree: %s", d)
				}
			})
		}
	}
}

// A server that throttles refuses transactions. The migration and its rollback leave
// it alone for a while, look again, and end with the same tree.
func TestServerThrottles(t *testing.T) {
	src := source(t, corpus(t))
	whole := liveTarget(t, newqueue.Design)
	before := dumpOf(t, treeOf(t, whole), "/")
	res := mustMigrate(t, whole, src, options(permissive()))
	n := 0
	busy := func(s *site) {
		chained := s.transactions()
		s.zk.Inject(minizk.Fault{On: func(op minizk.Op) bool {
			if !chained(op) {
				return false
			}
			n++
			return n%9 == 7
		}, Do: minizk.Refuse(jute.ThrottledOp)})
	}
	s := liveTarget(t, newqueue.Design)
	busy(s)
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1, firstPause: time.Millisecond}
	got, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
	if err != nil || got.Done != res.Done {
		t.Fatalf("%v, done %+v", err, got.Done)
	}
	if v := verdict(t, src, treeOf(t, s), VerifyOptions{}); !v.OK() {
		t.Errorf("differences: %v", v.Differences)
	}
	u, err := (&Migrator{Target: s.Target, Now: clock(), Budget: 1, firstPause: time.Millisecond}).Rollback(t.Context(), got.Run, false)
	if err != nil || u.Done != got.Done {
		t.Errorf("%v, removed %+v", err, u.Done)
	}
	if d := firstDifference(before, dumpOf(t, treeOf(t, s), "/")); d != "" {
		t.Errorf("another tree: %s", d)
	}
}

// A server that refuses every transaction ends the migration, and nothing was done.
func TestServerThrottlesAll(t *testing.T) {
	s := liveTarget(t, newqueue.Design)
	before := dumpOf(t, treeOf(t, s), "/")
	s.zk.Inject(minizk.Fault{On: s.transactions(), Do: minizk.Refuse(jute.ThrottledOp)})
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, firstPause: time.Millisecond}
	_, err := m.Migrate(t.Context(), static(source(t, corpus(t))), options(permissive()), nil)
	const want = "6 transactions in a row: the server throttles: it refused a request that had waited too long; run the same command again when the server has less to do, or with fewer operations a second"
	if !errors.Is(err, zkconn.ErrThrottled) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if d := firstDifference(before, dumpOf(t, treeOf(t, s), "/")); d != "" {
		t.Errorf("another tree: %s", d)
	}
}

// If another client creates a job at any moment of the migration, the job gets its id, and
// the migration continues after it in order.
func TestNewJobsOfOthersMeanwhile(t *testing.T) {
	src := source(t, corpus(t))
	for at := 2; at <= 12; at++ {
		t.Run(fmt.Sprintf("before transaction %d", at), func(t *testing.T) {
			s := liveTarget(t, newqueue.Design)
			s.before(t, func(n int) {
				if n == at {
					submit(t, s)
				}
			})
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
			res, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
			if err != nil {
				t.Fatal(err)
			}
			if res.Done.Jobs != 10 {
				t.Errorf("%d jobs", res.Done.Jobs)
			}
			tree := treeOf(t, s)
			for _, d := range verdict(t, src, tree, VerifyOptions{Others: true}).Differences {
				t.Error(d)
			}
			// Unless others' znodes are allowed, verify names what was created after the run
			// began.
			if v := verdict(t, src, tree, VerifyOptions{}); v.OK() {
				t.Error("the other's job was not named")
			}
		})
	}
}

// submit creates a job, as a client of a live queue does.
func submit(t *testing.T, s *site) {
	tree, err := s.zk.Snapshot()
	if err != nil {
		t.Error(err)
		return
	}
	seq, _ := tree.Get("/jobs").Stat.NextSequence()
	jid := newqueue.SequenceID("jid", seq)
	p := newqueue.JobPath(jid)
	err = send(s.client, []znode.Op{
		znode.Create(p, none), znode.Create(p+"/bid", []byte("bid0000000000")), znode.Create(p+"/configuration", []byte(`{"batch_id":"bid0000000000"}`)),
		znode.Create(p+"/status", encode(newqueue.JobStatus{State: newqueue.JobPending, LastModified: testNow}.Object(newqueue.Design))),
		znode.Create(p+"/priority", []byte("5")), znode.Create(p+"/space_needed", []byte("0")),
		znode.Create("/batches/bid0000000000/states/batch-processing/"+jid, none), znode.Create("/jobs/states/pending/05-"+jid, none),
	})
	if err != nil {
		t.Error(err)
	}
}

// A batch that is half created, or half rolled back, never looks done.
func TestNoBatchLooksDoneBeforeItIs(t *testing.T) {
	records := map[string][]byte{}
	for i, status := range []legacy.Status{legacy.Completed, legacy.Completed, legacy.Failed, legacy.Pending, legacy.Completed, legacy.Pending, legacy.Completed} {
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, status, legacy.Payload{"batchID": "mixed", "jobID": fmt.Sprint(i)})
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", 100+i)] = record(t, legacy.Completed, legacy.Payload{"batchID": "ended", "jobID": fmt.Sprint(i)})
	}
	src := source(t, queue(t, records))
	s := serve(t, znode.NewTree())
	// The client library and a watch may look between any two transactions. If they find
	// batch-processing empty while some of the batch's jobs are missing, they report the
	// batch to its depositor.
	jobs := map[string]int{"bid0000000000": 7, "bid0000000001": 7} // when all are created
	looksDone, looks := map[string]string{}, 0
	look := func(int) {
		tree, err := s.zk.Snapshot()
		if err != nil {
			t.Error(err)
			return
		}
		looks++
		for _, bid := range tree.Children("/batches") {
			entries := 0
			for _, f := range newqueue.BatchFolders {
				entries += len(tree.Children(newqueue.BatchFolderPath(bid, f)))
			}
			processing := newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)
			if tree.Get(processing) != nil && len(tree.Children(processing)) == 0 && entries != jobs[bid] {
				looksDone[bid] = fmt.Sprintf("with %d of its %d jobs", entries, jobs[bid])
			}
		}
	}
	s.before(t, look)
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	res, err := m.Migrate(t.Context(), static(src), options(permissive()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if looks != res.Steps {
		t.Errorf("%d looks at %d transactions", looks, res.Steps)
	}
	mustVerify(t, src, treeOf(t, s))
	if len(looksDone) > 0 {
		t.Errorf("migrating: %v", looksDone)
	}
	if _, err := m.Rollback(t.Context(), res.Run, false); err != nil {
		t.Fatal(err)
	}
	delete(looksDone, "bid0000000001") // all of its jobs are final, so it is done
	if len(looksDone) > 0 {
		t.Errorf("rolling back: %v", looksDone)
	}
}

// A migrator that waited for another one reads the source again.
func TestSourceIsReadAfterWaiting(t *testing.T) {
	first := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"jobID": "two"}),
	}
	before := source(t, queue(t, first))
	delete(first, "/ingest/mrtQ-05000000000002")
	after := source(t, queue(t, first))
	now := before
	s := serve(t, znode.NewTree())
	other := NewTarget(open(t, s.zk))
	if err := other.lead(t.Context(), "another", nil, nil, func(string) {}); err != nil {
		t.Fatal(err)
	}
	const waits = "another migrator is at work (another); waiting until it ends. If it was killed, its session ends after 10s, " +
		"unless it asked for another session timeout than this migrator. This migrator has changed no job, and can be stopped or killed safely"
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Say: func(text string) {
		if text == waits {
			now = after
			other.resign()
		}
	}}
	res, err := m.Migrate(t.Context(), func(ctx context.Context) (*LegacyQueue, func(), error) { return static(now)(ctx) }, options(permissive()), nil)
	if err != nil || res.Done.Jobs != 1 {
		t.Errorf("%d jobs (%v): the record that went while it waited was migrated", res.Done.Jobs, err)
	}
}

// Ctrl-C while a rollback reads is reported as an interruption, as in a migration.
func TestRollbackInterruptedWhileReading(t *testing.T) {
	s := liveTarget(t, newqueue.Design)
	res := mustMigrate(t, s, source(t, corpus(t)), options(permissive()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s.zk.Inject(minizk.Fault{On: func(o minizk.Op) bool {
		if o.Code == jute.OpSync { // each reading of the target begins with this
			cancel()
		}
		return false
	}})
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Rollback(ctx, res.Run, false); !errors.Is(err, ErrInterrupted) {
		t.Errorf("rollback: %v", err)
	}
}

// A rollback that is interrupted while it looks again says what it removed before that.
func TestRollbackInterruptedWhileLookingAgain(t *testing.T) {
	s := liveTarget(t, newqueue.Design)
	res := mustMigrate(t, s, source(t, corpus(t)), options(permissive()))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	touched := false
	s.zk.Inject(minizk.Fault{On: func(o minizk.Op) bool {
		if o.Code == jute.OpSync && touched {
			cancel()
		}
		return false
	}})
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	m.Progress = func(done, _ int) {
		if touched || done == 0 {
			return
		}
		touched = true
		for _, batch := range treeOf(t, s).Paths("/batches") {
			if znode.Name(batch) == "status" {
				do(t, s, znode.Set(batch, []byte("{}"), -1))
			}
		}
	}
	u, err := m.Rollback(ctx, res.Run, false)
	if !errors.Is(err, ErrInterrupted) {
		t.Fatalf("rollback: %v", err)
	}
	if u == nil || u.Run != res.Run || u.Done.Jobs+u.Done.Access == 0 {
		t.Errorf("what it removed is not said: %+v", u)
	}
}

// If the source changes between the two readings, the migration stops, looks again, and
// creates what the source says now.
func TestSourceChangesBetweenThePasses(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, tree *znode.Tree, path string) *znode.Tree{
		"another status": func(t *testing.T, tree *znode.Tree, path string) *znode.Tree {
			put(t, tree, path, record(t, legacy.Held, legacy.Payload{"jobID": "changed"}))
			return tree
		},
		"damaged": func(t *testing.T, tree *znode.Tree, path string) *znode.Tree {
			put(t, tree, path, []byte("x"))
			return tree
		},
	} {
		t.Run(name, func(t *testing.T) {
			records := map[string][]byte{}
			for i := range 600 {
				records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, legacy.Pending, legacy.Payload{"batchID": fmt.Sprint("bid-", i/7), "jobID": fmt.Sprint(i)})
			}
			tree := queue(t, records)
			s := serve(t, znode.NewTree())
			var said []string
			changed := false
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1, Say: func(text string) { said = append(said, text) },
				Progress: func(done, _ int) {
					if done >= 10 && !changed {
						changed = true
						tree = change(t, tree, "/ingest/mrtQ-05000000000590")
					}
				}}
			read := func(ctx context.Context) (*LegacyQueue, func(), error) {
				q, err := OpenLegacyQueue(ctx, side.Tree(tree), DefaultQueues(), legacy.Options{})
				return q, func() {}, err
			}
			if _, err := m.Migrate(t.Context(), read, options(permissive()), nil); err != nil {
				t.Fatal(err)
			}
			if len(said) != 1 || !strings.Contains(said[0], "/ingest/mrtQ-05000000000590: the source has changed") {
				t.Errorf("it said %q", said)
			}
			mustVerify(t, source(t, tree), treeOf(t, s))
		})
	}
}

// An approved plan is not carried out for a record that has changed since.
func TestApprovedSourceChangesBetweenThePasses(t *testing.T) {
	records := map[string][]byte{}
	for i := range 600 {
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, legacy.Pending, legacy.Payload{"jobID": fmt.Sprint(i)})
	}
	tree := queue(t, records)
	s := serve(t, znode.NewTree())
	opt := options(permissive())
	expect := makePlan(t, source(t, tree), treeOf(t, s), opt).Expectation()
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1, Progress: func(int, int) {
		put(t, tree, "/ingest/mrtQ-05000000000590", []byte("x"))
	}}
	_, err := m.Migrate(t.Context(), static(source(t, tree)), opt, expect)
	if !errors.Is(err, ErrStale) {
		t.Errorf("got %v", err)
	}
}
