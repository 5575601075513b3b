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
	run := func(s migrate.RunState) *live.RunView { return &live.RunView{Run: "run0000000000", State: s} }
	for name, c := range map[string]struct {
		migration *live.RunView
		migrators int
		want      bool
	}{
		"no run":                        {nil, 0, false},
		"done":                          {run(migrate.Done), 0, false},
		"interrupted":                   {run(migrate.Running), 0, true},
		"a rollback, interrupted":       {run(migrate.RollingBack), 0, true},
		"a record that can't be read":   {&live.RunView{Run: "run0000000000", Damage: "no permission to read it"}, 0, true},
		"unfinished, with its migrator": {run(migrate.Running), 1, false},
	} {
		w := &Watch{Target: "zk1:2181/new"}
		w.history = live.History{{AsOf: now, Migration: c.migration, Migrators: c.migrators}}
		notes := w.view(now).Notes
		got := len(notes) > 0 && notes[len(notes)-1] == "for what to do next: mrtq status zk1:2181/new"
		if got != c.want {
			t.Errorf("%s: notes %q, want the command: %t", name, notes, c.want)
		}
	}
}
