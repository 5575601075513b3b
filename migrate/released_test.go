package migrate

import (
	"errors"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
)

// A late record does not hold a released queue again, unless that is asked for.
func TestReleasedQueueIsNotHeldUnasked(t *testing.T) {
	records := fourRecords(t)
	opt := options(permissive())
	for name, c := range map[string]struct {
		released []string
		late     bool
		refused  bool
	}{
		"nothing is left to do":     {released: []string{"ingest", "accessSmall", "accessLarge"}},
		"released, and one is late": {released: []string{"ingest", "accessSmall", "accessLarge"}, late: true, refused: true},
		"released in part":          {released: []string{"accessSmall"}, late: true, refused: true},
		"held, and one is late":     {late: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, znode.NewTree())
			mustMigrate(t, s, source(t, queue(t, records)), opt)
			for _, q := range c.released {
				do(t, s, znode.Delete("/locks/queue/"+q, -1))
			}
			now := map[string][]byte{}
			for path, data := range records {
				now[path] = data
			}
			if c.late {
				now["/ingest/mrtQ-05000000000009"] = record(t, legacy.Pending, legacy.Payload{"batchID": "bid-9", "jobID": "late"})
			}
			src := source(t, queue(t, now))
			before := dumpOf(t, treeOf(t, s), "/")
			_, err := (&Migrator{Target: s.Target, Now: clock()}).Migrate(t.Context(), static(src), opt, nil)
			if errors.Is(err, ErrReleased) != c.refused || !c.refused && err != nil {
				t.Fatalf("error %v, want refused: %t", err, c.refused)
			}
			if !c.refused {
				return
			}
			if after := dumpOf(t, treeOf(t, s), "/"); after != before {
				t.Errorf("it wrote: %s", firstDifference(before, after))
			}
			if warned := makePlan(t, src, treeOf(t, s), opt).HoldsAgain(); len(warned) != len(c.released) {
				t.Errorf("the plan names %v", warned)
			}
			res, err := (&Migrator{Target: s.Target, Now: clock(), HoldAgain: true}).Migrate(t.Context(), static(src), opt, nil)
			if err != nil || res.Done.Jobs != 1 || len(heldQueues(t, s)) != 3 {
				t.Errorf("asked for: %v, %+v, it holds %v", err, res, heldQueues(t, s))
			}
		})
	}
}
