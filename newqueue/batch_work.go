package newqueue

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// snap is what a worker's transition starts from.
func (b *Batch) snap(message string) *batchSnap {
	return &batchSnap{snap: snap{item: &b.item, entity: EntityBatch, worker: true}, batch: b, message: message}
}

// Hold moves an acquired pending batch to held because its collection is held
// (B2), and releases the lock. Errors as for [Job.Succeed].
func (b *Batch) Hold(ctx context.Context, message string) error {
	return b.move(ctx, "hold", b.snap(message), want{to: states.Held})
}

// MoveTo moves an acquired batch to any state that a worker may move it to, and
// releases the lock. It creates no jobs when it moves a batch to processing: see
// [Batch.Process]. When it moves a batch to completed or failed, it writes the
// status-report from the batch's jobs: see [Batch.Finish]. Errors as for
// [Job.Succeed].
func (b *Batch) MoveTo(ctx context.Context, to BatchState) error {
	return b.move(ctx, "move to "+string(to), b.snap(""), want{to: string(to)})
}

func (b *Batch) move(ctx context.Context, what string, s *batchSnap, w want) error {
	err := b.q.move(ctx, what, s, w)
	if err == nil {
		b.Status = s.status
	}
	return err
}

// Process creates the jobs of an acquired pending batch (J1), moves the batch
// to processing (B3), and releases the lock. It returns the jobs' ids in the
// order of the arguments.
//
// All of it is one transaction. If that would be too large, Process first writes
// the jobs' own nodes under the batch's lock. Without entries, no worker finds
// them. Then one transaction creates all entries and moves the batch. About
// 3,000 jobs fit. If the worker dies in between, the batch is still pending, and
// the nodes that were written belong to no batch: package lint finds them. Errors
// as for [Job.Succeed], and [ErrPriority], [ErrValue], [ErrTooLarge].
func (b *Batch) Process(ctx context.Context, jobs ...NewJob) (made []string, err error) {
	err = b.q.withIDs(ctx, JobsPath, JobPrefix, len(jobs), func(ids []string) error {
		var nodes, places []znode.Op
		for i, n := range jobs {
			ops, err := b.q.decideNewJob(ids[i], b.ID, n)
			if err != nil {
				return err
			}
			nodes, places = append(nodes, ops.nodes...), append(places, ops.places...)
		}
		made = ids
		// The transition's own part is small: half a kilobyte is enough.
		if znode.MultiSize(slices.Concat(nodes, places), len(b.q.root)) > MaxTransaction-512 {
			if err := b.writeAhead(ctx, nodes); err != nil {
				return err
			}
			nodes = nil
		}
		return b.start(ctx, append(nodes, places...))
	})
	if err != nil {
		return nil, &opError{"process", b.path, err}
	}
	return made, nil
}

// start makes transition B3, which also creates the jobs. If another client used
// one of their ids, the error is the server's, and the caller chooses others.
func (b *Batch) start(ctx context.Context, jobs []znode.Op) error {
	s := b.snap("")
	s.create = jobs
	err := b.q.tryMove(ctx, s, want{to: states.Processing})
	var r *znode.MultiError
	if errors.As(err, &r) && znode.Within(r.Op.Path, b.path) {
		_, err = s.refused(err, attempts)
	}
	if err == nil {
		b.Status = s.status
	}
	return err
}

// writeAhead writes the jobs' nodes in order, as many as fit into each
// transaction.
func (b *Batch) writeAhead(ctx context.Context, nodes []znode.Op) error {
	guard := []znode.Op{znode.Check(b.lock.path, -1), znode.Check(b.path+"/status", b.version)}
	for len(nodes) > 0 {
		n, size := 0, znode.MultiSize(guard, len(b.q.root))
		for n < len(nodes) && (n == 0 || size+nodes[n].Size(len(b.q.root)) <= MaxTransaction) {
			size += nodes[n].Size(len(b.q.root))
			n++
		}
		if err := b.q.owns(ctx, b.lock); err != nil {
			return err
		}
		err := b.q.commit(ctx, write{ops: slices.Concat(guard, nodes[:n]), done: b.q.created(nodes[:n])})
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			_, err = b.snap("").refused(err, attempts)
		}
		if err != nil {
			return err
		}
		nodes = nodes[n:]
	}
	return nil
}

// MoveBatch moves a batch without a lock, as an administrator or a watcher does:
// a held one to pending (B4), a failed one to update-reporting (B8) after its
// failed jobs were resumed or deleted. Errors as for [Queue.MoveJob], and
// [ErrStillProcessing] if a batch with unfinished jobs is to be reported.
func (q *Queue) MoveBatch(ctx context.Context, bid string, to BatchState) error {
	return q.move(ctx, "move to "+string(to), q.snapBatch(bid), want{to: string(to)})
}

// FailBatch moves a processing batch to failed before all its jobs are done
// (B5f, dialect mrt-zk). Errors as for [Queue.MoveBatch].
func (q *Queue) FailBatch(ctx context.Context, bid, message string) error {
	s := q.snapBatch(bid)
	s.message = message
	return q.move(ctx, "fail", s, want{from: states.Processing, to: states.Failed})
}
