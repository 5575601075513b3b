package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// StaysText counts what a rollback leaves; "" for nothing.
func StaysText(u *migrate.RollbackResult) string {
	var jobs, requests, unfinished int
	for _, i := range u.Keeps {
		switch {
		case !isCompleted(i):
			unfinished++
		case strings.HasPrefix(i.Job, newqueue.JobsPath+"/"):
			jobs++
		default:
			requests++
		}
	}
	return strings.Join(counted([]note{
		{jobs, "completed job stays", "completed jobs stay"},
		{requests, "completed access request stays", "completed access requests stay"},
		{unfinished, "unfinished job or request stays, as the only copy", "unfinished jobs and requests stay, as the only copies"},
		{u.Gone, "job or request was gone: finished and cleaned up, or deleted", "jobs and requests were gone: finished and cleaned up, or deleted"},
		{u.Unrelated, "job, request or batch of other clients stays", "jobs, requests and batches of other clients stay"},
		{len(u.Undecided), "record must be decided about", "records must be decided about"},
		{len(u.AtWork), "of them is locked by a worker", "of them are locked by workers"},
	}), "; ")
}

func isCompleted(i migration.Note) bool { return strings.EqualFold(i.State, "completed") }

// Rollback prints the jobs and requests that a rollback leaves.
func Rollback(s *screen.Screen, u *migrate.RollbackResult) {
	row := func(i migration.Note) screen.Row { return screen.Row{i.Record, i.Job, i.State, i.Why} }
	header := []string{"LEGACY RECORD", "JOB OR REQUEST", "STATE", "WHY"}
	undecided(s, u.Undecided)
	for _, list := range [][]migration.Note{u.AtWork, u.Keeps, u.Forced} {
		slices.SortFunc(list, func(a, b migration.Note) int { return cmp.Compare(a.Record, b.Record) })
	}
	screen.List(s, fmt.Sprintf("Locked by a worker: %d", len(u.AtWork)), u.AtWork, header, row)
	screen.Brief(s, fmt.Sprintf("Stay: %d", len(u.Keeps)), u.Keeps, header, row, isCompleted) // others are only copies
	screen.List(s, fmt.Sprintf("Removed by --force, although begun or damaged: %d", len(u.Forced)), u.Forced, header, row)
}

func undecided(s *screen.Screen, records []migration.Note) {
	screen.List(s, fmt.Sprintf("Somebody must decide which queue has the work of %s", screen.Count(len(records), "record", "records")), records, []string{"LEGACY RECORD", "JOB OR REQUEST", "WHY"}, func(u migration.Note) screen.Row {
		why := u.Question.Says()
		if u.Why != "" {
			why += "; what was decided can't be done yet: " + u.Why
		}
		return screen.Row{u.Record, u.Job, why}
	})
}
