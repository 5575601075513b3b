package view

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/rehearse"
	"mrtq/internal/layout"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

// TestListsShowWhatMattersFirst: the lists of each screen have first what needs a person, then what is unusual, and last
// what is as it should be. A name says which it is. Of many ordinary ones there is a count.
func TestListsShowWhatMattersFirst(t *testing.T) {
	const many = 150
	paths := func(matter string) (list []string) {
		for i := range many {
			list = append(list, fmt.Sprintf("%s-%d", matter, i))
		}
		return list
	}
	notes := func(matter, state string) (list []migration.Note) {
		for _, path := range paths(matter) {
			list = append(list, migration.Note{Record: path, State: state})
		}
		return list
	}
	person, unusual, ordinary := notes("person", "Pending"), notes("unusual", "Pending"), notes("ordinary", "Completed")
	var acted, damaged []migration.Difference
	for i := range many {
		acted = append(acted, migration.Difference{Kind: migration.DifferenceActedOn, Path: unusual[i].Record})
		damaged = append(damaged, migration.Difference{Kind: migration.DifferenceLayout, Path: person[i].Record, Remove: []string{person[i].Record}})
	}
	var work []migration.LegacyActivity
	var locks []migrate.LockStatus
	var waiting []migration.LegacyActivity
	for i := range many {
		waiting = append(waiting, migration.LegacyActivity{Path: ordinary[i].Record, What: migration.ActivityWaiting})
		work = append(work, migration.LegacyActivity{Path: person[i].Record, What: migration.ActivityConsumed})
		locks = append(locks, migrate.LockStatus{Path: ordinary[i].Record, Session: "0x1"}, migrate.LockStatus{Path: unusual[i].Record})
	}
	run := migrate.RunStatus{}
	run.State = migration.RunDone
	for name, show := range map[string]func(*screen.Screen){
		"rollback": func(s *screen.Screen) {
			Rollback(s, &migrate.RollbackResult{Undecided: person, AtWork: person, Keeps: append(slices.Clone(ordinary), person[:30]...)})
		},
		"rollback --force": func(s *screen.Screen) { Rollback(s, &migrate.RollbackResult{AtWork: person, Forced: unusual}) },
		"release": func(s *screen.Screen) {
			Release(s, &migrate.ReleaseResult{Undecided: person, Twice: person, AtWork: append(waiting, work[:30]...)})
		},
		"verify": func(s *screen.Screen) {
			Verdict(s, &migration.Verdict{State: migration.RunDone, Differences: append(acted, damaged...), Legacy: unusual, Notices: unusual, Removed: ordinary, NotMigrated: paths("ordinary")})
		},
		"status": func(s *screen.Screen) {
			Status(s, &migrate.Status{Runs: []migrate.RunStatus{run}, Locks: locks, Abandoned: paths("person"), Unreported: []migrate.UnreportedBatch{{Path: "person"}},
				Legacy: []migrate.LegacyStatus{{Undecided: person, Twice: person, AtWork: work, Unreadable: paths("person"), AtLegacy: paths("unusual"), NotMigrated: paths("ordinary")}}}, nil)
		},
		"check": func(s *screen.Screen) {
			r := &layout.Report{}
			for i := range many {
				r.Findings = append(r.Findings, layout.Finding{Severity: layout.Info, Path: ordinary[i].Record, LockedBy: "0x1"})
			}
			r.Findings = append(r.Findings, layout.Finding{Severity: layout.Warning, Path: "unusual"}, layout.Finding{Severity: layout.Error, Path: "person"})
			Findings(s, r)
		},
		"rehearse": func(s *screen.Screen) {
			r := &rehearse.Report{Verdict: "differs"}
			for i := range many {
				r.Differences = append(r.Differences, rehearse.Difference{Path: person[i].Record})
			}
			Rehearsal(s, r)
		},
		"plan": func(s *screen.Screen) {
			p := &migration.Plan{}
			for i := range many {
				p.Locks = append(p.Locks, migration.LegacyLock{Path: person[i].Record})
				p.Records = append(p.Records, migration.PlanRecord{Path: unusual[i].Record, Action: migration.ActionRemoved})
			}
			printLocks(s, p)
			printMigratedBefore(s, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			show(screen.New(&out, io.Discard))
			order, last := []string{"person", "unusual", "ordinary"}, 0
			for _, m := range regexp.MustCompile(`(?m)^(?:deleteall )?(person|unusual|ordinary)|^Not shown: (\d+); -o json has all$`).FindAllStringSubmatch(out.String(), -1) {
				at := slices.Index(order, m[1])
				if at >= 0 && at < last || m[1] == "ordinary" {
					t.Fatalf("%s comes after %s, or is not counted:\n%s", m[0], order[last], out.String())
				}
				last = max(last, at)
			}
			if !strings.Contains(out.String(), "\nNot shown: ") {
				t.Errorf("nothing is counted:\n%s", out.String())
			}
		})
	}
}
