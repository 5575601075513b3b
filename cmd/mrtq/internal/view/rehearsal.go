package view

import (
	"fmt"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/harness/rehearse"
)

// Rehearsal shows what a rehearsal found, and an estimate of the cutover.
func Rehearsal(s *screen.Screen, r *rehearse.Report) {
	if !r.Rehearsed() {
		Plan(s, r.Plan)
		return
	}
	s.Table("What was rehearsed", []string{"WHAT", "NUMBER"}, []screen.Row{
		{"records", r.Records},
		{"records whose work was done", r.Done},
		{"records that were failed on purpose", r.Failed},
		{"submitted after the release, and moved by follow", r.Submitted},
		{"second copy: done before the rollback", r.DoneBefore},
		{"second copy: done by legacy workers after it", r.DoneAfter},
	})
	screen.List(s, "Not as the plan predicts", r.Differences, []string{"KIND", "PATH", "WHAT"}, func(d rehearse.Difference) screen.Row {
		return screen.Row{string(d.Kind), d.Path, d.Message}
	})
	if r.Cutover != nil {
		cutover(s, r.Cutover)
	}
}

func cutover(s *screen.Screen, n *rehearse.Cutover) {
	var rows []screen.Row
	for _, step := range n.Steps {
		rows = append(rows, screen.Row{step.Name, seconds(step.Seconds)})
	}
	rows = append(rows, screen.Row{"no worker is at work, at least", seconds(n.Freeze)}, screen.Row{"emails while the queue is drained, at most", fmt.Sprint(n.Emails)})
	s.Table("The cutover, as estimated", []string{"WHAT", "HOW MUCH"}, rows)
	s.Say("The times are those of the rehearsal's server.")
}

func seconds(n float64) string { return fmt.Sprintf("%.1f s", n) }

// RehearsalVerdict says how a rehearsal ended, in a word and in sentences.
func RehearsalVerdict(r *rehearse.Report) (tone screen.Tone, word, text string) {
	switch {
	case !r.Rehearsed():
		if _, word, text = PlanVerdict(r.Plan); !r.Plan.Blocked() {
			word = "nothing to do"
		}
		return screen.Bad, word, text + "; nothing was rehearsed."
	case !r.OK():
		return screen.Bad, "failed", screen.Count(len(r.Differences), "outcome differs", "outcomes differ") + " from the plan. Find out why before the cutover."
	}
	return screen.Good, "passed", "The outcome of " + screen.Count(r.Records, "record", "records") + " matched the plan. It took " + seconds(r.Seconds) + "."
}
