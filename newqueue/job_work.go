package newqueue

import (
	"bytes"
	"context"

	"mrtq/internal/znode"
)

// JobOption is a change that a worker makes together with a transition.
type JobOption func(*change)

// WithMessage puts a message into the status.
func WithMessage(text string) JobOption { return func(c *change) { c.message = text } }

// WithPriority changes the priority, 0 to [MaxPriority]. The new queue entry has
// it in its name.
func WithPriority(p int) JobOption { return func(c *change) { c.priority = &p } }

// WithSpaceNeeded sets how many bytes of working storage the job needs. 0 means
// unknown.
func WithSpaceNeeded(bytes int64) JobOption { return func(c *change) { c.spaceNeeded = &bytes } }

// WithInventory writes what the inventory service has to record.
func WithInventory(i Inventory) JobOption { return func(c *change) { c.inventory = &i } }

// WithStore writes what the storage service has to store, in dialect mrt-zk
// only.
func WithStore(s Store) JobOption { return func(c *change) { c.store = &s } }

func changes(opts []JobOption) change {
	var c change
	for _, o := range opts {
		o(&c)
	}
	return c
}

// Succeed moves an acquired job to the next state, and releases the lock, in one
// transaction. After an error nothing was written, unless the error is
// [ErrUnknownOutcome]. Errors: [ErrNotLocked] or [ErrConflict] if the lock was
// lost, *[StateError] if there is no next state.
func (j *Job) Succeed(ctx context.Context, opts ...JobOption) error {
	return j.move(ctx, "finish", func(s JobStatus) (JobState, error) {
		return JobState(j.q.machines[EntityJob].Success(string(s.State))), nil
	}, changes(opts))
}

// Fail moves an acquired job to failed, with a message that says why, and
// releases the lock. Errors as for [Job.Succeed].
func (j *Job) Fail(ctx context.Context, message string, opts ...JobOption) error {
	return j.MoveTo(ctx, JobFailed, append(opts, WithMessage(message))...)
}

// Hold moves an acquired pending job to held because its collection is held,
// and releases the lock. Errors as for [Job.Succeed].
func (j *Job) Hold(ctx context.Context, opts ...JobOption) error {
	return j.MoveTo(ctx, JobHeld, opts...)
}

// MoveTo moves an acquired job to any state that a worker may move it to, and
// releases the lock. Errors as for [Job.Succeed].
func (j *Job) MoveTo(ctx context.Context, to JobState, opts ...JobOption) error {
	return j.move(ctx, "move to "+string(to), func(JobStatus) (JobState, error) { return to, nil }, changes(opts))
}

func (j *Job) move(ctx context.Context, what string, target func(JobStatus) (JobState, error), c change) error {
	_, status, err := j.q.moveJob(ctx, j.ID, j, target, c)
	if err != nil {
		return &opError{what, j.Path(), err}
	}
	j.lock, j.Status = lock{}, status
	j.version++
	if c.priority != nil {
		j.Priority = *c.priority
	}
	if c.spaceNeeded != nil {
		j.SpaceNeeded = *c.spaceNeeded
	}
	if c.inventory != nil {
		j.Inventory = *c.inventory
	}
	if c.store != nil {
		j.Store = *c.store
	}
	return nil
}

// SetIdentifiers writes the identifiers of an acquired job immediately, without a
// transition. So the job keeps a minted identifier even if its worker dies.
// Errors as for [Job.Succeed].
func (j *Job) SetIdentifiers(ctx context.Context, i Identifiers) error {
	if err := j.setObject(ctx, "identifiers", i.Object()); err != nil {
		return err
	}
	j.Identifiers = i
	return nil
}

// SetMetadata writes the metadata of an acquired job without a transition. Errors
// as for [Job.Succeed].
func (j *Job) SetMetadata(ctx context.Context, m Metadata) error {
	if err := j.setObject(ctx, "metadata", m.Object()); err != nil {
		return err
	}
	j.Metadata = m
	return nil
}

// SetInventory writes the inventory of an acquired job without a transition. See
// also [WithInventory]. Errors as for [Job.Succeed].
func (j *Job) SetInventory(ctx context.Context, i Inventory) error {
	if err := j.setObject(ctx, "inventory", i.Object()); err != nil {
		return err
	}
	j.Inventory = i
	return nil
}

// SetStore writes the store of an acquired job without a transition. See also
// [WithStore]. Errors as for [Job.Succeed], and [ErrValue] in dialect design.
func (j *Job) SetStore(ctx context.Context, s Store) error {
	if j.q.dialect != MrtZK {
		return &opError{"write", j.Path() + "/store", ErrValue}
	}
	if err := j.setObject(ctx, "store", s.Object()); err != nil {
		return err
	}
	j.Store = s
	return nil
}

// SetSpaceNeeded writes how many bytes an acquired job needs, without a
// transition. See also [WithSpaceNeeded]. Errors as for [Job.Succeed].
func (j *Job) SetSpaceNeeded(ctx context.Context, bytes int64) error {
	if bytes < 0 {
		return &opError{"write", j.Path() + "/space_needed", ErrValue}
	}
	if err := j.set(ctx, "space_needed", Number(bytes)); err != nil {
		return err
	}
	j.SpaceNeeded = bytes
	return nil
}

// SetPriority changes the priority without a transition; see
// [Queue.SetPriority].
func (j *Job) SetPriority(ctx context.Context, priority int) error {
	if err := j.q.SetPriority(ctx, j.ID, priority); err != nil {
		return err
	}
	j.Priority = priority
	return nil
}

func (j *Job) setObject(ctx context.Context, name string, o Object) error {
	data, err := o.Marshal()
	if err != nil {
		return &opError{"write", j.Path() + "/" + name, err}
	}
	return j.set(ctx, name, data)
}

// set creates or replaces a property under the job's lock.
func (j *Job) set(ctx context.Context, name string, data []byte) error {
	m := move{EntityJob, j.Path(), true}
	err := m.retry(func() error {
		if err := j.q.owns(ctx, j.lock); err != nil {
			return err
		}
		s := jobSnap{id: j.ID, has: map[string]int32{}}
		if err := j.q.snapOptional(ctx, &s, name); err != nil {
			return err
		}
		return j.q.commit(ctx, write{
			ops: []znode.Op{znode.Check(j.lock.path, -1), znode.Check(j.Path()+"/status", j.version), s.put(name, data)},
			done: func(ctx context.Context) (bool, error) {
				n, ok, err := j.q.maybe(ctx, j.Path()+"/"+name)
				return ok && bytes.Equal(n.data, data), err
			},
		})
	})
	if err != nil {
		return &opError{"write", j.Path() + "/" + name, err}
	}
	return nil
}
