package report

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/layout"
	"mrtq/internal/printable"
	"mrtq/migrate"
)

// Verdict is the head of the page: a word, a colour's name, a sentence, and what to do
// next, "" for nothing.
type Verdict struct {
	Word, Tone, Sentence, Next string
}

// A tone is a colour of the style sheet. The verdict's word says the same as
// its tone.
const (
	toneGood = "good"
	toneWarn = "warn"
	toneBad  = "bad"
	toneInfo = "info"
)

// rule is one verdict, and what follows from it.
type rule struct {
	applies    func(d *Data) bool
	word, tone string
	sentence   func(d *Data) string
	next       func(d *Data) string
}

// rules are tried in this order. The first one that applies gives the verdict.
var rules = []rule{
	{func(d *Data) bool { return d.step() == migrate.StepWait }, "Running", toneInfo, func(*Data) string {
		return "A migration is running, and what this page shows was read while it changed."
	}, status},
	{func(d *Data) bool { return d.Status != nil && d.Status.Damage != "" }, "Damaged", toneBad, func(d *Data) string {
		return fmt.Sprintf("The migration's own records are not whole: %s.", d.Status.Damage)
	}, status},
	{func(d *Data) bool { return d.step() == migrate.StepFinish }, "Unfinished", toneBad, func(d *Data) string {
		return fmt.Sprintf("%s is not finished. To finish it, run the same migration again.", d.newest().ID)
	}, status},
	{func(d *Data) bool { return d.step() == migrate.StepFinishRollback }, "Unfinished", toneBad, func(d *Data) string {
		return fmt.Sprintf("The rollback of %s is not finished. To finish it, run the same rollback again.", d.newest().ID)
	}, status},
	{func(d *Data) bool {
		return d.compared() && !d.Verdict.OK() && d.Verdict.Count("not-kept") == len(d.Verdict.Differences)
	}, "Not kept", toneBad, func(d *Data) string {
		return fmt.Sprintf("The target matches the source, but the quarantine file lacks the bytes of %s.", count(len(d.Verdict.Differences), "record", "records"))
	}, verify},
	{func(d *Data) bool { return d.compared() && d.damaged() }, "Differs", toneBad, func(d *Data) string {
		return fmt.Sprintf("The target does not match the source: %s.", d.differences())
	}, verify},
	{func(d *Data) bool { return d.compared() && !d.Verdict.OK() }, "Acted on", toneWarn, func(d *Data) string {
		return fmt.Sprintf("%s acted on since the migration. Nothing is damaged.", count(len(d.Verdict.Differences), "job or batch was", "jobs and batches were"))
	}, verify},
	{func(d *Data) bool { return d.Check != nil && d.Check.Count(layout.Error) > 0 }, "Faulty", toneBad, func(d *Data) string {
		return fmt.Sprintf("mrtq check found %s in the tree.", count(d.Check.Count(layout.Error), "error", "errors"))
	}, func(*Data) string {
		return "Repair what mrtq check found, and check again before anything is released."
	}},
	{func(d *Data) bool { return d.Coverage != nil && d.Coverage.Count(CoverageFailed) > 0 }, "Not proved", toneBad, func(d *Data) string {
		return fmt.Sprintf("In mrtq accept, %s failed.", count(d.Coverage.Count(CoverageFailed), "documented row", "documented rows"))
	}, func(*Data) string { return "Find out why mrtq accept failed, before anything is released." }},
	{func(d *Data) bool { return d.Plan != nil && d.pending() }, "", "", nil, nil}, // see planRules
	{func(d *Data) bool { return d.ran() && d.newest().State == migrate.RolledBack }, "Rolled back", toneWarn, func(d *Data) string {
		if kept := d.newest().Kept; kept > 0 {
			return fmt.Sprintf("%s was rolled back. %s kept, or removed by others before.", d.newest().ID, count(kept, "job was", "jobs were"))
		}
		return d.newest().ID + " was rolled back."
	}, status},
	{func(d *Data) bool { return d.ran() && d.isOtherPlan() }, "Not this plan", toneWarn, func(d *Data) string {
		return fmt.Sprintf("%s is done, and it did not carry out this plan.", d.newest().ID)
	}, func(*Data) string { return "Find out which plan was carried out, before anything is released." }},
	{func(d *Data) bool { return d.ran() && !d.compared() }, "Not compared", toneWarn, func(d *Data) string {
		return d.newest().ID + " is done. The target was not compared with the source: give SOURCE."
	}, status},
	{func(d *Data) bool { return d.compared() && d.Verdict.Records.Quarantined > 0 && !d.QuarantineChecked }, "Verified", toneWarn, func(d *Data) string {
		return fmt.Sprintf("The target matches the source. This page did not check whether the bytes of %s are kept: give --quarantine.", count(d.Verdict.Records.Quarantined, "record", "records"))
	}, verify},
	{func(d *Data) bool { return d.compared() && len(d.Verdict.Released) > 0 }, "Verified", toneGood, func(d *Data) string {
		return fmt.Sprintf("Every migrated record is accounted for, and none is damaged. Released: %s.%s", d.released(), d.late())
	}, verify},
	{func(d *Data) bool { return d.compared() }, "Verified", toneGood, func(d *Data) string {
		return fmt.Sprintf("The target matches the source: %s accounted for, %s compared.%s", count(d.Verdict.Records.Total, "record", "records"), count(d.Verdict.Nodes, "znode", "znodes"), d.late())
	}, verify},
	{func(d *Data) bool { return d.Plan == nil }, "Not started", toneInfo, func(*Data) string { return "No run is recorded in the target." }, status},
	{func(*Data) bool { return true }, "", "", nil, nil},
}

// planRules are the verdicts on a plan that was not carried out yet.
var planRules = []rule{
	{func(d *Data) bool { return d.Plan.Blocked() }, "Stopped", toneBad, func(d *Data) string {
		return fmt.Sprintf("This plan can't be carried out: solve %s first.", count(len(d.Plan.Problems), "problem", "problems"))
	}, plan},
	{func(d *Data) bool { return d.Plan.Empty() }, "Nothing to do", toneGood, func(*Data) string { return "Every record that should be migrated has been migrated." }, func(*Data) string { return "" }},
	{func(d *Data) bool { return d.risky() > 0 }, "Ready, with risk", toneWarn, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out, but %s might run twice, or never.", count(d.risky(), "job", "jobs"))
	}, plan},
	{func(d *Data) bool { return len(d.Plan.Locks)+d.unserviceable() > 0 }, "Ready, with care", toneWarn, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out. Look at %s and %s first.", count(len(d.Plan.Locks), "outstanding legacy lock", "outstanding legacy locks"), count(d.unserviceable(), "job that cannot be processed", "jobs that cannot be processed"))
	}, plan},
	{func(*Data) bool { return true }, "Ready", toneGood, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out: %s to be created.", count(d.Plan.Count(migrate.ActCreate), "job", "jobs"))
	}, plan},
}

func (d *Data) verdict() Verdict {
	for _, rules := range [][]rule{rules, planRules} {
		for _, r := range rules {
			if !r.applies(d) {
				continue
			}
			if r.sentence == nil {
				break
			}
			return Verdict{r.word, r.tone, r.sentence(d), r.next(d)}
		}
	}
	panic("report: the last rule always applies")
}

// status, verify and plan are what to do in view of the target, of the comparison, and of the
// plan.
func status(d *Data) string { return d.advise(d.step()) }
func verify(d *Data) string { return d.advise(migrate.VerdictStep(d.Verdict)) }
func plan(d *Data) string   { return d.advise(migrate.PlanStep(d.Plan)) }

func (d *Data) advise(step migrate.Step) string {
	if d.Next == nil {
		return ""
	}
	return printable.Line(d.Next(step)) // it may quote a name
}

func (d *Data) step() migrate.Step {
	if d.Status == nil {
		return ""
	}
	return d.Status.Step
}

// ran reports whether the target has a run.
func (d *Data) ran() bool { return d.Status != nil && d.Status.Newest() != nil }

func (d *Data) newest() *migrate.RunStatus { return d.Status.Newest() }

// compared reports whether the verdict is about what was migrated.
func (d *Data) compared() bool { return d.ran() && d.Verdict != nil && !d.pending() }

// damaged reports whether more was found than work of the services.
func (d *Data) damaged() bool {
	return d.Verdict.CountGroup(migrate.ActedOnIn) < len(d.Verdict.Differences)
}

// differences counts the differences by their groups, as the lists of the page are called.
func (d *Data) differences() string {
	var parts []string
	for _, g := range migrate.Groups {
		if n := d.Verdict.CountGroup(g); n > 0 {
			parts = append(parts, count(n, groupNames[g][0], groupNames[g][1]))
		}
	}
	return strings.Join(parts, ", ")
}

func (d *Data) released() string {
	var names []string
	for _, q := range d.Verdict.Released {
		names = append(names, string(q))
	}
	return strings.Join(names, ", ")
}

// late says that records came after the migration, "" if none did.
func (d *Data) late() string {
	n := len(d.Verdict.Late)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s late.", count(n, "record is", "records are"))
}

// pending reports whether the page is about a plan that can still be carried out: the target
// has no run of its number yet.
func (d *Data) pending() bool {
	if d.Plan == nil || d.Plan.Empty() && !d.Plan.Blocked() {
		return false
	}
	return !d.ran() || d.newest().ID < d.Plan.Run
}

// isOtherPlan reports whether the run of the plan's number had other choices or records.
func (d *Data) isOtherPlan() bool {
	return d.Plan != nil && slices.ContainsFunc(d.Status.Runs, func(r migrate.RunStatus) bool {
		return r.ID == d.Plan.Run && (r.Dialect != d.Plan.Dialect || !r.Choices.Equal(d.Plan.Choices) || r.Created.Records() < d.Plan.Count(migrate.ActCreate))
	})
}

func (d *Data) risky() int {
	n := 0
	for _, r := range d.Plan.Risks {
		if r.Chosen {
			n += len(r.Twice) + len(r.Never)
		}
	}
	return n
}

func (d *Data) unserviceable() int {
	return len(d.Plan.About("inventory-records")) + len(d.Plan.About("unserviceable"))
}
