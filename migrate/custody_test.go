package migrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// fourRecords are two batches of two ingest records each.
func fourRecords(t testing.TB) map[string][]byte {
	records := map[string][]byte{}
	for i, name := range []string{"one", "two", "three", "four"} {
		path := fmt.Sprintf("/ingest/mrtQ-0500%010d", i+1)
		records[path] = record(t, legacy.Pending, legacy.Payload{
			"batchID": fmt.Sprintf("bid-%d", i/2), "jobID": "jid-" + name, "profile": "p", "type": "file", "filename": name, "update": false, "submitter": "s",
		})
	}
	return records
}

// workOff releases the holds, takes every job through its states, reports the
// batches and cleans up, all through the client library in the test's own session.
func workOff(t testing.TB, s *site, d newqueue.Dialect) {
	t.Helper()
	q := newqueue.Open(s.client, d)
	releaseHolds(t, s)
	workJobs(t, q, d)
	for _, bid := range treeOf(t, s).Children(newqueue.BatchesPath) {
		if _, err := q.ReportWhenEmptied(t.Context(), bid); err != nil {
			t.Fatal(err)
		}
	}
	for {
		b, err := q.AcquireReportingBatch(t.Context())
		if errors.Is(err, newqueue.ErrNone) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		report, err := b.Report(t.Context())
		if err == nil {
			err = b.Finish(t.Context(), report)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := q.CleanupBatches(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func releaseHolds(t testing.TB, s *site) {
	t.Helper()
	for _, h := range newqueue.QueueHolds {
		if err := s.client.Delete(newqueue.QueueHoldPath(h), -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
	}
}

func workJobs(t testing.TB, q *newqueue.Queue, d newqueue.Dialect) {
	t.Helper()
	for _, state := range d.JobStates() {
		if newqueue.Success(state, d) == "" {
			continue
		}
		for {
			job, err := q.AcquireJob(t.Context(), state)
			if errors.Is(err, newqueue.ErrNone) {
				break
			}
			if err == nil {
				err = job.Succeed(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func gonePaths(p *Plan) (paths []string) {
	for _, g := range p.Gone {
		paths = append(paths, g.Record)
	}
	return paths
}

// Jobs that were completed, reported and cleaned up are not recreated, although their
// records are still in the legacy queue.
func TestDoneJobsAreNotRecreated(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			opt := options(permissive())
			opt.Dialect = d
			src := source(t, queue(t, fourRecords(t)))
			target := serve(t, znode.NewTree())
			mustMigrate(t, target, src, opt)
			workOff(t, target, d)
			cleaned := treeOf(t, target)
			if left := cleaned.Children("/batches"); len(left) > 0 {
				t.Fatalf("not cleaned: %v", cleaned.Paths("/batches"))
			}

			p := makePlan(t, src, cleaned, opt)
			if !p.Empty() || p.Blocked() || p.Count(ActGone) != 4 || len(p.Gone) != 4 {
				t.Fatalf("plan: empty %t, problems %v, gone %v", p.Empty(), p.Problems, p.Gone)
			}
			want := GoneAt{Record: "/ingest/mrtQ-05000000000001", Job: "/jobs/jid0000000001", Run: "run0000000000",
				What: "migrated as /jobs/jid0000000001 by run0000000000, and gone with its batch bid0000000000: finished and cleaned up"}
			if p.Gone[0] != want {
				t.Errorf("gone: %+v\nwant  %+v", p.Gone[0], want)
			}
			if res := mustMigrate(t, target, src, opt); res.Steps != 0 {
				t.Errorf("the second migrate made %+v", res.Done)
			}
			v := verdict(t, src, treeOf(t, target), VerifyOptions{})
			if v.Records.Gone != 4 || v.Records.Missing != 0 {
				t.Errorf("verify: %+v", v.Records)
			}
			for _, diff := range v.Differences {
				if strings.Contains(diff.Message, "migrate again") {
					t.Errorf("verify advises: %s", diff)
				}
			}

			// Only the operator can ask for a new job, and gets only that one.
			opt.Again = []string{"/ingest/mrtQ-05000000000002"}
			if res := mustMigrate(t, target, src, opt); res.Done.Jobs != 1 || res.Done.Batches != 1 {
				t.Errorf("a new job was asked for, and it made %+v", res.Done)
			}
			again := treeOf(t, target)
			if jobs := again.Children("/jobs"); len(jobs) != 2 || jobs[0] != "jid0000000005" {
				t.Errorf("jobs now: %v", jobs)
			}
			// The operator asks again: the job exists already, so nothing happens.
			if res := mustMigrate(t, target, src, opt); res.Steps != 0 {
				t.Errorf("a new job was asked for a second time, and it made %+v", res.Done)
			}
		})
	}
}

// A failed job that an administrator deleted is not recreated either.
func TestDeletedJobIsNotRecreated(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			opt := options(permissive())
			opt.Dialect = d
			records := fourRecords(t)
			records["/ingest/mrtQ-05000000000001"] = record(t, legacy.Failed, legacy.Payload{"batchID": "bid-0", "jobID": "jid-one", "profile": "p", "type": "file", "filename": "one", "update": false})
			src := source(t, queue(t, records))
			target := serve(t, znode.NewTree())
			mustMigrate(t, target, src, opt)
			q := newqueue.Open(target.client, d)
			if _, err := q.DeleteJob(t.Context(), "jid0000000001"); err != nil {
				t.Fatal(err)
			}
			if d == newqueue.MrtZK { // there the deletion only marks the job
				if _, err := q.CleanupJobs(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if n := treeOf(t, target).Get("/jobs/jid0000000001"); n != nil {
				t.Fatal("not deleted")
			}
			p := makePlan(t, src, treeOf(t, target), opt)
			want := "migrated as /jobs/jid0000000001 by run0000000000, and deleted: its batch bid0000000000 still exists"
			if !p.Empty() || len(p.Gone) != 1 || p.Gone[0].What != want {
				t.Errorf("plan: empty %t, gone %v", p.Empty(), p.Gone)
			}
			if res := mustMigrate(t, target, src, opt); res.Steps != 0 {
				t.Errorf("the second migrate made %+v", res.Done)
			}
		})
	}
}

// A record that changed after its job was done is listed as changed. It gets no new job.
func TestChangedRecordOfADoneJob(t *testing.T) {
	opt := options(permissive())
	records := fourRecords(t)
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	workOff(t, target, opt.Dialect)
	records["/ingest/mrtQ-05000000000003"] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1", "jobID": "other"})
	records["/ingest/mrtQ-05000000000004"] = []byte{7}
	records["/ingest/mrtQ-05000000000005"] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1", "jobID": "new"})
	p := makePlan(t, source(t, queue(t, records)), treeOf(t, target), opt)
	if p.Count(ActCreate) != 1 || p.Count(ActGone) != 4 {
		t.Errorf("plan: %v", slices.Collect(p.Records.All()))
	}
	for i, suffix := range map[int]string{2: "; the record has changed since", 3: "; it can't be decoded any more"} {
		if !strings.HasSuffix(p.Gone[i].What, suffix) {
			t.Errorf("%s: %q doesn't end in %q", p.Gone[i].Record, p.Gone[i].What, suffix)
		}
	}
}

// wipe does to /migration what the field's own script does when it sets its
// markers (docs/field-script.md, "Migration levels").
func wipe(t testing.TB, s *site) {
	t.Helper()
	var ops []znode.Op
	for _, path := range slices.Backward(treeOf(t, s).Paths(MigrationPath)) {
		ops = append(ops, znode.Delete(path, -1))
	}
	do(t, s, append(ops, znode.Create(MigrationPath, none), znode.Create(MigrationPath+"/m1", none))...)
}

func problemAt(p *Plan, kind ProblemKind, path string) *Problem {
	for i, x := range p.Problems {
		if x.Kind == kind && x.Path == path {
			return &p.Problems[i]
		}
	}
	return nil
}

// After the field's script has removed the ledger, a plan has problems that name it. While
// all jobs are there, a rebuild restores all of it. The script's markers stay.
func TestLedgerIsWipedAndRebuilt(t *testing.T) {
	opt := options(permissive())
	src := source(t, corpus(t))
	target := serve(t, znode.NewTree())
	res := mustMigrate(t, target, src, opt)
	wipe(t, target)
	const run = "/migration/runs/run0000000000"
	wiped := treeOf(t, target)
	p := makePlan(t, src, wiped, opt)
	want := Problem{Kind: LedgerDamaged, Path: run,
		Message: "the record of run0000000000 is gone, and with it the custody of 12 records; the trace on /jobs says that it ran here",
		Next:    "put back what was there, or rebuild what can be rebuilt from the jobs that still exist", Rebuildable: true}
	if got := problemAt(p, LedgerDamaged, run); got == nil || *got != want {
		t.Fatalf("problems %v", p.Problems)
	}
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Migrate(t.Context(), static(src), opt, nil); !errors.Is(err, ErrBlocked) {
		t.Errorf("migrate: %v", err)
	}
	if v := verdict(t, src, wiped, VerifyOptions{}); !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Kind == Damaged && d.Path == run }) {
		t.Errorf("verify names %v", v.Differences)
	}
	if _, err := m.Rollback(t.Context(), res.Run, false); !errors.Is(err, ErrNoRun) && !errors.Is(err, ErrLedger) {
		t.Errorf("rollback: %v", err)
	}

	r, err := m.Rebuild(t.Context())
	if err != nil || len(r.Runs) != 1 || r.Runs[0].Entries != 12 || r.Runs[0].Lost != 0 || r.Runs[0].Guessed {
		t.Fatalf("rebuild: %v, %+v", err, r)
	}
	rebuilt := treeOf(t, target)
	mustVerify(t, src, rebuilt)
	if p := makePlan(t, src, rebuilt, opt); !p.Empty() || p.Blocked() {
		t.Errorf("plan after the rebuild: %v", p.Problems)
	}
	if r, err := m.Rebuild(t.Context()); err != nil || len(r.Runs) != 0 {
		t.Errorf("a second rebuild: %v, %+v", err, r)
	}
	u, err := m.Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept)+len(u.Left) > 0 {
		t.Fatalf("rollback: %v, %+v", err, u)
	}
	if left := treeOf(t, target).Paths("/"); !slices.Equal(left, []string{"/", "/migration", "/migration/m1"}) {
		t.Errorf("left: %v", left)
	}
}

// If a rebuilt ledger may lack a record, the plan has a problem until the operator says
// whether the record was done.
func TestLimitsOfARebuild(t *testing.T) {
	opt := options(permissive())
	records := fourRecords(t)
	src := source(t, queue(t, records))
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, opt)
	q := newqueue.Open(target.client, opt.Dialect)
	for _, jid := range []string{"jid0000000001", "jid0000000002"} {
		job, err := q.Job(t.Context(), jid)
		if err != nil || job.Status.State != newqueue.JobPending {
			t.Fatalf("%v, %+v", err, job)
		}
	}
	removeAll(t, target, "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs/states/pending/05-jid0000000001", "/jobs/states/pending/05-jid0000000002",
		"/batches/bid0000000000", "/batch-uuids/bid-0")
	wipe(t, target)
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	r, err := m.Rebuild(t.Context())
	if err != nil || len(r.Runs) != 1 || r.Runs[0].Entries != 2 || r.Runs[0].Lost != 2 {
		t.Fatalf("rebuild: %v, %+v", err, r)
	}

	records["/ingest/mrtQ-05000000000009"] = record(t, legacy.Pending, legacy.Payload{"batchID": "later", "jobID": "new"})
	src = source(t, queue(t, records))
	p := makePlan(t, src, treeOf(t, target), opt)
	for _, path := range []string{"/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002"} {
		if problemAt(p, CustodyLost, path) == nil {
			t.Errorf("%s doesn't stop the plan: %v", path, p.Problems)
		}
	}
	if len(p.Problems) != 2 || p.Count(ActCreate) != 1 {
		t.Errorf("problems %v, %d to create; the record that came later should be", p.Problems, p.Count(ActCreate))
	}

	opt.Done, opt.Again = []string{"/ingest/mrtQ-05000000000001"}, []string{"/ingest/mrtQ-05000000000002"}
	if res := mustMigrate(t, target, src, opt); res.Done.Jobs != 2 {
		t.Errorf("made %+v", res.Done)
	}
	opt.Done, opt.Again = nil, nil
	p = makePlan(t, src, treeOf(t, target), opt)
	if p.Blocked() || !p.Empty() || !slices.Equal(gonePaths(p), []string{"/ingest/mrtQ-05000000000001"}) {
		t.Errorf("in the end: problems %v, gone %v", p.Problems, p.Gone)
	}
	v := verdict(t, src, treeOf(t, target), VerifyOptions{})
	for _, d := range v.Differences {
		t.Errorf("verify: %s", d)
	}
}

// removeAll removes subtrees, as an administrator does by hand.
func removeAll(t testing.TB, s *site, roots ...string) {
	t.Helper()
	tree := treeOf(t, s)
	var ops []znode.Op
	for _, root := range roots {
		for _, path := range slices.Backward(tree.Paths(root)) {
			ops = append(ops, znode.Delete(path, -1))
		}
	}
	do(t, s, ops...)
}

// The field's markers are never touched or removed, whether they came before a run or after
// it. They are not a difference.
func TestForeignMarkers(t *testing.T) {
	for _, before := range []bool{true, false} {
		t.Run(fmt.Sprintf("before %t", before), func(t *testing.T) {
			src := source(t, corpus(t))
			target := serve(t, znode.NewTree())
			if before {
				do(t, target, znode.Create("/migration", none), znode.Create("/migration/m1", none), znode.Create("/migration/m3", []byte("x")))
			}
			res := mustMigrate(t, target, src, options(permissive()))
			if !before {
				do(t, target, znode.Create("/migration/m1", none), znode.Create("/migration/m3", []byte("x")))
			}
			mustVerify(t, src, treeOf(t, target))
			m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
			u, err := m.Rollback(t.Context(), res.Run, false)
			if err != nil || len(u.Kept)+len(u.Left) > 0 {
				t.Fatalf("rollback: %v, %+v", err, u)
			}
			left := treeOf(t, target)
			if got := left.Paths("/"); !slices.Equal(got, []string{"/", "/migration", "/migration/m1", "/migration/m3"}) || string(left.Get("/migration/m3").Data) != "x" {
				t.Errorf("left: %v", got)
			}
		})
	}
}

// A rollback leaves a /migration that another client created, and removes one that a migrator
// created.
func TestMigrationFolderOfOthers(t *testing.T) {
	target := serve(t, znode.NewTree())
	do(t, target, znode.Create("/migration", none))
	res := mustMigrate(t, target, source(t, corpus(t)), options(permissive()))
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	if _, err := m.Rollback(t.Context(), res.Run, false); err != nil {
		t.Fatal(err)
	}
	if got := treeOf(t, target).Paths("/"); !slices.Equal(got, []string{"/", "/migration"}) {
		t.Errorf("left: %v", got)
	}
}

// After a rollback, the ledger keeps the jobs that were done before it. Their records get no
// new jobs; the others do.
func TestRollbackKeepsCustodyOfWhatIsDone(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	target := serve(t, znode.NewTree())
	res := mustMigrate(t, target, src, opt)
	removeAll(t, target, "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs/states/pending/05-jid0000000001", "/jobs/states/pending/05-jid0000000002",
		"/batches/bid0000000000", "/batch-uuids/bid-0")
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	u, err := m.Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept) != 2 || u.Done.Jobs != 2 {
		t.Fatalf("rollback: %v, %+v", err, u)
	}
	want := Kept{"/jobs/jid0000000001", "migrated as /jobs/jid0000000001 by run0000000000, and gone with its batch bid0000000000: finished and cleaned up; its ledger entry stays, so that no migration recreates it"}
	if u.Kept[0] != want {
		t.Errorf("kept %v", u.Kept[0])
	}
	if res := mustMigrate(t, target, src, opt); res.Done.Jobs != 2 || res.Run != "run0000000001" {
		t.Errorf("recreated: %+v in %s", res.Done, res.Run)
	}
	p := makePlan(t, src, treeOf(t, target), opt)
	if !p.Empty() || p.Blocked() || len(p.Gone) != 2 {
		t.Errorf("in the end: problems %v, gone %v", p.Problems, p.Gone)
	}
	// The second run can be rolled back, too.
	u, err = m.Rollback(t.Context(), "run0000000001", false)
	if err != nil || len(u.Kept) != 0 || u.Done.Jobs != 2 {
		t.Fatalf("second rollback: %v, %+v", err, u)
	}
	if p := makePlan(t, src, treeOf(t, target), opt); p.Blocked() || p.Count(ActCreate) != 2 || len(p.Gone) != 2 {
		t.Errorf("after both: problems %v, gone %v", p.Problems, p.Gone)
	}
}

// Again and Done may only name records that the source has.
func TestMisspelledChoice(t *testing.T) {
	opt := options(permissive())
	opt.Again, opt.Done = []string{"/ingest/mrtQ-1"}, []string{"ingest"}
	p := makePlan(t, source(t, corpus(t)), znode.NewTree(), opt)
	for _, path := range []string{"/ingest/mrtQ-1", "ingest"} {
		if problemAt(p, NoSuchRecord, path) == nil {
			t.Errorf("%s: %v", path, p.Problems)
		}
	}
}
