package view

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// Release prints what stands in the way of a release.
func Release(s *screen.Screen, r *migrate.ReleaseResult) {
	undecided(s, r.Undecided)
	twice(s, r.Twice)
	atWork(s, r.AtWork)
}

func twice(s *screen.Screen, records []migration.Note) {
	screen.List(s, "Both queues may have done the work of these, because a hold was lifted by hand: the record is gone, and its job was begun before", records, []string{"LEGACY RECORD", "JOB OR REQUEST"},
		func(n migration.Note) screen.Row { return screen.Row{n.Record, n.Job} })
}

func atWork(s *screen.Screen, work []migration.LegacyActivity) {
	screen.Brief(s, "At work in the legacy queue", work, []string{"RECORD OR LOCK", "WHAT", "SINCE"}, func(w migration.LegacyActivity) screen.Row {
		return screen.Row{w.Path, string(w.What), timeText(w.Since)}
	}, func(w migration.LegacyActivity) bool { return w.What == migration.ActivityWaiting })
}

// ReleaseOutcome returns what a release has done, and why a queue was not lifted. restored says that the operator knows that the target was
// restored.
func ReleaseOutcome(r *migrate.ReleaseResult, why error, restored bool) (tone screen.Tone, word, text string) {
	did, left := r.Transactions > 0, len(r.Left) > 0
	undecided, atWork := errors.Is(why, migrate.ErrUndecided), errors.Is(why, migrate.ErrAtWork)
	done := ReleaseDone(r)
	attention := screen.Good // if anything is left
	if left {
		attention = screen.Attention
	}
	type row struct {
		applies    bool
		tone       screen.Tone
		word, says string
	}
	for _, row := range []row{ // the first that applies
		{len(r.Lifted) > 0, screen.Good, "done", screen.Count(len(r.Lifted), "hold", "holds") + " lifted: " + HoldNames(r.Lifted)},
		{restored && why == nil && len(done) == 0 && did, screen.Good, "done", "the runs' records say now that the target was restored"},
		{why == nil && !left && !did, screen.Good, "nothing to do", "nothing is held there"},
		{why == nil && !did, attention, "nothing to do", "no hold was lifted"},
		{why == nil && !slices.ContainsFunc(r.Left, migration.Hold.OfRun), attention, "done", "the migration itself holds no queue any more"},
		{why == nil, attention, "done", "the migration no longer holds what you named"},
		{true, attention, "done", "no queue was released"}, // what the next table says takes its place
	} {
		if row.applies {
			tone, word, text = row.tone, row.word, strings.Join(append(done, row.says), "; ")+"."
			break
		}
	}
	for _, row := range []row{ // all that apply
		{left, tone, word, "Still held: " + HoldsText(r.Left) + "."},
		{r.OnlySmallHeld(), screen.Attention, word, "But the large access worker takes small requests too, so this hold does not stop them."},
		{atWork, screen.Bad, "not finished", "At work in the legacy queue: " + atWorkText(r.AtWork) + "."},
		{undecided, screen.Bad, "not finished", fmt.Sprintf("Somebody must decide about %s.", screen.Count(len(r.Undecided), "record", "records"))},
	} {
		if row.applies {
			tone, word, text = row.tone, row.word, text+" "+row.says
		}
	}
	return tone, word, text
}

// ReleaseDone says what a release did with records, one text for each count that is not 0.
func ReleaseDone(r *migrate.ReleaseResult) []string {
	return counted([]note{
		{r.HandedOver, "record handed over", "records handed over"},
		{r.Absent, "record was gone already", "records were gone already"},
		{r.Withdrawn, "job withdrawn (the legacy queue has its work)", "jobs withdrawn (the legacy queue has their work)"},
	})
}

func atWorkText(work []migration.LegacyActivity) string {
	count := map[migration.ActivityKind]int{}
	var since time.Time
	for _, w := range work {
		count[w.What]++
		if w.What != migration.ActivityWaiting && !w.Since.IsZero() && (since.IsZero() || w.Since.Before(since)) {
			since = w.Since
		}
	}
	text := strings.Join(counted([]note{{count[migration.ActivityConsumed], "consumed record", "consumed records"}, {count[migration.ActivityLocked], "lock", "locks"},
		{count[migration.ActivityWaiting], "record that waits for a legacy worker", "records that wait for legacy workers"}}), ", ")
	if !since.IsZero() {
		text += ", the oldest since " + timeText(since)
	}
	return text
}
