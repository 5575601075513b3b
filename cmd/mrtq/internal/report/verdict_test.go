package report

import (
	"slices"
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
	for _, c := range []struct {
		name                 string
		d                    *Data
		word, tone, sentence string // sentence is a part of it
		next                 string
	}{
		{"all is well", sample(100), "Verified", "good", "The target matches the source. 1 record is not migrated.", "next: migrate-rest"},
		{"everything is wrong", wronged(), "Differs", "bad", ": 1 damaged, 1 record to decide about, 1 restored from a backup, 1 acted on.", "next: repair-held"},
		{"a migrator is at work", night(func(d *Data) { d.Status.Step = migrate.StepWait; differing(d, "missing") }), "Unfinished", "bad", "is running now", "next: wait"},
		{"the ledger is damaged", night(func(d *Data) {
			d.Status.Damage, d.Status.Step, d.Verdict = "an entry is missing", migrate.StepRestoreLedger, nil
		}), "Damaged", "bad", "An entry is missing", "next: restore-ledger"},
		{"interrupted", in(migrate.Running, migrate.StepFinish), "Unfinished", "bad", sampleRun, "next: finish"},
		{"a rollback was interrupted", in(migrate.RollingBack, migrate.StepFinishRollback), "Unfinished", "bad", "The rollback of " + sampleRun, "next: finish-rollback"},
		{"rolled back", in(migrate.RolledBack, migrate.StepPlan), "Rolled back", "warn", "The newest run is " + sampleRun, "next: plan"},
		{"records vanished", night(func(d *Data) { differing(d, "vanished") }), "Differs", "bad", ": 1 record to decide about.", "next: decide-records"},
		{"acted on", night(func(d *Data) { differing(d, "acted-on"); d.Verdict.NotMigrated = nil }), "Acted on", "bad", "1 acted on", "next: look-first"},
		{"the quarantine file lacks bytes", night(func(d *Data) { differing(d, "not-kept", "not-kept") }), "Not kept", "bad", "lacks the bytes of 2 records", "next: keep"},
		{"rolled back, and an older run is damaged", night(func(d *Data) {
			d.Status.Runs[0].State, d.Status.Step = migrate.RolledBack, migrate.StepPlan
			differing(d, "missing", "acted-on")
		}), "Differs", "bad", "1 damaged, 1 acted on", "next: repair-held"},
		{"rolled back, without source", night(func(d *Data) {
			d.Status.Runs[0].State, d.Status.Step, d.Verdict = migrate.RolledBack, migrate.StepPlan, nil
		}), "Rolled back", "warn", "The newest run is " + sampleRun, "next: plan"},
		{"released", night(func(d *Data) { d.Verdict.Released = newqueue.QueueHolds; d.Verdict.NotMigrated = nil }), "Verified", "good", "Released: ", "next: "},
		{"in two ensembles", night(func(d *Data) { d.Verdict = nil }), "Not compared", "warn", "another ensemble", "next: verify"},
		{"quarantine not checked", night(func(d *Data) { d.QuarantineChecked, d.Verdict.NotMigrated = false, nil }), "Verified", "warn", "the bytes of 1 record", "next: release"},
		{"nothing there", night(func(d *Data) { d.Status, d.Verdict = &migrate.Status{Step: migrate.StepPlan}, nil }), "Not started", "info", "No run", "next: plan"},
		{"ready", plan(func(d *Data) {
			d.Plan.Records = slices.DeleteFunc(d.Plan.Records, func(r migrate.PlanRecord) bool { return r.State == "held" || r.State == "failed" })
		}), "Ready", "good", "220 to create", "next: migrate"},
		{"ready, and jobs wait", planned(), "Ready, with care", "warn", "74 jobs won't run", "next: migrate"},
		{"stopped", stopped(), "Stopped", "bad", "Still to do: ", "next: decide"},
		{"nothing to do", plan(func(d *Data) { d.Plan.Records = nil }), "Nothing to do", "good", "No records.", "next: "},
		{"risky", risky(), "Ready, with care", "warn", "1 job might run twice", "next: migrate"},
	} {
		v := c.d.verdict()
		if v.Word != c.word || v.Tone != c.tone || v.Next.Command != c.next || !strings.Contains(v.Sentence, c.sentence) || !strings.HasSuffix(v.Sentence, ".") {
			t.Errorf("%s: %+v, want %s (%s), …%s…, then %q", c.name, v, c.word, c.tone, c.sentence, c.next)
		}
	}
}
