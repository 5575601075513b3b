package watching

import (
	"testing"
	"time"

	"mrtq/migrate"
	"mrtq/migrate/live"
)

// If a run is unfinished or damaged and no migrator is at work, watch names the command that
// says what to do. Package live does not know the commands.
func TestWatchNamesStatus(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	const path = migrate.RunsPath + "/run0000000000"
	run := func(s migrate.RunState) *migrate.Run { return &migrate.Run{ID: "run0000000000", State: s} }
	for name, c := range map[string]struct {
		migration live.Migration
		want      bool
	}{
		"no run":                        {live.Migration{}, false},
		"done":                          {live.Migration{Path: path, Run: run(migrate.RunDone)}, false},
		"interrupted":                   {live.Migration{Path: path, Run: run(migrate.RunRunning)}, true},
		"a rollback, interrupted":       {live.Migration{Path: path, Run: run(migrate.RunRollingBack)}, true},
		"a record that can't be read":   {live.Migration{Path: path, Damage: "no permission to read it"}, true},
		"unfinished, with its migrator": {live.Migration{Path: path, Run: run(migrate.RunRunning), Migrators: []live.Migrator{{Path: migrate.ElectionPath + "/n-0"}}}, false},
	} {
		w := &watchState{target: "zk1:2181/new", history: live.History{{At: now, There: true, Migration: c.migration}}}
		notes := w.view(now).Notes
		got := len(notes) > 0 && notes[len(notes)-1] == "for what to do next: mrtq status zk1:2181/new"
		if got != c.want {
			t.Errorf("%s: notes %q, want the command: %t", name, notes, c.want)
		}
	}
}
