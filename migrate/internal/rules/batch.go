package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// BatchKind says which records are in a migrated batch.
type BatchKind string

// The kinds of batches.
const (
	OfBatch     BatchKind = "batch"     // a legacy batchID
	OfUnbatched BatchKind = "unbatched" // a run's ingest records without a batchID
	OfInventory BatchKind = "inventory" // a run's inventory records
)

// BatchKey names a batch before it has a bid.
type BatchKey struct {
	Kind BatchKind
	UUID string // the batch's name below /batch-uuids: the legacy batchID, or what a run calls its own batches
}

// BatchOf returns the batch that a record's job goes into (docs/migration.md, "Batches"). Each
// batchID is one batch. In each run, the records without a batchID share one batch, and
// the inventory records share another.
func BatchOf(r migration.Record, run string, d newqueue.Dialect) BatchKey {
	kind := OfUnbatched
	if r.Queue == migration.Inventory {
		kind = OfInventory
	} else if id := Text(r.Legacy.Payload, "batchID"); strings.TrimSpace(id) != "" {
		return BatchKey{OfBatch, strings.Clone(id)} // don't keep the whole text that it is part of
	}
	return BatchKey{kind, ownBatchPrefix[d] + run + "-" + string(kind)}
}

// ownBatchPrefix is put before the run in the name of a run's own batch: the
// deployed services look for "bid-" in every batchID (docs/requirements.md, R06).
var ownBatchPrefix = map[newqueue.Dialect]string{newqueue.MrtZK: "bid-"}

// IsOwnBatch reports whether a batchID is a name that runs give to their own batches, in
// either dialect.
func IsOwnBatch(batchID string) bool { return ownBatchName.MatchString(batchID) }

var ownBatchName = regexp.MustCompile(`^(bid-)?run\d{10}-(unbatched|inventory)$`)

// Batch is what the records of one batch together say of it. Add its records in the order
// in which they are migrated.
type Batch struct {
	Key     BatchKey
	ID      string // its bid; "" before it has one
	Run     string // that creates it
	Of      string // the batchID of its records, if its name is another one: see follow.Name
	Jobs    int
	in      [4]int    // how many jobs are in each of [newqueue.BatchFolders]
	changed time.Time // when a job last changed
	submission
}

// Add adds a record whose job begins in this state.
func (b *Batch) Add(r migration.Record, s State, d newqueue.Dialect) {
	b.submission.add(b.Key, r, b.Jobs == 0, d)
	b.Jobs++
	b.in[slices.Index(newqueue.BatchFolders, s.Job.Folder())]++
	if at := r.Legacy.Header.Time; at.After(b.changed) {
		b.changed = at
	}
}

// In returns how many of the jobs begin in a folder.
func (b *Batch) In(f newqueue.BatchFolder) int { return b.in[slices.Index(newqueue.BatchFolders, f)] }

// State is processing while a job has to run, else failed if a job failed, else
// completed.
func (b *Batch) State() newqueue.BatchState {
	switch {
	case b.In(newqueue.FolderProcessing) > 0:
		return newqueue.BatchProcessing
	case b.In(newqueue.FolderFailed) > 0:
		return newqueue.BatchFailed
	}
	return newqueue.BatchCompleted
}

// Objects returns the JSON objects of the batch that the services read.
func (b *Batch) Objects(d newqueue.Dialect) []Object {
	return []Object{
		{Node: "submission", Values: b.submission.object(b.Key, d)},
		{Node: "status", Values: newqueue.ToObject(d, newqueue.BatchStatus{State: b.State(), LastModified: b.changed})},
	}
}

// Nodes returns the znodes of the batch that are created before its first job, parents first.
// The other ones are created with its jobs: see [Batch.Folder] and [Batch.Closing].
func (b *Batch) Nodes(d newqueue.Dialect) []Node {
	path := newqueue.BatchPath(b.ID)
	nodes := []Node{{path, batchProvenance(b.Run, b.Key.Kind, b.Of)}}
	for _, o := range b.Objects(d) {
		nodes = append(nodes, Node{path + "/" + o.Node, o.encode()})
	}
	return append(nodes,
		Node{newqueue.BatchStatesPath(b.ID), None},
		Node{newqueue.BatchUUIDPath(b.Key.UUID), []byte(b.ID)})
}

// Folder returns the folder for the entries of jobs that begin in a state. It is created with
// the first of them.
func (b *Batch) Folder(s State) Node {
	return Node{newqueue.BatchFolderPath(b.ID, s.Job.Folder()), None}
}

// Closing returns the znodes that are created with the batch's last job.
//
// If a batch's folder batch-processing exists and is empty, the client library takes the
// batch for done. A batch that is half created must not look like that. So if no job of
// the batch has to run, the folder is created last. Without the folder, the library would
// never report the batch nor clean it up (docs/new-layout.md, "Two dialects").
func (b *Batch) Closing() []Node {
	if b.In(newqueue.FolderProcessing) > 0 {
		return nil
	}
	return []Node{{newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing), None}}
}

// All returns all znodes of the batch but its jobs' entries, when all its jobs are there.
func (b *Batch) All(d newqueue.Dialect) []Node {
	nodes := b.Nodes(d)
	for i, f := range newqueue.BatchFolders {
		if b.in[i] > 0 {
			nodes = append(nodes, Node{newqueue.BatchFolderPath(b.ID, f), None})
		}
	}
	return append(nodes, b.Closing()...)
}
