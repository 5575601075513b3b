package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Status prints where a migration stands. before is an earlier look, nil if there is none: numbers that have changed since show by
// how much.
func Status(s *screen.Screen, st, before *migrate.Status) {
	var runs []screen.Row
	for _, r := range st.Runs {
		was := earlier(before, r.ID)
		runs = append(runs, screen.Row{r.ID, stateShown(st, r), r.Started.Format(time.RFC3339), string(r.Dialect), since(before, r.Tracked, was.Tracked),
			since(before, r.HandedOver, was.HandedOver), since(before, r.Removed, was.Removed), r.Note})
	}
	tableOf(s, []string{"RUN", "STATE", "STARTED", "DIALECT", "MIGRATED", "HANDED OVER", "REMOVED", "NOTE"}, 5, runs)
	was := map[string]migrate.StateCount{}
	for _, c := range stateCounts(before) {
		was[c.what+c.State] = c.StateCount
	}
	var states []screen.Row
	for _, c := range stateCounts(st) {
		earlier := was[c.what+c.State]
		states = append(states, screen.Row{c.what, c.State, since(before, c.Migrated, earlier.Migrated), since(before, c.Others, earlier.Others)})
	}
	tableOf(s, []string{"WHAT", "STATE", "MIGRATED", "OTHER CLIENTS"}, 3, states)
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
	var legacy []screen.Row
	for _, l := range st.Legacy {
		var was migrate.LegacyStatus
		if before != nil {
			for _, b := range before.Legacy {
				if b.Path == l.Path {
					was = b
				}
			}
		}
		if l.Records+was.Records+len(l.Undecided) == 0 {
			continue
		}
		legacy = append(legacy, screen.Row{l.Path, since(before, l.Records, was.Records), since(before, l.Migrated, was.Migrated), since(before, len(l.NotMigrated), len(was.NotMigrated)), since(before, l.Finished, was.Finished), since(before, l.Left, was.Left),
			since(before, len(l.AtLegacy), len(was.AtLegacy)), since(before, len(l.Undecided), len(was.Undecided)), since(before, len(l.AtWork), len(was.AtWork))})
	}
	tableOf(s, []string{"LEGACY QUEUE", "RECORDS", "TO HAND OVER", "NOT MIGRATED", "FINISHED", "LEFT OUT", "TO WITHDRAW", "TO DECIDE", "AT WORK"}, 3, legacy)
	lists(s, st)
}

// lists prints first what needs a person.
func lists(s *screen.Screen, st *migrate.Status) {
	undecided(s, st.Undecided())
	var work []migration.LegacyActivity
	var both []migration.Note
	var taken, unreadable, late []string
	for _, l := range st.Legacy {
		work, both = append(work, l.AtWork...), append(both, l.Twice...)
		taken, unreadable, late = append(taken, l.AtLegacy...), append(unreadable, l.Unreadable...), append(late, l.NotMigrated...)
	}
	if run := st.Current(); run == nil || run.State != migration.RunDone {
		taken, unreadable, late = nil, nil, nil // then that is where they should be
	}
	twice(s, both)
	atWork(s, work)
	screen.List(s, "They can't be read with these credentials", unreadable, []string{"LEGACY RECORD"}, path)
	screen.List(s, "In Processing, and nobody has locked them: no worker takes these again", st.Abandoned, []string{"ACCESS REQUEST"}, path)
	screen.List(s, "No job of them is unfinished, and nobody reports them", st.Unreported, []string{"BATCH", "STATE", "SINCE"}, func(b migrate.UnreportedBatch) screen.Row {
		return screen.Row{b.Path, b.State, timeText(b.Since)}
	})
	screen.List(s, "Migrated, and taken by a legacy worker since: a release withdraws the job", taken, []string{"LEGACY RECORD"}, path)
	screen.Brief(s, "", st.Locks, []string{"LOCK", "SESSION"}, func(l migrate.LockStatus) screen.Row {
		return screen.Row{l.Path, cmp.Or(l.Session, "none: it is persistent")}
	}, func(l migrate.LockStatus) bool { return l.Session != "" })
	screen.Brief(s, notMigrated, late, []string{"LEGACY RECORD"}, path, all)
}

const notMigrated = "Not migrated: in the legacy queue alone"

func path(path string) screen.Row { return screen.Row{path} }

func all[T any](T) bool { return true }

type stateCount struct {
	what string
	migrate.StateCount
}

func stateCounts(st *migrate.Status) (all []stateCount) {
	if st == nil {
		return nil
	}
	for _, c := range st.Jobs {
		all = append(all, stateCount{"jobs", c})
	}
	for _, c := range st.Access {
		all = append(all, stateCount{string(c.Queue) + " access requests", c.StateCount})
	}
	for _, c := range st.Batches {
		all = append(all, stateCount{"batches", c})
	}
	return all
}

// tableOf prints a table without those columns after the first ones in which each cell is 0 or empty.
func tableOf(s *screen.Screen, header []string, first int, rows []screen.Row) {
	for i := len(header) - 1; i >= first; i-- {
		if slices.ContainsFunc(rows, func(r screen.Row) bool { return r[i] != 0 && r[i] != "" }) {
			continue
		}
		header = slices.Delete(header, i, i+1)
		for j := range rows {
			rows[j] = slices.Delete(rows[j], i, i+1)
		}
	}
	s.Table("", header, rows)
}

func since(before *migrate.Status, n, was int) any {
	if before == nil || n == was {
		return n
	}
	return fmt.Sprintf("%d (%+d)", n, n-was)
}

func earlier(before *migrate.Status, id string) (r migrate.RunStatus) {
	if before != nil {
		for _, run := range before.Runs {
			if run.ID == id {
				return run
			}
		}
	}
	return r
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// stateShown is a run's state in words. If no migration is running, a run whose record says that it is running was
// interrupted.
func stateShown(s *migrate.Status, r migrate.RunStatus) string {
	released := r.ReleasedQueues()
	switch {
	case !r.Completed.IsZero():
		return "completed"
	case r.State == migration.RunRunning && s.Migrators == 0:
		return "unfinished"
	case r.State != migration.RunDone:
		return stateWord(r.State)
	case r.Releasing:
		return "release unfinished"
	case len(released) == 0:
		return "migrated"
	case len(released) < len(newqueue.QueueHolds):
		return "partly released"
	}
	return "released"
}

func stateWord(state migration.RunState) string { return strings.ReplaceAll(string(state), "-", " ") }

// unsound are the steps that come before any other, because a run is not finished or its records are
// damaged.
var unsound = []migrate.NextStep{migrate.StepWait, migrate.StepRestoreLedger, migrate.StepNoQueue, migrate.StepLegacyQueue, migrate.StepFinish, migrate.StepFinishRollback}

// StatusVerdict says where a migration stands, in a word and in a clause. It is bad if a run or a release is not finished, if somebody must decide about a
// record, if the migration's own records are damaged, or if there is no new queue.
func StatusVerdict(s *migrate.Status, target string) (tone screen.Tone, word, text string) {
	word, text = stateText(s, target)
	switch {
	case slices.Contains(unsound, s.Step), len(s.Undecided()) > 0, s.Releasing(), s.Uncompleted > 0, isUnfollowed(s):
		return screen.Bad, word, text
	case s.Restored || s.Step == migrate.StepFollow || len(s.Abandoned)+len(s.Unreported) > 0:
		return screen.Attention, word, text
	}
	return screen.Good, word, text
}

// mayWait is how long a record may wait for a follow that is started again.
const mayWait = time.Minute

func isUnfollowed(s *migrate.Status) bool {
	return !s.Unfollowed.IsZero() && time.Since(s.Unfollowed) > mayWait
}

func stateText(s *migrate.Status, target string) (word, text string) {
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
		return "running", "a migration is running now, so these numbers change; one that was killed counts as running until its session ends"
	case migrate.StepRestoreLedger:
		return "damaged", s.Damage
	case migrate.StepNoQueue, migrate.StepLegacyQueue:
		return "not found", with(NoQueue(target, s.NoQueue))
	case migrate.StepFinish:
		return "unfinished", unfinishedText(&run.Run, ", and no migration is running")
	case migrate.StepFinishRollback:
		return "unfinished", unfinishedText(&run.Run, ", and none is running")
	}
	if run == nil {
		return "not started", with("no run is recorded here")
	}
	word, text = stateShown(s, *run), "the newest run is "+run.ID
	if s.Releasing() {
		word, text = "unfinished", releasingText(s.Due)+"; "+text
	}
	if s.Uncompleted > 0 {
		word, text = "unfinished", completingText(s.Uncompleted)+"; "+text
	}
	kept := 0
	for _, r := range s.Runs {
		if r.State == migration.RunRolledBack {
			kept += r.Present
		}
	}
	if run.State == migration.RunRolledBack && kept > 0 {
		text += "; " + screen.Count(kept, "job or request that a rollback kept is there, as the only copy", "jobs and requests that a rollback kept are there, as the only copies")
	}
	if held == "" {
		text += ", and no queue is held"
	}
	text = with(text) + legacyText(s.Legacy)
	for _, of := range counted([]note{{len(s.Abandoned), "access request is in Processing, and nobody works on it", "access requests are in Processing, and nobody works on them"},
		{len(s.Unreported), "batch has no unfinished job, and nobody reports it", "batches have no unfinished job, and nobody reports them"}}) {
		text += "; " + of
	}
	switch {
	case s.Followers > 0:
		text += "; follow is at work"
	case isUnfollowed(s):
		text += fmt.Sprintf("; the first came %s ago, and nobody follows", time.Since(s.Unfollowed).Round(time.Second))
	}
	if waiting := waitingJobs(s); waiting > 0 && slices.ContainsFunc(s.Runs, func(r migrate.RunStatus) bool { return r.State == migration.RunDone && len(r.Releases) > 0 }) {
		text += ". " + screen.Count(waiting, "job or request is", "jobs and requests are") +
			" held or failed, until an administrator releases or requeues each with the admin tool"
	}
	if s.Restored {
		text += ". The target was restored from a backup: jobs that were finished after the backup was made would run again"
	}
	return word, text
}

// unfinishedText says how far a run is that is running or rolling back. known is what else is known of it; it may be "".
func unfinishedText(run *migration.Run, known string) string {
	if run.State == migration.RunRollingBack {
		return fmt.Sprintf("the rollback of %s is not finished%s: %d of its %s removed", run.ID, known, run.Removed.Records(), screen.Count(run.Created.Records(), "job or request is", "jobs and requests are"))
	}
	return fmt.Sprintf("%s is not finished%s: %d of %s", run.ID, known, run.Created.Records(), screen.Count(run.Total, "record is migrated", "records are migrated"))
}

func releasingText(due int) string {
	if due == 0 {
		return "the release is not finished: each record is handed over, but a hold was not lifted"
	}
	return "the release is not finished: " + screen.Count(due, "record is", "records are") + " still to be handed over"
}

func completingText(left int) string {
	return "the completion is not finished: the kept bytes of " + screen.Count(left, "record are", "records are") + " still to be removed"
}

func waitingJobs(s *migrate.Status) (n int) {
	for _, c := range stateCounts(s) {
		if c.what != "batches" && (c.State == string(newqueue.JobHeld) || c.State == string(newqueue.JobFailed)) {
			n += c.Migrated + c.Others
		}
	}
	return n
}

func legacyText(legacy []migrate.LegacyStatus) (text string) {
	var undecided, withdraw, unreadable, rest int
	for _, l := range legacy {
		undecided, withdraw, unreadable, rest = undecided+len(l.Undecided), withdraw+len(l.AtLegacy), unreadable+len(l.Unreadable), rest+len(l.NotMigrated)
	}
	for _, of := range counted([]note{
		{undecided, "record must be decided about", "records must be decided about"},
		{withdraw, "migrated record was taken by a legacy worker", "migrated records were taken by legacy workers"},
		{unreadable, "record can't be read with these credentials", "records can't be read with these credentials"},
		{rest, "record is in the legacy queue and not migrated", "records are in the legacy queue and not migrated"},
	}) {
		text += "; " + of
	}
	return text
}

func heldText(s *migrate.Status) string {
	if len(s.Holds) == 0 {
		return ""
	}
	var free []string
	for _, q := range newqueue.QueueHolds {
		if s.NoQueue == nil && !slices.ContainsFunc(s.Holds, func(h migration.Hold) bool { return h.Path == newqueue.QueueHoldPath(q) }) {
			free = append(free, string(q))
		}
	}
	text := "held: " + HoldsText(s.Holds)
	if len(free) > 0 {
		text += "; not held: " + strings.Join(free, ", ")
	}
	return text
}
