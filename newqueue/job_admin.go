package newqueue

import (
	"context"
	"fmt"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// Deletion is the result of a deletion.
type Deletion struct {
	// Warnings are for the administrator. Most deletions have none.
	Warnings []string
}

// ReleaseJob moves a held job to pending (J5). Errors: *[StateError] if it
// isn't held, [ErrLocked] while a worker holds it.
func (q *Queue) ReleaseJob(ctx context.Context, jid string) error {
	return q.MoveJob(ctx, jid, JobPending, withFrom(JobHeld))
}

// ResumeJob resumes a failed job at the step after its last successful one (J16
// to J19), and returns that step. Errors: *[StateError] if the job hasn't failed,
// [ErrNotResumable] if there is no such step, [ErrLocked] while a worker holds
// the job.
func (q *Queue) ResumeJob(ctx context.Context, jid string) (JobState, error) {
	_, status, err := q.moveJob(ctx, jid, nil, func(s JobStatus) (JobState, error) {
		if s.State != JobFailed {
			return "", q.refuse(EntityJob, JobPath(jid), string(s.State), "the step after its last successful one")
		}
		return resumeAt(q.machines[EntityJob], s)
	}, change{})
	if err != nil {
		return "", &opError{"resume", JobPath(jid), err}
	}
	return status.State, nil
}

// RetryJob resumes a failed job at a step of the caller's choice. Errors as for
// [Queue.ResumeJob].
func (q *Queue) RetryJob(ctx context.Context, jid string, at JobState) error {
	return q.MoveJob(ctx, jid, at, withFrom(JobFailed))
}

// DeleteJob deletes a failed or held job (J21, J22). In dialect design it removes
// the job's nodes. In dialect mrt-zk it marks the job as deleted, and
// [Queue.CleanupJobs] removes it later. Errors: *[StateError], [ErrLocked] while
// a worker holds the job.
func (q *Queue) DeleteJob(ctx context.Context, jid string) (Deletion, error) {
	s, _, err := q.moveJob(ctx, jid, nil, func(s JobStatus) (JobState, error) {
		if t, ok := q.machines[EntityJob].Find(string(s.State), states.Deleted); ok && t.Who != states.Admin {
			return "", q.refuse(EntityJob, JobPath(jid), string(s.State), states.Deleted)
		}
		return JobDeleted, nil
	}, change{})
	if err != nil {
		return Deletion{}, &opError{"delete", JobPath(jid), err}
	}
	var d Deletion
	if s.batch != BatchCompleted {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the depositor of batch %s will not be told of job %s", s.bid, jid))
	}
	return d, nil
}

// refuse is the error for a transition that the table has, but not for this
// caller.
func (q *Queue) refuse(e Entity, path, from, to string) error {
	if err := q.knownState(e, path, from); err != nil {
		return err
	}
	err := &StateError{Entity: e, Path: path, From: from, To: to}
	for _, t := range q.machines[e].From(from) {
		if t.To != to {
			err.Allowed = append(err.Allowed, t.To)
		}
	}
	return err
}

// CleanJob cleans up one job. In dialect design it removes the queue entry of a
// completed job (J20). In dialect mrt-zk it removes a completed job completely
// once its batch is completed (J20), and a deleted job (J23). Errors:
// *[StateError], [ErrLocked], [ErrNotReported].
func (q *Queue) CleanJob(ctx context.Context, jid string) error {
	_, _, err := q.moveJob(ctx, jid, nil, func(s JobStatus) (JobState, error) {
		if t, ok := q.machines[EntityJob].Automatic(string(s.State)); ok {
			return JobState(t.To), nil
		}
		return "", q.refuse(EntityJob, JobPath(jid), string(s.State), states.Deleted)
	}, change{})
	if err != nil {
		return &opError{"clean up", JobPath(jid), err}
	}
	return nil
}

// CleanupJobs is the cleaning pass over all jobs: see [Queue.CleanJob]. It
// returns the ids of the jobs that it cleaned up. It leaves a job for the next
// pass if a worker holds it or a report still needs it. Other errors are joined
// and don't stop the pass.
func (q *Queue) CleanupJobs(ctx context.Context) ([]string, error) {
	c := cleaning{q: q}
	for _, t := range q.machines[EntityJob] {
		if t.Who != states.Automatic {
			continue
		}
		entries, err := q.queue(ctx, JobState(t.From))
		if err != nil {
			return c.ids, err
		}
		for _, e := range entries {
			if err = e.err; err == nil {
				err = q.CleanJob(ctx, e.jid)
			}
			c.add(ctx, e.jid, JobPath(e.jid), err)
		}
	}
	return c.result()
}

// withFrom demands that the job is in a certain state.
func withFrom(s JobState) JobOption { return func(c *change) { c.from = s } }

// MoveJob moves a job without a lock, as an administrator or a cleaning pass
// does. Errors: *[StateError] if the table has no such transition,
// [ErrNotLocked] if only a worker may make it, [ErrLocked] while a worker holds
// the job, [ErrConflict] if another client changed it first.
func (q *Queue) MoveJob(ctx context.Context, jid string, to JobState, opts ...JobOption) error {
	c := changes(opts)
	_, _, err := q.moveJob(ctx, jid, nil, func(s JobStatus) (JobState, error) {
		if c.from != "" && s.State != c.from {
			return "", q.refuse(EntityJob, JobPath(jid), string(s.State), string(to))
		}
		return to, nil
	}, c)
	if err != nil {
		return &opError{"move to " + string(to), JobPath(jid), err}
	}
	return nil
}

// SetPriority changes a job's priority, 0 to [MaxPriority], and with it the job's
// place in the queue. It needs no lock, and works even while a worker holds the
// job. Errors: [ErrPriority], [ErrNotFound].
func (q *Queue) SetPriority(ctx context.Context, jid string, priority int) error {
	path := JobPath(jid)
	m := move{EntityJob, path, false}
	_, err := checkedPriority(priority)
	if err == nil {
		err = m.retry(func() error {
			s, err := q.snapJob(ctx, jid, nil)
			if err != nil || s.priority == priority {
				return err
			}
			ops := []znode.Op{
				znode.Check(path+"/status", s.version),
				znode.Set(path+"/priority", Number(int64(priority)), s.priorityV),
				znode.Delete(JobEntryPath(s.status.State, s.priority, jid), -1),
				znode.Create(JobEntryPath(s.status.State, priority, jid), empty),
			}
			return q.commit(ctx, write{ops: ops, done: q.written(path+"/priority", s.priorityV, ops, false)})
		})
	}
	if err != nil {
		return &opError{"set the priority of", path, err}
	}
	return nil
}
