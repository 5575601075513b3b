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
	SpaceNeeded   int64         // bytes; 0 is unknown
	Configuration Configuration // never changes
	// Zero if the job has none yet.
	Identifiers Identifiers
	Metadata    Metadata
	Inventory   Inventory
	Store       Store // dialect mrt-zk only

	q       *Queue
	version int32 // of the status, at the acquisition
	lock    lock  // zero when not acquired
}

// Locked reports whether the job was acquired, and neither unlocked nor moved
// since. It does not notice that the session has ended: the next operation does.
func (j *Job) Locked() bool { return j.lock != lock{} }

// Path is the job's znode.
func (j *Job) Path() string { return JobPath(j.ID) }

// Job reads a job. The error is a *[NodeError]. It wraps [ErrNotFound] if a
// znode is missing. An unknown status is not an error: see [JobState.Known].
func (q *Queue) Job(ctx context.Context, jid string) (*Job, error) {
	j := &Job{ID: jid, q: q}
	if err := j.load(ctx); err != nil {
		return nil, err
	}
	return j, nil
}

func (j *Job) load(ctx context.Context) error {
	path := j.Path()
	n, err := j.q.get(ctx, path+"/status")
	if err != nil {
		return err
	}
	if j.Status, err = ParseJobStatus(j.q.dialect, n.data); err != nil {
		return &NodeError{path + "/status", err}
	}
	j.version = n.version
	if n, err = j.q.get(ctx, path+"/bid"); err != nil {
		return err
	}
	j.BatchID = string(n.data)
	for _, p := range []struct {
		name     string
		required bool
		parse    func([]byte) error
	}{
		{"configuration", true, j.q.object(into(&j.Configuration, func(b []byte) (Configuration, error) { return ParseConfiguration(j.q.dialect, b) }))},
		{"priority", true, into(&j.Priority, ParsePriority)},
		{"space_needed", false, into(&j.SpaceNeeded, ParseNumber)},
		{"identifiers", false, j.q.object(into(&j.Identifiers, ParseIdentifiers))},
		{"metadata", false, j.q.object(into(&j.Metadata, ParseMetadata))},
		{"inventory", false, j.q.object(into(&j.Inventory, ParseInventory))},
		{"store", false, j.q.object(into(&j.Store, ParseStore))},
	} {
		n, ok, err := j.q.maybe(ctx, path+"/"+p.name)
		if err == nil && !ok && p.required {
			err = &NodeError{path + "/" + p.name, ErrNotFound}
		}
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := p.parse(n.data); err != nil {
			return &NodeError{path + "/" + p.name, err}
		}
	}
	return nil
}

// object calls parse, except for an object that is written as no data (see
// [Dialect.noObject]).
func (q *Queue) object(parse func([]byte) error) func([]byte) error {
	return func(data []byte) error {
		if q.dialect.noObject(data) {
			return nil
		}
		return parse(data)
	}
}

// into parses a property into a field.
func into[T any](field *T, parse func([]byte) (T, error)) func([]byte) error {
	return func(data []byte) (err error) {
		*field, err = parse(data)
		return err
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
	var jobs []*Job
	var bad []error
	for _, e := range entries {
		if e.err != nil {
			bad = append(bad, e.err)
			continue
		}
		j, err := q.Job(ctx, e.jid)
		switch {
		case errors.Is(err, ErrNotFound) && !q.there(ctx, JobPath(e.jid)): // deleted meanwhile
		case err != nil:
			bad = append(bad, err)
		case j.Status.State == s:
			jobs = append(jobs, j)
		}
	}
	return jobs, errors.Join(bad...)
}

func (q *Queue) there(ctx context.Context, path string) bool {
	_, ok, err := q.stat(ctx, path)
	return ok || err != nil
}

// entry is a job's entry in the queue of a state.
type entry struct {
	jid string
	err error // not nil if the name can't be parsed
}

// queue lists the entries of a state's queue in their order. The names sort
// like their priorities and ids, because both have a fixed number of digits.
func (q *Queue) queue(ctx context.Context, s JobState) ([]entry, error) {
	folder := JobStatePath(s)
	names, err := q.children(ctx, folder)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	entries := make([]entry, len(names))
	for i, name := range names {
		_, jid, err := ParseJobEntry(name)
		if err != nil {
			err = &NodeError{znode.Join(folder, name), err}
		}
		entries[i] = entry{jid, err}
	}
	return entries, nil
}
