package migrate

import (
	"testing"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A plan says how the records' times were read, so that the next run and verify
// read them the same way.
func TestPlanSaysHowTimesWereRead(t *testing.T) {
	tree := queue(t, fourRecords(t))
	q, err := OpenLegacyQueue(t.Context(), side.Tree(tree), DefaultQueues(), legacy.Options{Time: legacy.TimeMillis})
	if err != nil {
		t.Fatal(err)
	}
	p, err := MakePlan(t.Context(), q, znode.NewTree(), options(permissive()))
	if err != nil {
		t.Fatal(err)
	}
	if p.Settings.Time != "ms" {
		t.Errorf("read in ms, and the plan says %q", p.Settings.Time)
	}
}
