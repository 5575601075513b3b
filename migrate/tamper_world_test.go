package migrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// worlds are the targets, each with the changes that the test tries on it.
var worlds = []struct {
	name  string
	build func(*testing.T, newqueue.Dialect) *world
	cases func(*world) []tampering
}{
	{"first run on an empty target", emptyWorld, everything},
	{"live target, and the field's markers", liveWorld, everything},
	{"two runs, others' jobs between", twoRunsWorld, everything},
	{"rebuilt after /migration was removed", rebuiltWorld, everything},
	{"copy, restored from a dump", copyWorld, withoutTransactions},
	{"several shards", shardsWorld, ledgersOfAll},
}

// others has the nodes that no run made: those that exist at one moment and did not exist
// at an earlier one.
type others map[string]int64 // czxid by path

func (o others) add(after int64, now *znode.Tree) others {
	for n := range now.All("/") {
		if n.Stat.Czxid > after {
			o[n.Path] = n.Stat.Czxid
		}
	}
	return o
}

func inDialect(d newqueue.Dialect) Options {
	opt := options(permissive())
	opt.Dialect = d
	return opt
}

func emptyWorld(t *testing.T, d newqueue.Dialect) *world {
	src := source(t, corpus(t))
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, inDialect(d))
	return &world{src: src, clean: treeOf(t, target)}
}

func liveWorld(t *testing.T, d newqueue.Dialect) *world {
	src := source(t, corpus(t))
	target := liveTarget(t, d)
	setMarkers(t, target)
	must(t, target, multi{create(newqueue.LocksPath, none), create(newqueue.QueueLocksPath, none), create(newqueue.QueueHoldPath(newqueue.QueueHolds[0]), none)})
	there := others{}.add(0, treeOf(t, target))
	mustMigrate(t, target, src, inDialect(d))
	return &world{src: src, clean: treeOf(t, target), others: there}
}

// setMarkers sets the field's markers, as its script does at the end
// (docs/field-script.md, "Migration levels").
func setMarkers(t *testing.T, target *site) {
	must(t, target, multi{create(MigrationPath, none), create(MigrationPath+"/m1", none), create(MigrationPath+"/m3", none)})
}

// twoRunsWorld is migrated in two runs: the second has a third of the corpus, and one
// record that has changed. Between the two, another client submits a job.
func twoRunsWorld(t *testing.T, d newqueue.Dialect) *world { return twoRuns(t, d, liveTarget(t, d)) }

func twoRuns(t *testing.T, d newqueue.Dialect, target *site) *world {
	theirs := others{}.add(0, treeOf(t, target))
	mustMigrate(t, target, source(t, earlierCorpus(t, true)), inDialect(d))
	then := treeOf(t, target).Zxid()
	othersJob(t, target, d)
	theirs.add(then, treeOf(t, target))
	src := source(t, corpus(t))
	target.begin(t)
	if res := mustMigrate(t, target, src, inDialect(d)); res.Done.Rewritten != 1 || res.Done.Jobs == 0 || res.Run != "run0000000001" {
		t.Fatalf("%s did %+v", res.Run, res.Done)
	}
	return &world{src: src, clean: treeOf(t, target), others: theirs}
}

// earlierCorpus returns the corpus without some records. If changed, one record has another
// state.
func earlierCorpus(t *testing.T, changed bool) *znode.Tree {
	const changes = "/ingest/mrtQ-05000000000001"
	tree := znode.NewTree()
	i := 0
	for n := range corpus(t).All("/") {
		n := *n
		if _, err := legacy.ParseKey(znode.Name(n.Path)); err == nil {
			i++
		}
		switch {
		case n.Path == changes && !changed:
		case n.Path == changes:
			n.Data = append([]byte{byte(legacy.Failed)}, n.Data[1:]...)
		case n.Path == "/" || i > 0 && i%3 == 0:
			continue
		}
		if err := tree.Put(n); err != nil {
			t.Fatal(err)
		}
	}
	return tree
}

// othersJob creates another client's job, in a batch of its own.
func othersJob(t *testing.T, target *site, d newqueue.Dialect) {
	const bid, jid = "bid0000000090", "jid0000000090"
	b, j := newqueue.BatchPath(bid), newqueue.JobPath(jid)
	must(t, target, multi{
		create(b, none),
		create(b+"/submission", []byte(`{"batchID":"another","profile_name":"p"}`)),
		create(b+"/status", encode(newqueue.BatchStatus{State: newqueue.BatchProcessing, LastModified: testNow}.Object(d))),
		create(b+"/states", none),
		create(b+"/states/batch-processing", none),
		create(newqueue.BatchUUIDPath("another"), []byte(bid)),
		create(j, none),
		create(j+"/bid", []byte(bid)),
		create(j+"/configuration", []byte(`{"batch_id":"`+bid+`"}`)),
		create(j+"/status", encode(newqueue.JobStatus{State: newqueue.JobPending, LastModified: testNow}.Object(d))),
		create(j+"/priority", []byte("5")),
		create(j+"/space_needed", []byte("0")),
		create(newqueue.BatchEntryPath(bid, newqueue.FolderProcessing, jid), none),
		create(newqueue.JobEntryPath(newqueue.JobPending, 5, jid), none),
	})
}

// rebuiltWorld is a target whose /migration the field's script has removed and recreated
// with its markers, and whose records were then rebuilt.
func rebuiltWorld(t *testing.T, d newqueue.Dialect) *world {
	target := liveTarget(t, d)
	w := twoRuns(t, d, target)
	then := w.clean.Zxid()
	must(t, target, w.remove(MigrationPath))
	setMarkers(t, target)
	w.others.add(then, treeOf(t, target))
	target.begin(t)
	if _, err := (&Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.clean = treeOf(t, target)
	return w
}

// What a rebuild recreates has the ACL of the runs, and verify compares it.
func TestRebuildGivesTheRunsACL(t *testing.T) {
	opt := options(permissive())
	opt.ACL = []znode.ACL{{Perms: znode.PermAll, Scheme: "world", ID: "anyone"}, {Perms: 1, Scheme: "digest", ID: "reader:hash"}}
	src := source(t, corpus(t))
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, src, opt)
	must(t, target, (&world{clean: treeOf(t, target)}).remove(MigrationPath))
	target.begin(t)
	if _, err := (&Migrator{Target: target.Target, Now: clock(), Keep: keepNothing}).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	tree := treeOf(t, target)
	for n := range tree.All(MigrationPath) {
		if !sameACL(n.ACL, opt.ACL) {
			t.Errorf("%s has the ACL %v", n.Path, n.ACL)
		}
	}
	mustVerify(t, src, tree)
}

func must(t *testing.T, target *site, do any) {
	t.Helper()
	if err := carryOut(target.client, do); err != nil {
		t.Fatal(err)
	}
}

// copyWorld is twoRunsWorld restored on another server, whose transactions show nothing.
func copyWorld(t *testing.T, d newqueue.Dialect) *world {
	w := twoRunsWorld(t, d)
	target := serve(t, znode.NewTree())
	var all multi
	for n := range w.clean.All("/") {
		if n.Path != "/" {
			all = append(all, create(n.Path, n.Data))
		}
	}
	for chunk := range slices.Chunk(all, 100) {
		must(t, target, chunk)
	}
	theirs := others{}
	tree := treeOf(t, target)
	for path := range w.others {
		if n := tree.Get(path); n != nil && !w.ours(path) {
			theirs[path] = n.Stat.Czxid
		}
	}
	copied := &world{src: w.src, clean: tree, others: theirs, before: map[Difference]bool{}}
	for _, d := range verifyTree(w.src, tree, VerifyOptions{}).Differences {
		copied.before[d] = true
	}
	return copied
}

// withoutTransactions returns the changes that verify can notice without transactions.
func withoutTransactions(w *world) []tampering {
	var all []tampering
	for _, c := range everything(w) {
		needs := strings.Contains(c.kind, "recreated") && c.kind != "recreated as ephemeral"
		for _, kind := range []string{"whole in one transaction", "sealed", "trace edited", "trace of a run", "folder of a batch"} {
			needs = needs || strings.Contains(c.kind, kind)
		}
		if !needs {
			all = append(all, c)
		}
	}
	return all
}

// shardsWorld has two runs. The first has three shards.
func shardsWorld(t *testing.T, d newqueue.Dialect) *world {
	const first = 2*tailEntries + 40
	records := map[string][]byte{}
	add := func(from, to int) *Source {
		for i := from; i < to; i++ {
			records["/accessSmall.1/"+legacy.Key{Priority: 5, Sequence: int32(i)}.String()] = record(t, legacy.Pending, legacy.Payload{"token": fmt.Sprint("t", i)})
		}
		return source(t, queue(t, records))
	}
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, add(0, first), inDialect(d))
	src := add(first, first+10)
	target.begin(t)
	mustMigrate(t, target, src, inDialect(d))
	return &world{src: src, clean: treeOf(t, target)}
}
