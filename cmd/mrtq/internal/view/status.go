package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// Status prints where a migration stands.
func Status(s *screen.Screen, st *migrate.Status) {
	screen.List(s, "", st.Runs, []string{"RUN", "STATE", "STARTED", "DIALECT", "TRACKED", "PRESENT", "REMOVED"}, func(r migrate.RunStatus) screen.Row {
		return screen.Row{r.ID, stateShown(st, r), r.Started.Format(time.RFC3339), string(r.Dialect), r.Tracked, r.Present, r.Removed}
	})
	for _, of := range []struct {
		what   string
		counts []migrate.StateCount
	}{{"JOBS", st.Jobs}, {"ACCESS REQUESTS", st.Access}, {"BATCHES", st.Batches}} {
		var rows []screen.Row
		for _, c := range of.counts {
			rows = append(rows, screen.Row{c.State, c.Migrated, c.Others})
		}
		s.Table("", []string{of.what, "MIGRATED", "OTHERS"}, rows)
	}
	var holds []screen.Row
	for _, h := range st.Holds {
		for i, o := range h.Owners {
			path := h.Path
			if i > 0 {
				path = ""
			}
			holds = append(holds, screen.Row{path, o.By, timeText(o.At), o.Why})
		}
	}
	s.Table("", []string{"HOLD", "OWNER", "SINCE", "WHY"}, holds)
	screen.List(s, "", st.Locks, []string{"LOCK", "SESSION"}, func(l migrate.LockStatus) screen.Row {
		if l.Session == "" {
			return screen.Row{l.Path, "none: it is persistent"}
		}
		return screen.Row{l.Path, l.Session}
	})
	screen.List(s, "", st.Legacy, []string{"LEGACY QUEUE", "RECORDS", "MIGRATED", "WAITING", "LEFT OUT", "LATE", "MISSED", "CHANGED"}, func(l migrate.LegacyStatus) screen.Row {
		return screen.Row{l.Path, l.Records, l.Migrated, l.Waiting, l.Left, len(l.Late), len(l.Missed), len(l.Changed)}
	})
	for _, of := range []struct {
		title string
		paths func(migrate.LegacyStatus) []string
	}{
		{"Late: added since the migration", func(l migrate.LegacyStatus) []string { return l.Late }},
		{"Missed: there at the migration, and not migrated", func(l migrate.LegacyStatus) []string { return l.Missed }},
		{"Changed since the migration", func(l migrate.LegacyStatus) []string { return l.Changed }},
		{"Removed from the legacy queue, but not by retire", func(l migrate.LegacyStatus) []string { return l.Vanished }},
	} {
		var paths []string
		for _, l := range st.Legacy {
			paths = append(paths, of.paths(l)...)
		}
		screen.List(s, of.title, paths, []string{"LEGACY RECORD"}, func(path string) screen.Row { return screen.Row{path} })
	}
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// stateShown is a run's state. If a run was interrupted, its record says that it is running.
func stateShown(s *migrate.Status, r migrate.RunStatus) string {
	switch {
	case r.State == migrate.Running && s.AtWork == 0:
		return "unfinished"
	case r.State == migrate.Done && len(r.Releases) > 0:
		var queues []newqueue.QueueHold
		for _, q := range newqueue.QueueHolds {
			if !r.Run.Released(q).IsZero() {
				queues = append(queues, q)
			}
		}
		if len(queues) == len(newqueue.QueueHolds) {
			return "released"
		}
		return "done, released: " + QueueNames(queues)
	}
	return string(r.State)
}

// unsound are the steps that come before any other, because a run is not finished or its records are
// damaged.
var unsound = []migrate.Step{migrate.StepWait, migrate.StepRestoreLedger, migrate.StepNoQueue, migrate.StepFinish, migrate.StepFinishRollback, migrate.StepFinishRetire}

// StatusVerdict says where a migration stands, in a clause. It is bad if a run is not finished, if the
// migration's own records are damaged, or if there is no new queue.
func StatusVerdict(s *migrate.Status, target string) (screen.Tone, string) {
	text := stateText(s, target)
	switch {
	case slices.Contains(unsound, s.Step):
		return screen.Bad, text
	case s.Restored || s.Step == migrate.StepStopLegacy || s.Step == migrate.StepRetire || s.Step == migrate.StepMigrateRest:
		return screen.Attention, text
	}
	return screen.Good, text
}

func stateText(s *migrate.Status, target string) string {
	newest := s.Newest()
	held := heldText(s)
	with := func(text string) string {
		if held != "" {
			text += "; " + held
		}
		return text
	}
	switch s.Step {
	case migrate.StepWait:
		return "a migration is running now, so these numbers change; one that was killed counts as running until its session ends"
	case migrate.StepRestoreLedger:
		return s.Damage
	case migrate.StepNoQueue:
		return with(NoQueue(target, s.NoQueue))
	case migrate.StepFinish:
		return fmt.Sprintf("%s is not finished, and no migration is running: %d of %s", newest.ID, newest.Created.Records(), screen.Count(newest.Total, "record is migrated", "records are migrated"))
	case migrate.StepFinishRollback:
		return fmt.Sprintf("the rollback of %s is not finished, and none is running", newest.ID)
	case migrate.StepFinishRetire:
		return fmt.Sprintf("the retire of the records of %s is not finished, and none is running", newest.ID)
	}
	text := ""
	switch {
	case newest == nil:
		return with("no run is recorded here")
	case newest.State == migrate.RolledBack && newest.Kept > 0:
		text = fmt.Sprintf("%s was rolled back; %s kept or removed by others before", newest.ID, screen.Count(newest.Kept, "job or request was", "jobs and requests were"))
	case newest.State == migrate.RolledBack:
		text = newest.ID + " was rolled back"
	default:
		text = newest.ID + " is " + stateShown(s, *newest)
	}
	if held == "" {
		text += ", and no queue is held"
	}
	text = with(text)
	if s.Restored {
		text += ". The target was restored from a backup: jobs that were finished after the backup was made would run again"
	}
	return text
}

// heldText says who holds what, and what is not held. It is "" if nothing is held.
func heldText(s *migrate.Status) string {
	if len(s.Holds) == 0 {
		return ""
	}
	var free []string
	for _, q := range newqueue.QueueHolds {
		if s.NoQueue == nil && !slices.ContainsFunc(s.Holds, func(h migrate.HoldStatus) bool { return h.Path == newqueue.QueueHoldPath(q) }) {
			free = append(free, string(q))
		}
	}
	text := "held: " + HoldsText(s.Holds)
	if len(free) > 0 {
		text += "; not held: " + strings.Join(free, ", ")
	}
	return text
}
