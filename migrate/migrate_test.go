package migrate

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares text with a file that -update rewrites.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", path, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, a, b)
		}
	}
	return ""
}

// The whole tree that the corpus becomes, in both dialects, to be read by a
// person beside 04-migration, "Record → znodes".
func TestMigratedTree(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			src := source(t, corpus(t))
			opt := options(permissive())
			opt.Dialect = d
			target := fileTarget(znode.NewTree())
			res := mustMigrate(t, target, src, opt)
			if want := (Done{Jobs: 10, Access: 2, Batches: 3}); res.Done != want {
				t.Errorf("done %+v, want %+v", res.Done, want)
			}
			tree := treeOf(t, target)
			golden(t, "tree-"+string(d)+".txt", dumpOf(t, tree, "/batches", "/batch-uuids", "/jobs", "/access", "/locks"))
			mustVerify(t, src, tree)
			if problems := newqueue.CheckLayout(tree, d); len(problems) > 0 {
				t.Errorf("layout: %v", problems)
			}
		})
	}
}

func TestSecondMigrateWritesNothing(t *testing.T) {
	src := source(t, corpus(t))
	target := fileTarget(znode.NewTree())
	mustMigrate(t, target, src, options(permissive()))
	before := treeOf(t, target).Hash("/")
	res := mustMigrate(t, target, src, options(permissive()))
	if res.Steps != 0 || treeOf(t, target).Hash("/") != before {
		t.Errorf("second migrate made %d transactions", res.Steps)
	}
}

// live is a target on which somebody else's batch and job already are.
func live(t *testing.T, d newqueue.Dialect) *File {
	target := fileTarget(znode.NewTree())
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

// A live queue's jobs are untouched, ids go on after them, and a rollback
// leaves the target as it was, byte for byte.
func TestLiveTargetIsRespected(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *File{
		"empty": func(t *testing.T) *File { return fileTarget(znode.NewTree()) },
		"live":  func(t *testing.T) *File { return live(t, newqueue.Design) },
	} {
		t.Run(name, func(t *testing.T) {
			src := source(t, corpus(t))
			target := make(t)
			before := treeOf(t, target)
			res := mustMigrate(t, target, src, options(permissive()))
			after := treeOf(t, target)
			for n := range before.All("/") {
				if got := after.Get(n.Path); got == nil || !znode.SameData(n.Data, got.Data) || got.Stat.Version != n.Stat.Version {
					t.Errorf("%s was changed", n.Path)
				}
			}
			mustVerify(t, src, after)
			next := int32(1) // after /jobs/states
			if n := before.Get("/jobs"); n != nil {
				next, _ = n.Stat.NextSequence()
			}
			if first := newqueue.JobPath(newqueue.SequenceID("jid", next)); after.Get(first) == nil {
				t.Errorf("the first job is not %s", first)
			}
			// ZooKeeper's own numbering carries on after the last.
			last := after.Children("/jobs")
			seq, _ := newqueue.ParseSequenceID("jid", last[len(last)-2])
			if at, _ := after.Get("/jobs").Stat.NextSequence(); at != seq+1 {
				t.Errorf("the counter is at %d after id %d", at, seq)
			}

			m := &Migrator{Target: target, Now: clock()}
			u, err := m.Rollback(context.Background(), res.Run, false)
			if err != nil || len(u.Kept)+len(u.Left) > 0 {
				t.Fatalf("rollback: %v, kept %v, left %v", err, u.Kept, u.Left)
			}
			if want, got := dumpOf(t, before, "/"), dumpOf(t, treeOf(t, target), "/"); want != got {
				t.Errorf("rollback left another tree: %s", firstDifference(want, got))
			}
		})
	}
}

// Verify names the node after any one node of the new tree was deleted,
// changed or added: all nodes, all three.
func TestVerifyNamesEveryTamperedNode(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			src := source(t, corpus(t))
			opt := options(permissive())
			opt.Dialect = d
			target := live(t, d)
			foreign := treeOf(t, target)
			mustMigrate(t, target, src, opt)
			clean := treeOf(t, target)
			mustVerify(t, src, clean)
			for _, path := range clean.Paths("/")[1:] {
				if foreign.Get(path) == nil {
					tamper(t, src, clean, "change", path, path, znode.Set(path, []byte("by hand"), -1))
					tamper(t, src, clean, "same data", path, path, znode.Set(path, clean.Get(path).Data, -1))
					if len(clean.Children(path)) == 0 {
						tamper(t, src, clean, "delete", path, path, znode.Delete(path, -1))
					} else {
						named := path
						if strings.HasPrefix(path, "/access/") && strings.HasPrefix(znode.Name(path), "qid") {
							// Nothing else in the target knew of it: its record is named.
							p, _ := parseProvenance(clean.Get(path).Data)
							named = p.Path
						}
						tamper(t, src, clean, "delete the subtree of", path, named, removal(clean, path)...)
					}
				}
				added := znode.Join(path, "by-hand")
				tamper(t, src, clean, "add", added, added, znode.Create(added, none))
			}
		})
	}
}

func removal(tree *znode.Tree, root string) []znode.Op {
	var ops []znode.Op
	for _, p := range slices.Backward(tree.Paths(root)) {
		ops = append(ops, znode.Delete(p, -1))
	}
	return ops
}

func tamper(t *testing.T, src *Source, clean *znode.Tree, what, path, named string, ops ...znode.Op) {
	t.Helper()
	tree := clean.Clone()
	if err := tree.Multi(ops, testNow); err != nil {
		t.Fatalf("%s %s: %v", what, path, err)
	}
	v, err := Verify(src, tree, VerifyOptions{})
	if err != nil {
		if !strings.Contains(err.Error(), named) {
			t.Errorf("%s %s: error %q doesn't name it", what, path, err)
		}
		return
	}
	for _, diff := range v.Differences {
		if diff.Path == named {
			return
		}
	}
	t.Errorf("%s %s: not named in %d differences: %.300v", what, path, len(v.Differences), v.Differences)
}

// flaky fails transactions as a lost connection does: the n-th from the start
// is either not carried out or carried out without an answer.
type flaky struct {
	*File
	failAt  int
	carried bool
	started int
}

func (f *flaky) Start(ctx context.Context, ops []znode.Op) <-chan error {
	f.started++
	if f.failAt == 0 || f.started < f.failAt {
		return f.File.Start(ctx, ops)
	}
	if f.started == f.failAt && f.carried {
		<-f.File.Start(ctx, ops)
	}
	done := make(chan error, 1)
	if f.started <= f.failAt+2 { // those under way go down with it
		done <- zkconn.ErrUnknownOutcome
		return done
	}
	return f.File.Start(ctx, ops)
}

// Whatever transaction's answer is lost, done or not, the tree is the same in
// the end, and every job is counted once.
func TestLostAnswerAtEveryTransaction(t *testing.T) {
	src := source(t, corpus(t))
	whole := fileTarget(znode.NewTree())
	m := &Migrator{Target: whole, Now: clock(), Budget: 1}
	res, err := m.Migrate(context.Background(), static(src), options(permissive()), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dumpOf(t, treeOf(t, whole), "/batches", "/batch-uuids", "/jobs", "/access", "/locks")
	for at := 1; at <= res.Steps; at++ {
		for _, carried := range []bool{false, true} {
			f := &flaky{File: fileTarget(znode.NewTree()), failAt: at, carried: carried}
			m := &Migrator{Target: f, Now: clock(), Budget: 1, InFlight: 3}
			got, err := m.Migrate(context.Background(), static(src), options(permissive()), nil)
			if err != nil {
				t.Errorf("at %d, carried out %t: %v", at, carried, err)
				continue
			}
			if got.Done != res.Done {
				t.Errorf("at %d, carried out %t: done %+v, want %+v", at, carried, got.Done, res.Done)
			}
			tree := treeOf(t, f)
			if d := firstDifference(want, dumpOf(t, tree, "/batches", "/batch-uuids", "/jobs", "/access", "/locks")); d != "" {
				t.Errorf("at %d, carried out %t: another tree: %s", at, carried, d)
			}
			mustVerify(t, src, tree)
		}
	}
}

var errKilled = errors.New("killed")

// killed dies for good at the n-th transaction.
type killed struct {
	*File
	failAt, started int
	carried         bool
}

func (k *killed) Start(ctx context.Context, ops []znode.Op) <-chan error {
	k.started++
	done := make(chan error, 1)
	if k.started < k.failAt || k.started == k.failAt && k.carried {
		return k.File.Start(ctx, ops)
	}
	done <- errKilled
	return done
}

// Killed before or after every transaction of a migration and of a rollback,
// the next run finishes the same.
func TestKilledAtEveryTransaction(t *testing.T) {
	src := source(t, corpus(t))
	opt := options(permissive())
	whole := live(t, newqueue.Design)
	before := dumpOf(t, treeOf(t, whole), "/")
	m := &Migrator{Target: whole, Now: clock(), Budget: 1}
	res, err := m.Migrate(context.Background(), static(src), opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dumpOf(t, treeOf(t, whole), "/batches", "/batch-uuids", "/jobs", "/access", "/locks")
	for at := 1; at <= res.Steps; at++ {
		for _, carried := range []bool{false, true} {
			file := live(t, newqueue.Design)
			k := &killed{File: file, failAt: at, carried: carried}
			m := &Migrator{Target: k, Now: clock(), Budget: 1, InFlight: 2}
			if _, err := m.Migrate(context.Background(), static(src), opt, nil); !errors.Is(err, errKilled) && !(carried && err == nil) {
				t.Fatalf("at %d: %v", at, err)
			}
			mustMigrate(t, file, src, opt)
			tree := treeOf(t, file)
			if d := firstDifference(want, dumpOf(t, tree, "/batches", "/batch-uuids", "/jobs", "/access", "/locks")); d != "" {
				t.Errorf("at %d, carried out %t: another tree: %s", at, carried, d)
			}
			mustVerify(t, src, tree)
		}
	}
	for at := 1; at <= 40; at++ {
		file := live(t, newqueue.Design)
		mustMigrate(t, file, src, opt)
		k := &killed{File: file, failAt: at}
		m := &Migrator{Target: k, Now: clock(), Budget: 1, InFlight: 2}
		m.Rollback(context.Background(), res.Run, false)
		if k.started < at {
			break // the whole rollback took fewer
		}
		m = &Migrator{Target: file, Now: clock()}
		if _, err := m.Rollback(context.Background(), res.Run, false); err != nil {
			t.Fatalf("rollback killed at %d, then: %v", at, err)
		}
		if d := firstDifference(before, dumpOf(t, treeOf(t, file), "/")); d != "" {
			t.Errorf("rollback killed at %d left another tree: %s", at, d)
		}
	}
}

// intruder creates a job of its own, as a live client does, between two
// transactions of a migration.
type intruder struct {
	*File
	t     *testing.T
	at, n int
}

func (i *intruder) Start(ctx context.Context, ops []znode.Op) <-chan error {
	if i.n++; i.n == i.at {
		tree := treeOf(i.t, i.File)
		seq, _ := tree.Get("/jobs").Stat.NextSequence()
		jid := newqueue.SequenceID("jid", seq)
		p := newqueue.JobPath(jid)
		do(i.t, i.File, znode.Create(p, none), znode.Create(p+"/bid", []byte("bid0000000000")), znode.Create(p+"/configuration", []byte(`{"batch_id":"bid0000000000"}`)),
			znode.Create(p+"/status", encode(newqueue.JobStatus{State: newqueue.JobPending, LastModified: testNow}.Object(newqueue.Design))),
			znode.Create(p+"/priority", []byte("5")), znode.Create(p+"/space_needed", []byte("0")),
			znode.Create("/batches/bid0000000000/states/batch-processing/"+jid, none), znode.Create("/jobs/states/pending/05-"+jid, none))
	}
	return i.File.Start(ctx, ops)
}

// Somebody else's new job, at whatever moment, gets its id, and the migration
// goes on after it in order.
func TestNewJobsOfOthersMeanwhile(t *testing.T) {
	src := source(t, corpus(t))
	for at := 2; at <= 12; at++ {
		i := &intruder{File: live(t, newqueue.Design), t: t, at: at}
		m := &Migrator{Target: i, Now: clock(), Budget: 1, InFlight: 4}
		res, err := m.Migrate(context.Background(), static(src), options(permissive()), nil)
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		if res.Done.Jobs != 10 {
			t.Errorf("at %d: %d jobs", at, res.Done.Jobs)
		}
		tree := treeOf(t, i)
		v := verdict(t, src, tree, VerifyOptions{Others: true})
		for _, d := range v.Differences {
			t.Errorf("at %d: %s", at, d)
		}
		// Without leave, what came after the run began is named.
		if v := verdict(t, src, tree, VerifyOptions{}); v.OK() {
			t.Errorf("at %d: the other's job was not named", at)
		}
		seen := map[string]bool{}
		for _, e := range tree.Children("/jobs") {
			if seen[e] {
				t.Errorf("at %d: %s twice", at, e)
			}
			seen[e] = true
		}
	}
}

// Reconciling: added records are added, changed ones rewritten if nobody
// touched their job, vanished ones reported; consumed by policy.
func TestReconcile(t *testing.T) {
	opt := options(permissive())
	rec := func(status legacy.Status, title string) []byte {
		return record(t, status, legacy.Payload{"batchID": "B", "jobID": title, "title": title})
	}
	first := map[string][]byte{
		"/ingest/mrtQ-05000000000001": rec(legacy.Pending, "one"),
		"/ingest/mrtQ-05000000000002": rec(legacy.Completed, "two"),
	}
	target := fileTarget(znode.NewTree())
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
		f := fileTarget(treeOf(t, target))
		do(t, f, znode.Set("/jobs/jid0000000001/priority", []byte("7"), -1))
		third := maps.Clone(second)
		third["/ingest/mrtQ-05000000000001"] = rec(legacy.Completed, "one")
		m := &Migrator{Target: f, Now: clock()}
		_, err := m.Migrate(context.Background(), static(source(t, queue(t, third))), opt, nil)
		want := "the plan can't be carried out as it is: 1 problems, the first: /ingest/mrtQ-05000000000001: touched: /ingest/mrtQ-05000000000001 changed since it became /jobs/jid0000000001, which somebody touched: /jobs/jid0000000001/priority was set once; decide which is right: the legacy worker's change, or the new queue's"
		if !errors.Is(err, ErrBlocked) || err.Error() != want {
			t.Errorf("error %q\nwant  %q", err, want)
		}
	})
	t.Run("vanished", func(t *testing.T) {
		third := maps.Clone(second)
		delete(third, "/ingest/mrtQ-05000000000001")
		src := source(t, queue(t, third))
		p, err := MakePlan(src, treeOf(t, target), opt)
		if err != nil || len(p.Vanished) != 1 || p.Vanished[0] != (VanishedAt{"/ingest/mrtQ-05000000000001", "/jobs/jid0000000001"}) || !p.Empty() {
			t.Errorf("plan: %v, vanished %v", err, p.Vanished)
		}
		if v := verdict(t, src, treeOf(t, target), VerifyOptions{}); v.OK() {
			t.Error("verify doesn't name the vanished record")
		}
	})
	t.Run("rollback newest first", func(t *testing.T) {
		_, err := PlanRollback(treeOf(t, target), "run0000000000", false)
		if want := "a later run builds on it: run0000000001 came after run0000000000; roll that back first"; err == nil || err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	})
}

// A job that a worker has touched is kept by a rollback, and named.
func TestRollbackKeepsWhatWasTouched(t *testing.T) {
	src := source(t, corpus(t))
	target := fileTarget(znode.NewTree())
	res := mustMigrate(t, target, src, options(permissive()))
	do(t, target, znode.Set("/jobs/jid0000000003/status", []byte(`{"status":"estimating"}`), 0),
		znode.Delete("/jobs/states/pending/02-jid0000000003", 0), znode.Create("/jobs/states/estimating", none), znode.Create("/jobs/states/estimating/02-jid0000000003", none))
	m := &Migrator{Target: target, Now: clock()}
	u, err := m.Rollback(context.Background(), res.Run, false)
	if err != nil {
		t.Fatal(err)
	}
	want := []Kept{{"/batches/bid0000000000", "/jobs/jid0000000003/status was set once; with it stay the 5 jobs that the run put into it"}}
	if !slices.Equal(u.Kept, want) {
		t.Errorf("kept %v\nwant %v", u.Kept, want)
	}
	tree := treeOf(t, target)
	if tree.Get("/jobs/jid0000000001/configuration") == nil || tree.Get("/jobs/jid0000000006") != nil {
		t.Errorf("left %v", tree.Paths("/jobs"))
	}
	// Forced, the rest goes too, and nothing is left but what others made.
	u, err = m.Rollback(context.Background(), res.Run, true)
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
	plan := func(t *testing.T, src *Source, f *File, opt Options) *Plan {
		p, err := MakePlan(src, treeOf(t, f), opt)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	approve := func(p *Plan) Approved {
		return Approved{ID: p.ID, Source: p.Source, Target: p.Target, Dialect: string(p.Dialect), Policies: p.Policies}
	}
	t.Run("same", func(t *testing.T) {
		f := fileTarget(znode.NewTree())
		if err := plan(t, src, f, opt).CheckApproved(approve(plan(t, src, f, opt))); err != nil {
			t.Error(err)
		}
	})
	t.Run("other options", func(t *testing.T) {
		f := fileTarget(znode.NewTree())
		other := opt
		other.Policies.Consumed = AsFailed
		if err := plan(t, src, f, other).CheckApproved(approve(plan(t, src, f, opt))); !errors.Is(err, ErrStale) {
			t.Error(err)
		}
	})
	t.Run("used, then rolled back", func(t *testing.T) {
		f := fileTarget(znode.NewTree())
		p := plan(t, src, f, opt)
		m := &Migrator{Target: f, Now: clock()}
		res, err := m.Migrate(context.Background(), static(src), opt, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan(t, src, f, opt).CheckApproved(approve(p)); !errors.Is(err, ErrPlanUsed) {
			t.Errorf("used: %v", err)
		}
		if _, err := m.Rollback(context.Background(), res.Run, false); err != nil {
			t.Fatal(err)
		}
		if err := plan(t, src, f, opt).CheckApproved(approve(p)); !errors.Is(err, ErrStale) {
			t.Errorf("after a rollback: %v", err)
		}
	})
	t.Run("source changed", func(t *testing.T) {
		f := fileTarget(znode.NewTree())
		p := plan(t, src, f, opt)
		tree := corpus(t)
		put(t, tree, "/ingest/mrtQ-05000000000099", record(t, legacy.Pending, legacy.Payload{"jobID": "x"}))
		if err := plan(t, source(t, tree), f, opt).CheckApproved(approve(p)); !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), "the source has changed") {
			t.Error(err)
		}
	})
	t.Run("begun and killed", func(t *testing.T) {
		f := fileTarget(znode.NewTree())
		p := plan(t, src, f, opt)
		m := &Migrator{Target: &killed{File: f, failAt: 4}, Now: clock(), Budget: 1}
		if _, err := m.Migrate(context.Background(), static(src), opt, p); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if err := plan(t, src, f, opt).CheckApproved(approve(p)); err != nil {
			t.Errorf("the rest of it: %v", err)
		}
	})
}

// watched looks at every batch between any two transactions, as the client
// library and a watch do: one whose batch-processing is there and empty while
// its jobs aren't all where they end would be reported to its depositor.
type watched struct {
	*File
	t    *testing.T
	jobs map[string]int // of each batch, in the end
	seen map[string]string
}

func (w *watched) Start(ctx context.Context, ops []znode.Op) <-chan error {
	err := <-w.File.Start(ctx, ops)
	tree := treeOf(w.t, w.File)
	for _, bid := range tree.Children("/batches") {
		entries := 0
		for _, f := range newqueue.BatchFolders {
			entries += len(tree.Children(newqueue.BatchFolderPath(bid, f)))
		}
		open := tree.Get(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)) != nil
		if open && len(tree.Children(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing))) == 0 && entries != w.jobs[bid] {
			w.seen[bid] = fmt.Sprintf("looks done with %d of its %d jobs", entries, w.jobs[bid])
		}
	}
	done := make(chan error, 1)
	done <- err
	return done
}

// A batch that is half made, or half taken back, never looks done.
func TestNoBatchLooksDoneBeforeItIs(t *testing.T) {
	records := map[string][]byte{}
	for i, status := range []legacy.Status{legacy.Completed, legacy.Completed, legacy.Failed, legacy.Pending, legacy.Completed, legacy.Pending, legacy.Completed} {
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, status, legacy.Payload{"batchID": "mixed", "jobID": fmt.Sprint(i)})
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", 100+i)] = record(t, legacy.Completed, legacy.Payload{"batchID": "ended", "jobID": fmt.Sprint(i)})
	}
	src := source(t, queue(t, records))
	w := &watched{File: fileTarget(znode.NewTree()), t: t, jobs: map[string]int{"bid0000000000": 7, "bid0000000001": 7}, seen: map[string]string{}}
	m := &Migrator{Target: w, Now: clock(), Budget: 1, InFlight: 1}
	res, err := m.Migrate(context.Background(), static(src), options(permissive()), nil)
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, src, treeOf(t, w))
	if len(w.seen) > 0 {
		t.Errorf("migrating: %v", w.seen)
	}
	if _, err := m.Rollback(context.Background(), res.Run, false); err != nil {
		t.Fatal(err)
	}
	delete(w.seen, "bid0000000001") // all of it had ended: nothing of it is waited for
	if len(w.seen) > 0 {
		t.Errorf("rolling back: %v", w.seen)
	}
}

// A migrator that waited for another reads the source anew.
func TestSourceIsReadAfterWaiting(t *testing.T) {
	first := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"jobID": "two"}),
	}
	before := source(t, queue(t, first))
	delete(first, "/ingest/mrtQ-05000000000002")
	after := source(t, queue(t, first))
	now := before
	target := &waiting{File: fileTarget(znode.NewTree()), led: func() { now = after }}
	m := &Migrator{Target: target, Now: clock()}
	res, err := m.Migrate(context.Background(), func(context.Context) (*Source, error) { return now, nil }, options(permissive()), nil)
	if err != nil || res.Done.Jobs != 1 {
		t.Errorf("%d jobs (%v): the record that went while it waited was migrated", res.Done.Jobs, err)
	}
}

type waiting struct {
	*File
	led func()
}

func (w *waiting) Lead(ctx context.Context, owner string, acl []znode.ACL, say func(string)) (string, error) {
	w.led()
	return w.File.Lead(ctx, owner, acl, say)
}

// What was decided about a consumed record stays decided in later runs.
func TestOtherPoliciesInALaterRun(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Consumed, legacy.Payload{"batchID": "B", "jobID": "one"}),
	}
	opt := options(permissive())
	target := fileTarget(znode.NewTree())
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

// A migrated record that can't be decoded any more is named, and stops a plan.
func TestMigratedRecordIsDamaged(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "one"}),
	}
	opt := options(permissive())
	target := fileTarget(znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000001"] = []byte{9}
	src := source(t, queue(t, records))
	p, err := MakePlan(src, treeOf(t, target), opt)
	if err != nil || len(p.Problems) != 1 || p.Problems[0].Kind != Touched {
		t.Errorf("plan: %v, problems %v", err, p.Problems)
	}
	v := verdict(t, src, treeOf(t, target), VerifyOptions{})
	if !slices.ContainsFunc(v.Differences, func(d Difference) bool {
		return d.Kind == RecordChanged && d.Path == "/ingest/mrtQ-05000000000001"
	}) {
		t.Errorf("differences %v", v.Differences)
	}
}

// An inventory record is stored and not yet recorded: whatever becomes of it
// goes on, or is resumed, at recording, in both dialects.
func TestInventoryGoesOnAtRecording(t *testing.T) {
	for _, d := range newqueue.Dialects {
		for _, status := range []legacy.Status{legacy.Pending, legacy.Held, legacy.Failed, legacy.Deleted} {
			land := landings[Inventory][status]
			if next := newqueue.Success(land.last(d), d); next != newqueue.JobRecording {
				t.Errorf("%s, %s: after %q comes %q", d, status, land.last(d), next)
			}
		}
		if last := landings[Inventory][legacy.Completed].last(d); last != newqueue.JobNotify {
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
			p, err := MakePlan(source(t, corpus(t)), treeOf(t, live(t, d)), opt)
			if err != nil {
				t.Fatal(err)
			}
			refused := slices.ContainsFunc(p.Problems, func(x Problem) bool { return x.Kind == OtherDialect })
			if refused != (d != chosen) {
				t.Errorf("a queue in %s, a plan in %s: problems %v", d, chosen, p.Problems)
			}
		}
	}
}

// Folders that a client made with null data are no difference.
func TestFoldersWithNullData(t *testing.T) {
	target := fileTarget(znode.NewTree())
	for _, path := range []string{"/batches", "/batch-uuids", "/jobs", "/jobs/states", "/jobs/states/pending", "/access", "/access/small", "/locks", "/locks/queue"} {
		do(t, target, znode.Create(path, nil))
	}
	src := source(t, corpus(t))
	mustMigrate(t, target, src, options(permissive()))
	mustVerify(t, src, treeOf(t, target))
}

// A rollback names a batch of an earlier run that the run added to, and a batch
// that somebody changed keeps its jobs.
func TestRollbackOfBatches(t *testing.T) {
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Completed, legacy.Payload{"batchID": "B", "jobID": "one"}),
	}
	opt := options(permissive())
	target := fileTarget(znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	records["/ingest/mrtQ-05000000000002"] = record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": "two"})
	res := mustMigrate(t, target, source(t, queue(t, records)), opt)
	u, err := (&Migrator{Target: target, Now: clock()}).Rollback(context.Background(), res.Run, false)
	if err != nil || len(u.Kept) != 1 || u.Kept[0].Path != "/batches/bid0000000000" {
		t.Fatalf("second run: %v, kept %v", err, u.Kept)
	}
	// The next migration derives the batch again.
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	mustVerify(t, source(t, queue(t, records)), treeOf(t, target))

	target = fileTarget(znode.NewTree())
	res = mustMigrate(t, target, source(t, queue(t, records)), opt)
	do(t, target, znode.Set("/batches/bid0000000000/submission", []byte("{}"), -1))
	u, err = (&Migrator{Target: target, Now: clock()}).Rollback(context.Background(), res.Run, false)
	if want := "/batches/bid0000000000/submission was set once; with it stay the 2 jobs that the run put into it"; err != nil || len(u.Kept) != 1 || u.Kept[0].Why != want {
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
	target := fileTarget(znode.NewTree())
	mustMigrate(t, target, src, options(permissive()))
	mustVerify(t, src, treeOf(t, target))
}
