package client

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Job is a job as it was when it was read. An acquired one also holds the
// worker's lock. Use a Job from one goroutine at a time.
type Job struct {
	ID, BatchID   string
	Status        newqueue.JobStatus
	Configuration newqueue.Configuration // never changes
	Metadata      newqueue.Metadata      // never changes; zero if the job has none

	// The worker's part. A worker may change these fields of a job that it has acquired. The transition writes what it
	// has changed, and [Job.Save] does at once, but for the priority.
	Priority    int   // 0 to [newqueue.MaxPriority]; the name of the next queue entry has it
	SpaceNeeded int64 // bytes; 0 is unknown, and -1 is unknown to the deployed Estimate
	Identifiers newqueue.Identifiers
	Inventory   newqueue.Inventory // what the inventory service has to record
	Store       newqueue.Store     // what the storage service has to store; dialect mrt-zk only

	Item
	was   workerFields        // the worker's part when it was read or written
	batch newqueue.BatchState // the batch's state at the job's last transition; "" if there is no batch
}

type workerFields struct {
	priority    int
	space       int64
	identifiers newqueue.Identifiers
	inventory   newqueue.Inventory
	store       newqueue.Store
}

func (j *Job) work() workerFields {
	w := workerFields{j.Priority, j.SpaceNeeded, j.Identifiers, j.Inventory, j.Store}
	w.identifiers.LocalIDs = slices.Clone(w.identifiers.LocalIDs)
	return w
}

func (q *Queue) newJob(jid string) *Job {
	j := &Job{ID: jid, Item: Item{q: q, kind: states.Job, path: newqueue.JobPath(jid)}}
	j.of = j
	return j
}

// Job reads a job. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing. An unknown status is not an error: see [newqueue.JobState.Known].
func (q *Queue) Job(ctx context.Context, jid string) (*Job, error) {
	j := q.newJob(jid)
	if err := j.loadAll(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *Job) state() string { return string(j.Status.State) }

func (j *Job) properties() []property {
	d := j.q.dialect
	return []property{
		{name: "status", parse: intoIn(d, &j.Status, newqueue.Parse)},
		{name: "bid", parse: into(&j.BatchID, func(data []byte) (string, error) { return string(data), nil })},
		{name: "configuration", parse: intoIn(d, &j.Configuration, newqueue.Parse), object: true},
		{name: "priority", parse: into(&j.Priority, newqueue.ParsePriority)},
		{name: "space_needed", parse: intoIn(d, &j.SpaceNeeded, newqueue.ParseSpaceNeeded), optional: true},
		{name: "identifiers", parse: intoIn(d, &j.Identifiers, newqueue.Parse), optional: true, object: true},
		{name: "metadata", parse: intoIn(d, &j.Metadata, newqueue.Parse), optional: true, object: true},
		{name: "inventory", parse: intoIn(d, &j.Inventory, newqueue.Parse), optional: true, object: true},
		{name: "store", parse: intoIn(d, &j.Store, newqueue.Parse), optional: true, object: true},
	}
}

// changes are the operations that create or replace the properties that the worker has changed, but for the
// priority.
func (j *Job) changes(ctx context.Context) (ops []znode.Op, err error) {
	contents := map[string][]byte{}
	if j.SpaceNeeded != j.was.space {
		if j.SpaceNeeded < 0 {
			return nil, fmt.Errorf("space_needed: %d: %w", j.SpaceNeeded, newqueue.ErrValue)
		}
		contents["space_needed"] = newqueue.FormatNumber(j.SpaceNeeded)
	}
	if j.Store != j.was.store && j.q.dialect != newqueue.MrtZK {
		return nil, fmt.Errorf("store: %w in dialect %s", newqueue.ErrValue, j.q.dialect)
	}
	for _, p := range []struct {
		name    string
		changed bool
		now     newqueue.Object
	}{
		{"identifiers", !reflect.DeepEqual(j.Identifiers, j.was.identifiers), newqueue.ToObject(j.q.dialect, j.Identifiers)},
		{"inventory", j.Inventory != j.was.inventory, newqueue.ToObject(j.q.dialect, j.Inventory)},
		{"store", j.Store != j.was.store, newqueue.ToObject(j.q.dialect, j.Store)},
	} {
		if p.changed {
			if contents[p.name], err = p.now.Marshal(); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	names := []string{"space_needed", "identifiers", "inventory", "store"}
	now, err := j.nodes(ctx, names...)
	for _, name := range names {
		data, changed := contents[name]
		switch path := j.path + "/" + name; {
		case !changed:
		case now[name] != nil:
			ops = append(ops, znode.Set(path, data, now[name].version))
		default:
			ops = append(ops, znode.Create(path, data))
		}
	}
	return ops, err
}

// Save writes at once what a worker has changed of an acquired job, without a transition. So
// the job keeps a minted identifier even if its worker dies. The job stays locked. The priority is written
// with the transition: see [Queue.SetPriority]. Errors as for [Item].
func (j *Job) Save(ctx context.Context) error {
	if err := j.retry(ctx, true, func() error { return j.save(ctx) }); err != nil {
		return &opError{"write to", j.path, err}
	}
	priority := j.was.priority
	j.was = j.work()
	j.was.priority = priority
	return nil
}

func (j *Job) save(ctx context.Context) error {
	held, err := j.owns(ctx)
	if err != nil {
		return err
	}
	ops, err := j.changes(ctx)
	if err != nil || len(ops) == 0 {
		return err
	}
	return j.q.commit(ctx, j.keepsLock(held, ops))
}
