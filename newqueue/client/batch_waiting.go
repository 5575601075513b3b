package client

import (
	"context"
	"errors"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// A batch that waits for its jobs to be created has no states child. That is
// how the client library recognises it. The library's worker first creates the
// child and then sets the status (Batch.acquirePendingBatch). If the worker dies
// in between, the child stays, and the library skips the batch from then on. The
// same happens if the worker tries a held batch, which it may not acquire.

// leftStates lists the states child of a batch's path that a waiting batch should not have, and
// everything below it. The list is nil if there is no child. If there are entries
// of jobs in it, the error is a *[NodeError] that wraps [ErrHasJobs].
func (q *Queue) leftStates(ctx context.Context, batch string) ([]string, error) {
	root := batch + "/states"
	paths, err := q.subtree(ctx, root)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if p != root && znode.Parent(p) != root {
			return nil, &NodeError{root, ErrHasJobs}
		}
	}
	return paths, nil
}

// RepairBatches is the cleaning pass over pending and held batches that have a
// states child. It removes the child, so that the client library acquires these
// batches again, and returns their ids. It skips a batch that a worker holds,
// because the worker may just be creating the child. It does not modify a batch
// that has entries of jobs: the error names it ([ErrHasJobs]), and an
// administrator must decide. The error also names everything that can't be read.
//
// A queue needs no repair if all its workers use this package, because they
// acquire such a batch as it is.
func (q *Queue) RepairBatches(ctx context.Context) ([]string, error) {
	batches, err := q.Batches(ctx)
	var repaired []string
	bad := []error{err}
	for _, b := range batches {
		ok, err := q.repairBatch(ctx, b)
		switch {
		case ok:
			repaired = append(repaired, b.ID)
		case err != nil:
			bad = append(bad, &opError{"repair", b.Path(), err})
		}
	}
	return repaired, errors.Join(bad...)
}

func (q *Queue) repairBatch(ctx context.Context, b *Batch) (repaired bool, err error) {
	if b.Status.State != newqueue.BatchPending && b.Status.State != newqueue.BatchHeld {
		return false, nil
	}
	left, err := q.leftStates(ctx, b.path)
	if err != nil || left == nil {
		return false, err
	}
	err = q.commit(ctx, write{ops: append(b.proof(states.Automatic), deleteAll(left)...), happened: q.removed(newqueue.BatchStatesPath(b.ID))})
	if isRace(err) {
		return false, nil // a worker holds it, or it has moved
	}
	return err == nil, err
}
