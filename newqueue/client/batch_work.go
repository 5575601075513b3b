package client

import (
	"context"

	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Hold moves an acquired pending batch to held because its collection is held
// (B2), and releases the lock. In dialect mrt-zk only an administrator can do that
// ([Queue.MoveBatch]). Errors as for [Job.Succeed].
func (b *Batch) Hold(ctx context.Context, message string) error {
	return b.q.move(ctx, b, act{name: "hold", worker: true, to: states.Held, message: message})
}

// MoveTo moves an acquired batch to any state that a worker may move it to, and
// releases the lock. It creates no jobs when it moves a batch to processing: see
// [Batch.Process]. When it moves a batch to completed or failed, it reports
// the batch's jobs as [Batch.Finish] does. Errors as for [Job.Succeed].
func (b *Batch) MoveTo(ctx context.Context, to newqueue.BatchState) error {
	return b.q.move(ctx, b, act{name: "move to " + string(to), worker: true, to: string(to)})
}

// MoveBatch moves a batch without a lock, as an administrator or a watcher does:
// in dialect mrt-zk a pending one to held (B2), a held one to pending (B4), a failed one to update-reporting (B8) after its
// failed jobs were resumed or deleted, a processing one to reporting (B5) if it has
// no unfinished job. from and the errors are as for [Queue.MoveJob]. The error is
// [ErrStillProcessing] if a batch with unfinished jobs is to be reported.
func (q *Queue) MoveBatch(ctx context.Context, bid string, from, to newqueue.BatchState) error {
	return q.move(ctx, q.newBatch(bid), act{name: "move to " + string(to), from: string(from), to: string(to)})
}

// FailBatch moves a processing batch to failed before all its jobs are done
// (B5f, dialect mrt-zk). Errors as for [Queue.MoveBatch].
func (q *Queue) FailBatch(ctx context.Context, bid, message string) error {
	return q.move(ctx, q.newBatch(bid), act{name: "fail", from: states.Processing, to: states.Failed, message: message})
}
