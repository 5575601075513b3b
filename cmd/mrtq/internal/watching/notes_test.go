package watching

import (
	"testing"
	"time"

	"mrtq/migrate"
	"mrtq/migrate/live"
)

// If a run is unfinished or damaged and no migration is running, watch names the command that
// says what to do. Package live does not know the commands.
func TestWatchNamesStatus(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	const path = "/migration/runs/run0000000000"
	run := func(s migrate.RunState) *migrate.Run { return &migrate.Run{ID: "run0000000000", State: s} }
	for name, c := range map[string]struct {
		migration live.Migration
		want      bool
	}{
		"no run":                        {live.Migration{}, false},
		"done":                          {live.Migration{Path: path, Run: run(migrate.Done)}, false},
		"interrupted":                   {live.Migration{Path: path, Run: run(migrate.Running)}, true},
		"a rollback, interrupted":       {live.Migration{Path: path, Run: run(migrate.RollingBack)}, true},
		"a record that can't be read":   {live.Migration{Path: path, Damage: "no permission to read it"}, true},
		"unfinished, with its migrator": {live.Migration{Path: path, Run: run(migrate.Running), Migrators: []live.Migrator{{Path: "/migration/election/n-0"}}}, false},
	} {
		w := &Watch{Target: "zk1:2181/new"}
		w.history = live.History{{At: now, There: true, Migration: c.migration}}
		notes := w.view(now).Notes
		got := len(notes) > 0 && notes[len(notes)-1] == "for what to do next: mrtq status zk1:2181/new"
		if got != c.want {
			t.Errorf("%s: notes %q, want the command: %t", name, notes, c.want)
		}
	}
}
