package client

import (
	"cmp"
	"context"
	"fmt"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// MoveJob moves a job without a lock, as an administrator or a cleaning pass
// does. from is the state in which the caller saw the job: an administrator acts
// on what they saw, so a job that has moved since stays where it is. "" means any
// state. Errors: *[StateError] if the job is in another state or the table has no
// such transition, [ErrNotLocked] if only a worker may make it, [ErrLocked] while
// a worker holds the job, [ErrConflict] if another client changed it first.
//
// In dialect design, completed to deleted is the row J20 of the published design:
// only the job's queue entry goes. The job keeps its nodes and its status, completed,
// because the batch's report needs them. They go with the batch: see
// [Queue.CleanupBatches].
func (q *Queue) MoveJob(ctx context.Context, jid string, from, to newqueue.JobState) error {
	return q.newJob(jid).move(ctx, act{name: "move to " + string(to), from: string(from), to: string(to)})
}

// ResumeJob resumes a failed job at the step after its last successful one (J16
// to J19), and returns that step. Errors: *[StateError] if the job hasn't failed, or if no step of it has
// succeeded ([states.OnceStepped]); [ErrLocked] while a worker holds the job.
func (q *Queue) ResumeJob(ctx context.Context, jid string) (newqueue.JobState, error) {
	j := q.newJob(jid)
	err := j.move(ctx, act{name: "resume", from: states.Failed, to: "the step after its last successful one", choose: func() (string, error) {
		at := q.machines[states.Job].Success(string(j.Status.LastSuccessful))
		switch j.Status.LastSuccessful {
		case "", newqueue.JobHeld:
			at = states.Pending
		}
		if _, ok := q.machines[states.Job].Find(states.Failed, at); !ok {
			// If the client library resumed the job and it failed again, last_successful_status is Failed. That is no
			// step, so an administrator has to choose one.
			return "", j.guardError("the step after "+cmp.Or(string(j.Status.LastSuccessful), "none"), states.OnceStepped)
		}
		return at, nil
	}})
	if err != nil {
		return "", err
	}
	return j.Status.State, nil
}

// DeleteJob deletes a failed or held job (J21, J22). In dialect design it removes
// the job's nodes. In dialect mrt-zk it marks the job as deleted, and
// [Queue.CleanupJobs] removes it later. It returns warnings for the
// administrator; most deletions have none. Errors: *[StateError], [ErrLocked]
// while a worker holds the job.
func (q *Queue) DeleteJob(ctx context.Context, jid string) (warnings []string, err error) {
	j := q.newJob(jid)
	if err := j.move(ctx, act{name: "delete", to: states.Deleted, who: states.Admin}); err != nil {
		return nil, err
	}
	if j.batch != newqueue.BatchCompleted {
		warnings = append(warnings, fmt.Sprintf("the depositor of batch %s will not be told of job %s", j.BatchID, jid))
	}
	return warnings, nil
}

// SetPriority changes a job's priority, 0 to [newqueue.MaxPriority], and with it the job's
// place in the queue. It needs no lock, and works even while a worker holds the
// job. Errors: [newqueue.ErrPriority], [ErrNotFound].
func (q *Queue) SetPriority(ctx context.Context, jid string, priority int) error {
	j := q.newJob(jid)
	err := checkPriority(priority)
	if err == nil {
		err = j.retry(ctx, false, func() error { return j.setPriority(ctx, priority) })
	}
	if err != nil {
		return &opError{"set the priority of", j.path, err}
	}
	return nil
}

func (j *Job) setPriority(ctx context.Context, priority int) error {
	nodes, err := j.nodes(ctx, "status", "priority")
	if err != nil {
		return err
	}
	now, err := j.priorityIn(nodes)
	if err := cmp.Or(j.parse(j.properties()[0], nodes["status"]), err); err != nil || now == priority {
		return err
	}
	path, data, version := j.path+"/priority", newqueue.FormatNumber(int64(priority)), nodes["priority"].version
	return j.q.commit(ctx, write{ops: []znode.Op{
		znode.Check(j.path+"/status", j.version),
		znode.Set(path, data, version),
		znode.Delete(newqueue.JobEntryPath(j.Status.State, now, j.ID), -1),
		znode.Create(newqueue.JobEntryPath(j.Status.State, priority, j.ID), empty),
	}, happened: j.q.written(path, version, data)})
}
