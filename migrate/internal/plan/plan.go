// Package plan decides what a migration would do: what becomes of each legacy record,
// which batches it creates or adds to, and what keeps it from being carried out. It has no
// I/O. A plan has no ids: these are given when the jobs are created.
//
//	builder := plan.New(input)
//	for each record, in the order in which they are migrated: builder.Add(record)
//	p := builder.Finish(the batches that builder.Existing names, as they are)
package plan

import (
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
}

// Batch is a batch of a plan, and what else the transactions rely on.
type Batch struct {
	*migration.PlanBatch
	// All is what the records of the run say of the batch: those that the run has migrated
	// already, and those that it will.
	All rules.Batch
	// Ours says that the plan's own run creates the batch, or has created it.
	Ours bool
	// Folders are those that exist.
	Folders []newqueue.BatchFolder
	// StatusVersion is the version of the status of a batch that exists.
	StatusVersion int32
}
