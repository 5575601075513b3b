package migrate_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// completeOutcome is what complete does, as the page has it.
func completeOutcome(s *site) string {
	out, err := migrate.Complete(s.t.Context(), s.w, migrate.CompleteOptions{})
	for _, w := range []struct {
		err  error
		word string
	}{
		{migrate.ErrUndecided, "asks"}, {migrate.ErrRestored, "restored"}, {migrate.ErrNotReleased, "release"}, {migrate.ErrHeld, "release"},
		{migrate.ErrUnfinished, "later"}, {migrate.ErrDamaged, "lost"}, {migrate.ErrLeft, "follow"},
	} {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	if s.must(err); len(out.Runs) == 0 {
		return "–"
	}
	return "ends"
}

// TestLifeOfComplete is the second table of the page docs/life.md. A complete that refuses removes nothing, and what it says leads on.
func TestLifeOfComplete(t *testing.T) {
	events := maps.Clone(lifeEvents)
	events["its release waits for a legacy worker"] = func(l *site) {
		lifeEvents["a legacy worker takes a record"](l)
		if _, err := migrate.Release(l.t.Context(), l.w, migrate.ReleaseOptions{}); !errors.Is(err, migrate.ErrAtWork) {
			l.t.Errorf("release: %v", err)
		}
	}
	_, rows := pageTable(t, "complete")
	if len(rows) < 8 {
		t.Errorf("the page has %d rows", len(rows))
	}
	each(t, func(t *testing.T, d newqueue.Dialect) {
		for _, row := range rows {
			for _, situation := range strings.Split(row[0], "; ") {
				t.Run(situation, func(t *testing.T) {
					t.Parallel()
					state, event, _ := strings.Cut(situation, ": ")
					s := serve(t, lifeQueue(t), d)
					lifeStates[state](s)
					before := s.tree()
					if event != "" {
						events[event](s)
					}
					refused := s.tree()
					if got := completeOutcome(s); got != row[1] {
						t.Fatalf("%s, the page says %s", got, row[1])
					}
					if row[1] == "ends" || row[1] == "–" {
						return
					}
					if a, b := dump(refused, keptRoot, "/migration/runs"), dump(s.tree(), keptRoot, "/migration/runs"); a != b {
						t.Errorf("it refused, and changed\n%s", b)
					}
					if row[1] == "later" {
						s.finish(before, migration.AnswerNew)
					}
					if row[1] == "follow" {
						s.follow()
					}
					if st := s.status(); row[1] != "later" || st.Step == migrate.StepRelease {
						s.leadsOn(before, s.releases, migration.AnswerNew)
					}
					if got := completeOutcome(s); got != "ends" && state != "rolling back" {
						t.Errorf("afterwards: %s", got)
					}
				})
			}
		}
	})
}

// The question of complete says what waits, and whether any service was seen.
func TestCompleteSaysWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, d newqueue.Dialect) {
		s := serve(t, queueTree(t, map[string][]byte{ingest(1): record(t, legacy.Pending, job("a", "1")), ingest(2): record(t, legacy.Pending, job("a", "2")),
			ingest(3): record(t, legacy.Held, job("a", "3")), accessRecord: record(t, legacy.Pending, token("t"))}), d)
		s.mustMigrate(s.options())
		s.release()
		asks := func() (asked migrate.CompleteResult) {
			no := errors.New("no")
			_, err := migrate.Complete(t.Context(), s.w, migrate.CompleteOptions{Confirm: func(c *migrate.CompleteResult) error { asked = *c; return no }})
			if !errors.Is(err, no) {
				t.Errorf("%v", err)
			}
			return asked
		}
		if asked := asks(); asked.Pending != 3 || asked.Begun {
			t.Errorf("%+v", asked)
		}
		s.fails()
		if asked := asks(); asked.Pending != 2 || !asked.Begun {
			t.Errorf("a worker came: %+v", asked)
		}
		for _, name := range s.tree().Children("/jobs") { // finished and cleaned up
			if strings.HasPrefix(name, "jid") {
				s.remove(znode.Join("/jobs", name))
			}
		}
		if asked := asks(); !asked.Begun {
			t.Errorf("they were removed: %+v", asked)
		}
	})
}
