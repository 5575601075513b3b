package report

import (
	"fmt"
	"slices"
	"time"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/harness/rehearse"
	"mrtq/migrate"
	"mrtq/newqueue"
)

var sampleTime = time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)

const (
	sampleRun    = "run0000000000"
	sampleSource = "zk1:2181,zk2:2181"
	sampleTarget = "zk1:2181,zk2:2181/new"
)

// record is the i-th record of a sample, as it was migrated.
func record(i int) migrate.RecordStatus {
	queues := []struct {
		node string
		kind migrate.QueueKind
	}{{"/ingest", migrate.Ingest}, {"/ingest", migrate.Ingest}, {"/ingest", migrate.Ingest}, {"/mrt.inventory.full", migrate.Inventory}}
	states := []string{"pending", "completed", "pending", "failed", "completed", "pending", "held", "pending"}
	formats := []string{"json", "java-serialized", "properties", "beans-xml"}
	priority := []int{5, 5, 2, 5, 10, 5, 50, 2, 5, 20}[i*i%10] + i%7*i%5
	q := queues[i*7%4]
	return migrate.RecordStatus{
		Path: fmt.Sprintf("%s/mrtQ-%02d%012d", q.node, priority, i), Queue: q.kind, Status: states[i%8], Format: formats[i*3%7%4],
		Time: sampleTime.Add(-time.Duration(i%400) * 9 * time.Hour), Outcome: "migrated",
		Job: fmt.Sprintf("/jobs/jid%010d", i), Batch: fmt.Sprintf("bid%010d", i/20), State: states[i%8], Run: sampleRun,
	}
}

// sampleRecords are n records: of a hundred, one is in quarantine, one was skipped, and the job of
// one was removed.
func sampleRecords(n int) []migrate.RecordStatus {
	records := make([]migrate.RecordStatus, n)
	for i := range records {
		r := record(i)
		switch i % 100 {
		case 17:
			r = migrate.RecordStatus{Path: r.Path, Queue: r.Queue, Outcome: "quarantined", Reason: fmt.Sprintf("unsupported-class at byte %d: XML", i)}
		case 42:
			r = migrate.RecordStatus{Path: r.Path, Queue: r.Queue, Status: "deleted", Outcome: "skipped", Reason: "deleted"}
		case 60:
			r.Outcome, r.State, r.Reason = "removed", "", "its job was finished and cleaned up, or deleted"
		}
		records[i] = r
	}
	return records
}

// samplePlan is a saved plan for the records of a sample.
func samplePlan(n int) *migrate.Plan {
	p := &migrate.Plan{Run: sampleRun, Source: sampleSource, Target: sampleTarget, Dialect: newqueue.Design, Choices: migrate.DefaultChoices()}
	p.Choices.Undecodable, p.Choices.Consumed = "quarantine", "failed"
	p.Settings.Note = "dana, OPS-42 <b>"
	p.Settings.NewQueue, p.Settings.ACL = true, []migrate.ACL{{Perms: 31, Scheme: "digest", ID: "mrt:c2VjcmV0"}}
	for _, r := range sampleRecords(n) {
		e := migrate.PlanRecord{Path: r.Path, Queue: r.Queue, Status: r.Status, Action: migrate.ActCreate, State: r.State, Reason: r.Reason}
		switch r.Outcome {
		case "quarantined":
			e.Action = migrate.ActQuarantine
		case "skipped":
			e.Action = migrate.ActSkip
		}
		p.Records = append(p.Records, e)
	}
	p.Locks = []migrate.HeldLock{{Path: "/mrt.lock/ark-99999-fk4abc123", Time: "2024-02-29T00:00:00.123Z", Data: "jid-0002", Record: "/ingest/mrtQ-05000000000002"}}
	p.Warnings = []migrate.Warning{{Path: "/ingest/mrtQ-05000000000001", Message: "its sequence number has wrapped"}}
	p.Missing = []string{"/accessLarge.1"}
	return p
}

// sample is a migration of n records, verified before its release. The same n always gives
// the same migration.
func sample(n int) *Data {
	run := migrate.RunStatus{Tracked: n, Present: n - n/100, Removed: n / 100}
	run.Run = migrate.Run{
		ID: sampleRun, Note: "dana, OPS-42 <b>", State: migrate.Done, Source: sampleSource, Dialect: newqueue.Design, Choices: samplePlan(0).Choices, Owner: "night1 pid 4711 since 2026-11-21T21:59:58Z",
		Started: sampleTime, Finished: sampleTime.Add(42 * time.Second), Created: migrate.Counts{Jobs: n, Batches: n / 20},
	}
	d := &Data{
		Made: sampleTime.Add(2 * time.Hour), Source: sampleSource, Target: sampleTarget,
		Status: &migrate.Status{
			Runs:  []migrate.RunStatus{run},
			Jobs:  []migrate.StateCount{{State: "pending", Migrated: n / 2, Others: 3}, {State: "failed", Migrated: n / 9}, {State: "lost", Others: 1}},
			Holds: []migrate.HoldStatus{{Path: "/locks/queue/ingest", Queue: "ingest", Owners: []migrate.HoldOwner{{By: sampleRun}, {By: "dana", Why: "storage is full"}}}},
			Locks: []migrate.LockStatus{{Path: "/locks/storage/ark:%2F99999", Session: "0x1001"}},
			Step:  migrate.StepRelease,
		},
		Verdict: &migrate.Verdict{
			Run: sampleRun, State: migrate.Done, Nodes: 9 * n,
			NotMigrated: []string{"/ingest/mrtQ-05009999999999"},
		},
		QuarantineChecked: true,
		Records:           sampleRecords(n),
		Next:              func(step migrate.Step) advice.Next { return advice.Next{Command: "next: " + string(step)} },
	}
	r := &d.Verdict.Records
	r.Total, r.Migrated, r.Removed, r.Skipped, r.Quarantined = n, n-3*(n/100), n/100, n/100, n/100
	return d
}

// planned is a plan that has not been carried out, without a target.
func planned() *Data {
	d := sample(300)
	d.Status, d.Verdict, d.Plan = nil, nil, samplePlan(300)
	d.Plan.Locks, d.Plan.Warnings = nil, nil
	for i := range d.Records {
		if r := &d.Records[i]; r.Job != "" {
			r.Outcome, r.Job, r.Batch, r.Run, r.Reason = migrate.WillBeCreated, "", "", "", ""
		}
	}
	return d
}

// risky is a plan for the deployed services, with a record that might run twice, and others that
// might never run.
func risky() *Data {
	d := planned()
	p := d.Plan
	p.Dialect, p.Readers, p.Choices.Consumed = newqueue.MrtZK, newqueue.MrtZK.Readers(), "pending"
	d.Records[2].Status, p.Records[2].Status = "consumed", "consumed"
	consumed := []string{d.Records[2].Path}
	chosen := migrate.Risk{About: "failed", Choice: "failed", Chosen: true}
	for _, r := range d.Records {
		if r.Status == "failed" && r.Outcome == migrate.WillBeCreated {
			chosen.Never = append(chosen.Never, r.Path)
			if r.Queue == migrate.Ingest {
				chosen.Empty = append(chosen.Empty, r.Path)
			}
		}
	}
	d.PlanID, d.Version = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03", "mrtq v0.1.0"
	d.Rehearsal = &rehearse.Report{Verdict: "ok", Records: len(d.Records), Night: &rehearse.Night{Freeze: 41, Emails: 12, Steps: []rehearse.Step{{Name: "migrate", Seconds: 14}}}}
	soon := migrate.Finding{Requirement: "removed-soon", What: "it is Completed"}
	soon.Items = slices.Grow(soon.Items, 1)[:1]
	soon.Items[0].Path = "/batch-uuids/bid-0001"
	p.Services = []migrate.Finding{soon}
	p.Risks = []migrate.Risk{
		{About: "consumed", Choice: "leave"}, {About: "consumed", Choice: "held", Never: consumed}, {About: "consumed", Choice: "pending", Twice: consumed, Chosen: true},
		{About: "consumed", Choice: "failed", Never: consumed, Empty: consumed}, chosen,
	}
	return d
}

// wronged is a migration in which everything went wrong.
func wronged() *Data {
	d := sample(300)
	d.Verdict.Differences = []migrate.Difference{
		{Kind: "missing", Path: "/jobs/jid0000000001/priority", Record: "/ingest/mrtQ-05000000000001", Message: "it is missing"},
		{Kind: "both", Path: "/ingest/mrtQ-05000000000002", Message: "both queues have begun it"},
		{Kind: "restored", Path: "/migration/runs/" + sampleRun, Message: "it was restored from a backup"},
		{Kind: "acted-on", Path: "/jobs/jid0000000004", Message: "a worker has it"},
	}
	d.Status.Legacy = []migrate.LegacyStatus{{Path: "/ingest", AtLegacy: []string{"/ingest/mrtQ-05000000000005"}, Undecided: []migrate.UndecidedRecord{
		{Record: "/ingest/mrtQ-05000000000002", Job: "/jobs/jid0000000002", Question: migrate.Both},
		{Record: "/ingest/mrtQ-05000000000006", Job: "/jobs/jid0000000006", Question: migrate.LastCopy}}}}
	return d
}

// stopped is a plan that can't be carried out.
func stopped() *Data {
	d := planned()
	d.Plan = samplePlan(20)
	d.Plan.Records[2].Action = migrate.ActBlock
	d.Plan.Problems = []migrate.Problem{{Kind: migrate.Undecodable, Path: "/ingest/mrtQ-05000000000002", Message: "can't be decoded", Next: "repair it"}}
	return d
}
