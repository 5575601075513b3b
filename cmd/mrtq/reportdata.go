package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/report"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// data returns what the page shows. Only this file and reportrecords.go know both
// package report and package migrate.
func (in *reportInput) data(ctx context.Context) (*report.Data, error) {
	d := &report.Data{Made: in.made, Source: in.source, Target: in.target, Only: in.only, Check: in.check, Dialect: string(newqueue.Design)}
	policies, known := migrate.DefaultPolicies(), false
	if in.plan != nil {
		d.Dialect = string(in.plan.Dialect)
		policies, known = in.plan.Policies, true
		d.Plan, d.Next = planOf(&in.plan.Plan), in.next(nil)
		d.Target, d.Source = cmp.Or(d.Target, in.plan.Target.Name), cmp.Or(d.Source, in.plan.Source.Name)
	}
	if in.from != nil {
		d.Read = true
		status, err := migrate.ReadStatus(ctx, in.from)
		if err != nil {
			return nil, err
		}
		if in.noQueue = status.NoQueue; in.noQueue != nil && in.plan == nil {
			return nil, errNothingToReport
		}
		runs, err := in.runs(ctx, status)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			d.Runs = append(d.Runs, runOf(r))
			d.Dialect = string(r.Dialect)
			policies, known = r.Policies, true
			if d.Plan != nil && r.Plan == d.Plan.ID {
				d.Plan.Carried = r.ID
			}
		}
		if d.Plan != nil {
			d.Plan.Pending = !slices.ContainsFunc(status.Runs, func(r migrate.RunStatus) bool { return r.Run == d.Plan.Run })
		}
		if len(runs) == 0 {
			found, _, ok, err := migrate.ReadDialect(ctx, in.from)
			if err != nil {
				return nil, err
			}
			if ok {
				d.Dialect = string(found)
			}
		}
		d.Damage, d.Next = problemsOf(status.Damage), in.next(status)
		d.AtWork = status.Step == migrate.StepWait
		if newest, ran := status.Newest(); ran && in.only != "" {
			d.Latest = report.Run{ID: newest.Run, State: string(newest.State)}
		}
		d.Holds = holdsOf(runs, status)
		for _, l := range status.Locks {
			d.Locks = append(d.Locks, report.Lock{Path: l.Path, Session: l.Session})
		}
		d.Queue = queueOf(status, newqueue.Dialect(d.Dialect))
	}
	if in.verdict != nil {
		d.Verification = verificationOf(in.verdict, in.kept)
	}
	dialect := newqueue.Dialect(d.Dialect)
	var err error
	if d.Records, err = in.records(ctx, d, policies); err != nil {
		return nil, err
	}
	if d.Batches, err = in.batches(ctx, d.Records, dialect); err != nil {
		return nil, err
	}
	for _, e := range states.Entities {
		d.Machines = append(d.Machines, drawing(e, dialect))
	}
	if in.coverage != nil {
		d.Coverage = in.coverage.In(d.Dialect)
	}
	if known {
		d.Policies = in.policies(policies, d)
	}
	return d, nil
}

func planOf(p *migrate.Plan) *report.Plan {
	out := &report.Plan{ID: p.ID, Run: p.Run, Problems: problemsOf(p.Problems), Missing: p.Missing, Again: p.Settings.Again, Done: p.Settings.Done, ACL: aclText(p.Settings.ACL)}
	out.Empty = !p.Resumes && len(p.Settings.Done) == 0 && p.Count(migrate.ActCreate)+p.Count(migrate.ActRewrite) == 0
	for _, w := range p.Warnings {
		out.Warnings = append(out.Warnings, report.Note{Path: w.Path, Message: w.Message})
	}
	for _, l := range p.Lists {
		out.Warnings = append(out.Warnings, report.Note{Path: l.Path, Message: fmt.Sprintf("a list of %d children: %s", l.Children, listMeans(l))})
	}
	for _, l := range p.Locks {
		out.Locks = append(out.Locks, report.LegacyLock{Path: l.Path, Since: l.Time, Data: l.Data, Record: l.Record})
	}
	for _, r := range p.Risks {
		out.Risks = append(out.Risks, report.Risk{Choice: r.Choice, Twice: len(r.Twice), Never: len(r.Never), Chosen: r.Chosen})
	}
	if !slices.ContainsFunc(out.Risks, func(r report.Risk) bool { return r.Twice+r.Never > 0 }) {
		out.Risks = nil
	}
	for _, v := range p.Vanished {
		out.Vanished = append(out.Vanished, report.Note{Path: v.Record, Message: "it became " + v.Job})
	}
	for _, s := range p.Services {
		n := report.ServiceNote{What: s.What, Then: s.Then, Blocking: s.Blocking}
		for _, i := range s.Items {
			n.Paths = append(n.Paths, i.Path)
		}
		out.Services = append(out.Services, n)
	}
	return out
}

// aclText says who may do what. It leaves out the digests of passwords.
func aclText(acl []znode.ACL) string {
	var out []string
	for _, a := range acl {
		out = append(out, a.Public())
	}
	return strings.Join(out, ", ")
}

func problemsOf(problems []migrate.Problem) []report.Problem {
	var out []report.Problem
	for _, p := range problems {
		out = append(out, report.Problem{Kind: string(p.Kind), Path: p.Path, Message: p.Message, Next: nextStep(p)})
	}
	return out
}

func runOf(r migrate.Run) report.Run {
	return report.Run{
		ID: r.ID, State: string(r.State), Source: r.Source, Owner: r.Owner, Plan: r.Plan, Started: r.Started, Finished: r.Finished,
		Jobs: r.Done.Jobs, Access: r.Done.Access, Batches: r.Done.Batches, Rewritten: r.Done.Rewritten, Copied: r.Copied,
	}
}

// holdsOf lists the holds that runs set, with whether each is still set, and the holds of
// others.
func holdsOf(runs []migrate.Run, s *migrate.Status) []report.Hold {
	standing := map[string]string{}
	for _, h := range s.Holds {
		standing[h.Path] = heldBy(h)
	}
	var out []report.Hold
	for _, r := range runs {
		for _, path := range r.Holds {
			if by, there := standing[path]; !there {
				out = append(out, report.Hold{Path: path, By: r.ID})
			} else if by == r.ID {
				out = append(out, report.Hold{Path: path, By: r.ID, Standing: true})
				delete(standing, path)
			}
		}
	}
	for _, h := range s.Holds {
		if by, there := standing[h.Path]; there {
			out = append(out, report.Hold{Path: h.Path, By: by, Standing: true})
		}
	}
	return out
}

func verificationOf(v *migrate.Verdict, kept bool) *report.Verification {
	out := &report.Verification{
		Total: v.Records.Total, Migrated: v.Records.Migrated, Gone: v.Records.Gone, Skipped: v.Records.Skipped,
		Quarantined: v.Records.Quarantined, Missing: v.Records.Missing, Nodes: v.Nodes, ACLs: v.ACLs, Others: v.Others, QuarantineChecked: kept,
	}
	for _, x := range v.Differences {
		out.Differences = append(out.Differences, report.Problem{Kind: string(x.Kind), Path: x.Path, Message: x.Message})
	}
	return out
}

// spellings maps the dialect's name of each state to the name in the tables of states, for
// each entity.
func spellings(d newqueue.Dialect) map[newqueue.Entity]map[string]string {
	status := map[newqueue.Entity]func(state string) newqueue.Object{
		newqueue.EntityJob:    func(s string) newqueue.Object { return newqueue.JobStatus{State: newqueue.JobState(s)}.Object(d) },
		newqueue.EntityBatch:  func(s string) newqueue.Object { return newqueue.BatchStatus{State: newqueue.BatchState(s)}.Object(d) },
		newqueue.EntityAccess: func(s string) newqueue.Object { return newqueue.AccessStatus{State: newqueue.AccessState(s)}.Object(d) },
	}
	out := map[newqueue.Entity]map[string]string{}
	for e, object := range status {
		out[e] = map[string]string{}
		for _, s := range states.States(e, string(d)) {
			if text, err := object(s).String("status"); err == nil {
				out[e][text] = s
			}
		}
	}
	return out
}

// queueOf counts jobs, batches and requests by state.
func queueOf(s *migrate.Status, d newqueue.Dialect) []report.StateCount {
	spelled := spellings(d)
	var out []report.StateCount
	for _, of := range []struct {
		entity newqueue.Entity
		counts []migrate.StateCount
	}{{newqueue.EntityJob, s.Jobs}, {newqueue.EntityBatch, s.Batches}, {newqueue.EntityAccess, s.Access}} {
		for _, c := range of.counts {
			out = append(out, report.StateCount{Entity: string(of.entity), State: cmp.Or(spelled[of.entity][c.State], c.State), Ours: c.Ours, Others: c.Others})
		}
	}
	return out
}

// batches returns the batches of these records.
func (in *reportInput) batches(ctx context.Context, records []report.Record, d newqueue.Dialect) ([]report.Batch, error) {
	found := map[string]report.Batch{}
	for _, r := range records {
		if r.Batch != "" {
			found[r.Batch] = report.Batch{ID: r.Batch}
		}
	}
	if in.plan != nil {
		for _, b := range in.plan.Batches {
			if _, there := found[b.BID]; there {
				found[b.BID] = report.Batch{ID: b.BID, UUID: b.UUID, State: b.State}
			}
		}
	}
	if in.from != nil {
		spelled := spellings(d)[newqueue.EntityBatch]
		all, err := migrate.ReadBatches(ctx, in.from)
		if err != nil {
			return nil, err
		}
		for bid, b := range found {
			there, stands := all[bid]
			switch {
			case stands:
				b.UUID, b.State = cmp.Or(there.UUID, b.UUID), cmp.Or(spelled[there.State], there.State)
			case b.State == "":
				b.State = "gone"
			}
			found[bid] = b
		}
	}
	out := make([]report.Batch, 0, len(found))
	for _, b := range found {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b report.Batch) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// policyTexts say which records a policy is about.
var policyTexts = map[string]struct {
	about   string
	decided func(r *report.Record) bool
}{
	"consumed":  {"records that a legacy worker may be working on", func(r *report.Record) bool { return r.Status == "consumed" }},
	"completed": {"records that are done", func(r *report.Record) bool { return r.Status == "completed" }},
	"deleted":   {"records that were deleted", func(r *report.Record) bool { return r.Status == "deleted" }},
	"undecodable": {"records that can't be read", func(r *report.Record) bool {
		return r.Outcome == report.Quarantined || r.Outcome == report.Blocked && r.Status == ""
	}},
}

// servicePolicies are the policies for what the services of dialect mrt-zk demand.
var servicePolicies = map[string]string{
	"inventory-records": "unfinished inventory records, which no deployed service can finish",
	"unserviceable":     "other records that no deployed service could work on",
}

func (in *reportInput) policies(p migrate.Policies, d *report.Data) []report.Policy {
	var out []report.Policy
	for _, c := range migrate.PolicyChoices {
		row := report.Policy{Name: c.Name, Value: *c.Value(&p), Default: c.Values[0], Records: -1}
		if text, there := policyTexts[c.Name]; there {
			row.What, row.Records = text.about, 0
			for i := range d.Records {
				if text.decided(&d.Records[i]) {
					row.Records++
				}
			}
		} else if row.What = servicePolicies[c.Name]; d.Dialect != string(newqueue.MrtZK) {
			continue
		}
		if in.plan != nil && row.Records < 0 {
			row.Records = 0
			for _, s := range in.plan.Services {
				if s.Policy == c.Name {
					row.Records += s.Count
				}
			}
		}
		out = append(out, row)
	}
	return append(out, report.Policy{Name: "dialect", Value: d.Dialect, Default: string(newqueue.Design), Records: -1, What: "the dialect of the new layout"})
}
