package migrate

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"mrtq/internal/legacyqueue"
	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// For each record, verify keeps rows of a few hundred bytes, and it reads part by part. With
// both sides in memory it would need about thirty times as much.
func TestVerifyIsFlat(t *testing.T) {
	const (
		records = 2000
		part    = 100
		aRecord = 900     // bytes; in so small a queue, most of this does not grow with the records
		aPart   = 4 << 20 // bytes
	)
	from, to := migratedDumps(t, records)
	queue, err := OpenLegacyQueue(t.Context(), from, DefaultQueues(), legacy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := inUse()
	most, last, parts := uint64(0), uint64(0), 0
	ctx := WithPhases(t.Context(), func(p Phase, done, total int) {
		if p != Comparing {
			return
		}
		parts++
		if parts%5 == 0 || done == total {
			last = inUse()
			most = max(most, last)
		}
	})
	v, err := Verify(ctx, queue, to, VerifyOptions{part: part})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range v.Differences {
		t.Errorf("verify: %s", d)
	}
	if v.Records.Total != records || parts < records/part/2 {
		t.Errorf("%d records in %d parts, want %d in parts of %d", v.Records.Total, parts, records, part)
	}
	t.Logf("%d bytes a record, %d at most, with a part", (int(last)-int(before))/records, most-before)
	if grown := int(most) - int(before); grown > records*aRecord+aPart {
		t.Errorf("memory grew by %d bytes: want %d a record and %d for a part", grown, aRecord, aPart)
	}
	runtime.KeepAlive(queue)
}

// A rollback keeps rows of each job too, and makes its transactions from them.
func TestRollbackIsFlat(t *testing.T) {
	const (
		records = 2000
		aRecord = 900
	)
	_, to := migratedDumps(t, records)
	before := inUse()
	u, err := PlanRollback(t.Context(), to, "run0000000000", false)
	if err != nil {
		t.Fatal(err)
	}
	planned := int(inUse()) - int(before)
	units, most := 0, 0
	for range u.units() {
		if units++; units%500 == 0 {
			most = max(most, int(inUse())-int(before))
		}
	}
	if done := u.Done.Jobs + u.Done.Access + u.Done.Batches; done != units || units < records {
		t.Errorf("%d units for %d things of %d records", units, done, records)
	}
	t.Logf("%d bytes a record", planned/records)
	if grown := max(planned, most); grown > records*aRecord {
		t.Errorf("memory grew by %d bytes: want %d a record", grown, aRecord)
	}
	runtime.KeepAlive(u)
}

// A plan keeps rows, for an empty target and for a full one.
func TestPlanIsFlat(t *testing.T) {
	const (
		records = 2000
		aRecord = 500
	)
	from, to := migratedDumps(t, records)
	for name, target := range map[string]side.Side{"empty": side.Tree(znode.NewTree()), "full": to} {
		t.Run(name, func(t *testing.T) {
			queue, err := OpenLegacyQueue(t.Context(), from, DefaultQueues(), legacy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			before := inUse()
			p, err := MakePlan(t.Context(), queue, target, inDialect(newqueue.MrtZK))
			if err != nil {
				t.Fatal(err)
			}
			grown := int(inUse()) - int(before)
			if p.Blocked() || p.Records.Len() != records || p.Empty() != (name == "full") {
				t.Errorf("%d records, problems %v", p.Records.Len(), p.Problems)
			}
			t.Logf("%d bytes a record", grown/records)
			if grown > records*aRecord {
				t.Errorf("memory grew by %d bytes: want %d a record", grown, aRecord)
			}
			runtime.KeepAlive(p)
		})
	}
}

// inUse returns how many bytes are in use after a garbage collection.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // the second collection empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// migratedDumps returns a queue and the target that it was migrated to, as files. Nothing
// of them stays in memory.
func migratedDumps(t *testing.T, records int) (from, to side.Side) {
	dir := t.TempDir()
	t.Run("migrate", func(t *testing.T) {
		tree, err := legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := serve(t, znode.NewTree())
		mustMigrate(t, s, source(t, tree), inDialect(newqueue.MrtZK))
		dump(t, filepath.Join(dir, "from"), tree)
		dump(t, filepath.Join(dir, "to"), treeOf(t, s))
	})
	return openDump(t, filepath.Join(dir, "from")), openDump(t, filepath.Join(dir, "to"))
}

func dump(t *testing.T, path string, tree *znode.Tree) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := znode.WriteDump(f, tree); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func openDump(t *testing.T, path string) side.Side {
	d, err := side.OpenDump(t.Context(), path, false, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}
