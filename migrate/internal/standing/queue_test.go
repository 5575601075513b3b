package standing_test

import (
	"testing"

	"mrtq/migrate/internal/standing"
	"mrtq/migrate/migration"
)

// TestQueueOf: what a queue node is now, by its czxid. That of a server's root is 0.
func TestQueueOf(t *testing.T) {
	for name, c := range map[string]struct {
		was, is  map[string]int64
		restored bool // the run's record, from a backup
		want     standing.QueueCondition
	}{
		"the same":                    {map[string]int64{"/": 0}, map[string]int64{"/": 0}, false, standing.Same},
		"another":                     {map[string]int64{"/": 7}, map[string]int64{"/": 9}, false, standing.MadeAgain},
		"another, after a restore":    {map[string]int64{"/": 7}, map[string]int64{"/": 9}, true, standing.Same},
		"none":                        {map[string]int64{"/": 7}, nil, false, standing.Removed},
		"none, after a restore":       {map[string]int64{"/": 7}, nil, true, standing.Removed},
		"no record was taken from it": {nil, map[string]int64{"/": 9}, false, standing.Same},
	} {
		run := &migration.Run{Restored: c.restored, Origin: migration.Origin{Czxids: c.was}}
		if got := standing.QueueOf(run, "/", c.is); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
