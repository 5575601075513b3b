package migrate

import (
	"testing"

	"mrtq/internal/znode"
)

// A sealed record that counts a million million shards does not keep a reader counting.
func TestForgedShardCount(t *testing.T) {
	s := serve(t, znode.NewTree())
	src := source(t, queue(t, fourRecords(t)))
	mustMigrate(t, s, src, options(permissive()))
	const run = "/migration/runs/run0000000000"
	do(t, s, znode.Set(run, sealedAgain(t, treeOf(t, s).Get(run), func(r *Run) {
		r.Ledger.Shards, r.Ledger.Void, r.State, r.Steps = 1<<40, true, RunRollingBack, r.Steps+1
	}), -1))
	for _, d := range damageIn(t, treeOf(t, s)) {
		if d.Path == run {
			return
		}
	}
	t.Errorf("named are %v", damageIn(t, treeOf(t, s)))
}

// A znode among the runs whose name is not a run's is a problem. The problem does not say
// that a rebuild helps.
func TestForeignNameAmongTheRuns(t *testing.T) {
	s := serve(t, znode.NewTree())
	mustMigrate(t, s, source(t, queue(t, fourRecords(t))), options(permissive()))
	do(t, s, znode.Create("/migration/runs/readme", []byte("hello")))
	damage := damageIn(t, treeOf(t, s))
	want := Problem{Kind: RunDamaged, Path: "/migration/runs/readme", Message: "no migration made it: its name is not the name of a run", Next: "remove it when you know who made it"}
	if len(damage) != 1 || damage[0] != want {
		t.Errorf("damage %v", damage)
	}
}
