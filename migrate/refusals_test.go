package migrate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// reasons are what a release can refuse because of, with what ends each: what an operator repairs, or the word that the printed
// command has.
var reasons = map[string]struct {
	bring, repair func(s *site)
	word          func(o *migrate.ReleaseOptions)
	steps         []migrate.Step
}{
	"damage": {
		bring:  func(s *site) { s.remove(s.jobOf(ingest(1)) + "/priority") },
		repair: func(s *site) { s.create(s.jobOf(ingest(1))+"/priority", []byte("5")) },
		steps:  []migrate.Step{migrate.StepRepairHeld},
	},
	"undecided": {
		bring: func(s *site) { s.remove(ingest(2)) },
		word:  func(o *migrate.ReleaseOptions) { o.Vanished = migrate.IsLegacy },
		steps: []migrate.Step{migrate.StepDecideRecords},
	},
	"restored": {
		bring: func(s *site) { s.set(firstRun, s.data(firstRun)) },
		word:  func(o *migrate.ReleaseOptions) { o.Restored = true },
		steps: []migrate.Step{migrate.StepRestored},
	},
	"at work": {
		bring: func(s *site) { s.create(ingest(9), record(s.t, legacy.Consumed, job("late", "9"))) },
		word:  func(o *migrate.ReleaseOptions) { o.WorkersStopped = 1 },
		steps: []migrate.Step{migrate.StepAwaitLegacy},
	},
}

// refused are the reasons that a release has named.
func refused(res *migrate.Released) string {
	var named []string
	steps := []migrate.Step{}
	if res.Verdict != nil {
		steps = migrate.VerdictSteps(res.Verdict)
	}
	if len(res.AtWork) > 0 {
		steps = append(steps, migrate.StepAwaitLegacy)
	}
	for name, r := range reasons {
		if slices.Contains(steps, r.steps[0]) {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	return strings.Join(named, ", ")
}

// A release that refuses because of two reasons names both, and what ends both leads on. With one of them ended, it names the other.
func TestEveryReasonIsNamed(t *testing.T) {
	names := slices.Sorted(maps.Keys(reasons))
	for i, a := range names {
		for _, b := range names[i+1:] {
			t.Run(fmt.Sprintf("%s and %s", a, b), func(t *testing.T) {
				t.Parallel()
				s := serve(t, queueTree(t, pendings(t, 3, 3)), newqueue.MrtZK)
				s.mustMigrate(s.options())
				reasons[a].bring(s)
				reasons[b].bring(s)
				opt := migrate.ReleaseOptions{Now: moment, Decisions: migrate.Decisions{Save: s.save}}
				for n, want := range []string{a + ", " + b, b} {
					res, err := migrate.Release(t.Context(), s.w, opt)
					if err == nil || res == nil {
						t.Fatalf("step %d: not refused: %+v", n, res)
					}
					if got := refused(res); got != want {
						t.Errorf("step %d: names %q, expected %q: %v", n, got, want, err)
					}
					r := reasons[names[slices.Index(names, []string{a, b}[n])]]
					if r.repair != nil {
						r.repair(s)
					} else {
						r.word(&opt)
					}
				}
				if _, err := migrate.Release(t.Context(), s.w, opt); err != nil {
					t.Errorf("both are ended: %v", err)
				}
			})
		}
	}
}
