package report

import "fmt"

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
	{func(d *Data) bool { return d.AtWork }, "At work", toneInfo, func(*Data) string {
		return "A migrator is at work, and what this page shows was read while it changed."
	}, status},
	{func(d *Data) bool { return len(d.Damage) > 0 }, "Damaged", toneBad, func(d *Data) string {
		return fmt.Sprintf("The migration's own records are not as its runs left them: %s.", count(len(d.Damage), "fault", "faults"))
	}, status},
	{unfinished(RunRunning), "Unfinished", toneBad, func(d *Data) string {
		return fmt.Sprintf("%s has not finished. To finish it, run the same migration again.", d.latest().ID)
	}, status},
	{unfinished(RunRollingBack), "Unfinished", toneBad, func(d *Data) string {
		return fmt.Sprintf("The rollback of %s has not finished. To finish it, run the same rollback again.", d.latest().ID)
	}, status},
	{func(d *Data) bool { return d.ran() && d.Verification != nil && len(d.Verification.Differences) > 0 }, "Differs", toneBad, func(d *Data) string {
		return fmt.Sprintf("The target is not what the source says it should be: %s.", count(len(d.Verification.Differences), "difference", "differences"))
	}, verify},
	{func(d *Data) bool { return d.errors() > 0 }, "Faulty", toneBad, func(d *Data) string {
		return fmt.Sprintf("mrtq check found %s in the tree.", count(d.errors(), "error", "errors"))
	}, func(d *Data) string {
		return commanded("mend what mrtq check found, and check again before anything is released", d.Next.Check)
	}},
	{func(d *Data) bool { return d.Coverage != nil && d.Coverage.Count(CoverageFailed) > 0 }, "Unproved", toneBad, func(d *Data) string {
		return fmt.Sprintf("In mrtq accept, %s of the new queue's documents failed.", count(d.Coverage.Count(CoverageFailed), "row", "rows"))
	}, func(*Data) string { return "find out why mrtq accept failed, before anything is released" }},
	{func(d *Data) bool { return d.ran() && d.newest().State == RunRolledBack && !d.pending() }, "Rolled back", toneWarn, func(d *Data) string {
		return fmt.Sprintf("%s was rolled back. What another client had changed before was kept.", d.newest().ID)
	}, status},
	{func(d *Data) bool { return d.compared() && d.Plan != nil && d.Plan.Carried == "" && !d.Plan.Empty }, "Not this plan", toneWarn, func(d *Data) string {
		return fmt.Sprintf("%s. No run in the target carried out this plan.", done(d))
	}, func(d *Data) string {
		return fmt.Sprintf("find out which plan %s carried out, before anything is released", d.newest().ID)
	}},
	{func(d *Data) bool { return d.compared() && d.Verification == nil }, "Not compared", toneWarn, func(d *Data) string {
		return done(d) + ". The target was not compared with the source: give SOURCE."
	}, status},
	{func(d *Data) bool {
		return d.compared() && d.Verification.Quarantined > 0 && !d.Verification.QuarantineChecked
	}, "Verified", toneWarn, func(d *Data) string {
		return fmt.Sprintf("The target is what the source says it should be. This page did not check whether the bytes of %s are kept: give --quarantine.", count(d.Verification.Quarantined, "record", "records"))
	}, verify},
	{func(d *Data) bool { return d.compared() }, "Verified", toneGood, func(d *Data) string {
		return fmt.Sprintf("The target is what the source says it should be: %s.", accounted(d.Verification))
	}, verify},
	{func(d *Data) bool { return d.Plan == nil }, "Not started", toneInfo, func(*Data) string { return "No run is recorded in the target." }, status},
	{func(d *Data) bool { return len(d.Plan.Problems) > 0 }, "Stopped", toneBad, func(d *Data) string {
		return fmt.Sprintf("This plan can't be carried out: decide or mend %s first.", count(len(d.Plan.Problems), "problem", "problems"))
	}, func(d *Data) string {
		return commanded("decide or mend what is listed, then make a new plan", d.Next.Plan)
	}},
	{func(d *Data) bool { return d.Plan.Empty }, "Nothing to do", toneGood, func(*Data) string { return "Every record that should be migrated has been migrated." }, func(*Data) string { return "" }},
	{func(d *Data) bool { return d.risky() > 0 }, "Ready, with risk", toneWarn, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out, but %s could run twice, or never.", count(d.risky(), "job", "jobs"))
	}, func(d *Data) string { return commanded("look at the risks, then carry it out", d.Next.Migrate) }},
	{func(d *Data) bool { return len(d.Plan.Locks)+d.blockingServices() > 0 }, "Ready, with care", toneWarn, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out. Look at %s and %s first.", count(len(d.Plan.Locks), "outstanding legacy lock", "outstanding legacy locks"), count(d.blockingServices(), "fault for a deployed service", "faults for deployed services"))
	}, func(d *Data) string { return commanded("look at what is listed, then carry it out", d.Next.Migrate) }},
	{func(*Data) bool { return true }, "Ready", toneGood, func(d *Data) string {
		return fmt.Sprintf("This plan can be carried out: %s to be made.", count(d.countOf(ToCreate)+d.countOf(ToRewrite), "job", "jobs"))
	}, func(d *Data) string { return commanded("carry it out", d.Next.Migrate) }},
}

func (d *Data) verdict() Verdict {
	for _, r := range rules {
		if r.applies(d) {
			return Verdict{r.word, r.tone, r.sentence(d), r.next(d)}
		}
	}
	panic("report: the last rule always applies")
}

// status is what to do in view of the target alone.
func status(d *Data) string { return d.Next.Status }

// verify is what to do after the comparison.
func verify(d *Data) string { return d.Next.Verify }

// commanded is what to do, with the command for it if there is one.
func commanded(what, command string) string {
	if command == "" {
		return what
	}
	return what + ": " + command
}

// unfinished reports whether the target's newest run is in this state.
func unfinished(state string) func(d *Data) bool {
	return func(d *Data) bool { return d.ran() && d.latest().State == state }
}

// latest is the target's newest run, also if the page is about another one.
func (d *Data) latest() Run {
	if d.Latest.ID != "" {
		return d.Latest
	}
	return d.newest()
}

// compared reports whether the verdict is about what was migrated, and not about a plan
// that can still be carried out.
func (d *Data) compared() bool { return d.ran() && !d.pending() }

// pending reports whether the page is about a plan that can still be carried out.
func (d *Data) pending() bool { return d.Plan != nil && d.Plan.Pending && !d.Plan.Empty }

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
