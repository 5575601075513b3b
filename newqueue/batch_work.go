package newqueue

import (
	"context"
	"errors"
	"slices"

	"mrtq/internal/znode"
)

// Hold moves an acquired pending batch to held because its collection is held
// (B2), and releases the lock. Errors as for [Job.Succeed].
func (b *Batch) Hold(ctx context.Context, message string) error {
	return b.move(ctx, "hold", batchMove{
		target:  func(batchSnap) (BatchState, error) { return BatchHeld, nil },
		message: message,
	})
}

// MoveTo moves an acquired batch to any state that a worker may move it to, and
// releases the lock. It creates no jobs when it moves a batch to processing: see
// [Batch.Process]. When it moves a batch to completed or failed, it writes the
// status-report from the batch's jobs: see [Batch.Finish]. Errors as for
// [Job.Succeed].
func (b *Batch) MoveTo(ctx context.Context, to BatchState) error {
	return b.move(ctx, "move to "+string(to), batchMove{target: func(batchSnap) (BatchState, error) { return to, nil }})
}

func (b *Batch) move(ctx context.Context, what string, bm batchMove) error {
	bm.by = b
	_, status, err := b.q.moveBatch(ctx, b.ID, bm)
	if err != nil {
		return &opError{what, b.Path(), err}
	}
	b.lock, b.Status = lock{}, status
	b.version++
	return nil
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
func (b *Batch) Process(ctx context.Context, jobs ...NewJob) ([]string, error) {
	ids, err := b.process(ctx, jobs)
	if err != nil {
		return nil, &opError{"process", b.Path(), err}
	}
	return ids, nil
}

func (b *Batch) process(ctx context.Context, jobs []NewJob) ([]string, error) {
	t, err := b.q.creation(EntityJob)
	if err != nil {
		return nil, err
	}
	var made []string
	err = b.q.withIDs(ctx, JobsPath, JobPrefix, len(jobs), func(ids []string) error {
		var nodes, places []znode.Op
		for i, n := range jobs {
			ops, err := decideNewJob(t, ids[i], b.ID, n, b.q.dialect, b.q)
			if err != nil {
				return err
			}
			nodes, places = append(nodes, ops.nodes...), append(places, ops.places...)
		}
		made = ids
		// The transition's own part is small: half a kilobyte is enough.
		if znode.MultiSize(append(slices.Clone(nodes), places...), len(b.q.root)) > MaxTransaction-512 {
			if err := b.writeAhead(ctx, nodes); err != nil {
				return err
			}
			nodes = nil
		}
		return b.start(ctx, append(nodes, places...))
	})
	return made, err
}

// start makes transition B3, which also creates the jobs.
func (b *Batch) start(ctx context.Context, jobs []znode.Op) error {
	m := move{EntityBatch, b.Path(), true}
	_, status, err := b.q.tryMoveBatch(ctx, m, b.ID, batchMove{
		by:     b,
		target: func(batchSnap) (BatchState, error) { return BatchProcessing, nil },
		jobs:   jobs,
	})
	var r *znode.MultiError
	if errors.As(err, &r) && znode.Within(r.Op.Path, b.Path()) {
		_, err = m.refused(err, attempts)
	}
	if err != nil {
		return err
	}
	b.lock, b.Status = lock{}, status
	b.version++
	return nil
}

// writeAhead writes the jobs' nodes in order, as many as fit into each
// transaction.
func (b *Batch) writeAhead(ctx context.Context, nodes []znode.Op) error {
	guard := []znode.Op{znode.Check(b.lock.path, -1), znode.Check(b.Path()+"/status", b.version)}
	for len(nodes) > 0 {
		ops := slices.Clone(guard)
		n := 0
		size := znode.MultiSize(guard, len(b.q.root))
		for n < len(nodes) && (n == 0 || size+nodes[n].Size(len(b.q.root)) <= MaxTransaction) {
			size += nodes[n].Size(len(b.q.root))
			ops = append(ops, nodes[n])
			n++
		}
		if err := b.q.owns(ctx, b.lock); err != nil {
			return err
		}
		if err := b.q.commit(ctx, write{ops: ops, done: b.q.created(ops[len(guard):])}); err != nil {
			if m := (move{EntityBatch, b.Path(), true}); !errors.Is(err, znode.ErrNodeExists) {
				_, err = m.refused(err, attempts)
			}
			return err
		}
		nodes = nodes[n:]
	}
	return nil
}

// ReleaseBatch moves a held batch to pending (B4). Errors: *[StateError],
// [ErrLocked] while a worker holds it.
func (q *Queue) ReleaseBatch(ctx context.Context, bid string) error {
	return q.MoveBatch(ctx, bid, BatchPending)
}

// UpdateReportBatch moves a failed batch to update-reporting (B8), after an
// administrator has resumed or deleted its failed jobs. Errors as for
// [Queue.ReleaseBatch].
func (q *Queue) UpdateReportBatch(ctx context.Context, bid string) error {
	return q.MoveBatch(ctx, bid, BatchUpdateReporting)
}

// MoveBatch moves a batch without a lock, as an administrator or a watcher does.
// Errors as for [Queue.MoveJob], and [ErrStillProcessing] if a batch with
// unfinished jobs is to be reported.
func (q *Queue) MoveBatch(ctx context.Context, bid string, to BatchState) error {
	_, _, err := q.moveBatch(ctx, bid, batchMove{target: func(batchSnap) (BatchState, error) { return to, nil }})
	if err != nil {
		return &opError{"move to " + string(to), BatchPath(bid), err}
	}
	return nil
}

// FailBatch moves a processing batch to failed before all its jobs are done
// (B5f, dialect mrt-zk). Errors as for [Queue.ReleaseBatch].
func (q *Queue) FailBatch(ctx context.Context, bid, message string) error {
	_, _, err := q.moveBatch(ctx, bid, batchMove{
		target: func(s batchSnap) (BatchState, error) {
			if s.status.State != BatchProcessing {
				return "", q.refuse(EntityBatch, BatchPath(bid), string(s.status.State), string(BatchFailed))
			}
			return BatchFailed, nil
		},
		message: message,
	})
	if err != nil {
		return &opError{"fail", BatchPath(bid), err}
	}
	return nil
}
