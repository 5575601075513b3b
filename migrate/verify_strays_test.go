package migrate

import (
	"fmt"
	"slices"
	"testing"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Verify names entries of nothing, even those that others left before the run began: as a
// break of the layout, or because no deployed service could work with them.
func TestVerifyNamesEntriesOfNothing(t *testing.T) {
	const (
		job, entry, other = "/jobs/jid0000009999", "/jobs/states/pending/05-jid0000009999", "/jobs/states/pending/07-jid0000009999"
		inBatch           = "/batches/bid0000000090/states/batch-processing/jid0000009999"
		uuid, odd, lock   = "/batch-uuids/x", "/jobs/states/pending/by", "/locks/storage/ark"
	)
	add := func(path, data string) znode.Op { return znode.Create(path, []byte(data)) }
	noJob := "job jid0000009999 doesn't exist"
	for _, tc := range []struct {
		name   string
		left   []znode.Op
		wanted map[newqueue.Dialect][]named // all differences
		lock   bool                         // services.Demands has a row on it, R02
	}{
		{"nothing", nil, nil, false},
		{"a name of no batch", []znode.Op{add(uuid, "bid0000000777")}, inBoth(named{LayoutBroken, uuid, "doesn't exist"}), false},
		{"a second name of a batch", []znode.Op{add(uuid, "bid0000000090")}, inBoth(named{LayoutBroken, uuid, `the batchID of batch bid0000000090, "another"`}), false},
		{"an entry of no job", []znode.Op{add(entry, "")}, inBoth(named{NodeMissing, job, entry + " names it, but it does not exist"}, named{LayoutBroken, entry, noJob}), false},
		{"two entries of no job", []znode.Op{add(entry, ""), add(other, "")},
			inBoth(named{NodeMissing, job, entry + " names it, but it does not exist"}, named{LayoutBroken, entry, noJob}, named{LayoutBroken, other, noJob}), false},
		{"an entry of no job, and one in a batch", []znode.Op{add(entry, ""), add(inBatch, "")},
			inBoth(named{NodeMissing, job, inBatch + " names it, but it does not exist"}, named{LayoutBroken, entry, noJob}, named{LayoutBroken, inBatch, noJob}), false},
		{"an entry that names no job", []znode.Op{add(odd, "")}, inBoth(named{LayoutBroken, odd, "want a priority"}), false},
		{"a lock", []znode.Op{add("/locks", ""), add("/locks/storage", ""), add(lock, "")},
			map[newqueue.Dialect][]named{newqueue.Design: {{LayoutBroken, lock, "it is persistent"}}}, true},
	} {
		for _, d := range newqueue.Dialects {
			t.Run(tc.name+"/"+string(d), func(t *testing.T) {
				s := liveTarget(t, d)
				othersJob(t, s, d)
				there := treeOf(t, s)
				do(t, s, slices.DeleteFunc(slices.Clone(tc.left), func(op znode.Op) bool { return there.Get(op.Path) != nil })...)
				src := source(t, queue(t, fourRecords(t)))
				mustMigrate(t, s, src, inDialect(d))
				v := verdict(t, src, treeOf(t, s), VerifyOptions{})
				mustName(t, v, tc.wanted[d]...)
				for _, x := range v.Differences {
					if !slices.ContainsFunc(tc.wanted[d], func(n named) bool { return n.kind == x.Kind && n.path == x.Path }) {
						t.Errorf("named as well: %s", x)
					}
				}
				found := slices.ContainsFunc(v.Services, func(f ServiceFinding) bool { return f.Requirement == "R02" && f.Items[0].Node == lock })
				if want := tc.lock && d == newqueue.MrtZK; found != want {
					t.Errorf("the lock is found: %t, want %t: %v", found, want, v.Services)
				}
			})
		}
	}
}

// inBoth are differences in either dialect.
func inBoth(all ...named) map[newqueue.Dialect][]named {
	return map[newqueue.Dialect][]named{newqueue.Design: all, newqueue.MrtZK: all}
}

// If there is nothing to migrate, verify misses nothing in a target without a run.
func TestVerifyWantsNothingOfAnUntouchedTarget(t *testing.T) {
	v := verdict(t, source(t, queue(t, nil)), znode.NewTree(), VerifyOptions{})
	if !v.OK() || v.Nodes != 0 {
		t.Errorf("%d nodes compared, differences %v", v.Nodes, v.Differences)
	}
}

// A folder of a batch that a run left empty is no difference; another one is.
func TestVerifyKnowsAnEmptiedFolder(t *testing.T) {
	const folder = "/batches/bid0000000000/states/batch-failed"
	s, src := twoBatches(t)
	made := treeOf(t, s).Get("/batches/bid0000000000").Stat
	for _, tc := range []struct {
		name, path string
		copied     bool // restored from a dump, so that its transactions show nothing
		stat       znode.Stat
		extra      bool
	}{
		{"made by the run", folder, false, znode.Stat{Czxid: made.Czxid}, false},
		{"made since", folder, false, znode.Stat{Czxid: 1 << 40, Cversion: 2}, true},
		{"made by the run, and it holds something", folder, false, znode.Stat{Czxid: made.Czxid, NumChildren: 1}, true},
		{"made by the run, but it is no state's", folder + "-x", false, znode.Stat{Czxid: made.Czxid}, true},
		{"made by the run, but it is not among the states", "/batches/bid0000000000/batch-failed", false, znode.Stat{Czxid: made.Czxid}, true},
		{"in a batch of others", "/batches/bid0000000077/states/batch-failed", false, znode.Stat{Czxid: 1 << 40}, true},
		{"copied, and something was in it", folder, true, znode.Stat{Cversion: 1}, false},
		{"copied, and nothing was ever in it", folder, true, znode.Stat{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := edited(t, treeOf(t, s), without())
			if tc.copied {
				tree = edited(t, tree, changed(run1, func(n *znode.Node) { n.Stat.Version = 0 }))
			}
			if err := tree.Put(znode.Node{Path: tc.path, Data: none, Stat: tc.stat}); err != nil {
				t.Fatal(err)
			}
			v := verdict(t, src, tree, VerifyOptions{})
			if got := (named{NodeExtra, tc.path, ""}).in(v); got != tc.extra {
				t.Errorf("it is named: %t, want %t: %v", got, tc.extra, v.Differences)
			}
		})
	}
}

// If data from which verify makes a path can't be a path, verify names the znode and compares
// the rest.
func TestVerifyReadsHostileNames(t *testing.T) {
	const uuid = "/batch-uuids/bid-1"
	for _, bad := range []string{"", "/", "..", "a/b", "\x00", "bid0000000000/states"} {
		for _, path := range []string{uuid, job1 + "/bid"} {
			t.Run(fmt.Sprintf("%s is %q", path, bad), func(t *testing.T) {
				s, src := twoBatches(t)
				v := verdict(t, src, edited(t, treeOf(t, s), changed(path, func(n *znode.Node) { n.Data = []byte(bad) })), VerifyOptions{})
				if !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Path == path }) {
					t.Errorf("%s is not named: %v", path, v.Differences)
				}
			})
		}
		t.Run(fmt.Sprintf("the run is %q", bad), func(t *testing.T) {
			s, src := twoBatches(t)
			v := verdict(t, src, edited(t, treeOf(t, s), changed(job1, func(n *znode.Node) {
				p, _ := parseProvenance(n.Data)
				p.Run = bad
				n.Data = p.encode()
			})), VerifyOptions{})
			if v.OK() {
				t.Error("nothing is named")
			}
		})
		t.Run(fmt.Sprintf("the submission says %q", bad), func(t *testing.T) {
			s, src := twoBatches(t)
			const path = "/batches/bid0000000000/submission"
			v := verdict(t, src, edited(t, treeOf(t, s), changed(path, func(n *znode.Node) { n.Data = encode(newqueue.Object{"batchID": bad}) })), VerifyOptions{})
			mustName(t, v, named{NodeChanged, path, ""})
		})
	}
}
