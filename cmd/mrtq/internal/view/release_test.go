package view

import (
	"cmp"
	"fmt"
	"testing"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// TestReleaseOutcome: the last line of a release.
func TestReleaseOutcome(t *testing.T) {
	hold := func(q newqueue.QueueHold, by string) migration.Hold {
		return migration.Hold{Path: newqueue.QueueHoldPath(q), Queue: q, Owners: []migration.HoldOwner{{By: by}}}
	}
	const run = "run0000000000"
	byRun, byOps := hold(newqueue.HoldIngest, run), hold(newqueue.HoldIngest, "ops")
	lifted, undecided := []string{byRun.Path}, []migration.Note{{Record: "/ingest/1"}}
	work := []migration.LegacyActivity{{What: migration.ActivityConsumed}}
	for name, c := range map[string]struct {
		res        migrate.ReleaseResult
		why        error
		restored   bool
		tone       screen.Tone
		word, says string
	}{
		"nothing is held":      {word: "nothing to do", says: "nothing is held there."},
		"lifted":               {res: migrate.ReleaseResult{HandedOver: 2, Absent: 1, Withdrawn: 1, Lifted: lifted, Transactions: 5}, word: "done", says: "2 records handed over; 1 record was gone already; 1 job withdrawn (the legacy queue has its work); 1 hold lifted: ingest."},
		"a person holds it":    {res: migrate.ReleaseResult{HandedOver: 1, Left: []migration.Hold{byOps}, Transactions: 2}, tone: screen.Attention, word: "done", says: "1 record handed over; the migration itself holds no queue any more. Still held: ingest by ops."},
		"nothing was lifted":   {res: migrate.ReleaseResult{Left: []migration.Hold{byOps}}, tone: screen.Attention, word: "nothing to do", says: "no hold was lifted. Still held: ingest by ops."},
		"others are named":     {res: migrate.ReleaseResult{HandedOver: 9, Left: []migration.Hold{byOps, hold(newqueue.HoldAccessSmall, run)}, Transactions: 9}, tone: screen.Attention, word: "done", says: "9 records handed over; the migration no longer holds what you named. Still held: ingest by ops; accessSmall by run0000000000."},
		"others were lifted":   {res: migrate.ReleaseResult{Lifted: lifted, Left: []migration.Hold{byOps}, Transactions: 1}, word: "done", says: "1 hold lifted: ingest. Still held: ingest by ops."},
		"only small is held":   {res: migrate.ReleaseResult{Lifted: []string{newqueue.QueueHoldPath(newqueue.HoldAccessLarge)}, Left: []migration.Hold{hold(newqueue.HoldAccessSmall, run)}, Transactions: 1}, tone: screen.Attention, word: "done", says: "1 hold lifted: accessLarge. Still held: accessSmall by run0000000000. But the large access worker takes small requests too, so this hold does not stop them."},
		"the restore is known": {res: migrate.ReleaseResult{Transactions: 1}, restored: true, word: "done", says: "the runs' records say now that the target was restored."},
		"undecided":            {res: migrate.ReleaseResult{HandedOver: 1, Undecided: undecided, Left: []migration.Hold{byRun}, Transactions: 1}, why: migrate.ErrUndecided, tone: screen.Bad, word: "not finished", says: "1 record handed over; no queue was released. Still held: ingest by run0000000000. Somebody must decide about 1 record."},
		"at work":              {res: migrate.ReleaseResult{AtWork: work, Left: []migration.Hold{byRun}}, why: migrate.ErrAtWork, tone: screen.Bad, word: "not finished", says: "no queue was released. Still held: ingest by run0000000000. At work in the legacy queue: 1 consumed record."},
		"both":                 {res: migrate.ReleaseResult{Undecided: undecided, AtWork: work, Left: []migration.Hold{byRun}}, why: fmt.Errorf("%w, %w", migrate.ErrUndecided, migrate.ErrAtWork), tone: screen.Bad, word: "not finished", says: "no queue was released. Still held: ingest by run0000000000. At work in the legacy queue: 1 consumed record. Somebody must decide about 1 record."},
	} {
		t.Run(name, func(t *testing.T) {
			if tone, word, says := ReleaseOutcome(&c.res, c.why, c.restored); tone != cmp.Or(c.tone, screen.Good) || word != c.word || says != c.says {
				t.Errorf("%v, %s: %s\nexpected %v, %s: %s", tone, word, says, c.tone, c.word, c.says)
			}
		})
	}
}
