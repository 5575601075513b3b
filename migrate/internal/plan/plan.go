// Package plan decides what a migration would do: what becomes of each legacy record,
// which batches it creates or adds to, and what keeps it from being carried out. It has no
// I/O. A plan has no ids: these are given when the jobs are created.
//
//	builder := plan.New(input)
//	for each record, in the order in which they are migrated: builder.Add(record)
//	p := builder.Finish(the batches that builder.Existing names, as they are)
package plan

import (
	"cmp"

	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Made is a plan that was made just now, with what it takes to carry it out.
type Made struct {
	*migration.Plan
	// Target is the target as it was when the plan was made. The
	// transactions that carry the plan out rely on what it says of holds, runs and the layout.
	Target  *target.Target
	Batches []*Batch
	byKey   map[rules.BatchKey]*Batch
	// onto is the released run that the records are added to; nil if the plan has a run of its own.
	onto *migration.Run
}

// Batch is a batch of a plan, and what else the transactions rely on.
type Batch struct {
	*migration.PlanBatch
	// All is what the records of the run say of the batch: those that the run has migrated
	// already, and those that it will.
	All rules.Batch
	// Ours says that the plan's own run creates the batch, or has created it.
	Ours bool
	// Followed says that follow can move records of the batch: the run that made it has both queues in one ensemble.
	Followed bool
	// Folders are those that exist.
	Folders []newqueue.BatchFolder
	// StatusVersion is the version of the status of a batch that exists.
	StatusVersion int32
	// Witness is the entry of an unfinished job of a released batch. Without it, a reporter may have found the batch finished.
	Witness string
}

// Place is where the records of a batch go that arrive after a release (docs/life.md, "Follow").
type Place struct {
	Name    string // below /batch-uuids
	ID      string // bid; "" for a new batch
	Witness string // of a batch that is there
}

// BlockedRecords says of each record that the plan does not migrate, or that keeps it from being carried out, why that is. A problem of a batch is one of each of its records.
func (p *Made) BlockedRecords() map[string]string {
	at := map[string]string{}
	for _, problem := range p.Problems {
		at[problem.Path] = problem.Message
		for _, f := range p.Findings {
			if f.Items[0].Path == problem.Path && f.Effect == migration.EffectUnfit {
				for _, item := range f.Items {
					at[item.Path] = f.What
				}
			}
		}
	}
	blocked := map[string]string{}
	for i := range p.Records {
		r := &p.Records[i]
		why, is := at[r.Path]
		if !is && r.Batch != nil {
			why, is = at[newqueue.BatchUUIDPath(r.Batch.UUID)]
		}
		if is || r.Action != migration.ActionCreate {
			blocked[r.Path] = cmp.Or(why, r.Reason)
		}
	}
	return blocked
}
