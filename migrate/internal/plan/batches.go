package plan

import (
	"cmp"
	"fmt"

	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func (b *Builder) batchOf(r migration.Record) *Batch {
	key := rules.BatchOf(r, b.plan.Run, b.plan.Dialect)
	if batch := b.batches[key]; batch != nil {
		return batch
	}
	return b.newBatch(key, r)
}

func (b *Builder) addToBatch(r migration.Record, s rules.State, adds bool) *Batch {
	batch := b.batchOf(r)
	batch.All.Add(r, s, b.plan.Dialect)
	if adds {
		batch.Adds++
	}
	return batch
}

func (b *Builder) newBatch(key rules.BatchKey, r migration.Record) *Batch {
	if b.in.Places != nil {
		return b.placedBatch(key)
	}
	path := newqueue.BatchUUIDPath(key.UUID)
	batch := &Batch{PlanBatch: &migration.PlanBatch{UUID: key.UUID, New: true}, Ours: true, All: rules.Batch{Key: key, Run: b.plan.Run}}
	other, taken := b.named[path]
	b.named[path] = key
	before := b.in.Target.Ledger.BatchByUUID(path[len(newqueue.BatchUUIDsPath)+1:])
	switch {
	case taken:
		b.problem(migration.Problem{Kind: migration.ProblemBatchExists, Path: r.Path, Message: fmt.Sprintf("batchID %.80q has the same name in the new queue, %s, as batchID %.80q", key.UUID, path, other.UUID),
			Next: "give the legacy records of one of the two another batchID"})
	case key.Kind == rules.OfBatch && rules.IsOwnBatch(key.UUID):
		b.problem(migration.Problem{Kind: migration.ProblemBatchExists, Path: r.Path, Message: fmt.Sprintf("batchID %q is a name that migrations give to their own batches", key.UUID),
			Next: "give the legacy records of that batch another batchID"})
	case before != nil && b.in.Names.Has(newqueue.BatchPath(before.ID)):
		batch.ID, batch.All.ID, batch.New = before.ID, before.ID, false
		run := &b.in.Target.Ledger.Runs[before.Run]
		batch.Ours, batch.Followed = run.ID == b.plan.Run, run.Origin.OneEnsemble
	case before != nil && b.in.Names.Has(path): // without it, the batch was finished and cleaned up: another one can have its name
		b.problem(migration.Problem{Kind: migration.ProblemBatchExists, Path: path, Message: fmt.Sprintf("batch %q was migrated before and then removed, but its name still exists", key.UUID),
			Next: "wait until the services have cleaned it up; or find out who uses the name now, and rename one of the two"})
	case b.in.Names.Has(path):
		b.problem(migration.Problem{Kind: migration.ProblemBatchExists, Path: path, Message: fmt.Sprintf("batch %q is already in the target, and no migration created it", key.UUID),
			Next: "find out who created it; remove or rename one of the two"})
	}
	b.batches[key] = batch
	b.plan.Batches = append(b.plan.Batches, batch)
	return batch
}

// placedBatch is the batch into which follow puts the records of a batch.
func (b *Builder) placedBatch(key rules.BatchKey) *Batch {
	place := b.in.Places[key]
	batch := &Batch{PlanBatch: &migration.PlanBatch{UUID: place.Name, ID: place.ID, New: place.ID == ""}, Ours: place.ID == "",
		All: rules.Batch{Key: rules.BatchKey{Kind: key.Kind, UUID: place.Name}, ID: place.ID, Run: b.plan.Run}, Witness: place.Witness}
	if place.Name != key.UUID {
		batch.All.Of = key.UUID
	}
	b.batches[key] = batch
	b.plan.Batches = append(b.plan.Batches, batch)
	return batch
}

// Existing returns the bids of the batches that the plan adds jobs to.
func (b *Builder) Existing() []string {
	var bids []string
	for _, batch := range b.plan.Batches {
		if batch.ID != "" && (batch.Adds > 0 || batch.Ours) {
			bids = append(bids, batch.ID)
		}
	}
	return bids
}

// finishBatch compares a batch with what is there. Nothing of an existing batch is ever
// changed, but jobs are added to it while it is open.
func (b *Builder) finishBatch(batch *Batch, there target.Batch) {
	batch.State, batch.Folders, batch.StatusVersion = string(batch.All.State()), there.Folders, there.StatusVersion
	if batch.Ours {
		for _, d := range batch.All.Disagreements() {
			b.warn("differ-in-"+d.Property, newqueue.BatchUUIDPath(batch.UUID), d.Text)
		}
	} else {
		batch.State = string(there.State)
	}
	// The run itself has not created all of it yet: see [rules.Batch.Closing].
	unfinished := batch.Ours && there.There && there.StatusVersion == 0 && there.State == batch.All.State() && !there.HasFolder(newqueue.FolderProcessing)
	if batch.New || batch.Adds == 0 || there.Open() || unfinished {
		return
	}
	if !batch.Ours && batch.Followed && there.State != "" {
		b.leave(batch)
		return
	}
	state, next := cmp.Or(string(there.State), "unreadable"), "wait until the services have cleaned the batch up, or have it deleted; or give these records another batchID"
	if !there.There {
		state = "removed"
	}
	if batch.Ours {
		next = fmt.Sprintf("roll back %s, and migrate again: nobody cleans the batch up while the run is unfinished", b.plan.Run)
	}
	b.problem(migration.Problem{Kind: migration.ProblemBatchFinished, Path: newqueue.BatchPath(batch.ID),
		Message: fmt.Sprintf("batch %q was migrated before and is %s now; records that belong to it: %d", batch.UUID, state, batch.Adds), Next: next})
}

// leave leaves the records of a batch out, because that is there and not open: an earlier run has made it. Nobody cleans it up before the release.
func (b *Builder) leave(batch *Batch) {
	batch.Adds = 0
	for i := range b.plan.Records {
		line := &b.plan.Records[i]
		if line.Batch != batch.PlanBatch || line.Action != migration.ActionCreate {
			continue
		}
		line.Action, line.State, line.Batch, line.Reason = migration.ActionSkip, "", nil, "an earlier run has made its batch, which is not open"
		b.warn("late", line.Path, "its batch was migrated before and takes no more jobs: after the release, follow moves it into one of the next name")
	}
}
