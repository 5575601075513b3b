package client

import (
	"cmp"
	"context"
	"errors"
	"time"

	"mrtq/newqueue"
)

// moveTime is how long a worker that stops tries to move its last job on.
const moveTime = time.Minute

// Work is the loop of a worker: it waits for a job in a state ([Queue.NextJob]), lets do work on it, and moves it on: if do returns nil, as
// [Job.Succeed] does, else as [Job.Fail] does with the error's text. If ctx ends meanwhile, a job whose work was done moves on all the same, and
// one whose work was not is unlocked, so that another worker gets it. do gets the ctx of Work.
//
// Work returns nil when ctx ends. What ends only the work on one job is given to passed, and Work goes on: [ErrNotLocked] if the session expired
// meanwhile, so that a worker may do the job again, and [ErrConflict] if the deployed admin tool has changed the job in spite of the lock. nil
// ignores them. Any other error ends Work. After [ErrUnknownOutcome] the lock may still be there: it ends with the session.
func (q *Queue) Work(ctx context.Context, s newqueue.JobState, do func(context.Context, *Job) error, passed func(error)) error {
	for {
		job, err := q.NextJob(ctx, s)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = job.workOn(ctx, do)
		}
		switch {
		case err == nil:
		case !errors.Is(err, ErrNotLocked) && !errors.Is(err, ErrConflict):
			return err
		case passed != nil:
			passed(err)
		}
	}
}

func (j *Job) workOn(ctx context.Context, do func(context.Context, *Job) error) error {
	err := do(ctx, j)
	stopped := err != nil && ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), moveTime) // the job moves on, also if the worker has to stop
	defer cancel()
	switch {
	case stopped:
		return j.Unlock(ctx)
	case err != nil:
		err = j.Fail(ctx, err.Error())
	default:
		err = j.Succeed(ctx)
	}
	if errors.Is(err, ErrConflict) { // the lock stays
		err = cmp.Or(j.Unlock(ctx), err)
	}
	return err
}
