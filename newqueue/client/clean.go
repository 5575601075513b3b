package client

import (
	"context"
	"errors"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// clean makes the transition of a cleaning pass. Without one, the error is a *[StateError],
// or a *[NodeError] for a state that the dialect does not have.
func (q *Queue) clean(ctx context.Context, m member) error {
	return q.move(ctx, m, act{name: "clean up", who: states.Automatic})
}

// cleaning is a cleaning pass: the ids that it cleaned up, and the errors that did not
// stop it.
type cleaning struct {
	q    *Queue
	ids  []string
	errs []error
}

// add cleans up a member. It leaves one for the next pass that a worker
// holds, that has unfinished jobs, that has moved meanwhile, or that was removed.
func (c *cleaning) add(ctx context.Context, id string, m member) {
	err := c.q.clean(ctx, m)
	switch {
	case err == nil:
		c.ids = append(c.ids, id)
	case errors.Is(err, ErrLocked), errors.Is(err, ErrStillProcessing), errors.As(err, new(*StateError)):
	case errors.Is(err, ErrNotFound) && !c.q.there(ctx, m.base().path):
	default:
		c.errs = append(c.errs, err)
	}
}

func (c *cleaning) result() ([]string, error) { return c.ids, errors.Join(c.errs...) }

// CleanupJobs is the cleaning pass over all jobs. In dialect design it removes the
// queue entry of a completed job (J20). In dialect mrt-zk it removes a deleted job
// (J23), and a completed one goes with its batch. It returns the ids of these jobs. It
// leaves a job for the next pass if a worker holds it. Other errors are joined and
// don't stop the pass.
func (q *Queue) CleanupJobs(ctx context.Context) ([]string, error) {
	c := cleaning{q: q}
	for _, t := range q.machines[newqueue.EntityJob] {
		if t.Who != states.Automatic {
			continue
		}
		entries, err := q.queue(ctx, newqueue.JobState(t.From))
		if err != nil {
			return c.ids, err
		}
		for _, e := range entries {
			if e.err != nil {
				c.errs = append(c.errs, e.err)
				continue
			}
			c.add(ctx, e.id, q.newJob(e.id))
		}
	}
	return c.result()
}

// CleanupBatches is the cleaning pass over all batches. It removes a batch with all
// its jobs if it is completed (B13), or if the admin tool marked it as deleted
// (B14), and returns the ids of these batches. It leaves a batch for the next pass
// if a worker holds it or one of its jobs is unfinished: the client library does
// not remove such a batch either. Other errors are joined and don't stop the pass.
func (q *Queue) CleanupBatches(ctx context.Context) ([]string, error) {
	batches, err := q.Batches(ctx)
	c := cleaning{q: q, errs: []error{err}}
	for _, b := range batches {
		if _, ok := q.machines[newqueue.EntityBatch].Automatic(string(b.Status.State)); ok {
			c.add(ctx, b.ID, q.newBatch(b.ID))
		}
	}
	return c.result()
}

// CleanupRequests is the cleaning pass over the requests of a queue. It removes
// completed requests (A7) and requests that the admin tool marked as deleted
// (A8), and returns their ids. Errors as for [Queue.CleanupJobs].
func (q *Queue) CleanupRequests(ctx context.Context, queue newqueue.AccessQueue) ([]string, error) {
	entries, err := q.list(ctx, newqueue.AccessQueuePath(queue))
	if err != nil {
		return nil, err
	}
	c := cleaning{q: q}
	for _, e := range entries {
		c.add(ctx, e.id, q.newRequest(queue, e.id))
	}
	return c.result()
}
