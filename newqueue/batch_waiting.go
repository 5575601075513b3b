package newqueue

import (
	"context"
	"errors"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// A batch that waits for its jobs to be created has no states child. That is
// how the client library recognises it. The library's worker first creates the
// child and then sets the status (Batch.acquirePendingBatch). If the worker
// dies in between, or tries a held batch, which it may not acquire, then the
// child stays, and from then on the library skips the batch.

// waits reports whether the batch's jobs are not created yet.
func (s batchSnap) waits() bool {
	return s.status.State == BatchPending || s.status.State == BatchHeld
}

// leftStates lists a waiting batch's states child and everything below it, to
// be removed. It is nil if there is none. If there are entries of jobs in it,
// the error is a *[NodeError] that wraps [ErrHasJobs].
func (q *Queue) leftStates(ctx context.Context, bid string) ([]string, error) {
	root := BatchStatesPath(bid)
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
// states child. It removes the child, so that the client library acquires them
// again. It returns those that it repaired. It leaves alone a batch that a
// worker holds, because the worker may be creating the child just now. The
// error names a batch that has entries of jobs ([ErrHasJobs]), which an
// administrator must decide on, and everything that can't be read.
//
// If all workers of a queue use this package, it needs no repair: they acquire
// such a batch as it is.
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
	s := batchSnap{id: b.ID, status: b.Status, version: b.version}
	if !s.waits() {
		return false, nil
	}
	if s.states, err = q.leftStates(ctx, b.ID); err != nil || s.states == nil {
		return false, err
	}
	ops := append(lockOps(states.Automatic, b.Path()), znode.Check(b.Path()+"/status", s.version))
	err = q.commit(ctx, write{ops: append(ops, deleteAll(s.states)...), done: func(ctx context.Context) (bool, error) {
		_, ok, err := q.stat(ctx, BatchStatesPath(b.ID))
		return !ok, err
	}})
	if isRace(err) {
		return false, nil // a worker holds it, or it has moved
	}
	return err == nil, err
}
