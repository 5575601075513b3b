package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Process creates the jobs of an acquired pending batch (J1), moves the batch
// to processing (B3) unless the acquisition did, and releases the lock. It returns the
// jobs' ids in the order of the arguments.
//
// All of it is one transaction. If that would be too large, Process first writes
// the jobs' own nodes under the batch's lock. Without entries, no worker finds
// them. Then one transaction creates all entries and moves the batch. About
// 5,000 jobs fit. Process writes nothing unless all of it fits.
//
// If the worker dies, or loses its lock or its connection in between, the batch is
// still as it was acquired, and the nodes that were written belong to no batch: mrtq check
// finds them, and the error says how many jobs they are of. Errors as for [Item], and [newqueue.ErrPriority], [newqueue.ErrValue].
func (b *Batch) Process(ctx context.Context, jobs ...JobSpec) (made []string, err error) {
	defer wrap("process", b.path, &err)
	written := 0
	defer func() {
		if err != nil && written > 0 {
			err = fmt.Errorf("the nodes of %d jobs are written already: %w", written, err)
		}
	}()
	now := b.q.clock()
	parts, err := b.parts(jobs, now)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 { // one transaction is enough
		err = b.q.withIDs(ctx, newqueue.JobsPath, newqueue.JobPrefix, len(jobs), func(ids []string, _ int32) error {
			made = ids
			ops, err := b.decideJobs(ids, jobs, now)
			if err != nil {
				return err
			}
			return b.start(ctx, slices.Concat(ops.nodes, ops.entries))
		})
		if err != nil {
			return nil, err
		}
		return made, nil
	}
	for _, part := range parts {
		ids, err := b.writeAhead(ctx, part, now)
		if err != nil {
			return nil, err
		}
		made = append(made, ids...)
		written = len(made)
	}
	ops, err := b.decideJobs(made, jobs, now)
	if err == nil {
		err = b.start(ctx, ops.entries)
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

// parts splits jobs that don't fit into one transaction with the batch's transition,
// so that the nodes of each part do. There are no parts if all jobs fit. It is an
// error if the nodes of one job, or the entries of all, don't fit.
func (b *Batch) parts(jobs []JobSpec, now time.Time) (parts [][]JobSpec, err error) {
	// The other operations of a transaction are the lock, the batch's status, and
	// folders. They are small.
	const most = MaxTransaction - 4096
	nodes, entries := 0, 0 // bytes
	first, part := 0, 0    // of the part that is being filled: its first job, and its bytes
	for i, n := range jobs {
		// Every id is as long as this one.
		ops, err := b.q.decideNewJob(newqueue.SequenceID(newqueue.JobPrefix, 0), b.ID, n, now)
		if err != nil {
			return nil, err
		}
		size := znode.MultiSize(ops.nodes, len(b.q.root))
		if size > most {
			return nil, fmt.Errorf("too large for ZooKeeper: job %d of %d takes %d bytes, %d are allowed", i+1, len(jobs), size, most)
		}
		if part+size > most {
			parts, first, part = append(parts, jobs[first:i]), i, 0
		}
		part += size
		nodes += size
		entries += znode.MultiSize(ops.entries, len(b.q.root))
	}
	switch {
	case entries > most:
		return nil, fmt.Errorf("too large for ZooKeeper: the entries of %d jobs take %d bytes in one transaction, %d are allowed; split the batch", len(jobs), entries, most)
	case nodes+entries <= most:
		return nil, nil
	}
	return append(parts, jobs[first:]), nil
}

func (b *Batch) decideJobs(ids []string, jobs []JobSpec, now time.Time) (all jobOps, err error) {
	for i, n := range jobs {
		ops, err := b.q.decideNewJob(ids[i], b.ID, n, now)
		if err != nil {
			return all, err
		}
		all.nodes, all.entries = append(all.nodes, ops.nodes...), append(all.entries, ops.entries...)
	}
	return all, nil
}

// start makes transition B3, which also creates the jobs, or only creates them if the
// acquisition made B3. If another client used one of their ids, the error is the server's,
// and the caller chooses others.
func (b *Batch) start(ctx context.Context, jobs []znode.Op) (err error) {
	if b.startedBefore() {
		err = b.fill(ctx, jobs)
	} else {
		err = b.tryMove(ctx, act{worker: true, to: states.Processing, jobs: jobs})
	}
	var r *znode.MultiError
	if errors.As(err, &r) && znode.Parent(r.Op.Path) != newqueue.JobsPath {
		_, err = b.refused(ctx, true, err, attempts)
	}
	return err
}

func (b *Batch) startedBefore() bool {
	_, ok := b.q.machines[states.Batch].By(states.Acquirer, states.Pending)
	return ok && b.Status.State == newqueue.BatchProcessing
}

func (b *Batch) fill(ctx context.Context, jobs []znode.Op) error {
	status, held, err := b.holds(ctx)
	if err != nil {
		return err
	}
	folder := newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing)
	status.version = b.version // that it acquired
	w := b.release(held, status, append([]znode.Op{znode.Create(folder, empty)}, jobs...)...)
	w.happened.path = folder
	if err = b.q.commit(ctx, w); err == nil {
		b.lock = lock{}
	}
	return err
}

func (b *Batch) writeAhead(ctx context.Context, jobs []JobSpec, now time.Time) (made []string, err error) {
	err = b.q.withIDs(ctx, newqueue.JobsPath, newqueue.JobPrefix, len(jobs), func(ids []string, _ int32) error {
		made = ids
		held, err := b.owns(ctx)
		if err != nil {
			return err
		}
		ops, err := b.decideJobs(ids, jobs, now)
		if err == nil {
			err = b.q.commit(ctx, b.keepsLock(held, ops.nodes))
		}
		if !errors.Is(err, zk.ErrNodeExists) { // otherwise withIDs tries others
			_, err = b.refused(ctx, true, err, attempts)
		}
		return err
	})
	return made, err
}
