package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// corpus is the legacy queue that JVM encoders wrote.
func corpus(t testing.TB) *znode.Tree {
	t.Helper()
	f, err := os.Open("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := znode.ReadDump(f)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func source(t testing.TB, tree *znode.Tree) *Source {
	t.Helper()
	src, err := ReadSource(tree, DefaultQueues(), legacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// permissive are policies under which no record blocks the plan.
func permissive() Policies {
	return Policies{Consumed: AsPending, Completed: Migrate, Deleted: Migrate, Undecodable: Quarantine, InventoryRecords: Migrate, Unserviceable: Migrate}
}

func options(p Policies) Options {
	return Options{Dialect: newqueue.Design, Policies: p, Source: "source", Target: "target"}
}

var testNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// clock returns a later second at each call.
func clock() func() time.Time {
	now := testNow
	return func() time.Time { now = now.Add(time.Second); return now }
}

func mustMigrate(t testing.TB, s *site, src *Source, opt Options) *Result {
	t.Helper()
	m := &Migrator{Target: s.Target, Now: clock(), HoldAgain: true, Keep: keepNothing}
	res, err := m.Migrate(t.Context(), static(src), opt, nil)
	if err != nil {
		t.Fatalf("migrate: %v", err)
	}
	return res
}

func verdict(t testing.TB, src *Source, target *znode.Tree, opt VerifyOptions) *Verdict {
	t.Helper()
	return verifyTree(src, target, opt)
}

// verifyTree verifies a tree in memory. Its parts are so small that things which belong
// together are often in different parts.
func verifyTree(src *Source, target *znode.Tree, opt VerifyOptions) *Verdict {
	ctx := context.Background()
	queue, err := OpenLegacyQueue(ctx, side.Tree(src.Tree), src.Queues, legacy.Options{})
	if err != nil {
		panic(err)
	}
	opt.part = 3
	v, err := Verify(ctx, queue, side.Tree(target), opt)
	if err != nil {
		panic(err) // a tree can be read
	}
	return v
}

// opened opens a source as a queue.
func opened(ctx context.Context, src *Source) (*LegacyQueue, error) {
	return OpenLegacyQueue(ctx, side.Tree(src.Tree), src.Queues, legacy.Options{})
}

// static returns a source that does not change.
func static(src *Source) ReadFunc {
	return func(ctx context.Context) (*LegacyQueue, func(), error) {
		q, err := opened(ctx, src)
		return q, func() {}, err
	}
}

// plannedJobAt returns one of the plan's jobs, with its record.
func plannedJobAt(t tester, p *Plan, i int) *job {
	t.Helper()
	for j, err := range p.loaded(t.Context(), slices.Values([]*plannedJob{p.plannedJob(i)})) {
		if err != nil {
			t.Fatal(err)
		}
		return p.jobOf(j.plannedJob, j.rec)
	}
	t.Fatalf("the plan has %d jobs", p.plannedCount())
	return nil
}

// existingIn returns what a plan finds in a target.
func existingIn(t testing.TB, tree *znode.Tree) *survey {
	t.Helper()
	on, err := surveyTarget(t.Context(), side.Tree(tree), "", surveyCalls{})
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// damageIn is [Damage] of a tree.
func damageIn(t testing.TB, tree *znode.Tree) []Problem {
	t.Helper()
	damage, err := Damage(t.Context(), side.Tree(tree))
	if err != nil {
		t.Fatal(err)
	}
	return damage
}

// makePlan plans a migration from a source that does not change.
func makePlan(t tester, src *Source, target *znode.Tree, opt Options) *Plan {
	t.Helper()
	q, err := opened(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	p, err := MakePlan(t.Context(), q, side.Tree(target), opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustVerify demands that nothing differs.
func mustVerify(t testing.TB, src *Source, target *znode.Tree) *Verdict {
	t.Helper()
	v := verdict(t, src, target, VerifyOptions{})
	for _, d := range v.Differences {
		t.Errorf("verify: %s", d)
	}
	return v
}

// record returns the data of a legacy record.
func record(t testing.TB, status legacy.Status, payload legacy.Payload) []byte {
	t.Helper()
	data, err := legacy.Encode(legacy.NewHeader(status, testNow, legacy.Milliseconds), legacy.JSON, payload)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// queue returns a legacy tree with these records: path and data.
func queue(t testing.TB, records map[string][]byte) *znode.Tree {
	t.Helper()
	tree := znode.NewTree()
	for _, root := range DefaultQueues().Roots() {
		put(t, tree, root, []byte{})
	}
	for path, data := range records {
		put(t, tree, path, data)
	}
	tree.SetDefaultStats(1)
	return tree
}

func put(t testing.TB, tree *znode.Tree, path string, data []byte) {
	t.Helper()
	if err := tree.Put(znode.Node{Path: path, Data: data}); err != nil {
		t.Fatal(err)
	}
}

func dumpOf(t testing.TB, tree *znode.Tree, roots ...string) string {
	t.Helper()
	var b strings.Builder
	for _, root := range roots {
		for n := range tree.All(root) {
			text := fmt.Sprintf("%q", n.Data)
			if n.Data == nil {
				text = "null"
			}
			fmt.Fprintf(&b, "%s = %s\n", n.Path, text)
		}
	}
	return b.String()
}

func jsonOf(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return m
}

// keepNothing keeps no bytes of undecodable records.
func keepNothing([]Record) error { return nil }
