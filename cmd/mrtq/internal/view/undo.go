package view

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
)

// KeptText counts what a rollback leaves, or found removed by other clients.
func KeptText(u *migrate.Undo) string {
	removed := 0
	for _, i := range u.Keeps {
		if i.IsRemoved() {
			removed++
		}
	}
	var parts []string
	if n := len(u.Keeps) - removed; n > 0 {
		parts = append(parts, screen.Count(n, "job or request kept", "jobs and requests kept"))
	}
	if removed > 0 {
		parts = append(parts, screen.Count(removed, "job or request was removed by other clients", "jobs and requests were removed by other clients"))
	}
	return strings.Join(parts, ", ")
}

// Undo prints the jobs and requests that a rollback leaves, or found removed by other clients.
func Undo(s *screen.Screen, u *migrate.Undo) {
	row := func(i migrate.UndoItem) screen.Row { return screen.Row{i.Record, i.Job, i.Why} }
	is := func(removed bool) []migrate.UndoItem {
		return slices.DeleteFunc(slices.Clone(u.Keeps), func(i migrate.UndoItem) bool { return i.IsRemoved() != removed })
	}
	header := []string{"LEGACY RECORD", "JOB OR REQUEST", "WHY"}
	screen.List(s, fmt.Sprintf("Kept: %d", len(is(false))), is(false), header, row)
	screen.List(s, fmt.Sprintf("Removed by other clients: %d", len(is(true))), is(true), header, row)
	screen.List(s, fmt.Sprintf("Removed by --force, although acted on: %d", len(u.Forced)), u.Forced, header, row)
}

// Retired prints the migrated records that stay in the legacy queue. If the retire was only
// previewed, it also prints those that would be removed.
func Retired(s *screen.Screen, r *migrate.Retired, preview bool) {
	row := func(i migrate.RetireItem) screen.Row { return screen.Row{i.Record, i.Job, i.Why} }
	if preview {
		screen.List(s, fmt.Sprintf("Would be removed: %d", len(r.Removes)), r.Removes, []string{"LEGACY RECORD", "JOB OR REQUEST"},
			func(i migrate.RetireItem) screen.Row { return screen.Row{i.Record, i.Job} })
	}
	screen.List(s, fmt.Sprintf("Stay, because they are not as migrated: %d", len(r.Stays)), r.Stays, []string{"LEGACY RECORD", "JOB OR REQUEST", "WHY"}, row)
}
