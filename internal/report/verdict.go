package report

import "fmt"

// Verdict is the head of the page: a word, a colour's name, and a sentence.
type Verdict struct {
	Word, Tone, Sentence string
}

// A tone is a colour of the style sheet. The verdict's word says the same as
// its tone.
const (
	toneGood = "good"
	toneWarn = "warn"
	toneBad  = "bad"
	toneInfo = "info"
)

// rules are tried in this order. The first one that applies gives the verdict.
var rules = []struct {
	applies  func(d *Data) bool
	word     string
	tone     string
	sentence func(d *Data) string
}{
	{func(d *Data) bool { return len(d.Damage) > 0 }, "Damaged", toneBad, func(d *Data) string {
		return fmt.Sprintf("The migration's own records are not as its runs left them: %s.", count(len(d.Damage), "fault", "faults"))
	}},
	{inState(RunRunning), "Unfinished", toneBad, func(d *Data) string {
		return fmt.Sprintf("%s has not finished. To finish it, run the same migration again.", d.newest().ID)
	}},
	{inState(RunRollingBack), "Unfinished", toneBad, func(d *Data) string {
		return fmt.Sprintf("The rollback of %s has not finished. To finish it, run the same rollback again.", d.newest().ID)
	}},
	{func(d *Data) bool { return d.ran() && d.Verification != nil && len(d.Verification.Differences) > 0 }, "Differs", toneBad, func(d *Data) string {
		return fmt.Sprintf("The target is not what the source says it should be: %s.", count(len(d.Verification.Differences), "difference", "differences"))
	}},
	{func(d *Data) bool { return d.errors() > 0 }, "Faulty", toneBad, func(d *Data) string {
		return fmt.Sprintf("mrtq check found %s in the tree.", count(d.errors(), "error", "errors"))
	}},
	{func(d *Data) bool { return d.Coverage != nil && d.Coverage.Count(CoverageFailed) > 0 }, "Unproved", toneBad, func(d *Data) string {
		return fmt.Sprintf("In mrtq accept, %s of the new queue's documents failed.", count(d.Coverage.Count(CoverageFailed), "row", "rows"))
	}},
	{inState(RunRolledBack), "Rolled back", toneWarn, func(d *Data) string {
		return fmt.Sprintf("%s was rolled back. What another client had changed before was kept.", d.newest().ID)
	}},
	{func(d *Data) bool { return d.ran() && d.Plan != nil && d.Plan.Carried == "" }, "Not this plan", toneWarn, func(d *Data) string {
		return fmt.Sprintf("%s. No run in the target carried out this plan.", done(d))
	}},
	{func(d *Data) bool { return d.ran() && d.Verification == nil }, "Not compared", toneWarn, func(d *Data) string {
		return done(d) + ". The target was not compared with the source: give SOURCE."
	}},
	{func(d *Data) bool {
		return d.ran() && d.Verification.Quarantined > 0 && !d.Verification.QuarantineChecked
	}, "Verified", toneWarn, func(d *Data) string {
		return fmt.Sprintf("The target is what the source says it should be. This page did not check whether the bytes of %s are kept: give --quarantine.", count(d.Verification.Quarantined, "record", "records"))
	}},
	{func(d *Data) bool { return d.ran() }, "Verified", toneGood, func(d *Data) string {
		return fmt.Sprintf("The target is what the source says it should be: %s.", accounted(d.Verification))
	}},
	{func(d *Data) bool { return d.Plan == nil }, "Not started", toneInfo, func(*Data) string { return "No run is recorded in the target." }},
	{func(d *Data) bool { return len(d.Plan.Problems) > 0 }, "Stopped", toneBad, func(d *Data) string {
		return fmt.Sprintf("This plan can't be carried out: decide or mend %s first.", count(len(d.Plan.Problems), "problem", "problems"))
	}},
	{func(d *Data) bool { return d.Plan.Empty }, "Nothing to do", toneGood, func(*Data) string { return "Every record that should be migrated has been migrated." }},
	{func(d *Data) bool { return d.risky() > 0 }, "Ready, with risk", toneWarn, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out, but %s could run twice, or never.", count(d.risky(), "job", "jobs"))
	}},
	{func(d *Data) bool { return len(d.Plan.Locks)+d.blockingServices() > 0 }, "Ready, with care", toneWarn, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out. Look at %s and %s first.", count(len(d.Plan.Locks), "outstanding legacy lock", "outstanding legacy locks"), count(d.blockingServices(), "fault for a deployed service", "faults for deployed services"))
	}},
	{func(*Data) bool { return true }, "Ready", toneGood, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out: %s to be made.", count(d.countOf(ToCreate)+d.countOf(ToRewrite), "job", "jobs"))
	}},
}

func (d *Data) verdict() Verdict {
	for _, r := range rules {
		if r.applies(d) {
			return Verdict{r.word, r.tone, r.sentence(d)}
		}
	}
	panic("report: the last rule always applies")
}

func inState(state string) func(d *Data) bool {
	return func(d *Data) bool { return d.ran() && d.newest().State == state }
}

// ran reports whether the target has a run.
func (d *Data) ran() bool { return len(d.Runs) > 0 }

func (d *Data) newest() Run { return d.Runs[len(d.Runs)-1] }

func done(d *Data) string {
	if len(d.Runs) == 1 {
		return d.Runs[0].ID + " is done"
	}
	return fmt.Sprintf("%s to %s are done", d.Runs[0].ID, d.newest().ID)
}

func accounted(v *Verification) string {
	return fmt.Sprintf("%s accounted for, %s compared", count(v.Total, "record", "records"), count(v.Nodes, "znode", "znodes"))
}

func (d *Data) errors() int {
	if d.Check == nil {
		return 0
	}
	return d.Check.Errors()
}

func (d *Data) risky() int {
	n := 0
	for _, r := range d.Plan.Risks {
		if r.Chosen {
			n += r.Twice + r.Never
		}
	}
	return n
}

func (d *Data) blockingServices() int {
	n := 0
	for _, s := range d.Plan.Services {
		if s.Blocking {
			n += len(s.Paths)
		}
	}
	return n
}

func (d *Data) countOf(o Outcome) int {
	n := 0
	for i := range d.Records {
		if d.Records[i].Outcome == o {
			n++
		}
	}
	return n
}
