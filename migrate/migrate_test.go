package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/goldenfile"
	"mrtq/internal/side"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/lint"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares text with a file that -update rewrites.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join("testdata", name), got, *update)
}

var firstDifference = goldenfile.FirstDifference

// The golden files have the whole tree that the corpus becomes, in both dialects. A person
// can read them beside docs/migration.md, "From a record to znodes".
func TestMigratedTree(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			src := source(t, corpus(t))
			opt := options(permissive())
			opt.Dialect = d
			target := serve(t, znode.NewTree())
			res := mustMigrate(t, target, src, opt)
			if want := (Done{Jobs: 10, Access: 2, Batches: 3}); res.Done != want {
				t.Errorf("done %+v, want %+v", res.Done, want)
			}
			tree := treeOf(t, target)
			golden(t, "tree-"+string(d)+".txt", dumpOf(t, tree, newQueueRoots...))
			mustVerify(t, src, tree)
			if problems := lint.Check(tree, d); len(problems) > 0 {
				t.Errorf("layout: %v", problems)
			}
		})
	}
}

func TestSecondMigrateWritesNothing(t *testing.T) {
	src := source(t, corpus(t))
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, options(permissive()))
	// Apart from the election, in which it takes part.
	written := append([]string{RunsPath}, newQueueRoots...)
	before := treeOf(t, target)
	res := mustMigrate(t, target, src, options(permissive()))
	after := treeOf(t, target)
	if res.Steps != 0 || after.Hash(written...) != before.Hash(written...) {
		t.Errorf("second migrate made %d transactions", res.Steps)
	}
	if d := firstDifference(dumpOf(t, before, "/"), dumpOf(t, after, "/")); d != "" {
		t.Errorf("second migrate left another tree: %s", d)
	}
}

// liveTarget is a target that already has a batch and a job of another client.
func liveTarget(t *testing.T, d newqueue.Dialect) *site {
	target := serve(t, znode.NewTree())
	do(t, target, znode.Create("/batches", none), znode.Create("/batch-uuids", none), znode.Create("/jobs", none), znode.Create("/jobs/states", none), znode.Create("/jobs/states/pending", none))
	b := newqueue.BatchPath("bid0000000000")
	j := newqueue.JobPath("jid0000000001")
	do(t, target,
		znode.Create(b, none),
		znode.Create(b+"/submission", []byte(`{"batchID":"other","profile_name":"p"}`)),
		znode.Create(b+"/status", encode(newqueue.BatchStatus{State: newqueue.BatchProcessing, LastModified: testNow}.Object(d))),
		znode.Create(b+"/states", none),
		znode.Create(b+"/states/batch-processing", none),
		znode.Create("/batch-uuids/other", []byte("bid0000000000")),
		znode.Create(j, none),
		znode.Create(j+"/bid", []byte("bid0000000000")),
		znode.Create(j+"/configuration", []byte(`{"batch_id":"bid0000000000"}`)),
		znode.Create(j+"/status", encode(newqueue.JobStatus{State: newqueue.JobPending, LastModified: testNow}.Object(d))),
		znode.Create(j+"/priority", []byte("5")),
		znode.Create(j+"/space_needed", []byte("0")),
		znode.Create(b+"/states/batch-processing/jid0000000001", none),
		znode.Create("/jobs/states/pending/05-jid0000000001", none),
	)
	return target
}

// A migration leaves a live queue's jobs alone and continues after their ids. A rollback
// leaves the target as it was before, byte for byte.
func TestTargetInUseStaysAsItIs(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *site{
		"empty": func(t *testing.T) *site { return serve(t, znode.NewTree()) },
		"live":  func(t *testing.T) *site { return liveTarget(t, newqueue.Design) },
	} {
		t.Run(name, func(t *testing.T) {
			src := source(t, corpus(t))
			target := make(t)
			before := treeOf(t, target)
			res := mustMigrate(t, target, src, options(permissive()))
			after := treeOf(t, target)
			for n := range before.All("/") {
				if n.Path == newqueue.JobsPath {
					continue // the data of /jobs says that there must be a ledger
				}
				if got := after.Get(n.Path); got == nil || !znode.SameData(n.Data, got.Data) || got.Stat.Version != n.Stat.Version {
					t.Errorf("%s was changed", n.Path)
				}
			}
			mustVerify(t, src, after)
			next := int32(1) // /jobs/states took number 0
			if n := before.Get("/jobs"); n != nil {
				next, _ = n.Stat.NextSequence()
			}
			if first := newqueue.JobPath(newqueue.SequenceID("jid", next)); after.Get(first) == nil {
				t.Errorf("the first job is not %s", first)
			}
			// ZooKeeper's own numbering continues after the last id.
			last := after.Children("/jobs")
			seq, _ := newqueue.ParseSequenceID("jid", last[len(last)-2])
			if at, _ := after.Get("/jobs").Stat.NextSequence(); at != seq+1 {
				t.Errorf("the counter is at %d after id %d", at, seq)
			}

			m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
			u, err := m.Rollback(t.Context(), res.Run, false)
			if err != nil || len(u.Kept)+len(u.Left) > 0 {
				t.Fatalf("rollback: %v, kept %v, left %v", err, u.Kept, u.Left)
			}
			if want, got := dumpOf(t, before, "/"), dumpOf(t, treeOf(t, target), "/"); want != got {
				t.Errorf("rollback left another tree: %s", firstDifference(want, got))
			}
		})
	}
}

// newQueueRoots has the roots of the new queue.
var newQueueRoots = []string{"/batches", "/batch-uuids", "/jobs", "/access", "/locks"}

// A second run creates jobs for new records, rewrites the jobs of changed ones if nobody
// touched them, and reports records that were removed. The policy decides about consumed
// ones.
func TestReconcile(t *testing.T) {
	opt := options(permissive())
	rec := func(status legacy.Status, title string) []byte {
		return record(t, status, legacy.Payload{"batchID": "B", "jobID": title, "title": title})
	}
	first := map[string][]byte{
		"/ingest/mrtQ-05000000000001": rec(legacy.Pending, "one"),
		"/ingest/mrtQ-05000000000002": rec(legacy.Completed, "two"),
	}
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, first)), opt)

	second := maps.Clone(first)
	second["/ingest/mrtQ-05000000000002"] = rec(legacy.Failed, "two")
	second["/ingest/mrtQ-05000000000003"] = rec(legacy.Pending, "three")
	src := source(t, queue(t, second))
	stale := map[string]bool{}
	for _, d := range verdict(t, src, treeOf(t, target), VerifyOptions{}).Differences {
		stale[string(d.Kind)+" "+d.Path] = true
	}
	if !stale["record-changed /ingest/mrtQ-05000000000002"] || !stale["not-migrated /ingest/mrtQ-05000000000003"] {
		t.Errorf("verify before the second run: %v", stale)
	}
	res := mustMigrate(t, target, src, opt)
	if want := (Done{Jobs: 1, Rewritten: 1}); res.Done != want {
		t.Errorf("second run did %+v, want %+v", res.Done, want)
	}
	if res.Run != "run0000000001" {
		t.Errorf("second run is %s", res.Run)
	}
	tree := treeOf(t, target)
	mustVerify(t, src, tree)
	if s := jsonOf(t, tree.Get("/jobs/jid0000000002/status").Data)["status"]; s != "failed" {
		t.Errorf("the changed job is %v", s)
	}
	// The rewritten job's creation took a number of the counter.
	if tree.Get("/jobs/jid0000000004") == nil {
		t.Errorf("jobs: %v", tree.Children("/jobs"))
	}

	t.Run("touched", func(t *testing.T) {
		f := serve(t, treeOf(t, target))
		do(t, f, znode.Set("/jobs/jid0000000001/priority", []byte("7"), -1))
		third := maps.Clone(second)
		third["/ingest/mrtQ-05000000000001"] = rec(legacy.Completed, "one")
		m := &Migrator{Target: f.Target, Now: clock(), Keep: keepNothing}
		_, err := m.Migrate(t.Context(), static(source(t, queue(t, third))), opt, nil)
		want := "the plan can't be carried out as it is: 1 problems, the first: /ingest/mrtQ-05000000000001: touched: /ingest/mrtQ-05000000000001 changed since it became /jobs/jid0000000001, and so did the job: /jobs/jid0000000001/priority was set once; decide which is right: the legacy worker's change, or the new queue's"
		if !errors.Is(err, ErrBlocked) || err.Error() != want {
			t.Errorf("error %q\nwant  %q", err, want)
		}
	})
	t.Run("vanished", func(t *testing.T) {
		third := maps.Clone(second)
		delete(third, "/ingest/mrtQ-05000000000001")
		src := source(t, queue(t, third))
		p := makePlan(t, src, treeOf(t, target), opt)
		if len(p.Vanished) != 1 || p.Vanished[0] != (VanishedAt{"/ingest/mrtQ-05000000000001", "/jobs/jid0000000001"}) || !p.Empty() {
			t.Errorf("vanished %v", p.Vanished)
		}
		if v := verdict(t, src, treeOf(t, target), VerifyOptions{}); v.OK() {
			t.Error("verify doesn't name the vanished record")
		}
	})
	t.Run("rollback newest first", func(t *testing.T) {
		_, err := PlanRollback(t.Context(), side.Tree(treeOf(t, target)), "run0000000000", false)
		if want := "a later run builds on it: run0000000001 came after run0000000000; roll that back first"; err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	})
}

// A rollback keeps a job that a worker has touched, and says so.
func TestRollbackKeepsWhatWasTouched(t *testing.T) {
	src := source(t, corpus(t))
	target := serve(t, znode.NewTree())
	res := mustMigrate(t, target, src, options(permissive()))
	do(t, target, znode.Set("/jobs/jid0000000001/status", []byte(`{"status":"estimating"}`), 0),
		znode.Delete("/jobs/states/pending/02-jid0000000001", 0), znode.Create("/jobs/states/estimating", none), znode.Create("/jobs/states/estimating/02-jid0000000001", none))
	m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
	u, err := m.Rollback(t.Context(), res.Run, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []Kept{{"/batches/bid0000000000", "a worker has started on it: /jobs/jid0000000001/status was set once; the 5 jobs that the run put into it stay too"}}
	if !slices.Equal(u.Kept, want) {
		t.Errorf("kept %v\nwant %v", u.Kept, want)
	}
	tree := treeOf(t, target)
	if tree.Get("/jobs/jid0000000001/configuration") == nil || tree.Get("/jobs/jid0000000006") != nil {
		t.Errorf("left %v", tree.Paths("/jobs"))
	}
	// With force, the rest is removed too, and only what others created is left.
	u, err = m.Rollback(t.Context(), res.Run, true)
	if err != nil || len(u.Kept) != 0 {
		t.Fatalf("forced: %v, kept %v", err, u.Kept)
	}
	if got := treeOf(t, target).Paths("/"); !slices.Equal(got, []string{"/", "/jobs", "/jobs/states", "/jobs/states/estimating"}) {
		t.Errorf("left %v", got)
	}
}

func TestPlanApproval(t *testing.T) {
	src := source(t, corpus(t))
	opt := options(permissive())
	plan := func(t *testing.T, src *Source, f *site, opt Options) *Plan {
		return makePlan(t, src, treeOf(t, f), opt)
	}
	approve := func(p *Plan) Approved {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		a, err := ReadApproved(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	t.Run("same", func(t *testing.T) {
		f := serve(t, znode.NewTree())
		if err := plan(t, src, f, opt).CheckApproved(approve(plan(t, src, f, opt))); err != nil {
			t.Error(err)
		}
	})
	t.Run("other options", func(t *testing.T) {
		f := serve(t, znode.NewTree())
		other := opt
		other.Policies.Consumed = AsFailed
		if err := plan(t, src, f, other).CheckApproved(approve(plan(t, src, f, opt))); !errors.Is(err, ErrStale) {
			t.Error(err)
		}
	})
	t.Run("used, then rolled back", func(t *testing.T) {
		f := serve(t, znode.NewTree())
		p := plan(t, src, f, opt)
		m := &Migrator{Target: f.Target, Now: clock(), Keep: keepNothing}
		res, err := m.Migrate(t.Context(), static(src), opt, p.Expectation())
		if err != nil {
			t.Fatal(err)
		}
		if err := plan(t, src, f, opt).CheckApproved(approve(p)); !errors.Is(err, ErrPlanUsed) {
			t.Errorf("used: %v", err)
		}
		if _, err := m.Rollback(t.Context(), res.Run, false); err != nil {
			t.Fatal(err)
		}
		if err := plan(t, src, f, opt).CheckApproved(approve(p)); !errors.Is(err, ErrStale) {
			t.Errorf("after a rollback: %v", err)
		}
	})
	t.Run("source changed", func(t *testing.T) {
		f := serve(t, znode.NewTree())
		p := plan(t, src, f, opt)
		tree := corpus(t)
		put(t, tree, "/ingest/mrtQ-05000000000099", record(t, legacy.Pending, legacy.Payload{"jobID": "x"}))
		if err := plan(t, source(t, tree), f, opt).CheckApproved(approve(p)); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "the source has changed") {
			t.Error(err)
		}
	})
	t.Run("begun and killed", func(t *testing.T) {
		f := serve(t, znode.NewTree())
		p := plan(t, src, f, opt)
		f.kill(t, 4, false)
		m := &Migrator{Target: f.Target, Now: clock(), Keep: keepNothing, Budget: 1}
		if _, err := m.Migrate(t.Context(), static(src), opt, p.Expectation()); !errors.Is(err, zkconn.ErrLost) {
			t.Fatal(err)
		}
		if err := plan(t, src, f, opt).CheckApproved(approve(p)); err != nil {
			t.Errorf("the rest of it: %v", err)
		}
	})
}

// A decision about a consumed record stays in later runs.
func TestOtherPoliciesInALaterRun(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Consumed, legacy.Payload{"batchID": "B", "jobID": "one"}),
	}
	opt := options(permissive())
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000002"] = record(t, legacy.Consumed, legacy.Payload{"batchID": "B", "jobID": "two"})
	src := source(t, queue(t, records))
	opt.Policies.Consumed = AsFailed
	mustMigrate(t, target, src, opt)
	tree := treeOf(t, target)
	mustVerify(t, src, tree)
	for jid, want := range map[string]string{"jid0000000001": "pending", "jid0000000002": "failed"} {
		if got := jsonOf(t, tree.Get("/jobs/"+jid+"/status").Data)["status"]; got != want {
			t.Errorf("%s is %v, want %s", jid, got, want)
		}
	}
	if got := jsonOf(t, tree.Get("/batches/bid0000000000/status").Data)["status"]; got != "processing" {
		t.Errorf("the batch is %v", got)
	}
}

// If a migrated record can't be decoded any more, the plan has a problem that names it.
func TestMigratedRecordIsDamaged(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "one"}),
	}
	opt := options(permissive())
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000001"] = []byte{9}
	src := source(t, queue(t, records))
	p := makePlan(t, src, treeOf(t, target), opt)
	if len(p.Problems) != 1 || p.Problems[0].Kind != Touched {
		t.Errorf("problems %v", p.Problems)
	}
	v := verdict(t, src, treeOf(t, target), VerifyOptions{})
	if !slices.ContainsFunc(v.Differences, func(d Difference) bool {
		return d.Kind == RecordChanged && d.Path == "/ingest/mrtQ-05000000000001"
	}) {
		t.Errorf("differences %v", v.Differences)
	}
}

// An inventory record's object is stored and not yet recorded. Its job begins or is resumed
// at recording, in both dialects.
func TestInventoryGoesOnAtRecording(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, status := range []legacy.Status{legacy.Pending, legacy.Held, legacy.Failed, legacy.Deleted} {
			initial := initialStates[Inventory][status]
			if next := newqueue.Success(initial.lastSuccessful(d), d); next != newqueue.JobRecording {
				t.Errorf("%s, %s: after %q comes %q", d, status, initial.lastSuccessful(d), next)
			}
		}
		if last := initialStates[Inventory][legacy.Completed].lastSuccessful(d); last != newqueue.JobNotify {
			t.Errorf("%s, completed: last successful is %q", d, last)
		}
	}
}

// A first run in another dialect than the live queue's is refused.
func TestLiveQueueInTheOtherDialect(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, chosen := range newqueue.Dialects {
			opt := options(permissive())
			opt.Dialect = chosen
			p := makePlan(t, source(t, corpus(t)), treeOf(t, liveTarget(t, d)), opt)
			refused := slices.ContainsFunc(p.Problems, func(x Problem) bool { return x.Kind == OtherDialect })
			if refused != (d != chosen) {
				t.Errorf("a queue in %s, a plan in %s: problems %v", d, chosen, p.Problems)
			}
		}
	}
}

// Folders that a client created with null data are no difference.
func TestFoldersWithNullData(t *testing.T) {
	target := serve(t, znode.NewTree())
	for _, path := range []string{"/batches", "/batch-uuids", "/jobs", "/jobs/states", "/jobs/states/pending", "/access", "/access/small", "/locks", "/locks/queue"} {
		do(t, target, znode.Create(path, nil))
	}
	src := source(t, corpus(t))
	mustMigrate(t, target, src, options(permissive()))
	mustVerify(t, src, treeOf(t, target))
}

// A rollback names a batch of an earlier run that the run added to, and a batch
// that another client changed keeps its jobs.
func TestRollbackOfBatches(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Completed, legacy.Payload{"batchID": "B", "jobID": "one"}),
	}
	opt := options(permissive())
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000002"] = record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "two"})
	res := mustMigrate(t, target, source(t, queue(t, records)), opt)
	u, err := (&Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false)
	if err != nil || len(u.Kept) != 1 || u.Kept[0].Path != "/batches/bid0000000000" {
		t.Fatalf("second run: %v, kept %v", err, u.Kept)
	}
	// The next migration derives the batch again.
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	mustVerify(t, source(t, queue(t, records)), treeOf(t, target))

	target = serve(t, znode.NewTree())
	res = mustMigrate(t, target, source(t, queue(t, records)), opt)
	do(t, target, znode.Set("/batches/bid0000000000/submission", []byte("{}"), -1))
	u, err = (&Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false)
	if want := "/batches/bid0000000000/submission was set once; the 2 jobs that the run put into it stay too"; err != nil || len(u.Kept) != 1 || u.Kept[0].Why != want {
		t.Fatalf("touched batch: %v, kept %v", err, u.Kept)
	}
	if tree := treeOf(t, target); tree.Get("/jobs/jid0000000001") == nil || tree.Get("/jobs/jid0000000002") == nil {
		t.Error("the kept batch lost jobs")
	}
}

// A batchID that a Java service cut inside a character is migrated and verified.
func TestBatchIDCutInsideACharacter(t *testing.T) {
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "cut \xed\xa0\xbd", "jobID": "one"}),
	}))
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, options(permissive()))
	mustVerify(t, src, treeOf(t, target))
}
