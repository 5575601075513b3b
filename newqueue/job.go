package newqueue

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/znode"
)

// Job is a job as it was when it was read. An acquired one also holds the
// worker's lock. Use a Job from one goroutine at a time.
type Job struct {
	ID, BatchID   string
	Status        JobStatus
	Priority      int
	SpaceNeeded   int64         // bytes; 0 is unknown, and -1 is unknown to the deployed Estimate
	Configuration Configuration // never changes
	// Zero if the job has none yet.
	Identifiers Identifiers
	Metadata    Metadata
	Inventory   Inventory
	Store       Store // dialect mrt-zk only

	item
}

func (q *Queue) newJob(jid string) *Job { return &Job{ID: jid, item: item{q: q, path: JobPath(jid)}} }

// Job reads a job. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing, or is [ErrNoRoot] if the queue's root is. An unknown status is not an error: see [JobState.Known].
func (q *Queue) Job(ctx context.Context, jid string) (*Job, error) {
	j := q.newJob(jid)
	if err := j.load(ctx); err != nil {
		return nil, q.orNoRoot(ctx, err)
	}
	return j, nil
}

// loadStatus reads the status and the batch's id.
func (j *Job) loadStatus(ctx context.Context) error {
	return together(ctx, j.readStatus, j.readBatchID)
}

func (j *Job) readStatus(ctx context.Context) (err error) {
	j.version, err = parsed(ctx, j.q, j.path+"/status", &j.Status, by(j.q.dialect, ParseJobStatus))
	return err
}

func (j *Job) readBatchID(ctx context.Context) error {
	n, err := j.q.get(ctx, j.path+"/bid")
	j.BatchID = string(n.data)
	return err
}

func (j *Job) load(ctx context.Context) error {
	d := j.q.dialect
	return together(ctx, j.readStatus, j.readBatchID,
		reading(j, "configuration", &j.Configuration, orNoObject(d, by(d, ParseConfiguration))),
		reading(j, "priority", &j.Priority, ParsePriority),
		optional(reading(j, "space_needed", &j.SpaceNeeded, by(d, ParseSpaceNeeded))),
		optional(reading(j, "identifiers", &j.Identifiers, orNoObject(d, ParseIdentifiers))),
		optional(reading(j, "metadata", &j.Metadata, orNoObject(d, ParseMetadata))),
		optional(reading(j, "inventory", &j.Inventory, orNoObject(d, ParseInventory))),
		optional(reading(j, "store", &j.Store, orNoObject(d, ParseStore))))
}

// reading reads a znode below the job into a field.
func reading[T any](j *Job, name string, field *T, parse func([]byte) (T, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := parsed(ctx, j.q, j.path+"/"+name, field, parse)
		return err
	}
}

// optional is a read of a property that a job may lack.
func optional(read func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := read(ctx)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
}

// orNoObject calls parse, except for an object that is written as no data (see
// [Dialect.noObject]).
func orNoObject[T any](d Dialect, parse func([]byte) (T, error)) func([]byte) (T, error) {
	return func(data []byte) (v T, err error) {
		if d.noObject(data) {
			return v, nil
		}
		return parse(data)
	}
}

// Jobs reads the jobs in the queue of a state, in the order in which workers
// acquire them: the lowest priority number first, then the oldest job. It leaves
// out a job that moves meanwhile. It returns the jobs that it could read. The
// error joins one *[NodeError] for each entry or job that it could not.
func (q *Queue) Jobs(ctx context.Context, s JobState) ([]*Job, error) {
	entries, err := q.queue(ctx, s)
	if err != nil {
		return nil, err
	}
	jobs, err := readAll(ctx, q, entries, JobPath, q.Job)
	return slices.DeleteFunc(jobs, func(j *Job) bool { return j.Status.State != s }), err
}

// readAll reads the items of a list, but those that are removed meanwhile. The
// error joins those of all items that can't be read.
func readAll[T any](ctx context.Context, q *Queue, entries []entry, path func(id string) string, read func(context.Context, string) (T, error)) (all []T, err error) {
	var bad []error
	for _, e := range entries {
		if e.err != nil {
			bad = append(bad, e.err)
			continue
		}
		v, err := read(ctx, e.id)
		switch {
		case err == nil:
			all = append(all, v)
		case errors.Is(err, ErrNotFound) && !q.there(ctx, path(e.id)): // deleted meanwhile
		default:
			bad = append(bad, err)
		}
	}
	return all, errors.Join(bad...)
}

func (q *Queue) there(ctx context.Context, path string) bool {
	_, ok, err := q.stat(ctx, path)
	return ok || err != nil
}

// entry is one item of a list.
type entry struct {
	id  string
	err error // not nil if the name has no id
}

// list lists a folder, sorted. A missing folder is empty.
func (q *Queue) list(ctx context.Context, folder string) ([]entry, error) {
	names, err := q.children(ctx, folder)
	slices.Sort(names)
	entries := make([]entry, len(names))
	for i, name := range names {
		entries[i].id = name
	}
	return entries, err
}

// queue lists the jobs in a state's queue in their order. The names of the entries
// sort like their priorities and ids, because both have a fixed number of digits.
func (q *Queue) queue(ctx context.Context, s JobState) ([]entry, error) {
	folder := JobStatePath(s)
	entries, err := q.list(ctx, folder)
	for i, e := range entries {
		if _, jid, err := ParseJobEntry(e.id); err != nil {
			entries[i].err = &NodeError{znode.Join(folder, e.id), err}
		} else {
			entries[i].id = jid
		}
	}
	return entries, err
}
