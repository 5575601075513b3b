package report

import (
	"fmt"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/migrate"
)

// Verdict is the head of the page: a word, a colour of the style sheet, what the command says
// of its result, and what to do next.
type Verdict struct {
	Word, Tone, Sentence string
	Next                 advice.Next
}

// toneNames are the names of the tones in the style sheet.
var toneNames = map[screen.Tone]string{screen.Plain: "info", screen.Good: "good", screen.Attention: "warn", screen.Bad: "bad"}

// verdict is what mrtq plan says of a plan. Of a target it is what mrtq status says of the newest
// run, or mrtq verify if the target was compared with the source and no run is unfinished.
func (d *Data) verdict() Verdict {
	if d.Plan != nil {
		tone, _, text := view.PlanVerdict(d.Plan)
		word := map[screen.Tone]string{screen.Good: "Ready", screen.Attention: "Ready, with care", screen.Bad: "Stopped"}[tone]
		if d.Plan.Empty() && !d.Plan.Blocked() {
			word = "Nothing to do"
		}
		return d.head(word, tone, text, migrate.PlanStep(d.Plan))
	}
	tone, _, text := view.StatusVerdict(d.Status, d.Target)
	newest := d.Status.Current()
	switch {
	case d.Status.Damage != "":
		return d.head("Damaged", tone, text, d.Status.Step)
	case tone == screen.Bad:
		return d.head("Unfinished", tone, text, d.Status.Step)
	case newest == nil:
		return d.head("Not started", screen.Plain, text, d.Status.Step)
	case newest.State == migrate.RolledBack && (d.Verdict == nil || d.Verdict.OK()): // else an older run differs
		return d.head("Rolled back", screen.Attention, text, d.Status.Step)
	case d.Verdict == nil:
		return d.head("Not compared", screen.Attention, text+". The target was not compared with the legacy queue, because that is in another ensemble", migrate.StepVerify)
	}
	tone, _, text = view.VerdictText(d.Verdict, d.Target)
	word := "Differs"
	switch n := len(d.Verdict.Differences); {
	case tone == screen.Good:
		word = "Verified"
	case d.Verdict.Count("not-kept") == n: // the target matches
		word = "Not kept"
	case d.Verdict.CountGroup(migrate.ActedOnIn) == n: // it may be as it should be
		word = "Acted on"
	}
	if n := d.Verdict.Records.Quarantined; tone == screen.Good && n > 0 && !d.QuarantineChecked {
		tone, text = screen.Attention, fmt.Sprintf("%s. This page did not check whether the bytes of %s are kept: give --quarantine", text, count(n, "record", "records"))
	}
	return d.head(word, tone, text, migrate.VerdictStep(d.Verdict))
}

func (d *Data) head(word string, tone screen.Tone, text string, step migrate.Step) Verdict {
	return Verdict{word, toneNames[tone], screen.Sentence(text) + ".", d.Next(step)}
}
