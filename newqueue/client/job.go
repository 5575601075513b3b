package client

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Job is a job as it was when it was read. An acquired one also holds the
// worker's lock. Use a Job from one goroutine at a time.
type Job struct {
	ID, BatchID   string
	Status        newqueue.JobStatus
	Priority      int
	SpaceNeeded   int64                  // bytes; 0 is unknown, and -1 is unknown to the deployed Estimate
	Configuration newqueue.Configuration // never changes
	// Zero if the job has none yet.
	Identifiers newqueue.Identifiers
	Metadata    newqueue.Metadata
	Inventory   newqueue.Inventory
	Store       newqueue.Store // dialect mrt-zk only

	entity
	batch newqueue.BatchState // the batch's state at the job's last transition; "" if there is no batch
}

func (q *Queue) newJob(jid string) *Job {
	return &Job{ID: jid, entity: entity{q: q, kind: newqueue.EntityJob, path: newqueue.JobPath(jid)}}
}

// Job reads a job. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing, or is [ErrNoRoot] if the queue's root is. An unknown status is not an error: see [newqueue.JobState.Known].
func (q *Queue) Job(ctx context.Context, jid string) (*Job, error) { return one(ctx, q.newJob(jid)) }

func (j *Job) state() string { return string(j.Status.State) }

func (j *Job) properties() []property {
	d := j.q.dialect
	return []property{
		{name: "status", parse: intoIn(d, &j.Status, newqueue.ParseJobStatus)},
		{name: "bid", parse: into(&j.BatchID, func(data []byte) (string, error) { return string(data), nil })},
		{name: "configuration", parse: intoIn(d, &j.Configuration, newqueue.ParseConfiguration), object: true},
		{name: "priority", parse: into(&j.Priority, newqueue.ParsePriority)},
		{name: "space_needed", parse: intoIn(d, &j.SpaceNeeded, newqueue.ParseSpaceNeeded), optional: true},
		{name: "identifiers", parse: into(&j.Identifiers, newqueue.ParseIdentifiers), optional: true, object: true},
		{name: "metadata", parse: into(&j.Metadata, newqueue.ParseMetadata), optional: true, object: true},
		{name: "inventory", parse: into(&j.Inventory, newqueue.ParseInventory), optional: true, object: true},
		{name: "store", parse: into(&j.Store, newqueue.ParseStore), optional: true, object: true},
	}
}

// Jobs reads the jobs in the queue of a state, in the order in which workers
// acquire them: the lowest priority number first, then the oldest job. It leaves
// out a job that moves meanwhile. It returns the jobs that it could read. The
// error joins one *[NodeError] for each entry or job that it could not.
func (q *Queue) Jobs(ctx context.Context, s newqueue.JobState) ([]*Job, error) {
	entries, err := q.queue(ctx, s)
	if err != nil {
		return nil, err
	}
	jobs, err := all(ctx, entries, q.newJob)
	return slices.DeleteFunc(jobs, func(j *Job) bool { return j.Status.State != s }), err
}

// queue lists the jobs in a state's queue in their order. The names of the entries
// sort like their priorities and ids, because both have a fixed number of digits.
func (q *Queue) queue(ctx context.Context, s newqueue.JobState) ([]entry, error) {
	folder := newqueue.JobStatePath(s)
	entries, err := q.list(ctx, folder)
	for i, e := range entries {
		if _, jid, err := newqueue.ParseJobEntry(e.id); err != nil {
			entries[i].err = &NodeError{znode.Join(folder, e.id), err}
		} else {
			entries[i].id = jid
		}
	}
	return entries, err
}
