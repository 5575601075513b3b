package migrate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/minizk"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// An administrator changes one node of a migrated tree by hand. Whatever the node and the
// change, verify names the node. The test tries one case in every [sampled], and all with
// -torture.
func TestTamperMatrix(t *testing.T) {
	counts := &tally{tried: map[string]int{}, missed: map[string]int{}}
	t.Run("of", func(t *testing.T) {
		for _, d := range newqueue.Dialects {
			for _, kind := range worlds {
				t.Run(string(d)+"/"+kind.name, func(t *testing.T) {
					t.Parallel()
					w := kind.build(t, d)
					w.mustBeClean(t)
					tryAll(t, w, kind.cases(w), counts)
				})
			}
		}
	})
	t.Log(counts)
}

// If another client adds a znode inside of something that a run created, verify still names
// it after the next run, although it existed when that run began.
func TestVerifyNamesWhatCameBetweenRuns(t *testing.T) {
	for _, d := range newqueue.Dialects {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			target := liveTarget(t, d)
			w := &world{others: others{}.add(0, treeOf(t, target))}
			mustMigrate(t, target, source(t, earlierCorpus(t, false)), inDialect(d))
			w.clean = treeOf(t, target)
			var extras multi
			var names []string
			for _, path := range w.clean.Paths("/")[1:] {
				if path == RunsPath || slices.Contains([]string{"submission", "status"}, znode.Name(path)) && znode.Within(path, newqueue.BatchesPath) {
					continue // it blocks the plan
				}
				child := znode.Join(path, "by-hand")
				extras = append(extras, create(child, none))
				if w.entity(path) != "" || path == ElectionPath {
					names = append(names, child)
				}
			}
			must(t, target, extras)
			src := source(t, corpus(t))
			target.begin(t)
			if res := mustMigrate(t, target, src, inDialect(d)); res.Run != "run0000000001" || res.Done.Jobs == 0 {
				t.Fatalf("%s did %+v", res.Run, res.Done)
			}
			for _, others := range []bool{false, true} {
				w.src = src
				if err := w.judge(tampering{names: names}, treeOf(t, target), VerifyOptions{Others: others}); err != nil {
					t.Errorf("others %t: %v", others, err)
				}
			}
			t.Logf("%d extras named", len(names))
		})
	}
}

// If a run would have to recreate a znode of a batch, and there is another client's znode
// below it, the plan has a problem that names that one.
func TestPlanNamesAnExistingZnodeInABatch(t *testing.T) {
	opt := options(permissive())
	rec := func(title string) []byte {
		return record(t, legacy.Pending, legacy.Payload{"batchID": "B", "jobID": title, "title": title})
	}
	records := map[string][]byte{"/ingest/mrtQ-05000000000001": rec("one")}
	target := serve(t, znode.NewTree())
	mustMigrate(t, target, source(t, queue(t, records)), opt)
	must(t, target, multi{create("/batches/bid0000000000/submission/by-hand", none)})
	records["/ingest/mrtQ-05000000000002"] = rec("two")
	p := makePlan(t, source(t, queue(t, records)), treeOf(t, target), opt)
	if len(p.Problems) != 1 || p.Problems[0].Kind != BatchTouched || p.Problems[0].Path != "/batches/bid0000000000/submission" {
		t.Errorf("problems %v", p.Problems)
	}
}

// The trees hold no secret. If another client knows the format and recreates everything in
// one transaction, the result could be a migration's. Verify can't notice these changes, as
// docs/promises.md says.
func TestLimitsOfVerify(t *testing.T) {
	for _, d := range newqueue.Dialects {
		w := emptyWorld(t, d)
		runs, _ := readRuns(w.clean)
		server := minizk.RunWith(t, minizk.Options{Now: testNow})
		everything := w.recreated(targetRoots...)
		for _, path := range []string{runs[0].path(), newqueue.JobsPath} {
			for range w.clean.Get(path).Stat.Version {
				everything = append(everything, set(path, w.clean.Get(path).Data))
			}
		}
		for _, c := range []tampering{
			{kind: "everything recreated in one transaction, up to its versions", do: []any{everything}},
			{kind: "the election recreated", do: []any{w.recreated(ElectionPath)}},
			w.forgedWithItsTrace(runs[0]),
		} {
			t.Run(string(d)+"/"+c.kind, func(t *testing.T) {
				c.only = true // verify names nothing
				if err := w.try(server, c); err != nil {
					t.Errorf("verify has learnt to tell it: %v; move it to the matrix", err)
				}
			})
		}
	}
}

// forgedWithItsTrace adds a znode, and then a forged later run, with its record, its ledger
// and its trace. So the znode seems to have been there before the run.
func (w *world) forgedWithItsTrace(r Run) tampering {
	jobs := w.clean.Get(newqueue.JobsPath)
	t, _ := parseTrace(jobs.Data)
	log := ledgerLog{run: "run0000000007"}
	r.ID, r.Ledger, r.Made, r.Holds, r.Steps = log.run, Ledger{}, []string{}, []string{}, 1
	ops, err := log.add(&r.Ledger, []ledgerEntry{{op: opDeclaredDone, record: "/ingest/mrtQ-05000000000020"}}, true)
	if err != nil {
		panic(err) // the name is a record's
	}
	r.Ledger.Closed = r.Ledger.Shards
	extra := multi{create(newqueue.CollectionLocksPath+"/demo", none)}
	if w.clean.Get(newqueue.CollectionLocksPath) == nil {
		extra = append(multi{create(newqueue.CollectionLocksPath, none)}, extra...)
	}
	t = t.with(r)
	t.Sets = jobs.Stat.Version + 1
	return tampering{kind: "a run forged in all places after an extra", do: []any{
		extra,
		multi{create(r.path(), none), create(ledgerPath(r.ID), none), create(ops[0].Path, ops[0].Data), set(r.path(), r.encode()), set(newqueue.JobsPath, t.encode())},
	}}
}

// sampled is a prime, so that the sample meets every kind at every kind of node.
const sampled = 97

// tryAll tries each case of the sample on a copy of the world.
func tryAll(t *testing.T, w *world, cases []tampering, counts *tally) {
	work := make(chan tampering)
	var workers sync.WaitGroup
	for range 4 { // each waits for answers half of the time
		server := minizk.RunWith(t, minizk.Options{Now: testNow})
		workers.Go(func() {
			for c := range work {
				err := w.try(server, c)
				counts.add(c.kind, err == nil)
				if err != nil {
					t.Errorf("%s %s: %v", c.kind, c.path, err)
				}
			}
		})
	}
	for i, c := range cases {
		if *torture || i%sampled == 0 {
			work <- c
		}
	}
	close(work)
	workers.Wait()
}

// tally counts cases by kind.
type tally struct {
	mu            sync.Mutex
	tried, missed map[string]int
}

func (c *tally) add(kind string, named bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried[kind]++
	if !named {
		c.missed[kind]++
	}
}

func (c *tally) String() string {
	var b strings.Builder
	all, missed := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(c.tried)) {
		fmt.Fprintf(&b, "\n%7d %s", c.tried[kind], kind)
		if n := c.missed[kind]; n > 0 {
			fmt.Fprintf(&b, ", %d MISSED", n)
		}
		all, missed = all+c.tried[kind], missed+c.missed[kind]
	}
	return fmt.Sprintf("%d tamperings, %d missed, by kind:%s", all, missed, b.String())
}

// tampering is what another client does by hand, and what verify should name then.
type tampering struct {
	kind, path string
	do         []any    // transactions: a multi, or setACL
	names      []string // what verify must name
	// only: verify may name nothing else.
	only bool
	// theirs need not be named if verify allows others' znodes.
	theirs []string
	// acls: the change shows only if verify reads ACLs.
	acls bool
}

// multi is one transaction, of go-zookeeper's requests.
type multi []any

// setACL is a request that can't be part of a transaction.
type setACL struct {
	path string
	acl  []zk.ACL
}

// world is a migrated target and the source that it was migrated from.
type world struct {
	src    *Source
	clean  *znode.Tree
	others others
	// before is what verify names in a copy before any change: the runs' records, and
	// others' jobs, because a copy does not show when they were created.
	before map[Difference]bool
}

// ours reports whether a run made the node.
func (w *world) ours(path string) bool {
	czxid, there := w.others[path]
	return !there || czxid != w.clean.Get(path).Stat.Czxid
}

func (w *world) mustBeClean(t *testing.T) {
	t.Helper()
	for _, others := range []bool{false, true} {
		for _, d := range verifyTree(w.src, w.clean, VerifyOptions{Others: others}).Differences {
			if !w.before[d] {
				t.Errorf("before anybody tampers: %s", d)
			}
		}
	}
}

// try makes the change on a copy of the clean tree. It returns nil if verify names the
// change. Verify reads the tree without ACLs, as it reads most of a large tree.
func (w *world) try(server *minizk.Server, c tampering) error {
	if err := server.Load(w.clean); err != nil {
		return err
	}
	client, err := connect(server) // Load cut the one that was there
	if err != nil {
		return err
	}
	defer client.Close()
	for _, do := range c.do {
		if err := carryOut(client, do); err != nil {
			return fmt.Errorf("the tampering itself: %w", err)
		}
	}
	tree, err := server.Snapshot()
	if err != nil {
		return err
	}
	for n := range tree.All("/") {
		if !c.acls {
			n.ACL = nil
		}
	}
	if err := w.judge(c, tree, VerifyOptions{}); err != nil {
		return err
	}
	c.names = slices.DeleteFunc(slices.Clone(c.names), func(p string) bool { return slices.Contains(c.theirs, p) })
	if err := w.judge(c, tree, VerifyOptions{Others: true}); err != nil {
		return fmt.Errorf("with --others: %w", err)
	}
	return nil
}

func carryOut(client *zk.Conn, do any) error {
	switch do := do.(type) {
	case multi:
		_, err := client.Multi(do...)
		return err
	case setACL:
		_, err := client.SetACL(do.path, do.acl, -1)
		return err
	}
	return fmt.Errorf("%T: neither a multi nor a setACL", do)
}

func (w *world) judge(c tampering, tree *znode.Tree, opt VerifyOptions) error {
	v := verifyTree(w.src, tree, opt)
	v.Differences = slices.DeleteFunc(v.Differences, func(d Difference) bool { return w.before[d] })
	for _, name := range c.names {
		// A hold that is gone was released.
		if !slices.ContainsFunc(v.Differences, func(d Difference) bool { return d.Path == name }) && !slices.Contains(v.Released, name) {
			return fmt.Errorf("%s is not named in %d differences: %.300v", name, len(v.Differences), v.Differences)
		}
	}
	for _, d := range v.Differences {
		if c.only && !slices.Contains(c.names, d.Path) {
			return fmt.Errorf("%s is named too", d)
		}
	}
	return nil
}

// Tamperings consist of these requests.

func create(path string, data []byte) *zk.CreateRequest {
	return &zk.CreateRequest{Path: path, Data: data, Acl: zk.WorldACL(zk.PermAll)}
}

func createEphemeral(path string, data []byte) *zk.CreateRequest {
	return &zk.CreateRequest{Path: path, Data: data, Acl: zk.WorldACL(zk.PermAll), Flags: zk.FlagEphemeral}
}

func set(path string, data []byte) *zk.SetDataRequest {
	return &zk.SetDataRequest{Path: path, Data: data, Version: -1}
}

// remove deletes subtrees.
func (w *world) remove(roots ...string) multi {
	var m multi
	for _, root := range roots {
		for _, p := range slices.Backward(w.clean.Paths(root)) {
			m = append(m, &zk.DeleteRequest{Path: p, Version: -1})
		}
	}
	return m
}

// copyTo creates a copy of the subtree at from below to.
func (w *world) copyTo(from, to string) multi {
	var m multi
	for n := range w.clean.All(from) {
		m = append(m, create(to+strings.TrimPrefix(n.Path, from), n.Data))
	}
	return m
}

// recreated deletes and recreates subtrees in one transaction.
func (w *world) recreated(roots ...string) multi {
	m := w.remove(roots...)
	for _, root := range roots {
		m = append(m, w.copyTo(root, root)...)
	}
	return m
}
