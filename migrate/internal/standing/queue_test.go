package standing_test

import (
	"testing"

	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/standing"
)

// TestQueueOf: what a queue node is now, by its czxid.
func TestQueueOf(t *testing.T) {
	for _, c := range []struct {
		was, is  int64 // 0 if it was, or is, not there
		restored bool  // the run's record, from a backup
		want     standing.QueueCondition
	}{
		{7, 7, false, standing.Same},
		{7, 9, false, standing.MadeAgain},
		{7, 9, true, standing.Same},
		{7, 0, false, standing.Removed},
		{7, 0, true, standing.Removed},
		{0, 9, false, standing.Same}, // no record was taken from it
	} {
		run := &ledger.Run{Restored: c.restored, Origin: ledger.Origin{Czxids: map[string]int64{}}}
		if c.was != 0 {
			run.Origin.Czxids["/ingest"] = c.was
		}
		if got := standing.QueueOf(run, "/ingest", c.is); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
