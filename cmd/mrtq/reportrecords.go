package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"mrtq/internal/report"
	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// reportRecords collects legacy records by path, from the plan, the source and the
// target.
type reportRecords struct {
	queues map[string]string // the kinds of queues, by znode
	byPath map[string]*report.Record
	// waiting is true if the plan on the page has not been carried out yet.
	waiting bool
	ran     bool
}

func (rs *reportRecords) get(path string) *report.Record {
	r := rs.byPath[path]
	if r == nil {
		queue := znode.Parent(path)
		r = &report.Record{Path: path, Queue: cmp.Or(rs.queues[queue], queue), Priority: -1}
		if key, err := legacy.ParseKey(znode.Name(path)); err == nil {
			r.Priority = key.Priority
		}
		rs.byPath[path] = r
	}
	return r
}

// records returns all legacy records in the plan, the source or the target, by path. If
// they disagree, the target counts most, and then the source.
func (in *reportInput) records(ctx context.Context, d *report.Data, policies migrate.Policies) ([]report.Record, error) {
	rs := &reportRecords{queues: in.queues, byPath: map[string]*report.Record{}, waiting: d.Plan != nil && d.Plan.Carried == "", ran: len(d.Runs) > 0}
	if in.plan != nil {
		rs.plan(&in.plan.Plan)
	}
	if in.queue != nil {
		now, err := in.planNow(ctx, d, policies)
		if err != nil {
			return nil, err
		}
		rs.source(now, in.plan != nil)
		if err := rs.decoded(ctx, in.queue); err != nil {
			return nil, err
		}
	}
	if in.from != nil {
		if err := rs.migrated(ctx, in.from, in.only, newqueue.Dialect(d.Dialect)); err != nil {
			return nil, err
		}
	}
	out := make([]report.Record, 0, len(rs.byPath))
	for _, r := range rs.byPath {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b report.Record) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// planNow plans a migration now, with the choices of the last one. The plan says why
// records were not migrated.
func (in *reportInput) planNow(ctx context.Context, d *report.Data, policies migrate.Policies) (*migrate.Plan, error) {
	opt := in.options
	opt.Dialect, opt.Policies = newqueue.Dialect(d.Dialect), policies
	if len(d.Runs) == 0 && in.plan != nil {
		opt.Again, opt.Done = in.plan.Settings.Again, in.plan.Settings.Done
	}
	return migrate.MakePlan(ctx, in.queue, in.from, opt)
}

// outcomeOf is the outcome of a plan's entry, before or after the plan was carried
// out.
func (rs *reportRecords) outcomeOf(a migrate.Action) report.Outcome {
	switch {
	case a == migrate.ActCreate && rs.waiting:
		return report.ToCreate
	case a == migrate.ActRewrite && rs.waiting:
		return report.ToRewrite
	}
	return map[migrate.Action]report.Outcome{
		migrate.ActCreate: report.NotMigrated, migrate.ActRewrite: report.Migrated, migrate.ActUnchanged: report.Migrated, migrate.ActGone: report.Gone,
		migrate.ActSkip: report.Skipped, migrate.ActQuarantine: report.Quarantined, migrate.ActBlock: report.Blocked,
	}[a]
}

// decidedBy is the policy that decided about an entry. It is "" if no policy had to.
func decidedBy(e migrate.Entry, p migrate.Policies) string {
	switch {
	case e.Action == migrate.ActQuarantine, e.Action == migrate.ActBlock && e.Status == "":
		return "--undecodable " + p.Undecodable
	case e.Action == migrate.ActGone, e.Action == migrate.ActUnchanged:
		return ""
	case e.Status == legacy.Consumed.String():
		return "--consumed " + p.Consumed
	case e.Status == legacy.Completed.String():
		return "--completed " + p.Completed
	case e.Status == legacy.Deleted.String():
		return "--deleted " + p.Deleted
	}
	return ""
}

func (rs *reportRecords) entry(e migrate.Entry, p migrate.Policies) *report.Record {
	r := rs.get(e.Path)
	r.Queue, r.Status, r.Outcome, r.Reason, r.Forced = string(e.Queue), e.Status, rs.outcomeOf(e.Action), e.Reason, decidedBy(e, p)
	r.State, r.Batch = e.State, e.Batch
	return r
}

// plan adds what a saved plan says.
func (rs *reportRecords) plan(p *migrate.Plan) {
	for e := range p.Records.All() {
		r := rs.entry(e, p.Policies)
		r.Planned = e.ID
		if r.Outcome == report.NotMigrated {
			r.Reason, r.State, r.Batch = "the plan was to create a job for it, and the target has none", "", ""
		}
	}
}

// source adds what the source says. planned is true if there is a saved plan, which holds
// all records that existed when it was made.
func (rs *reportRecords) source(now *migrate.Plan, planned bool) {
	there := make(map[string]bool, now.Records.Len())
	for e := range now.Records.All() {
		there[e.Path] = true
		before := rs.byPath[e.Path]
		r := rs.entry(e, now.Policies)
		switch {
		case e.Action == migrate.ActRewrite:
			r.Reason = "the record has changed since it was migrated"
		case r.Outcome == report.NotMigrated:
			r.State, r.Batch = "", ""
			switch {
			case !rs.ran:
				r.Reason = "no run has begun"
			case planned && before == nil:
				r.Reason = "it came after the plan"
			default:
				r.Reason = "no run has migrated it: it came later, or was rolled back, or the run is not finished"
			}
		}
	}
	for path, r := range rs.byPath {
		if !there[path] && !r.Outcome.InLedger() {
			r.Outcome, r.Reason = report.NotMigrated, "it was in the plan, and is no longer in the source"
		}
	}
}

// decoded adds what the source's records contain.
func (rs *reportRecords) decoded(ctx context.Context, queue *migrate.LegacyQueue) error {
	for rec, err := range queue.Records(ctx) {
		if err != nil {
			return err
		}
		if rec.Err == nil {
			r := rs.get(rec.Path)
			r.Format, r.Time = string(rec.Legacy.Format), rec.Legacy.Header.Time
		}
	}
	return nil
}

// migrated adds what the target's ledger and jobs say. only is the run that --run
// names.
func (rs *reportRecords) migrated(ctx context.Context, target side.Side, only string, d newqueue.Dialect) error {
	spelled := spellings(d)
	for t, err := range migrate.ReadMigrated(ctx, target) {
		if err != nil {
			return err
		}
		if only != "" && t.Run != only {
			delete(rs.byPath, t.Record)
			continue
		}
		r := rs.get(t.Record)
		r.Job, r.Batch, r.Run, r.At = t.Job, t.Batch, t.Run, t.At
		switch {
		case t.DeclaredDone:
			r.Outcome, r.Reason, r.State, r.Job, r.Forced = report.DeclaredDone, t.Gone, "", "", "--done"
		case !t.Exists:
			r.Outcome, r.Reason, r.State = report.Gone, t.Gone, ""
		default:
			r.Outcome = report.Migrated
			if t.Touched != "" {
				r.Outcome, r.Reason = report.Touched, t.Touched
			}
			rs.provenance(r, t.Provenance)
			entity := newqueue.EntityJob
			if t.Batch == "" {
				entity = newqueue.EntityAccess
			}
			r.State = cmp.Or(spelled[entity][t.State], t.State)
		}
	}
	return nil
}

func (rs *reportRecords) provenance(r *report.Record, p migrate.Provenance) {
	r.Status, r.Format = p.Status, p.Format
	if t, err := time.Parse(time.RFC3339Nano, p.Time); err == nil {
		r.Time = t
	}
	if p.Consumed != "" {
		r.Forced = "--consumed " + p.Consumed
	}
}
