package report

import (
	"strings"
	"testing"

	"mrtq/migrate"
	"mrtq/newqueue"
)

// differing makes a verdict with differences of these kinds.
func differing(d *Data, kinds ...migrate.Kind) {
	for _, k := range kinds {
		d.Verdict.Differences = append(d.Verdict.Differences, migrate.Difference{Kind: k, Path: "/jobs/jid0000000001"})
	}
}

// TestVerdict has each verdict, with what to do next in its situation.
func TestVerdict(t *testing.T) {
	night := func(change func(d *Data)) *Data { d := sample(100); change(d); return d }
	plan := func(change func(d *Data)) *Data { d := planned(); change(d); return d }
	in := func(state migrate.RunState, step migrate.Step) *Data {
		return night(func(d *Data) { d.Status.Runs[0].State, d.Status.Step, d.Verdict.State = state, step, state })
	}
	const (
		repair = "Repair what mrtq check found, and check again before anything is released."
		prove  = "Find out why mrtq accept failed, before anything is released."
		which  = "Find out which plan was carried out, before anything is released."
	)
	for _, c := range []struct {
		name                 string
		d                    *Data
		word, tone, sentence string // sentence is a part of it
		next                 string
	}{
		{"all is well", sample(100), "Verified", toneGood, "100 records accounted for, 900 znodes compared. 1 record is late.", "next: migrate-rest"},
		{"everything is wrong", wronged(), "Differs", toneBad, ": 1 fault, 1 record that moved, 1 restored run, 1 job or batch that was acted on.", "next: roll-back"},
		{"a migrator is at work", night(func(d *Data) { d.Status.Step = migrate.StepWait; differing(d, "missing") }), "Running", toneInfo, "while it changed", "next: wait"},
		{"the ledger is damaged", night(func(d *Data) {
			d.Status.Damage, d.Status.Step, d.Verdict = "an entry is missing", migrate.StepRestoreLedger, nil
		}),
			"Damaged", toneBad, "an entry is missing", "next: restore-ledger"},
		{"interrupted", in(migrate.Running, migrate.StepFinish), "Unfinished", toneBad, sampleRun, "next: finish"},
		{"a rollback was interrupted", in(migrate.RollingBack, migrate.StepFinishRollback), "Unfinished", toneBad, "The rollback of " + sampleRun, "next: finish-rollback"},
		{"rolled back", in(migrate.RolledBack, migrate.StepPlan), "Rolled back", toneWarn, sampleRun + " was rolled back.", "next: plan"},
		{"rolled back, with kept jobs", night(func(d *Data) {
			d.Status.Runs[0].State, d.Status.Runs[0].Kept, d.Status.Step = migrate.RolledBack, 2, migrate.StepKept
		}), "Rolled back", toneWarn, "2 jobs were kept", "next: kept"},
		{"differs", night(func(d *Data) { differing(d, "missing", "acted-on") }), "Differs", toneBad, ": 1 fault, 1 job or batch that was acted on.", "next: roll-back"},
		{"records moved", night(func(d *Data) { differing(d, "vanished") }), "Differs", toneBad, ": 1 record that moved.", "next: stop-legacy"},
		{"acted on", night(func(d *Data) { differing(d, "acted-on"); d.Verdict.Late = nil }), "Acted on", toneWarn, "1 job or batch was acted on", "next: accept-acted-on"},
		{"the quarantine file lacks bytes", night(func(d *Data) { differing(d, "not-kept", "not-kept") }), "Not kept", toneBad, "lacks the bytes of 2 records", "next: keep"},
		{"released", night(func(d *Data) { d.Verdict.Released = newqueue.QueueHolds; d.Verdict.Late = nil }), "Verified", toneGood, "Released: ", "next: "},
		{"an error of the check", night(func(d *Data) { d.Check.Findings[0].Severity = "error" }), "Faulty", toneBad, "1 error", repair},
		{"a row that failed", night(func(d *Data) { d.Coverage.Rows[0].Result = CoverageFailed }), "Not proved", toneBad, "1 documented row", prove},
		{"another plan", night(func(d *Data) { d.Status.Runs[0].Choices = migrate.DefaultChoices() }), "Not this plan", toneWarn, sampleRun, which},
		{"a plan with more records", night(func(d *Data) { d.Status.Runs[0].Created.Jobs = 1 }), "Not this plan", toneWarn, sampleRun, which},
		{"without source", night(func(d *Data) { d.Verdict = nil }), "Not compared", toneWarn, "give SOURCE", "next: release"},
		{"quarantine not checked", night(func(d *Data) { d.QuarantineChecked, d.Verdict.Late = false, nil }), "Verified", toneWarn, "the bytes of 1 record", "next: release"},
		{"nothing there", night(func(d *Data) { d.Status, d.Plan, d.Verdict = &migrate.Status{Step: migrate.StepPlan}, nil, nil }), "Not started", toneInfo, "No run", "next: plan"},
		{"a plan for later", night(func(d *Data) { d.Plan.Run = "run0000000001" }), "Ready, with care", toneWarn, "1 outstanding legacy lock and 0 jobs", "next: migrate"},
		{"ready", planned(), "Ready", toneGood, "294 jobs to be created", "next: migrate"},
		{"blocked", plan(func(d *Data) { d.Plan.Problems = []migrate.Problem{{}} }), "Stopped", toneBad, "1 problem", "next: decide"},
		{"nothing to do", plan(func(d *Data) { d.Plan.Records = nil }), "Nothing to do", toneGood, "Every record", ""},
		{"risky", risky(), "Ready, with risk", toneWarn, "1 job might run twice", "next: migrate"},
		{"nobody says what to do", plan(func(d *Data) { d.Next = nil }), "Ready", toneGood, "294 jobs", ""},
	} {
		v := c.d.verdict()
		if v.Word != c.word || v.Tone != c.tone || v.Next != c.next || !strings.Contains(v.Sentence, c.sentence) || !strings.HasSuffix(v.Sentence, ".") {
			t.Errorf("%s: %+v, want %s (%s), …%s…, then %q", c.name, v, c.word, c.tone, c.sentence, c.next)
		}
	}
}

// TestEveryCombination: whatever a page is made from, it has a verdict, and no verdict but a
// good one is hidden: damage, an unfinished run and a difference always show.
func TestEveryCombination(t *testing.T) {
	type part struct {
		name   string
		change func(d *Data)
		bad    bool
	}
	nothing := part{name: "-", change: func(*Data) {}}
	state := func(s migrate.RunState, step migrate.Step) func(d *Data) {
		return func(d *Data) { d.Status.Runs[0].State, d.Status.Step = s, step }
	}
	parts := [][]part{
		{nothing, {"no target", func(d *Data) { d.Status, d.Verdict = nil, nil }, false}, {"no run", func(d *Data) { d.Status = &migrate.Status{Step: migrate.StepPlan} }, false},
			{"running", state(migrate.Running, migrate.StepFinish), true}, {"rolling back", state(migrate.RollingBack, migrate.StepFinishRollback), true},
			{"rolled back", state(migrate.RolledBack, migrate.StepPlan), false}},
		{nothing, {"damaged", func(d *Data) {
			if d.Status != nil {
				d.Status.Damage, d.Verdict = "x", nil
			}
		}, false}},
		{nothing, {"not compared", func(d *Data) { d.Verdict = nil }, false}, {"differs", func(d *Data) {
			if d.Verdict != nil {
				differing(d, "missing")
			}
		}, false}},
		{nothing, {"faulty", func(d *Data) { d.Check.Findings[0].Severity = "error" }, true}},
		{nothing, {"failed row", func(d *Data) { d.Coverage.Rows[0].Result = CoverageFailed }, true}},
		{{"no plan", func(d *Data) { d.Plan = nil }, false}, nothing, {"another plan", func(d *Data) { d.Plan.Choices.Deleted = "migrate" }, false},
			{"later plan", func(d *Data) { d.Plan.Run = "run0000000001" }, false}, {"empty plan", func(d *Data) { d.Plan.Records = nil }, false}},
	}
	seen := map[string]bool{}
	var try func(chosen []part)
	try = func(chosen []part) {
		if len(chosen) < len(parts) {
			for _, p := range parts[len(chosen)] {
				try(append(chosen[:len(chosen):len(chosen)], p))
			}
			return
		}
		d, name, bad := sample(20), "", false
		for _, p := range chosen {
			p.change(d)
			name += p.name + "; "
			bad = bad || p.bad
		}
		bad = bad || d.Status != nil && d.Status.Damage != "" || d.compared() && d.damaged()
		v := d.verdict()
		seen[v.Word] = true
		if v.Word == "" || v.Sentence == "" || bad != (v.Tone == toneBad) {
			t.Errorf("%s: %+v", name, v)
		}
	}
	try(nil)
	for _, word := range []string{"Damaged", "Unfinished", "Differs", "Faulty", "Not proved", "Rolled back", "Not this plan", "Not compared", "Verified", "Not started", "Nothing to do", "Ready, with care"} {
		if !seen[word] {
			t.Errorf("no combination has the verdict %q", word)
		}
	}
}
