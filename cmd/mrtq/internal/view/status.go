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
	header := []string{"RUN", "STATE", "STARTED", "DIALECT", "TRACKED", "PRESENT", "REMOVED"}
	noted := slices.ContainsFunc(st.Runs, func(r migrate.RunStatus) bool { return r.Note != "" })
	if noted {
		header = append(header, "NOTE")
	}
	screen.List(s, "", st.Runs, header, func(r migrate.RunStatus) screen.Row {
		row := screen.Row{r.ID, stateShown(st, r), r.Started.Format(time.RFC3339), string(r.Dialect), r.Tracked, r.Present, r.Removed}
		if noted {
			row = append(row, r.Note)
		}
		return row
	})
	for _, of := range []struct {
		what   string
		counts []migrate.StateCount
	}{{"JOBS", st.Jobs}, {"ACCESS REQUESTS", st.Access}, {"BATCHES", st.Batches}} {
		var rows []screen.Row
		for _, c := range of.counts {
			rows = append(rows, screen.Row{c.State, c.Migrated, c.Others})
		}
		s.Table("", []string{of.what, "MIGRATED", "OTHER CLIENTS"}, rows)
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
	screen.List(s, "", st.Legacy, []string{"LEGACY QUEUE", "RECORDS", "MIGRATED", "WAITING", "LEFT OUT", "LATE", "MISSED", "CHANGED", "TWICE"}, func(l migrate.LegacyStatus) screen.Row {
		return screen.Row{l.Path, l.Records, l.Migrated, l.Waiting, l.Left, len(l.Late), len(l.Missed), len(l.Changed), len(l.Twice)}
	})
	for _, of := range []struct {
		title string
		paths func(migrate.LegacyStatus) []string
	}{
		{"Could run twice: changed or removed since the migration, and the job can run", func(l migrate.LegacyStatus) []string { return l.Twice }},
		{"Late: added since the migration", func(l migrate.LegacyStatus) []string { return l.Late }},
		{"Missed: there at the migration, and not migrated", func(l migrate.LegacyStatus) []string { return l.Missed }},
		{"Changed since the migration, and its job is over: it may have run twice", migrate.LegacyStatus.MayHaveRunTwice},
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

// stateShown is a run's state.
func stateShown(s *migrate.Status, r migrate.RunStatus) string {
	return RunState(r.State, r.ReleasedQueues(), s.AtWork > 0)
}

// RunState is a run's state in words. released are the queues that release has lifted. If no
// migration is running, a run whose record says that it is running was interrupted.
func RunState(state migrate.RunState, released []newqueue.QueueHold, running bool) string {
	switch {
	case state == migrate.Running && !running:
		return "unfinished"
	case state != migrate.Done || len(released) == 0:
		return stateWord(state)
	case len(released) < len(newqueue.QueueHolds):
		return "done, released: " + QueueNames(released)
	}
	return "released"
}

// stateWord is a state in words: "rolled back" for rolled-back.
func stateWord(state migrate.RunState) string { return strings.ReplaceAll(string(state), "-", " ") }

// unsound are the steps that come before any other, because a run is not finished or its records are
// damaged.
var unsound = []migrate.Step{migrate.StepWait, migrate.StepRestoreLedger, migrate.StepNoQueue, migrate.StepLegacyQueue, migrate.StepFinish, migrate.StepFinishRollback, migrate.StepFinishRetire}

// legacyRuns are the steps while legacy workers run on migrated records.
var legacyRuns = []migrate.Step{migrate.StepStopLegacy, migrate.StepHold, migrate.StepLookAtTwice}

// StatusVerdict says where a migration stands, in a clause. It is bad if a run is not finished, if the
// migration's own records are damaged, or if there is no new queue.
func StatusVerdict(s *migrate.Status, target string) (screen.Tone, string) {
	text := stateText(s, target)
	switch {
	case slices.Contains(unsound, s.Step):
		return screen.Bad, text
	case s.Restored || slices.Contains(legacyRuns, s.Step) || s.Step == migrate.StepMigrateRest:
		return screen.Attention, text
	}
	return screen.Good, text
}

func stateText(s *migrate.Status, target string) string {
	run := s.Current()
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
	case migrate.StepNoQueue, migrate.StepLegacyQueue:
		return with(NoQueue(target, s.NoQueue))
	case migrate.StepFinish:
		return fmt.Sprintf("%s is not finished, and no migration is running: %d of %s", run.ID, run.Created.Records(), screen.Count(run.Total, "record is migrated", "records are migrated"))
	case migrate.StepFinishRollback:
		return fmt.Sprintf("the rollback of %s is not finished, and none is running", run.ID)
	case migrate.StepFinishRetire:
		return fmt.Sprintf("the retire of the records of %s is not finished, and none is running", run.ID)
	}
	text := ""
	switch {
	case run == nil:
		return with("no run is recorded here")
	case run.State == migrate.RolledBack && run.Kept > 0:
		text = fmt.Sprintf("%s was rolled back; %s kept, or removed by other clients before", run.ID, screen.Count(run.Kept, "job or request was", "jobs and requests were"))
	case run.State == migrate.RolledBack:
		text = run.ID + " was rolled back"
	default:
		text = run.ID + " is " + stateShown(s, *run)
	}
	if held == "" {
		text += ", and no queue is held"
	}
	text = with(text) + movedText(s.Legacy)
	if s.Restored {
		text += ". The target was restored from a backup: jobs that were finished after the backup was made would run again"
	}
	return text
}

// movedText counts the legacy records that somebody has to look at; "" if there are none.
func movedText(legacy []migrate.LegacyStatus) (text string) {
	var twice, over, gone, late, missed int
	for _, l := range legacy {
		twice, over, gone, late, missed = twice+len(l.Twice), over+len(l.MayHaveRunTwice()), gone+l.Gone, late+len(l.Late), missed+len(l.Missed)
	}
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{twice, "migrated record has changed or vanished and could run twice", "migrated records have changed or vanished and could run twice"},
		{over, "migrated record has changed and may have run twice", "migrated records have changed and may have run twice"},
		{gone, "migrated record is gone that retire did not remove", "migrated records are gone that retire did not remove"},
		{late, "record came late", "records came late"}, {missed, "record was missed", "records were missed"},
	} {
		if of.n > 0 {
			text += "; " + screen.Count(of.n, of.one, of.many)
		}
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
