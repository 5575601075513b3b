package migrate

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// named is a difference by its kind, its path and a part of its message.
type named struct {
	kind    DifferenceKind
	path    string
	message string
}

func (n named) in(v *Verdict) bool {
	return slices.ContainsFunc(v.Differences, func(d Difference) bool {
		return d.Kind == n.kind && d.Path == n.path && strings.Contains(d.Message, n.message)
	})
}

func mustName(t *testing.T, v *Verdict, wanted ...named) {
	t.Helper()
	for _, n := range wanted {
		if !n.in(v) {
			t.Errorf("verify does not name %+v, but %v", n, v.Differences)
		}
	}
}

// twoBatches returns a queue with two batches of one job each and a request, and the target
// that it was migrated to.
func twoBatches(t *testing.T) (*site, *Source) {
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001":      record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1"}),
		"/ingest/mrtQ-05000000000002":      record(t, legacy.Failed, legacy.Payload{"batchID": "bid-2"}),
		"/accessSmall.1/mrtQ-000000000001": record(t, legacy.Pending, legacy.Payload{"token": "t"}),
	}))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, options(permissive()))
	mustVerify(t, src, treeOf(t, s))
	return s, src
}

const (
	job1, job2 = "/jobs/jid0000000001", "/jobs/jid0000000002" // /jobs/states took number 0
	entry1     = "/jobs/states/pending/05-jid0000000001"
	inBatch1   = "/batches/bid0000000000/states/batch-processing/jid0000000001"
	run1       = RunsPath + "/run0000000000"
	shard1     = LedgerPath + "/run0000000000/0000000000"
)

// edited returns a tree in which edit has changed or removed some znodes.
func edited(t *testing.T, tree *znode.Tree, edit func(n *znode.Node) (keep bool)) *znode.Tree {
	t.Helper()
	out := znode.NewTree()
	for n := range tree.All("/") {
		m := *n
		if !edit(&m) {
			continue
		}
		if err := out.Put(m); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func without(paths ...string) func(*znode.Node) bool {
	return func(n *znode.Node) bool {
		return !slices.ContainsFunc(paths, func(root string) bool { return znode.Within(n.Path, root) })
	}
}

// changed returns an edit of one znode.
func changed(path string, change func(*znode.Node)) func(*znode.Node) bool {
	return func(n *znode.Node) bool {
		if n.Path == path {
			change(n)
		}
		return true
	}
}

// If another client adds a znode to something that the migration made, verify names it, even
// if others' znodes are allowed.
func TestOthersDoNotExplainWhatIsInOurs(t *testing.T) {
	for _, tc := range []struct{ path, data, of string }{
		{job1 + "/extra", "", job1},
		{"/access/small/qid0000000000/extra", "", "/access/small/qid0000000000"},
		{"/jobs/states/failed/09-jid0000000001", "", job1},
		{"/batches/bid0000000000/extra", "", "/batches/bid0000000000"},
		{"/batches/bid0000000001/states/batch-failed/jid0000000001", "", "/batches/bid0000000001"},
		{"/batches/bid0000000007/states/batch-failed/jid0000000001", "", job1},
		{"/batch-uuids/another", "bid0000000000", "/batches/bid0000000000"},
		{RunsPath + "/strange", "", MigrationPath},
		{LedgerPath + "/strange", "", MigrationPath},
		{ElectionPath + "/strange", "", ElectionPath},
		{RunsPath + "/run0000000000/strange", "", RunsPath + "/run0000000000"},
		{LedgerPath + "/run0000000000/strange", "", LedgerPath + "/run0000000000"},
		{LedgerPath + "/run0000000000/0000000000/strange", "", LedgerPath + "/run0000000000"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			s, src := twoBatches(t)
			for _, path := range []string{"/batches/bid0000000007", "/batches/bid0000000007/states", "/batches/bid0000000007/states/batch-failed", tc.path} {
				do(t, s, znode.Create(path, []byte(tc.data)))
			}
			v := verdict(t, src, treeOf(t, s), VerifyOptions{Others: true})
			mustName(t, v, named{NodeExtra, tc.path, "it belongs to " + tc.of + ", which"})
		})
	}
}

// Verify names each missing or changed znode by its own path.
func TestVerifyNamesThePlace(t *testing.T) {
	for _, tc := range []struct {
		name   string
		edit   func(*znode.Node) bool
		wanted named
	}{
		{"an entry in a queue is gone", without(entry1), named{NodeMissing, entry1, "doesn't"}},
		{"an entry in a batch is gone", without(inBatch1), named{NodeMissing, inBatch1, "doesn't"}},
		{"a batch is gone", without("/batches/bid0000000000"), named{NodeMissing, "/batches/bid0000000000", "doesn't"}},
		{"a batch's uuid is gone", without("/batch-uuids/bid-1"), named{NodeMissing, "/batch-uuids/bid-1", "doesn't"}},
		{"a job names another batch", func(n *znode.Node) bool {
			if n.Path == job1+"/bid" {
				n.Data = []byte("bid0000000001")
			}
			return true
		}, named{NodeChanged, job1 + "/bid", "bid0000000000"}},
		{"a part of a job is ephemeral", func(n *znode.Node) bool {
			if n.Path == job1+"/bid" {
				n.Stat.EphemeralOwner = 0x77
			}
			return true
		}, named{Recreated, job1 + "/bid", "session 0x77"}},
		{"a job says that it was made from what the ledger does not know", func(n *znode.Node) bool {
			if n.Path == job1 {
				n.Data = []byte(strings.Replace(string(n.Data), "mrtQ-05000000000001", "mrtQ-05000000000002", 1))
			}
			return true
		}, named{Forged, job1, "and so does " + job2}},
		{"a session holds what should not be there", nil, named{NodeExtra, job1 + "/strange", "a session holds it"}},
		{"/migration holds data", changed(MigrationPath, func(n *znode.Node) { n.Data = []byte("by hand") }), named{NodeChanged, MigrationPath, "by hand"}},
		{"the ACL of /jobs was changed", changed("/jobs", func(n *znode.Node) { n.Stat.Aversion = 1 }), named{OtherACL, "/jobs", "since it was created"}},
		{"/jobs is ephemeral", changed("/jobs", func(n *znode.Node) { n.Stat.EphemeralOwner = 0x77 }), named{Recreated, "/jobs", "session 0x77"}},
		{"/jobs was recreated", changed("/jobs", func(n *znode.Node) { n.Stat.Czxid = 1 << 40 }), named{Recreated, "/jobs", "no run was at work"}},
		{"the ACL of a run's record was changed", changed(run1, func(n *znode.Node) { n.Stat.Aversion = 1 }), named{OtherACL, run1, "since it was created"}},
		{"a run's record is ephemeral", changed(run1, func(n *znode.Node) { n.Stat.EphemeralOwner = 0x77 }), named{Recreated, run1, "session 0x77"}},
		{"the ACL of a shard was changed", changed(shard1, func(n *znode.Node) { n.Stat.Aversion = 1 }), named{OtherACL, shard1, "since it was created"}},
		{"a shard was written to", changed(shard1, func(n *znode.Node) { n.Stat.Version = 2 }), named{NodeTouched, shard1, "it was set 2 times"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, src := twoBatches(t)
			if tc.edit == nil {
				must(t, s, multi{createEphemeral(tc.wanted.path, none)})
				tc.edit = without()
			}
			mustName(t, verdict(t, src, edited(t, treeOf(t, s), tc.edit), VerifyOptions{}), tc.wanted)
		})
	}
}

// If a copy of a job claims a record and the ledger does not have the copy, it is forged. If
// there are two such copies, the record was migrated twice.
func TestForgedClaims(t *testing.T) {
	const third = "/ingest/mrtQ-05000000000003"
	s, src := twoBatches(t)
	data := map[string][]byte{third: record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1"})}
	for _, r := range src.Records {
		data[r.Path] = r.Data
	}
	tree := treeOf(t, s)
	copyTo := func(root string) {
		for n := range treeOf(t, s).All(job1) {
			m := *n
			m.Path = root + strings.TrimPrefix(n.Path, job1)
			m.Data = []byte(strings.ReplaceAll(string(n.Data), "05000000000001", "05000000000003"))
			if err := tree.Put(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	src = source(t, queue(t, data))
	copyTo("/jobs/jid0000000008")
	mustName(t, verdict(t, src, tree, VerifyOptions{}), named{Forged, "/jobs/jid0000000008", "the ledger does not say so"})
	copyTo("/jobs/jid0000000009")
	v := verdict(t, src, tree, VerifyOptions{})
	mustName(t, v, named{Forged, "/jobs/jid0000000008", "the ledger does not say so"}, named{Forged, "/jobs/jid0000000009", "so does /jobs/jid0000000008"}, named{MigratedTwice, third, ""})
	if v.Records.Migrated != 4 || v.Records.Total != 4 {
		t.Errorf("each record counts once: %+v", v.Records)
	}
}

// If the run's own record is gone, the trace on /jobs still has the dialect and the operator's
// choices.
func TestVerifyKnowsTheChoicesOfALostRun(t *testing.T) {
	src := source(t, corpus(t))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, inDialect(newqueue.MrtZK))
	do(t, s, znode.Create("/jobs/jid0000009999", none))
	v := verdict(t, src, edited(t, treeOf(t, s), without(RunsPath, LedgerPath)), VerifyOptions{})
	for _, d := range v.Differences {
		if d.Kind == Undecided || d.Kind == NodeChanged {
			t.Errorf("verify forgot what was chosen: %s", d)
		}
	}
	if v.Records.Quarantined == 0 {
		t.Errorf("nothing is in quarantine: %+v", v.Records)
	}
	mustName(t, v, named{NodeExtra, "/jobs/jid0000009999", "no run is recorded"})
}

// Settled counts exactly the records that are gone from both sides.
func TestSettled(t *testing.T) {
	const first, second, third = "/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002", "/accessSmall.1/mrtQ-000000000001"
	for _, tc := range []struct {
		name          string
		records, jobs []string // that are gone
		settled, gone int
	}{
		{"neither", nil, nil, 0, 0},
		{"the record", []string{first}, nil, 0, 0},
		{"the job", nil, []string{job1, entry1, inBatch1}, 0, 1},
		{"both", []string{first}, []string{job1, entry1, inBatch1}, 1, 0},
		{"all three of both", []string{first, second, third}, []string{job1, job2, "/access/small/qid0000000000"}, 3, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, src := twoBatches(t)
			src = source(t, edited(t, src.Tree, without(tc.records...)))
			v := verdict(t, src, edited(t, treeOf(t, s), without(tc.jobs...)), VerifyOptions{})
			if v.Settled != tc.settled || v.Records.Gone != tc.gone {
				t.Errorf("%d settled, %d gone; want %d, %d", v.Settled, v.Records.Gone, tc.settled, tc.gone)
			}
		})
	}
}

// If a quarantine file lacks a record's bytes, verify names the record.
func TestVerifyLooksIntoTheQuarantine(t *testing.T) {
	const bad = "/ingest/mrtQ-05000000000001"
	data := []byte("no record")
	src := source(t, queue(t, map[string][]byte{bad: data, "/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{})}))
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, options(permissive()))
	for kept, named := range map[string]bool{"no record": false, "another": true} {
		v := verdict(t, src, treeOf(t, s), VerifyOptions{Quarantined: map[string][][]byte{bad: {[]byte(kept)}}})
		got := slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Kind == NotKept && d.Path == bad })
		if got != named {
			t.Errorf("the file keeps %q: NotKept is %t, want %t", kept, got, named)
		}
	}
}

// A batch belongs to the run that created it, even if only the jobs of a later run are left in
// it.
func TestBatchWhoseFirstJobIsGone(t *testing.T) {
	const first, second = "/ingest/mrtQ-05000000000001", "/ingest/mrtQ-05000000000002"
	records := map[string][]byte{first: record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1"})}
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, records)), options(permissive()))
	records[second] = records[first]
	src := source(t, queue(t, records))
	s.begin(t)
	mustMigrate(t, s, src, options(permissive()))
	tree := treeOf(t, s)
	prov, _ := parseProvenance(tree.Get(job2).Data)
	of, _ := parseBatchProvenance(tree.Get("/batches/bid0000000000").Data)
	if prov.Run == of.Run || string(tree.Get(job2+"/bid").Data) != "bid0000000000" {
		t.Fatalf("this is not the case that was meant: %+v in a batch of %+v", prov, of)
	}
	v := verdict(t, source(t, edited(t, src.Tree, without(first))), edited(t, tree, without(job1, entry1, inBatch1)), VerifyOptions{})
	for _, d := range v.Differences {
		t.Errorf("verify: %s", d)
	}
}

// If a property of the record can't be read back from the job, verify says so, besides any
// other difference.
func TestVerifyReadsRecordsBack(t *testing.T) {
	const request = "/access/small/qid0000000000"
	provenance := func(path string, change func(*Provenance)) func(*znode.Node) bool {
		return changed(path, func(n *znode.Node) {
			p, _ := parseProvenance(n.Data)
			change(&p)
			n.Data = p.encode()
		})
	}
	for _, tc := range []struct {
		name string
		edit func(*znode.Node) bool
		path string
		lost string // what can't be read back, "" if everything can
	}{
		{"nothing", without(), job1, ""},
		{"the status", provenance(job1, func(p *Provenance) { p.Status = "held" }), job1, "the status"},
		{"the time", provenance(job1, func(p *Provenance) { p.Time = "2001-01-01T00:00:00Z" }), job1, "the time"},
		{"the unit of the time", provenance(job1, func(p *Provenance) { p.TimeUnit = "s" }), job1, "the time"},
		{"the high priority", provenance(job1, func(p *Provenance) { p.HighPriority = !p.HighPriority }), job1, "the key's parts"},
		{"the worker", provenance(job1, func(p *Provenance) { p.Worker += "0" }), job1, "the key's parts"},
		{"the sequence", provenance(job1, func(p *Provenance) { p.Sequence++ }), job1, "the key's parts"},
		{"the priority", changed(job1+"/priority", func(n *znode.Node) { n.Data = []byte("7") }), job1, "the priority"},
		{"a property", changed(job1+"/configuration", func(n *znode.Node) { n.Data = []byte(strings.Replace(string(n.Data), `"kept":"x"`, `"kept":"y"`, 1)) }), job1, `property "kept" of /ingest/mrtQ-05000000000001 reads back as "\"y\""`},
		{"a property that is null", changed(job1+"/configuration", func(n *znode.Node) { n.Data = []byte(strings.Replace(string(n.Data), `"nothing":null,`, "", 1)) }), job1, `property "nothing"`},
		{"one property more", changed(job1+"/configuration", func(n *znode.Node) { n.Data = []byte(strings.Replace(string(n.Data), "{", `{"more":1,`, 1)) }), job1, `property "more"`},
		{"a request's property", changed(request+"/token", func(n *znode.Node) { n.Data = []byte(`{"token":"u"}`) }), request, `property "token"`},
		{"the whole token", changed(request+"/token", func(n *znode.Node) { n.Data = []byte("by hand") }), request, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			src := source(t, queue(t, map[string][]byte{
				"/ingest/mrtQ-05000000000001":      record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1", "kept": "x", "nothing": nil, "profile": "p"}),
				"/accessSmall.1/mrtQ-000000000001": record(t, legacy.Pending, legacy.Payload{"token": "t"}),
			}))
			s := serve(t, znode.NewTree())
			mustMigrate(t, s, src, options(permissive()))
			v := verdict(t, src, edited(t, treeOf(t, s), tc.edit), VerifyOptions{})
			lost := slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Kind == NotLossless })
			if want := tc.lost != ""; lost != want {
				t.Errorf("something is lost: %t, want %t: %v", lost, want, v.Differences)
			}
			if tc.lost != "" {
				mustName(t, v, named{NotLossless, tc.path, tc.lost})
			}
		})
	}
}

// The report of a failed batch lists its completed jobs. Verify expects all of them there.
func TestVerifyKnowsTheReportOfAFailedBatch(t *testing.T) {
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Completed, legacy.Payload{"batchID": "bid-1"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Failed, legacy.Payload{"batchID": "bid-1"}),
		"/ingest/mrtQ-05000000000003": record(t, legacy.Completed, legacy.Payload{"batchID": "bid-1"}),
	}))
	opt := options(permissive())
	opt.Policies.Completed = Migrate
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, src, opt)
	tree := treeOf(t, s)
	if n := tree.Get("/batches/bid0000000000/status-report"); n == nil || !strings.Contains(string(n.Data), "jid0000000001") || !strings.Contains(string(n.Data), "jid0000000003") {
		t.Fatalf("this is not the case that was meant: %v", n)
	}
	mustVerify(t, src, tree)
}
