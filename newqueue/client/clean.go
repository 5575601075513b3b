package client

import (
	"context"
	"errors"
	"slices"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// tidy does something to each item of some lines, and returns the ids of those to which it was done. An error
// does not stop it: it joins the errors, each once, with those of items that can't be read. That another client has removed
// an item from the line since is no error.
func tidy[T member](ctx context.Context, lines []workQueue[T], do func(T) (bool, error)) (ids []string, err error) {
	var seen []string
	var errs []error
	for _, l := range lines {
		entries, err := l.list(ctx)
		errs = append(errs, err)
		for _, e := range entries {
			done, err := false, e.err
			if err == nil && !slices.Contains(seen, e.id) { // one that can't be read is in each queue
				done, err = do(l.at(e.id))
			}
			if errors.Is(err, ErrNotFound) {
				if _, there, failed := l.q.stat(ctx, e.path); failed == nil && !there {
					done, err = false, nil
				}
			}
			seen = append(seen, e.id)
			if errs = append(errs, err); done && err == nil {
				ids = append(ids, e.id)
			}
		}
	}
	return ids, errors.Join(errs...)
}

// cleanUp makes the transitions of a cleaning pass over the items of an entity. It leaves one for the next pass that a
// worker holds, that has unfinished jobs, or that has moved meanwhile.
func cleanUp[T member](ctx context.Context, q *Queue, kind states.Entity, in func(state string) workQueue[T]) ([]string, error) {
	var lines []workQueue[T]
	for _, t := range q.machines[kind] {
		if t.Who == states.Automatic {
			lines = append(lines, in(t.From))
		}
	}
	return tidy(ctx, lines, func(m T) (bool, error) {
		err := m.base().move(ctx, act{name: "clean up", who: states.Automatic})
		if m.base().gone == 0 && (errors.Is(err, ErrLocked) || errors.As(err, new(*StateError))) {
			return false, nil
		}
		return err == nil, err
	})
}

// CleanupJobs is the cleaning pass over all jobs. In dialect design it removes the
// queue entry of a completed job (J20). In dialect mrt-zk it removes a deleted job
// (J23), and a completed one goes with its batch. It returns the ids of these jobs. It
// leaves a job for the next pass if a worker holds it. Other errors are joined and
// don't stop the pass.
func (q *Queue) CleanupJobs(ctx context.Context) ([]string, error) {
	return cleanUp(ctx, q, states.Job, func(state string) workQueue[*Job] { return q.jobLine(newqueue.JobState(state)) })
}

// CleanupBatches is the cleaning pass over all batches. It removes a batch with all
// its jobs if it is completed (B13), or if the admin tool marked it as deleted
// (B14), and returns the ids of these batches. It leaves a batch for the next pass
// if a worker holds it or one of its jobs is unfinished: the client library does
// not remove such a batch either. If some of its jobs are deleted then, the error says so, as that of [Queue.DeleteBatch]. Other
// errors are joined and don't stop the pass.
func (q *Queue) CleanupBatches(ctx context.Context) ([]string, error) {
	return cleanUp(ctx, q, states.Batch, func(state string) workQueue[*Batch] { return q.batchLine(newqueue.BatchState(state)) })
}

// CleanupRequests is the cleaning pass over the requests of a queue. It removes
// completed requests (A7) and requests that the admin tool marked as deleted
// (A8), and returns their ids. Errors as for [Queue.CleanupJobs].
func (q *Queue) CleanupRequests(ctx context.Context, queue newqueue.AccessQueue) ([]string, error) {
	return cleanUp(ctx, q, states.Access, func(state string) workQueue[*Request] { return q.requestLine(queue, newqueue.AccessState(state)) })
}
