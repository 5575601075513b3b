package migrate

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"mrtq/harness/minizk"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// These are faults that TestOperatorsLife found, reduced to the steps that matter.

// twoOfABatch returns two pending records of one batch.
func twoOfABatch(t *testing.T) *Source {
	return source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "two"}),
	}))
}

// copyOf restores a dump of a site on a new server.
func copyOf(t *testing.T, s *site) *site {
	t.Helper()
	var dump bytes.Buffer
	if err := znode.WriteDump(&dump, treeOf(t, s)); err != nil {
		t.Fatal(err)
	}
	tree, err := znode.ReadDump(&dump)
	if err != nil {
		t.Fatal(err)
	}
	c := serveOn(t, minizk.RunWith(t, minizk.Options{Now: testNow.Add(time.Hour)}), znode.NewTree()) // the clock of the copy is later
	if _, err := (&Migrator{Target: c.Target, Now: clock(), Keep: keepNothing}).Restore(t.Context(), c.Target.Backend.(online).Writer, tree); err != nil {
		t.Fatal(err)
	}
	return c
}

func mustRebuild(t *testing.T, s *site) {
	t.Helper()
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A copy of a target that the field's script had wiped can be rebuilt: nothing
// is damaged any more.
func TestRebuildOfAWipedCopy(t *testing.T) {
	src := twoOfABatch(t)
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, options(permissive()))
	wipe(t, s)
	s = copyOf(t, s)
	mustRebuild(t, s)
	mustVerify(t, src, treeOf(t, s))
}

// A copy of a rebuilt target is like any other copy: verify says that it is a copy, and does
// not say that another client recreated its jobs.
func TestCopyOfARebuiltTarget(t *testing.T) {
	src := twoOfABatch(t)
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, options(permissive()))
	wipe(t, s)
	mustRebuild(t, s)
	mustVerify(t, src, treeOf(t, s))
	c := copyOf(t, s)
	for _, d := range verdict(t, src, treeOf(t, c), VerifyOptions{}).Differences {
		if d.Kind != NodeTouched || d.Path != "/migration/runs/run0000000000" {
			t.Errorf("verify: %s", d)
		}
	}
	if p := makePlan(t, src, treeOf(t, c), options(permissive())); p.Blocked() || !p.Empty() {
		t.Errorf("plan: %v", p.Problems)
	}
}

// A rollback leaves jobs that its run had rewritten. After the next migration, which has no
// job to create, the target verifies.
func TestMigrateAfterARollbackOfRewrittenJobs(t *testing.T) {
	path := "/ingest/mrtQ-05000000000001"
	records := map[string][]byte{path: record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "one"})}
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
	records[path] = record(t, legacy.Held, legacy.Payload{"batchID": "A", "jobID": "one"})
	src := source(t, queue(t, records))
	res := mustMigrate(t, s, src, options(permissive()))
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false); err != nil {
		t.Fatal(err)
	}
	mustMigrate(t, s, src, options(permissive()))
	mustVerify(t, src, treeOf(t, s))
	if again := mustMigrate(t, s, src, options(permissive())); again.Steps != 0 {
		t.Errorf("a second run that has nothing to do made %d transactions", again.Steps)
	}
}

// A copy does not show which jobs another client worked on. So a rollback there keeps them
// all, and the operator decides about a changed record.
func TestCopyDoesNotForgetWhatWasWorkedOn(t *testing.T) {
	path := "/accessSmall.1/mrtQ-050000000001"
	records := map[string][]byte{path: record(t, legacy.Pending, legacy.Payload{"jobID": "one"})}
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
	do(t, s, znode.Set("/access/small/qid0000000000/status", encode(newqueue.AccessStatus{State: newqueue.AccessCompleted, LastModified: testNow}.Object(newqueue.Design)), 0))
	c := copyOf(t, s)
	records[path] = record(t, legacy.Failed, legacy.Payload{"jobID": "one"})
	p := makePlan(t, source(t, queue(t, records)), treeOf(t, c), options(permissive()))
	if len(p.Problems) != 1 || p.Problems[0].Kind != Touched {
		t.Errorf("the record changed, and the plan has these problems: %v", p.Problems)
	}
	u, err := (&Migrator{Target: c.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept) != 1 || treeOf(t, c).Get("/access/small/qid0000000000") == nil {
		t.Errorf("rollback: %v, kept %v", err, u.Kept)
	}
}

// If a rebuilt run that lost entries is rolled back, its record stays and still counts them.
// No finished job is recreated.
func TestRollbackOfARebuiltRunKeepsWhatIsLost(t *testing.T) {
	src := twoOfABatch(t)
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, src, options(permissive()))
	remove(t, s, "jid0000000001", "bid0000000000")
	wipe(t, s)
	mustRebuild(t, s)
	u, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept) != 1 {
		t.Fatalf("rollback: %v, kept %v", err, u.Kept)
	}
	p := makePlan(t, src, treeOf(t, s), options(permissive()))
	if !slices.ContainsFunc(p.Problems, func(p Problem) bool { return p.Kind == CustodyLost }) {
		t.Errorf("the plan makes %d jobs, one of them of a record whose job was done", p.Count(ActCreate))
	}
}

// remove removes a pending job, as an administrator's tool does.
func remove(t *testing.T, s *site, jid, bid string) {
	t.Helper()
	tree := treeOf(t, s)
	var ops []znode.Op
	for _, path := range nodesOfJob(tree, newqueue.JobPath(jid), bid) {
		ops = append([]znode.Op{znode.Delete(path, -1)}, ops...)
	}
	do(t, s, ops...)
}

// After a rebuild, verify does not say that another client recreated a batch, also if the
// batch's first job is gone or a later run brought it up to date.
func TestRebuiltRunOwnsItsBatches(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "two"}),
		"/ingest/mrtQ-05000000000003": record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "three"}),
	}
	s := serve(t, znode.NewTree())
	migrate := func(src *Source) {
		t.Helper()
		m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
		if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); err != nil {
			t.Fatal(err)
		}
	}
	migrate(source(t, queue(t, records)))
	records["/ingest/mrtQ-05000000000004"] = record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "four", "profile": "p"})
	records["/ingest/mrtQ-05000000000005"] = record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "five", "profile": "p"})
	src := source(t, queue(t, records))
	migrate(src)
	remove(t, s, "jid0000000002", "bid0000000001") // the batch was created with this job
	remove(t, s, "jid0000000004", "bid0000000000") // batch A was brought up to date with this job
	wipe(t, s)
	mustRebuild(t, s)
	for _, d := range verdict(t, src, treeOf(t, s), VerifyOptions{}).Differences {
		if d.Kind == Recreated {
			t.Errorf("verify: %s", d)
		}
	}
}

// An administrator lifts a hold while a run is interrupted, and the run sets it again. The run
// can still be rolled back.
func TestRollbackOfAHoldThatWasSetTwice(t *testing.T) {
	src := twoOfABatch(t)
	s := serve(t, znode.NewTree())
	s.kill(t, 3, false)
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}
	if _, err := m.Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	do(t, s, znode.Delete("/locks/queue/ingest", 0))
	s.begin(t)
	res := mustMigrate(t, s, src, options(permissive()))
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false); err != nil {
		t.Fatalf("rollback: %v", err)
	}
	if paths := treeOf(t, s).Paths("/"); len(paths) != 1 {
		t.Errorf("left %v", paths)
	}
}

// A run puts a job into a batch of an earlier run, and creates a folder for it. Its rollback
// removes the folder too, so that the earlier run can be rolled back as well.
func TestRollbackOfAFolderInAnEarlierBatch(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "one"}),
	}
	s := serve(t, znode.NewTree())
	first := mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
	before := dumpOf(t, treeOf(t, s), "/batches")
	records["/ingest/mrtQ-05000000000002"] = record(t, legacy.Failed, legacy.Payload{"batchID": "A", "jobID": "one"})
	second := mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Rollback(t.Context(), second.Run, false); err != nil {
		t.Fatal(err)
	}
	if d := firstDifference(before, dumpOf(t, treeOf(t, s), "/batches")); d != "" {
		t.Errorf("the earlier batch is not what it was: %s", d)
	}
	u, err := m.Rollback(t.Context(), first.Run, false)
	if err != nil || len(u.Kept) > 0 || len(treeOf(t, s).Paths("/")) != 1 {
		t.Errorf("first run: %v, kept %v, left %v", err, u.Kept, treeOf(t, s).Paths("/"))
	}
}

// If a rollback is killed after the last job and then finished, it still knows to which
// batches of earlier runs its run wrote.
func TestKilledRollbackRemembersEarlierBatches(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Completed, legacy.Payload{"batchID": "A", "jobID": "one"}),
	}
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
	records["/ingest/mrtQ-05000000000002"] = record(t, legacy.Pending, legacy.Payload{"batchID": "A", "jobID": "two"})
	src := source(t, queue(t, records))
	second := mustMigrate(t, s, src, options(permissive()))
	s.begin(t)
	s.kill(t, 2, true) // the first marks the run, the second removes the job
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), second.Run, false); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	s.begin(t)
	u, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), second.Run, false)
	if err != nil || len(u.Kept) != 1 || u.Kept[0].Path != "/batches/bid0000000000" {
		t.Fatalf("rollback: %v, kept %v", err, u.Kept)
	}
	mustMigrate(t, s, src, options(permissive()))
	mustVerify(t, src, treeOf(t, s))
}

// A copy that was wiped and rebuilt does not show what another client worked on before it
// was copied.
func TestRebuiltCopyIsStillACopy(t *testing.T) {
	for _, c := range []struct {
		name string
		copy func(*site) *site
	}{
		{"wiped, then copied", func(s *site) *site { wipe(t, s); return copyOf(t, s) }},
		{"copied, migrated, then wiped", func(s *site) *site {
			s = copyOf(t, s)
			mustMigrate(t, s, source(t, queue(t, map[string][]byte{
				"/accessSmall.1/mrtQ-050000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "three"}),
			})), options(permissive()))
			wipe(t, s)
			return s
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, znode.NewTree())
			first := mustMigrate(t, s, twoOfABatch(t), options(permissive()))
			worked := newqueue.JobStatus{State: newqueue.JobPending, LastModified: testNow, Message: "worked"}
			do(t, s, znode.Set("/jobs/jid0000000001/status", encode(worked.Object(newqueue.Design)), 0))
			s = c.copy(s)
			mustRebuild(t, s)
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
			if newest, _ := NewestRun(treeOf(t, s)); newest.ID != first.Run {
				if u, err := m.Rollback(t.Context(), newest.ID, false); err != nil || len(u.Kept) > 0 {
					t.Fatalf("rollback of the run in the copy: %v, kept %v", err, u.Kept)
				}
			}
			u, err := m.Rollback(t.Context(), first.Run, false)
			if err != nil {
				t.Fatal(err)
			}
			if u.Done.Jobs > 0 {
				t.Errorf("a rollback removed %d jobs, one of which another client worked on", u.Done.Jobs)
			}
		})
	}
}

// A copy of a run that had just begun is a copy too: it can be finished.
func TestCopyOfARunThatHadJustBegun(t *testing.T) {
	src := twoOfABatch(t)
	s := serve(t, znode.NewTree())
	do(t, s, znode.Create("/jobs", none), znode.Create("/jobs/states", none)) // another client's: the run sets its data
	s.kill(t, 1, true)
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}).Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	c := copyOf(t, s)
	mustMigrate(t, c, src, options(permissive()))
	mustVerify(t, src, treeOf(t, c))
}

// If a rollback in a copy is killed, the next one finishes it.
func TestKilledRollbackInACopy(t *testing.T) {
	s := serve(t, znode.NewTree())
	do(t, s, znode.Create("/jobs", none), znode.Create("/jobs/states", none)) // another client's: the run sets its data
	res := mustMigrate(t, s, twoOfABatch(t), options(permissive()))
	c := copyOf(t, s)
	c.begin(t)
	c.kill(t, 1, true)
	if _, err := (&Migrator{Target: c.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	c.begin(t)
	if _, err := (&Migrator{Target: c.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, true); err != nil {
		t.Error(err)
	}
}

// A copy of a target that was wiped while its first run was interrupted is a copy too.
func TestRebuiltCopyOfAnInterruptedRun(t *testing.T) {
	s := serve(t, znode.NewTree())
	s.kill(t, 3, true)
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}).Migrate(t.Context(), static(twoOfABatch(t)), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	worked := newqueue.JobStatus{State: newqueue.JobPending, LastModified: testNow, Message: "worked"}
	do(t, s, znode.Set("/jobs/jid0000000001/status", encode(worked.Object(newqueue.Design)), 0))
	wipe(t, s)
	c := copyOf(t, s)
	mustRebuild(t, c)
	u, err := (&Migrator{Target: c.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), "run0000000000", false)
	if err != nil || u.Done.Jobs > 0 {
		t.Errorf("rollback (%v) removed %d jobs, one of which another client worked on", err, u.Done.Jobs)
	}
}

// If a target is wiped while its run is interrupted, it is not known how much the run had
// created. So nothing that may be gone is recreated.
func TestWipedWhileInterrupted(t *testing.T) {
	src := twoOfABatch(t)
	s := serve(t, znode.NewTree())
	s.kill(t, 3, true)
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}).Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	s.begin(t)
	remove(t, s, "jid0000000001", "bid0000000000")
	wipe(t, s)
	mustRebuild(t, s)
	p := makePlan(t, src, treeOf(t, s), options(permissive()))
	if !slices.ContainsFunc(p.Problems, func(p Problem) bool {
		return p.Kind == CustodyLost && p.Path == "/ingest/mrtQ-05000000000001"
	}) {
		t.Errorf("the plan makes %d jobs, one of them of a record whose job was done; problems %v", p.Count(ActCreate), p.Problems)
	}
}

// A run after a loss of custody has lost nothing itself. If it is interrupted, the next one
// finishes it.
func TestInterruptedAfterALoss(t *testing.T) {
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, twoOfABatch(t), options(permissive()))
	remove(t, s, "jid0000000001", "bid0000000000")
	wipe(t, s)
	mustRebuild(t, s)
	records := map[string][]byte{}
	for _, name := range []string{"mrtQ-05000000000011", "mrtQ-01000000000012"} { // their jobs are created in the other order
		records["/ingest/"+name] = record(t, legacy.Pending, legacy.Payload{"batchID": "C", "jobID": name})
	}
	src := source(t, queue(t, records))
	s.begin(t)
	s.kill(t, 2, true)
	if _, err := (&Migrator{Target: s.Target, Now: clock(), Keep: keepNothing, Budget: 1}).Migrate(t.Context(), static(src), options(permissive()), nil); !errors.Is(err, zkconn.ErrLost) {
		t.Fatal(err)
	}
	s.begin(t)
	if res := mustMigrate(t, s, src, options(permissive())); res.Done.Jobs != 1 {
		t.Errorf("%d jobs were made of the rest", res.Done.Jobs)
	}
}
