package client

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mrtq/newqueue"
)

// JobOption is a change that a worker makes to its job, together with a transition
// or with [Job.Set]. If an option is given twice, the last one counts.
type JobOption func(*act)

// change is a property of a job that a worker creates or replaces.
type change struct {
	name string // of the znode
	data []byte
	err  error      // why the value can't be written
	keep func(*Job) // changes the field of the job that the worker has
}

func names(changes []change) (names []string) {
	for _, c := range changes {
		names = append(names, c.name)
	}
	return names
}

// with writes a property, instead of what an earlier option would write there.
func with(c change) JobOption {
	return func(a *act) {
		a.changes = append(slices.DeleteFunc(a.changes, func(earlier change) bool { return earlier.name == c.name }), c)
	}
}

func withObject(name string, o newqueue.Object, keep func(*Job)) JobOption {
	data, err := o.Marshal()
	return with(change{name, data, err, keep})
}

// WithMessage puts a message into the status.
func WithMessage(text string) JobOption { return func(a *act) { a.message = text } }

// WithPriority changes the priority, 0 to [newqueue.MaxPriority]. The new queue entry has
// it in its name.
func WithPriority(p int) JobOption { return func(a *act) { a.priority = &p } }

// WithSpaceNeeded sets how many bytes of working storage the job needs. 0 means
// unknown.
func WithSpaceNeeded(bytes int64) JobOption {
	c := change{name: "space_needed", data: newqueue.Number(bytes), keep: func(j *Job) { j.SpaceNeeded = bytes }}
	if bytes < 0 {
		c.err = fmt.Errorf("%d: %w", bytes, newqueue.ErrValue)
	}
	return with(c)
}

// WithIdentifiers writes the identifiers.
func WithIdentifiers(i newqueue.Identifiers) JobOption {
	return withObject("identifiers", i.Object(), func(j *Job) { j.Identifiers = i })
}

// WithInventory writes what the inventory service has to record.
func WithInventory(i newqueue.Inventory) JobOption {
	return withObject("inventory", i.Object(), func(j *Job) { j.Inventory = i })
}

// WithStore writes what the storage service has to store, in dialect mrt-zk
// only.
func WithStore(s newqueue.Store) JobOption {
	return withObject("store", s.Object(), func(j *Job) { j.Store = s })
}

// keep changes the job's fields as it was changed in the tree.
func (j *Job) keep(a act) {
	for _, c := range a.changes {
		c.keep(j)
	}
	if a.priority != nil {
		j.Priority = *a.priority
	}
}

// Succeed moves an acquired job to the next state, and releases the lock, in one
// transaction. After an error nothing was written, unless the error is
// [ErrUnknownOutcome]. Errors: [ErrNotLocked] or [ErrConflict] if the lock was
// lost, *[StateError] if there is no next state.
func (j *Job) Succeed(ctx context.Context, opts ...JobOption) error {
	return j.move(ctx, "finish", newqueue.JobState(j.q.machines[newqueue.EntityJob].Success(string(j.Status.State))), opts)
}

// Fail moves an acquired job to failed, with a message that says why, and
// releases the lock. Errors as for [Job.Succeed].
func (j *Job) Fail(ctx context.Context, message string, opts ...JobOption) error {
	return j.MoveTo(ctx, newqueue.JobFailed, append(opts, WithMessage(message))...)
}

// Hold moves an acquired pending job to held because its collection is held,
// and releases the lock. Errors as for [Job.Succeed].
func (j *Job) Hold(ctx context.Context, opts ...JobOption) error {
	return j.MoveTo(ctx, newqueue.JobHeld, opts...)
}

// MoveTo moves an acquired job to any state that a worker may move it to, and
// releases the lock. Errors as for [Job.Succeed].
func (j *Job) MoveTo(ctx context.Context, to newqueue.JobState, opts ...JobOption) error {
	return j.move(ctx, "move to "+string(to), to, opts)
}

func (j *Job) move(ctx context.Context, name string, to newqueue.JobState, opts []JobOption) error {
	a := act{name: name, worker: true, to: string(to)}
	for _, o := range opts {
		o(&a)
	}
	return j.q.move(ctx, j, a)
}

// Set writes properties of an acquired job immediately, without a transition. So
// the job keeps a minted identifier even if its worker dies. The job stays locked.
// Errors as for [Job.Succeed], and [newqueue.ErrValue] for a message or a priority: see
// [Queue.SetPriority].
func (j *Job) Set(ctx context.Context, opts ...JobOption) error {
	var a act
	for _, o := range opts {
		o(&a)
	}
	if err := j.retry(true, func() error { return j.set(ctx, a) }); err != nil {
		return &opError{"write to", j.path, err}
	}
	j.keep(a)
	return nil
}

func (j *Job) set(ctx context.Context, a act) error {
	if a.message != "" || a.priority != nil {
		return fmt.Errorf("message or priority: %w without a transition", newqueue.ErrValue)
	}
	if err := j.q.owns(ctx, j.lock); err != nil {
		return err
	}
	now, err := j.nodes(ctx, names(a.changes)...)
	if err != nil {
		return err
	}
	ops, err := j.changeOps(a.changes, now)
	if err != nil {
		return err
	}
	return j.q.commit(ctx, write{ops: append(j.stillMine(), ops...), happened: func(ctx context.Context) (bool, error) {
		for _, op := range ops {
			n, ok, err := j.q.maybe(ctx, op.Path)
			if err != nil || !ok || !bytes.Equal(n.data, op.Data) {
				return false, err
			}
		}
		return true, nil
	}})
}
