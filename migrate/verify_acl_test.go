package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// Verify compares each ACL that was read with the ACL of the run that created the znode. It
// does not compare the ACLs of others' znodes.
func TestVerifyComparesACLs(t *testing.T) {
	const request, requestOf2, theirs = "/access/small/qid0000000000", "/access/small/qid0000000001", "/batches/bid0000000090"
	readers := func(name string) []znode.ACL {
		return []znode.ACL{{Perms: znode.PermAll, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "digest", ID: name + ":hash"}}
	}
	first, second := readers("first"), readers("second")
	records := map[string][]byte{
		"/ingest/mrtQ-05000000000001":      record(t, legacy.Pending, legacy.Payload{"batchID": "bid-1"}),
		"/accessSmall.1/mrtQ-050000000001": record(t, legacy.Pending, legacy.Payload{"token": "t"}),
	}
	s := serve(t, znode.NewTree())
	run := func(acl []znode.ACL) *Source {
		opt := options(permissive())
		opt.ACL = acl
		src := source(t, queue(t, records))
		mustMigrate(t, s, src, opt)
		return src
	}
	run(first)
	othersJob(t, s, options(permissive()).Dialect)
	records["/accessSmall.1/mrtQ-050000000002"] = record(t, legacy.Pending, legacy.Payload{"token": "u"})
	s.begin(t)
	src := run(second)
	tree := treeOf(t, s)
	mustVerify(t, src, tree)
	compared := verdict(t, src, tree, VerifyOptions{}).ACLs

	const run2 = "/migration/runs/run0000000001"
	for _, tc := range []struct {
		name  string
		acls  map[string][]znode.ACL // nil is one that was not read
		want  []named
		fewer int // how many fewer ACLs are compared than the tree has
	}{
		{"as the runs left them", nil, nil, 0},
		{"of a job", map[string][]znode.ACL{job1: second}, []named{{OtherACL, job1, "run0000000000 gave"}}, 0},
		{"with another password", map[string][]znode.ACL{job1: {first[0], {Perms: 1, Scheme: "digest", ID: "first:other-hash"}}},
			[]named{{OtherACL, job1, "its ACL is world:anyone:rwcda,digest:first:…:r with another password, and run0000000000 gave world:anyone:rwcda,digest:first:…:r to all that it made"}}, 0},
		{"of a part of a job", map[string][]znode.ACL{job1 + "/bid": znode.OpenACL()}, []named{{OtherACL, job1 + "/bid", "run0000000000 gave"}}, 0},
		{"of a batch", map[string][]znode.ACL{"/batches/bid0000000000/status": second}, []named{{OtherACL, "/batches/bid0000000000/status", "run0000000000 gave"}}, 0},
		{"of an entry", map[string][]znode.ACL{entry1: second, inBatch1: second}, []named{{OtherACL, entry1, "run0000000000 gave"}, {OtherACL, inBatch1, "run0000000000 gave"}}, 0},
		{"of a request of the second run", map[string][]znode.ACL{requestOf2: first}, []named{{OtherACL, requestOf2, "run0000000001 gave"}}, 0},
		{"of the layout", map[string][]znode.ACL{"/batch-uuids": second}, []named{{OtherACL, "/batch-uuids", "run0000000000 gave"}}, 0},
		{"of the election", map[string][]znode.ACL{ElectionPath: second}, []named{{OtherACL, ElectionPath, "run0000000000 gave"}}, 0},
		{"of others", map[string][]znode.ACL{theirs: first, theirs + "/status": second}, nil, 0},
		{"not read", map[string][]znode.ACL{request: nil, requestOf2: nil, job1: nil}, nil, 3},
		{"of the second run's record, not read", map[string][]znode.ACL{run2: nil, requestOf2: first}, nil, 4},
		{"of the first run's record, not read", map[string][]znode.ACL{run1: nil, job1: second, requestOf2: first, ElectionPath: second}, []named{{OtherACL, requestOf2, "run0000000001 gave"}}, 33},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := verdict(t, src, edited(t, tree, func(n *znode.Node) bool {
				if acl, there := tc.acls[n.Path]; there {
					n.ACL = acl
				}
				return true
			}), VerifyOptions{})
			mustName(t, v, tc.want...)
			for _, d := range v.Differences {
				if strings.Contains(d.Message, "hash") {
					t.Errorf("it shows a digest: %s", d)
				}
				if !slices.ContainsFunc(tc.want, func(n named) bool { return n.path == d.Path && n.kind == d.Kind }) {
					t.Errorf("named as well: %s", d)
				}
			}
			if want := compared - tc.fewer; v.ACLs != want {
				t.Errorf("%d ACLs compared, want %d", v.ACLs, want)
			}
		})
	}
}

// In a large target, the sample always has the runs' records, the holds and the election. It
// has a part of the rest, which is always the same part.
func TestACLSample(t *testing.T) {
	always := []string{RunsPath + "/run0000000000", "/locks/queue/ingest", ElectionPath}
	wanted := func(s *ACLSample) (n int) {
		for i := range 10000 {
			path := fmt.Sprintf("/jobs/jid%010d", i)
			wants := s.Wants(path)
			if wants != s.Wants(path) {
				t.Errorf("%s is wanted, and is not", path)
			}
			if wants {
				n++
			}
		}
		return n
	}
	for _, tc := range []struct {
		all         bool
		jobs        int // -1: the sample is not spread yet
		least, most int
	}{
		{true, -1, 10000, 10000}, {true, 1e6, 10000, 10000},
		{false, -1, 10000, 10000}, {false, 0, 10000, 10000}, {false, aclSample / nodesEachJob, 10000, 10000},
		{false, 10000, 5, 60}, // 10 000 of 110 000 znodes: about 18
	} {
		s := NewACLSample(tc.all)
		if tc.jobs >= 0 {
			s.spread(tc.jobs)
		}
		if n := wanted(s); n < tc.least || n > tc.most {
			t.Errorf("%+v: %d are wanted", tc, n)
		}
		for _, path := range always {
			if !s.Wants(path) {
				t.Errorf("%+v: %s is not wanted", tc, path)
			}
		}
	}
	(*ACLSample)(nil).spread(1)
}

// A run that was interrupted is finished with its own ACL. Otherwise the rest of its jobs would
// be open to all.
func TestFinishedWithItsACL(t *testing.T) {
	closed := []znode.ACL{{Perms: znode.PermAll &^ 16, Scheme: "world", ID: "anyone"}}
	src := source(t, queue(t, map[string][]byte{
		"/ingest/mrtQ-05000000000001": record(t, legacy.Pending, legacy.Payload{"jobID": "one"}),
		"/ingest/mrtQ-05000000000002": record(t, legacy.Pending, legacy.Payload{"jobID": "two"}),
	}))
	for _, c := range []struct {
		name string
		acl  []znode.ACL
		want error
	}{
		{"none given", nil, nil},
		{"the same", closed, nil},
		{"another", []znode.ACL{{Perms: znode.PermAll, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "digest", ID: "other:c2VjcmV0"}}, ErrBlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, znode.NewTree())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opt := options(permissive())
			opt.ACL = closed
			first := &Migrator{Target: s.Target, Now: clock(), Budget: 1, Progress: func(int, int) { cancel() }}
			if _, err := first.Migrate(ctx, static(src), opt, nil); !errors.Is(err, ErrInterrupted) {
				t.Fatal(err)
			}
			s.begin(t)
			opt.ACL = c.acl
			before := dumpOf(t, treeOf(t, s), "/")
			res, err := (&Migrator{Target: s.Target, Now: clock()}).Migrate(t.Context(), static(src), opt, nil)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if c.want == nil {
				if res.Steps == 0 {
					t.Error("the first migration was not interrupted")
				}
				mustVerify(t, src, treeOf(t, s))
				return
			}
			if text := err.Error(); !strings.Contains(text, "run0000000000 gives its znodes the ACL world:anyone:rwcd, and this plan gives world:anyone:rwcda,digest:other:…:r") {
				t.Error(text)
			}
			if after := dumpOf(t, treeOf(t, s), "/"); after != before {
				t.Errorf("before\n%s\nafter\n%s", before, after)
			}
		})
	}
}

// A later run may have another ACL, but not unnoticed.
func TestAnotherACLIsAWarning(t *testing.T) {
	s, src := heldSite(t)
	opt := options(permissive())
	if p := makePlan(t, src, treeOf(t, s), opt); len(p.Warnings) != 0 {
		t.Errorf("the same ACL: %v", p.Warnings)
	}
	opt.ACL = []znode.ACL{{Perms: znode.PermAll, Scheme: "digest", ID: "operator:hash"}}
	want := Warning{Path: "/migration/runs/run0000000000", Message: "run0000000000 gave its znodes the ACL open, and this plan gives digest:operator:…:rwcda"}
	if p := makePlan(t, src, treeOf(t, s), opt); !slices.Contains(p.Warnings, want) || p.Blocked() {
		t.Errorf("another ACL: %v, %v", p.Warnings, p.Problems)
	}
}
