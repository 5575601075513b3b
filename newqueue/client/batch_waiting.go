package client

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// A batch that waits for its jobs to be created has no states child. That is
// how the client library recognises it. The library's worker first creates the
// child and then sets the status (Batch.acquirePendingBatch). If the worker dies
// in between, the child stays, and the library skips the batch from then on. The
// same happens if the worker tries a held batch, which it may not acquire.

// leftStates lists the states child that a waiting batch should not have, and
// everything below it. The list is nil if there is no child. If there are entries
// of jobs in it, the error is a *[StateError] with the guard [states.WithoutJobs], unless the batch has just been started: then it
// is the one that the server's refusal of the status would be.
func (b *Batch) leftStates(ctx context.Context) ([]string, error) {
	root := newqueue.BatchStatesPath(b.ID)
	paths, err := b.q.subtree(ctx, root)
	if err != nil || !slices.ContainsFunc(paths, func(p string) bool { return p != root && znode.Parent(p) != root }) {
		return paths, err
	}
	check := znode.Check(b.path+"/status", b.version)
	switch now, there, err := b.q.stat(ctx, check.Path); {
	case err != nil:
		return nil, err
	case !there || now.Version != b.version:
		return nil, &znode.MultiError{Op: check, Err: zk.ErrBadVersion}
	}
	return nil, b.guardError(states.Processing, states.WithoutJobs)
}

// RepairBatches is the cleaning pass over pending and held batches that have a
// states child. It removes the child, so that the client library acquires these
// batches again, and returns their ids. It skips a batch that a worker holds,
// because the worker may just be creating the child. It does not modify a batch
// that has entries of jobs: the error names it ([states.WithoutJobs]), and an
// administrator must decide. The error also names everything that can't be read.
//
// A queue needs no repair if all its workers use this package, because they
// acquire such a batch as it is.
func (q *Queue) RepairBatches(ctx context.Context) ([]string, error) {
	return tidy(ctx, []workQueue[*Batch]{q.batchLine(newqueue.BatchPending), q.batchLine(newqueue.BatchHeld)}, func(b *Batch) (bool, error) {
		err := b.loadStatus(ctx)
		var left []string
		var next int32
		if err == nil && (b.Status.State == newqueue.BatchPending || b.Status.State == newqueue.BatchHeld) {
			left, err = b.leftStates(ctx)
		}
		if err == nil && left != nil {
			next, _, err = q.sequence(ctx, b.path)
		}
		if err == nil && left != nil {
			ops := append(b.lockOps(states.Automatic, nil), deleteAll(left)...)
			err = q.commit(ctx, write{ops: ops, happened: q.created(ops[0].Path, next, ops[0])})
		}
		if isRace(err) { // a worker holds it, or it has moved
			return false, nil
		}
		if err != nil {
			err = &opError{"repair", b.path, err}
		}
		return left != nil, err
	})
}
