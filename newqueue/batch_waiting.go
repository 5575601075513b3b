package newqueue

import (
	"context"
	"errors"

	"mrtq/internal/znode"
)

// A batch that waits to have its jobs made has no states child: by that the
// client library knows it. Its worker makes the child first and the status
// after it (Batch.acquirePendingBatch), so that one that dies in between, or
// tries a held batch, which it may not take, leaves a batch that it passes over
// from then on.

// waits reports whether the batch's jobs are still to be made.
func (s batchSnap) waits() bool {
	return s.status.State == BatchPending || s.status.State == BatchHeld
}

// leftStates lists a waiting batch's states child and all below it, which is
// to go; nil when there is none. With entries of jobs in it the error is a
// *[NodeError] that wraps [ErrHasJobs].
func (q *Queue) leftStates(ctx context.Context, bid string) ([]string, error) {
	states := BatchStatesPath(bid)
	paths, err := q.subtree(ctx, states)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		if p != states && znode.Parent(p) != states {
			return nil, &NodeError{states, ErrHasJobs}
		}
	}
	return paths, nil
}

// RepairBatches is the automatic pass over pending and held batches that have a
// states child: it takes away the child, so that the client library takes them
// up (again). It returns those that it repaired. A batch that a worker has is
// left alone, for it may be making the child just now; one with entries of jobs
// is named in the error and left to an administrator ([ErrHasJobs]), beside
// whatever can't be read.
//
// A queue of which all workers are this package's needs no repair: they take
// such a batch up as it is.
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
	ops := append(lockOps(Automatic, b.Path()), znode.Check(b.Path()+"/status", s.version))
	err = q.commit(ctx, write{ops: append(ops, deleteAll(s.states)...), done: func(ctx context.Context) (bool, error) {
		_, ok, err := q.stat(ctx, BatchStatesPath(b.ID))
		return !ok, err
	}})
	if isRace(err) {
		return false, nil // a worker has it, or it has moved on
	}
	return err == nil, err
}
