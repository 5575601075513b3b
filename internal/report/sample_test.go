package report

import (
	"fmt"
	"time"

	"mrtq/internal/statedraw"
)

var sampleTime = time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)

const samplePlan = "37e5b5f4e2ca4ed5b1c0aa54f6d1e2f3a4b5c6d7e8f90123456789abcdef0123"

// machine is a small state machine. The command draws the new queue's own
// tables.
func machine() statedraw.Machine {
	return statedraw.Machine{Name: "job", States: []statedraw.State{{Name: "create", Bound: true}, {Name: "pending"}, {Name: "processing"}, {Name: "failed"}, {Name: "completed"}},
		Steps: []statedraw.Step{
			{ID: "J1", From: "create", To: "pending", Who: "API", Free: true},
			{ID: "J2", From: "pending", To: "processing", Who: "worker"},
			{ID: "J3", From: "processing", To: "failed", Who: "worker"},
			{ID: "J4", From: "processing", To: "completed", Who: "worker"},
			{ID: "J5", From: "failed", To: "processing", Who: "Admin", Free: true},
		}}
}

// sample is a migration of n records, with every kind of event. The same n
// always gives the same migration.
func sample(n int) *Data {
	d := &Data{
		Made: sampleTime.Add(2 * time.Hour), Source: "zk1:2181,zk2:2181", Target: "zk1:2181,zk2:2181/new", Dialect: "design", Read: true,
		Runs: []Run{{ID: "run0000000000", State: RunDone, Source: "zk1:2181,zk2:2181", Owner: "night1 pid 4711 since 2026-11-21T21:59:58Z", Plan: samplePlan,
			Started: sampleTime, Finished: sampleTime.Add(42 * time.Second), Jobs: n, Batches: n / 20}},
		Plan:         &Plan{ID: samplePlan, Run: "run0000000000", Carried: "run0000000000", Again: []string{"/ingest/mrtQ-05000000000007"}},
		Verification: &Verification{Total: n, Nodes: 9 * n, ACLs: 200, QuarantineChecked: true},
		Policies: []Policy{
			{Name: "consumed", Value: "failed", Default: "block", Records: n / 50, What: "records that a legacy worker may be working on"},
			{Name: "completed", Value: "migrate", Default: "migrate", Records: n / 4, What: "records that are done"},
			{Name: "undecodable", Value: "quarantine", Default: "block", Records: n / 100, What: "records that can't be read"},
		},
		Holds:    []Hold{{Path: "/locks/queue/ingest", By: "run0000000000", Standing: true}, {Path: "/locks/queue/accessSmall", By: "run0000000000"}},
		Locks:    []Lock{{Path: "/locks/storage/ark:%2F99999", Session: "0x1001"}},
		Next:     Next{Verify: "mrtq release zk1:2181,zk2:2181/new zk1:2181,zk2:2181"},
		Machines: []statedraw.Machine{machine()},
		Queue:    []StateCount{{Entity: "job", State: "pending", Ours: n / 2, Others: 3}, {Entity: "job", State: "failed", Ours: n / 9}, {Entity: "job", State: "Lost", Others: 1}},
		Coverage: &Coverage{Rows: []CoverageRow{{ID: "J1", What: "job create → pending", Dialect: "design", Result: CoveragePassed}, {ID: "J2", What: "job pending → processing", Dialect: "design", Result: CoveragePassed},
			{ID: "J3", What: "job processing → failed", Dialect: "design", Result: "not run", Why: []string{"no scenario with the tag @J3 has run"}}}},
		Check: &Check{Findings: []Finding{{Path: "/jobs/jid0000000003/priority", Rule: "priority", Severity: "warning", Expected: "a number from 0 to 99", Found: `"high"`, Mend: "set it to 5"}}},
	}
	d.Plan.Locks = []LegacyLock{{Path: "/mrt.lock/ark-99999-fk4abc123", Since: "2024-02-29T00:00:00.123Z", Data: "jid-0002", Record: "/ingest/mrtQ-05000000000002"}}
	d.Plan.Warnings = []Note{{Path: "/ingest/mrtQ-05000000000001", Message: "its sequence number has wrapped"}}
	states := []string{"pending", "completed", "pending", "failed", "completed", "pending", "held", "pending"}
	statuses := []string{"pending", "completed", "pending", "failed", "completed", "pending", "held", "pending"}
	queues := []struct{ node, kind string }{{"/ingest", "ingest"}, {"/ingest", "ingest"}, {"/ingest", "ingest"}, {"/mrt.inventory.full", "inventory"}}
	formats := []string{"json", "java-serialized", "properties", "beans-xml"}
	for i := range n {
		priority := []int{5, 5, 2, 5, 10, 5, 50, 2, 5, 20}[i*i%10] + i%7*i%5
		q := queues[i*7%4]
		r := Record{
			Path: fmt.Sprintf("%s/mrtQ-%02d000000%07d", q.node, priority, i), Queue: q.kind, Status: statuses[i%8], Format: formats[i*3%7%4],
			Priority: priority, Time: sampleTime.Add(-time.Duration(i%400) * 9 * time.Hour), Outcome: Migrated,
			Job: fmt.Sprintf("/jobs/jid%010d", i), Batch: fmt.Sprintf("bid%010d", i/20), State: states[i%8], Run: "run0000000000",
			Planned: fmt.Sprintf("jid%010d", i), At: sampleTime.Add(time.Duration(i*42000/n+i*i%900) * time.Millisecond),
		}
		switch {
		case i%100 == 17:
			r = Record{Path: r.Path, Queue: r.Queue, Priority: r.Priority, Outcome: Quarantined, Reason: fmt.Sprintf("unsupported-class at byte %d: XML", i), Forced: "--undecodable quarantine"}
		case i%100 == 42:
			r = Record{Path: r.Path, Queue: r.Queue, Priority: r.Priority, Status: "deleted", Outcome: Skipped, Reason: "deleted"}
		case i%100 == 60:
			r.Outcome, r.Reason, r.State = Gone, "migrated as "+r.Job+" by run0000000000, and gone with its batch: finished and cleaned up", ""
		case i%100 == 61:
			r.Outcome, r.Reason = Touched, r.Job+"/status was set once"
		}
		d.Records = append(d.Records, r)
	}
	for b := range (n + 19) / 20 {
		d.Batches = append(d.Batches, Batch{ID: fmt.Sprintf("bid%010d", b), UUID: fmt.Sprintf("7f7dd8b6-8ac6-4c41-8b1c-%012d", b), State: "processing"})
	}
	return d
}

// planned is a plan that has not been carried out.
func planned() *Data {
	d := sample(300)
	d.Runs, d.Read, d.Verification, d.Queue, d.Holds, d.Coverage = nil, false, nil, nil, nil, nil
	d.Plan.Carried = ""
	d.Plan.Risks = []Risk{{Choice: "block"}, {Choice: "pending", Twice: 6, Chosen: true}, {Choice: "failed", Never: 6}}
	for i := range d.Records {
		if r := &d.Records[i]; r.Outcome.InLedger() {
			r.Outcome, r.Job, r.Run, r.At = ToCreate, "", "", time.Time{}
		}
	}
	return d
}

// wronged is a migration in which everything went wrong.
func wronged() *Data {
	d := sample(300)
	d.Damage = []Problem{{Kind: "run-damaged", Path: "/migration/runs/run0000000000", Message: "its seal does not match its content", Next: "mrtq rebuild TARGET"}}
	d.Verification.Differences = []Problem{{Kind: "missing", Path: "/jobs/jid0000000001/priority", Message: "it is missing"}}
	d.Plan.Problems = []Problem{{Kind: "consumed", Path: "/ingest/mrtQ-05000000000002", Message: "consumed: a worker may be working on it", Next: "let the legacy workers finish"}}
	d.Check.Findings = append(d.Check.Findings, Finding{Path: "/jobs/jid0000000009", Rule: "states", Severity: "error", Found: "no entry", Expected: "one"})
	d.Coverage.Rows = append(d.Coverage.Rows, CoverageRow{ID: "J5", What: "job failed → processing", Dialect: "design", Result: CoverageFailed, Why: []string{"the scenario failed"}})
	return d
}
