package rehearse

import (
	"cmp"
	"slices"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

type prediction struct {
	Path string // of the legacy record
	Key  string // whose work it is: see [daemons.World.Executions]
	// Status is the record's own, and State the one in which its job begins.
	Status, State string
	Job           string // path of the job or request
	Batch         string // bid of its batch; "" for a request
	Runs          bool   // a worker will do its work; else it stays as it is
	Told          bool   // the plan says that the services can't do its work properly
	// Lost says that the services can lose its job, and that the plan says so: then its znodes are not checked.
	Lost bool
	// Before says that a legacy worker had taken the record, so that its work may have been done.
	Before bool
}

type batch struct {
	ID      string
	Reports bool // it is reported once, when its last job has run
	Told    bool // the plan says that something is wrong with it, so nothing is expected of its report
}

// ifUnsized is the plan's finding on manifests that Estimate loses if it can't find out their length.
// In a rehearsal it can't.
const ifUnsized = "lost-if-unsized"

// idle are the states of jobs and requests that no worker takes.
var idle = []string{string(newqueue.JobHeld), string(newqueue.JobFailed), string(newqueue.JobCompleted), string(newqueue.JobDeleted)}

// predict says what becomes of each record and batch of a plan. keys has whose work the records
// are, and became what they became.
func predict(p *migration.Plan, keys map[string]string, became []migrate.MigratedRecord) ([]prediction, map[string]*batch) {
	lost, told := map[string]bool{}, map[string]bool{} // by the path of a record, or of a batch below /batch-uuids
	for _, f := range p.Findings {
		if f.Effect != migration.EffectUnfit && f.Kind != ifUnsized {
			continue
		}
		for _, i := range f.Items {
			told[i.Path], lost[i.Path] = true, lost[i.Path] || f.Kind == ifUnsized
		}
	}
	now := map[string]*migrate.MigratedRecord{}
	for i := range became {
		now[became[i].Record] = &became[i]
	}
	var records []prediction
	batches, waits := map[string]*batch{}, map[string]bool{} // a batch in which a held job waits for an administrator
	for i := range p.Records {
		r := &p.Records[i]
		is := now[r.Path]
		if r.Action != migration.ActionCreate || is == nil {
			continue
		}
		f := prediction{Path: r.Path, Key: cmp.Or(keys[r.Path], is.Job), Status: r.Status, State: r.State, Job: is.Job, Batch: is.Batch, Told: told[r.Path], Lost: lost[r.Path],
			Runs: !slices.Contains(idle, r.State), Before: r.Status == legacy.Consumed.String()}
		records = append(records, f)
		if f.Batch == "" {
			continue
		}
		b := batches[f.Batch]
		if b == nil {
			b = &batch{ID: f.Batch, Told: r.Batch != nil && told[newqueue.BatchUUIDPath(r.Batch.UUID)]}
			batches[f.Batch] = b
		}
		b.Reports, b.Told = b.Reports || f.Runs, b.Told || f.Told
		waits[f.Batch] = waits[f.Batch] || f.State == string(newqueue.JobHeld)
	}
	for id, b := range batches {
		b.Reports = b.Reports && !waits[id]
	}
	return records, batches
}
