package migrate

import (
	"slices"
	"strings"
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// ReadMigrated says for every migrated record whether its job is there, touched or gone, or
// whether it was declared done.
func TestReadMigrated(t *testing.T) {
	s := serve(t, znode.NewTree())
	records := map[string][]byte{}
	for _, name := range []string{"mrtQ-05000000000001", "mrtQ-05000000000002", "mrtQ-05000000000003"} {
		records["/ingest/"+name] = record(t, legacy.Pending, legacy.Payload{"batchID": "b1", "jobID": name})
	}
	src := source(t, queue(t, records))
	mustMigrate(t, s, src, options(permissive()))
	tree := treeOf(t, s)
	migrated := migratedIn(t, tree)
	if len(migrated) != 3 {
		t.Fatalf("%d records: %+v", len(migrated), migrated)
	}
	for _, r := range migrated {
		made := tree.Get(r.Job).Stat.Ctime
		if !r.Exists || r.Touched != "" || r.Gone != "" || r.DeclaredDone || r.Run != "run0000000000" || r.Batch == "" || r.Provenance.Path != r.Record || r.At.UnixMilli() != made {
			t.Errorf("%+v, made at %d", r, made)
		}
	}
	// Another client touches one job and deletes one.
	after := tree.Clone()
	status := after.Get(migrated[0].Job + "/status")
	status.Stat.Version++
	without := znode.NewTree()
	for n := range after.All("/") {
		if !znode.Within(n.Path, migrated[1].Job) {
			if err := without.Put(*n); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := migratedIn(t, without)
	if len(again) != 3 {
		t.Fatalf("%d records: %+v", len(again), again)
	}
	if !strings.Contains(again[0].Touched, "/status was set once") || !again[0].Exists {
		t.Errorf("touched: %+v", again[0])
	}
	if again[1].Exists || !strings.Contains(again[1].Gone, "deleted: its batch") || again[1].At.IsZero() {
		t.Errorf("gone: %+v", again[1])
	}
	// A copy does not show times.
	copied := tree.Clone()
	copied.Get(znode.Join(RunsPath, "run0000000000")).Stat.Version++
	for _, r := range migratedIn(t, copied) {
		if !r.At.IsZero() {
			t.Errorf("of a copy: %+v", r)
		}
	}
	if got := migratedIn(t, znode.NewTree()); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

// migratedIn is [ReadMigrated] of a tree, by record.
func migratedIn(t testing.TB, tree *znode.Tree) []MigratedRecord {
	t.Helper()
	var all []MigratedRecord
	for migrated, err := range ReadMigrated(t.Context(), side.Tree(tree)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, migrated)
	}
	slices.SortFunc(all, func(a, b MigratedRecord) int { return strings.Compare(a.Record, b.Record) })
	return all
}
