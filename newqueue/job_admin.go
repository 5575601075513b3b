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

// MoveJob moves a job without a lock, as an administrator or a cleaning pass
// does. Errors: *[StateError] if the table has no such transition,
// [ErrNotLocked] if only a worker may make it, [ErrLocked] while a worker holds
// the job, [ErrConflict] if another client changed it first.
//
// In dialect design, completed to deleted is the row J20 of the published design:
// only the job's queue entry goes. The job keeps its nodes and its status, completed,
// because the batch's report needs them. They go with the batch: see
// [Queue.CleanupBatches].
func (q *Queue) MoveJob(ctx context.Context, jid string, to JobState) error {
	return q.move(ctx, "move to "+string(to), q.snapJob(jid), want{to: string(to)})
}

// ReleaseJob moves a held job to pending (J5). Errors: *[StateError] if it
// isn't held, [ErrLocked] while a worker holds it.
func (q *Queue) ReleaseJob(ctx context.Context, jid string) error {
	return q.move(ctx, "move to pending", q.snapJob(jid), want{from: states.Held, to: states.Pending})
}

// ResumeJob resumes a failed job at the step after its last successful one (J16
// to J19), and returns that step. Errors: *[StateError] if the job hasn't failed,
// [ErrNotResumable] if there is no such step, [ErrLocked] while a worker holds
// the job.
func (q *Queue) ResumeJob(ctx context.Context, jid string) (JobState, error) {
	s := q.snapJob(jid)
	err := q.move(ctx, "resume", s, want{from: states.Failed, to: "the step after its last successful one", choose: func() (string, error) {
		return resumeAt(q.machines[EntityJob], s.status.LastSuccessful)
	}})
	if err != nil {
		return "", err
	}
	return s.status.State, nil
}

// resumeAt is the step at which a failed job resumes: the one after
// last_successful_status. If the client library resumed the job and it failed
// again, last_successful_status is Failed. That is no step, so an administrator
// has to choose one.
func resumeAt(table states.Table, last JobState) (string, error) {
	at := table.Success(string(last))
	if last == "" || last == JobHeld {
		at = states.Pending
	}
	if _, ok := table.Find(states.Failed, at); ok {
		return at, nil
	}
	if last == "" {
		return "", fmt.Errorf("%w: no step of it has succeeded yet; submit it again", ErrNotResumable)
	}
	return "", fmt.Errorf("%w: last_successful_status is %s, which names no step to resume at; choose a step with RetryJob", ErrNotResumable, last)
}

// RetryJob resumes a failed job at a step of the caller's choice. Errors as for
// [Queue.ResumeJob].
func (q *Queue) RetryJob(ctx context.Context, jid string, at JobState) error {
	return q.move(ctx, "move to "+string(at), q.snapJob(jid), want{from: states.Failed, to: string(at)})
}

// DeleteJob deletes a failed or held job (J21, J22). In dialect design it removes
// the job's nodes. In dialect mrt-zk it marks the job as deleted, and
// [Queue.CleanupJobs] removes it later. Errors: *[StateError], [ErrLocked] while
// a worker holds the job.
func (q *Queue) DeleteJob(ctx context.Context, jid string) (d Deletion, err error) {
	s := q.snapJob(jid)
	if err := q.move(ctx, "delete", s, want{to: states.Deleted, who: states.Admin}); err != nil {
		return d, err
	}
	if s.batch != BatchCompleted {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the depositor of batch %s will not be told of job %s", s.job.BatchID, jid))
	}
	return d, nil
}

// SetPriority changes a job's priority, 0 to [MaxPriority], and with it the job's
// place in the queue. It needs no lock, and works even while a worker holds the
// job. Errors: [ErrPriority], [ErrNotFound].
func (q *Queue) SetPriority(ctx context.Context, jid string, priority int) error {
	s := q.snapJob(jid)
	err := checkPriority(priority)
	if err == nil {
		err = s.retry(func() error {
			if _, err := s.read(ctx); err != nil || s.priority == priority {
				return err
			}
			ops := []znode.Op{
				znode.Check(s.path+"/status", s.version),
				znode.Set(s.path+"/priority", Number(int64(priority)), s.priorityV),
				znode.Delete(JobEntryPath(s.status.State, s.priority, jid), -1),
				znode.Create(JobEntryPath(s.status.State, priority, jid), empty),
			}
			return q.commit(ctx, write{ops: ops, done: q.written(s.path+"/priority", s.priorityV, ops)})
		})
	}
	if err != nil {
		return &opError{"set the priority of", s.path, err}
	}
	return nil
}
