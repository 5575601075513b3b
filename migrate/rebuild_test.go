package migrate

import (
	"fmt"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A rebuild mends all damage to the migration's own records, because every refusal advises a
// rebuild.
func TestRebuildEndsEveryDamage(t *testing.T) {
	const (
		run    = "/migration/runs/run0000000000"
		ledger = "/migration/ledger/run0000000000"
		shard  = ledger + "/0000000000"
	)
	for name, change := range map[string]func(*testing.T, *site){
		"/jobs was set to what it was": func(t *testing.T, s *site) {
			do(t, s, znode.Set("/jobs", treeOf(t, s).Get("/jobs").Data, -1))
		},
		"/jobs was cleared": func(t *testing.T, s *site) { do(t, s, znode.Set("/jobs", nil, -1)) },
		"the shard was recreated": func(t *testing.T, s *site) {
			n := treeOf(t, s).Get(shard)
			do(t, s, znode.Delete(shard, -1))
			do(t, s, znode.Create(shard, n.Data))
		},
		"the run's record was set to what it was": func(t *testing.T, s *site) {
			do(t, s, znode.Set(run, treeOf(t, s).Get(run).Data, -1))
		},
		"the run's record was recreated": func(t *testing.T, s *site) {
			n := treeOf(t, s).Get(run)
			do(t, s, znode.Delete(run, -1))
			do(t, s, znode.Create(run, n.Data))
		},
		"the shard is gone":  func(t *testing.T, s *site) { removeAll(t, s, shard) },
		"the ledger is gone": func(t *testing.T, s *site) { removeAll(t, s, "/migration/ledger") },
		"a record that no run left": func(t *testing.T, s *site) {
			do(t, s, znode.Create("/migration/runs/run0000000007", []byte("x")))
		},
		"a forged job beside a lost ledger": func(t *testing.T, s *site) {
			removeAll(t, s, ledger)
			forge := func(jid, bid, record string) {
				data := fmt.Sprintf(`{"run":"run0000000000","path":%q,"sha256":"00112233"}`, record)
				do(t, s, znode.Create("/jobs/"+jid, []byte(data)), znode.Create("/jobs/"+jid+"/bid", []byte(bid)))
			}
			forge("jid0000000070", "bid0000000000", "/ingest/+000000005")
			forge("jid+000000071", "bid0000000000", "/ingest/mrtQ-05000000000071")
			forge("jid0000000072", "xyz0000000000", "/ingest/mrtQ-05000000000072")
			forge("jid0000000073", "bid-000000009", "/ingest/mrtQ-05000000000073")
		},
		"a shard with a number that no run reaches": func(t *testing.T, s *site) {
			do(t, s, znode.Create(ledger+"/0000999998", none), znode.Set(run, []byte("{}"), -1))
		},
		"a znode below the run's record": func(t *testing.T, s *site) {
			do(t, s, znode.Create(run+"/x", none), znode.Set(run, []byte("{}"), -1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			opt := options(permissive())
			src := source(t, queue(t, fourRecords(t)))
			s := serve(t, znode.NewTree())
			mustMigrate(t, s, src, opt)
			change(t, s)
			m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
			r, err := m.Rebuild(t.Context())
			if err != nil {
				t.Fatalf("rebuild: %v", err)
			}
			for _, d := range damageIn(t, treeOf(t, s)) {
				t.Errorf("after %+v: %s", r, d)
			}
		})
	}
}

// Lost custody stays noted after any rollback.
func TestLostCustodyOutlivesARollback(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	res := mustMigrate(t, s, src, opt)
	removeAll(t, s, "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs/states/pending/05-jid0000000001", "/jobs/states/pending/05-jid0000000002",
		"/batches/bid0000000000", "/batch-uuids/bid-0")
	wipe(t, s)
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if r, err := m.Rebuild(t.Context()); err != nil || r.Runs[0].Lost != 2 {
		t.Fatalf("rebuild: %v, %+v", err, r)
	}
	u, err := m.Rollback(t.Context(), res.Run, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Kept) != 1 {
		t.Errorf("kept %v", u.Kept)
	}
	p := makePlan(t, src, treeOf(t, s), opt)
	for _, path := range []string{"/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002"} {
		if problemAt(p, CustodyLost, path) == nil {
			t.Errorf("%s doesn't stop the plan: it makes %d", path, p.Count(ActCreate))
		}
	}
}

// If a run's ledger and its trace are both gone, the jobs that name the run still show it. But
// nothing shows how many records there were.
func TestLedgerAndTraceAreGone(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, opt)
	removeAll(t, s, "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs/states/pending/05-jid0000000001", "/jobs/states/pending/05-jid0000000002",
		"/batches/bid0000000000", "/batch-uuids/bid-0")
	wipe(t, s)
	do(t, s, znode.Set("/jobs", none, -1))
	if p := makePlan(t, src, treeOf(t, s), opt); !p.Blocked() {
		t.Fatalf("the plan creates %d jobs, two of them a second time", p.Count(ActCreate))
	}
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if r, err := m.Rebuild(t.Context()); err != nil || len(r.Runs) != 1 || !r.Runs[0].Guessed || r.Runs[0].Lost == 0 {
		t.Fatalf("rebuild: %v, %+v", err, r)
	}
	p := makePlan(t, src, treeOf(t, s), opt)
	for _, path := range []string{"/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002"} {
		if problemAt(p, CustodyLost, path) == nil {
			t.Errorf("%s doesn't stop the plan: %v", path, p.Problems)
		}
	}
}

// The trace doesn't count the entries of an unfinished run. So a rebuild of such a run can't
// say that nothing was lost.
func TestRebuildOfAnUnfinishedRun(t *testing.T) {
	opt := options(permissive())
	src := source(t, queue(t, fourRecords(t)))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, opt)
	tree := treeOf(t, s)
	// The target as it is before the closing transaction.
	old, _ := readTrace(tree)
	old.Runs[0].Done, old.Runs[0].Entries, old.Runs[0].Sum, old.Runs[0].Highest = false, 0, "", nil
	old.Sets = tree.Get("/jobs").Stat.Version + 1
	do(t, s, znode.Set("/jobs", old.encode(), -1))
	removeAll(t, s, "/jobs/jid0000000001", "/jobs/jid0000000002", "/jobs/states/pending/05-jid0000000001", "/jobs/states/pending/05-jid0000000002",
		"/batches/bid0000000000", "/batch-uuids/bid-0")
	wipe(t, s)
	m := &Migrator{Target: s.Target, Now: clock(), Keep: keepNothing}
	if r, err := m.Rebuild(t.Context()); err != nil || len(r.Runs) != 1 || r.Runs[0].Lost == 0 {
		t.Errorf("rebuild: %v, %+v", err, r)
	}
	p := makePlan(t, src, treeOf(t, s), opt)
	if problemAt(p, CustodyLost, "/ingest/mrtQ-05000000000001") == nil {
		t.Errorf("the plan creates the job a second time: %d to create, problems %v", p.Count(ActCreate), p.Problems)
	}
}

// A rebuild sends no transaction that is too large for a server. What it creates has the ACL
// of its run.
func TestRebuildOfALargeLedger(t *testing.T) {
	s := serve(t, znode.NewTree())
	records := map[string][]byte{}
	for i := range 3 {
		records[fmt.Sprintf("/ingest/mrtQ-0500%010d", i)] = record(t, legacy.Pending, legacy.Payload{"jobID": fmt.Sprint(i)})
	}
	opt := options(permissive())
	opt.ACL = []znode.ACL{{Perms: znode.PermAll, Scheme: "ip", ID: "127.0.0.1"}}
	mustMigrate(t, s, source(t, queue(t, records)), opt)
	tree := znode.NewTree()
	for n := range treeOf(t, s).All("/") {
		if !znode.Within(n.Path, RunsPath) && !znode.Within(n.Path, LedgerPath) {
			put(t, tree, n.Path, n.Data)
		}
	}
	const many = 30_000
	for i := range many {
		data := fmt.Sprintf(`{"run":"run0000000000","path":"/ingest/mrtQ-%02d0%d%010d","sha256":"%s"}`, i*7919%100, i*31%10, uint32(i*2654435761)>>1, digest(fmt.Append(nil, i)))
		jid := fmt.Sprintf("/jobs/jid%010d", i+10)
		put(t, tree, jid, []byte(data))
		put(t, tree, jid+"/bid", fmt.Appendf(nil, "bid%010d", i*40503%5000))
	}
	plan, err := planRebuild(t.Context(), side.Tree(tree), "test", defaultBudget, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ops := range plan.transactions {
		if size := znode.MultiSize(ops, 0); size > 2*defaultBudget { // the last one also has the run's record
			t.Errorf("a transaction of %d operations takes %d bytes", len(ops), size)
		}
		for _, op := range ops {
			if op.Kind == znode.OpCreate && len(op.ACL) == 0 {
				t.Errorf("%s is made open to all", op.Path)
			}
		}
	}
}
