package migrate

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// A rollback removes what its run's transactions made. What another client created since
// stays, even at the same place and with the same data.
func TestRollbackRemovesOnlyItsOwn(t *testing.T) {
	const batch = "/batches/bid0000000000"
	for name, c := range map[string]struct {
		change func(*testing.T, *site)
		stays  []string
		why    string // why something is kept or left
	}{
		"a hold that an administrator set again": {
			change: func(t *testing.T, s *site) {
				do(t, s, znode.Delete("/locks/queue/ingest", -1))
				do(t, s, znode.Create("/locks/queue/ingest", none))
			},
			stays: []string{"/locks", "/locks/queue", "/locks/queue/ingest"},
			why:   "another client set this hold; it stays",
		},
		"a status-report that another client added": {
			change: func(t *testing.T, s *site) { do(t, s, znode.Create(batch+"/status-report", []byte("{}"))) },
			stays:  []string{batch, batch + "/status", batch + "/status-report", "/jobs/jid0000000001", "/jobs/jid0000000002"},
			why:    batch + "/status-report was created while no run was at work; the 2 jobs that the run put into it stay too",
		},
		"a batch's status that was recreated": {
			change: func(t *testing.T, s *site) {
				n := treeOf(t, s).Get(batch + "/status")
				do(t, s, znode.Delete(n.Path, -1))
				do(t, s, znode.Create(n.Path, n.Data))
			},
			stays: []string{batch, batch + "/status", "/jobs/jid0000000001", "/jobs/jid0000000002"},
			why:   batch + "/status was created while no run was at work; the 2 jobs that the run put into it stay too",
		},
		"a whole job that was recreated": {
			change: func(t *testing.T, s *site) {
				tree := treeOf(t, s)
				nodes := append(tree.Paths("/jobs/jid0000000001"), "/jobs/states/pending/05-jid0000000001", batch+"/states/batch-processing/jid0000000001")
				var ops []znode.Op
				for _, path := range slices.Backward(nodes) {
					ops = append(ops, znode.Delete(path, -1))
				}
				for _, path := range nodes {
					ops = append(ops, znode.Create(path, tree.Get(path).Data))
				}
				do(t, s, ops...)
			},
			stays: []string{batch, "/jobs/jid0000000001", "/jobs/jid0000000002"},
			why:   "/jobs/jid0000000001 was deleted and recreated; the 2 jobs that the run put into it stay too",
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := serve(t, znode.NewTree())
			src := source(t, queue(t, map[string][]byte{
				"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "one"}),
				"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"batchID": "bid-0", "jobID": "two"}),
			}))
			res := mustMigrate(t, target, src, options(permissive()))
			c.change(t, target)
			u, err := (&Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}).Rollback(t.Context(), res.Run, false)
			if err != nil {
				t.Fatal(err)
			}
			after := treeOf(t, target)
			for _, path := range c.stays {
				if after.Get(path) == nil {
					t.Errorf("%s is gone; left are %v", path, after.Paths("/"))
				}
			}
			if reported := slices.Concat(u.Kept, u.Left); !slices.ContainsFunc(reported, func(k Kept) bool { return k.Why == c.why }) {
				t.Errorf("reported %q, want %q", reported, c.why)
			}
		})
	}
}

// A run that added to an earlier run's batch is rolled back, and its record is removed from
// the source. The next migration derives the batch again, and the target verifies.
func TestBatchIsDerivedAgainAfterARollback(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			opt := options(permissive())
			opt.Dialect = d
			rec := func(status legacy.Status, name string) []byte {
				return record(t, status, legacy.Payload{"batchID": "bid-0", "jobID": name})
			}
			records := map[string][]byte{}
			for i, name := range []string{"one", "two", "three", "four", "five"} {
				records["/ingest/mrtQ-0500000000000"+string(rune('1'+i))] = rec(legacy.Failed, name)
			}
			target := serve(t, znode.NewTree())
			mustMigrate(t, target, source(t, queue(t, records)), opt)
			five := dumpOf(t, treeOf(t, target), "/batches")

			six := maps.Clone(records)
			six["/ingest/mrtQ-05000000000006"] = rec(legacy.Failed, "six")
			res := mustMigrate(t, target, source(t, queue(t, six)), opt)
			m := &Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}
			if _, err := m.Rollback(t.Context(), res.Run, false); err != nil {
				t.Fatal(err)
			}
			if report := string(treeOf(t, target).Get("/batches/bid0000000000/status-report").Data); !strings.Contains(report, "jid0000000006") {
				t.Errorf("the rollback knows more than it can: %s", report)
			}
			again := mustMigrate(t, target, source(t, queue(t, records)), opt)
			if want := (Done{Refreshed: 1}); again.Done != want {
				t.Errorf("done %+v, want %+v", again.Done, want)
			}
			if got := dumpOf(t, treeOf(t, target), "/batches"); got != five {
				t.Errorf("the batch is not as it was: %s", firstDifference(five, got))
			}
			mustVerify(t, source(t, queue(t, records)), treeOf(t, target))
			if res := mustMigrate(t, target, source(t, queue(t, records)), opt); res.Steps != 0 {
				t.Errorf("and once more: %+v", res.Done)
			}
		})
	}
}

// A forged record of a run hides nothing. If a record was edited, a rollback still leaves
// nothing of its run without saying so.
func TestForgedAndEditedRunRecords(t *testing.T) {
	src := source(t, corpus(t))
	target := serve(t, znode.NewTree())
	res := mustMigrate(t, target, src, options(permissive()))
	clean := treeOf(t, target)
	const run = "/migration/runs/run0000000000"
	data := string(clean.Get(run).Data)
	for name, c := range map[string]struct {
		change []znode.Op
		names  string
	}{
		"forged": {[]znode.Op{znode.Create("/locks/collections", none), znode.Create("/migration/runs/run0000000001",
			[]byte(strings.ReplaceAll(strings.ReplaceAll(data, `"run":"run0000000000"`, `"run":"run0000000001"`), `"steps":2`, `"steps":0`)))}, "/migration/runs/run0000000001"},
		"edited": {[]znode.Op{znode.Set(run, []byte(strings.ReplaceAll(data, `"/locks/queue/ingest"`, `"/nothing"`)), -1)}, run},
		"sealed again": {[]znode.Op{znode.Set(run, sealedAgain(t, clean.Get(run), func(r *Run) {
			r.Made, r.Steps = nil, r.Steps+1
		}), -1)}, run},
		"sealed again, in an unknown dialect": {[]znode.Op{znode.Set(run, sealedAgain(t, clean.Get(run), func(r *Run) { r.Dialect += "x" }), -1)}, run},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, clean)
			do(t, s, c.change...)
			v := verdict(t, src, treeOf(t, s), VerifyOptions{})
			if !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Path == c.names }) {
				t.Errorf("verify names %v", v.Differences)
			}
			if name == "forged" && !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Path == "/locks/collections" }) {
				t.Errorf("the forged run hides what came before it: %v", v.Differences)
			}
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
			if _, err := m.Rollback(t.Context(), res.Run, false); err == nil || !strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), "rebuild what can be rebuilt") {
				t.Errorf("rollback: %v", err)
			}
			// A rebuild and then another rollback remove everything.
			if r, err := m.Rebuild(t.Context()); err != nil {
				t.Fatalf("rebuild: %v, %+v", err, r)
			}
			u, err := m.Rollback(t.Context(), res.Run, false)
			if err != nil || len(u.Kept) > 0 {
				t.Fatalf("rollback after the rebuild: %v, %+v", err, u)
			}
			for _, path := range treeOf(t, s).Paths("/")[1:] {
				if !strings.HasPrefix(path, "/locks") || name != "forged" {
					t.Errorf("left: %s", path)
				}
			}
		})
	}
}

func sealedAgain(t *testing.T, n *znode.Node, edit func(*Run)) []byte {
	t.Helper()
	r, err := parseRun(n)
	if err != nil {
		t.Fatal(err)
	}
	edit(&r)
	return r.encode()
}
