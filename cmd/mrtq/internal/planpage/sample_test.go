package planpage

import (
	"fmt"
	"slices"
	"time"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/harness/rehearse"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

const sampleTarget = "zk1:2181,zk2:2181/new"

// sample is a page about a plan for the deployed services with n records: of a hundred, one is in quarantine and
// one was skipped; one might run twice, and others might never run.
func sample(n int) *Data {
	p := &migration.Plan{Run: "run0000000000", Source: "zk1:2181,zk2:2181", Target: sampleTarget, Dialect: newqueue.MrtZK, Choices: migration.DefaultChoices()}
	p.Readers = newqueue.MrtZK.Readers()
	p.Choices.Undecodable, p.Choices.Consumed = "quarantine", "pending"
	p.Settings.Note = "dana, OPS-42 <b>"
	p.Settings.NewQueue, p.Settings.ACL = true, []migrate.ACL{{Perms: 31, Scheme: "digest", ID: "mrt:c2VjcmV0"}}
	states := []string{"pending", "completed", "pending", "failed", "completed", "pending", "held", "pending"}
	consumed := migration.Finding{Kind: "consumed-pending", Effect: migration.EffectRunsTwice, What: "it is consumed", Then: "with --consumed held the job waits"}
	failed := migration.Finding{Kind: "failed-failed", Effect: migration.EffectNeverRuns, What: "it failed"}
	soon := migration.Finding{Kind: "removed-soon", Effect: "batches removed within the hour", What: "it is Completed"}
	wrapped := migration.Finding{Kind: "wrapped", Effect: migration.EffectWarning, What: "its sequence number has wrapped"}
	concerns := func(f *migration.Finding, path string) {
		f.Items = slices.Grow(f.Items, 1)[:len(f.Items)+1]
		f.Items[len(f.Items)-1].Path = path
	}
	for i := range n {
		r := migration.PlanRecord{Path: fmt.Sprintf("/ingest/mrtQ-05%012d", i), Queue: migration.Ingest, Status: states[i%8], State: states[i%8], Action: migration.ActionCreate}
		switch i % 100 {
		case 2:
			r.Status = "consumed"
			concerns(&consumed, r.Path)
		case 17:
			r = migration.PlanRecord{Path: r.Path, Queue: r.Queue, Action: migration.ActionQuarantine, Reason: fmt.Sprintf("unsupported-class at byte %d: XML", i)}
		case 42:
			r = migration.PlanRecord{Path: r.Path, Queue: r.Queue, Status: "deleted", Action: migration.ActionSkip, Reason: "deleted"}
		}
		if r.Status == "failed" {
			concerns(&failed, r.Path)
		}
		p.Records = append(p.Records, r)
	}
	p.Locks = []migration.LegacyLock{{Path: "/mrt.lock/ark-99999-fk4abc123", Time: "2024-02-29T00:00:00.123Z", Data: "jid-0002", Record: "/ingest/mrtQ-05000000000002"}}
	p.Missing = []string{"/accessLarge.1"}
	concerns(&soon, "/batch-uuids/bid-0001")
	concerns(&wrapped, "/ingest/mrtQ-05000000000001")
	p.Findings = []migration.Finding{consumed, failed, soon, wrapped}
	return &Data{
		Plan: p, Made: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), PlanID: "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03", Version: "mrtq v0.1.0",
		Rehearsal: &rehearse.Report{Verdict: "ok", Records: n, Cutover: &rehearse.Cutover{Freeze: 41, Emails: 12, Steps: []rehearse.Step{{Name: "migrate", Seconds: 14}}}},
		Next:      advice.Next{First: "have the plan approved", Command: "mrtq migrate --plan plan.json"},
	}
}

func stopped() *Data {
	d := sample(20)
	d.Records[2].Action = migration.ActionBlock
	d.Problems = []migration.Problem{{Kind: migration.ProblemUndecodable, Path: "/ingest/mrtQ-05000000000002", Message: "can't be decoded", Next: "repair it"}}
	d.Rehearsal, d.Findings = nil, nil
	return d
}
