package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/rehearse"
)

// mostShown is how many differences of one kind a table shows. -o json has all.
const mostShown = 20

// Rehearsal shows what a rehearsal found, and an estimate of the cutover.
func Rehearsal(s *screen.Screen, r *rehearse.Report) {
	if len(r.Problems) > 0 {
		Plan(s, r.Plan)
		return
	}
	s.Table("What was rehearsed", []string{"WHAT", "NUMBER"}, rehearsalRows(r))
	shown, left := map[rehearse.Kind]int{}, 0
	var differences []rehearse.Difference
	for _, d := range r.Differences {
		if shown[d.Kind]++; shown[d.Kind] <= mostShown {
			differences = append(differences, d)
		} else {
			left++
		}
	}
	screen.List(s, "Not as the plan predicts", differences, []string{"KIND", "PATH", "WHAT"}, func(d rehearse.Difference) screen.Row {
		return screen.Row{string(d.Kind), d.Path, d.Message}
	})
	if left > 0 {
		s.Say("%d more differences are not shown; -o json has all", left)
	}
	if r.Night != nil {
		night(s, r.Night)
	}
}

// rehearsalRows returns what was rehearsed, and how much of it.
func rehearsalRows(r *rehearse.Report) []screen.Row {
	rows := []screen.Row{
		{"records", fmt.Sprint(r.Records)},
		{"jobs and access requests", fmt.Sprint(r.Jobs)},
		{"records that are skipped", fmt.Sprint(r.Skipped)},
		{"records that are quarantined", fmt.Sprint(r.Quarantined)},
		{"records whose work was done", fmt.Sprint(r.Workers.Done)},
		{"reports emailed", fmt.Sprint(r.Workers.Emails)},
		{"batches removed by the cleanup", fmt.Sprint(r.Workers.Removed)},
		{"on purpose: records failed", fmt.Sprint(r.Workers.Trouble.Failed)},
		{"on purpose: workers killed", fmt.Sprint(r.Workers.Trouble.Killed)},
		{"on purpose: sessions lost", fmt.Sprint(r.Workers.Trouble.Lost)},
	}
	if b := r.Back; b != nil {
		rows = append(rows, screen.Row{"second copy: done before the rollback", fmt.Sprint(b.Before)},
			screen.Row{"second copy: given back by the rollback", fmt.Sprint(b.GivenBack)},
			screen.Row{"second copy: kept by the rollback", fmt.Sprint(b.Kept)},
			screen.Row{"second copy: done by legacy workers", fmt.Sprint(b.ByLegacy)},
			screen.Row{"second copy: failed by legacy workers", fmt.Sprint(b.Failed)})
	}
	return rows
}

// night shows an estimate of the cutover.
func night(s *screen.Screen, n *rehearse.Night) {
	var rows []screen.Row
	for _, step := range n.Steps {
		rows = append(rows, screen.Row{step.Name, seconds(step.Seconds)})
	}
	rows = append(rows, screen.Row{"the queue is frozen, at least", seconds(n.Freeze)}, screen.Row{"emails when it is drained, at most", fmt.Sprint(n.Emails)},
		screen.Row{"batches that the cleanup removes within the hour", fmt.Sprint(len(n.Cleanup))})
	s.Table("The cutover, as estimated", []string{"WHAT", "HOW MUCH"}, rows)
	s.Say("The times are those of the rehearsal's server.")
}

func seconds(n float64) string { return fmt.Sprintf("%.1f s", n) }

// RehearsalVerdict says how a rehearsal ended, in a word and in sentences.
func RehearsalVerdict(r *rehearse.Report) (tone screen.Tone, word, text string) {
	switch {
	case len(r.Problems) > 0:
		_, word, text = PlanVerdict(r.Plan)
		return screen.Bad, word, text + "; nothing was rehearsed."
	case !r.OK():
		kinds := map[rehearse.Kind]int{}
		for _, d := range r.Differences {
			kinds[d.Kind]++
		}
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(kinds)) {
			parts = append(parts, fmt.Sprintf("%s %d", k, kinds[k]))
		}
		return screen.Bad, "failed", fmt.Sprintf("%s from the plan (%s). Find out why before the cutover.",
			screen.Count(len(r.Differences), "outcome differs", "outcomes differ"), strings.Join(parts, ", "))
	}
	return screen.Good, "passed", fmt.Sprintf("The outcome of %s matched the plan; in %.0f s.", screen.Count(r.Records, "record", "records"), r.Seconds)
}
