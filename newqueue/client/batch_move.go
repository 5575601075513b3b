package client

import (
	"context"
	"fmt"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// MoveBatch moves a batch without a lock, as an administrator or a watcher does:
// in dialect mrt-zk a pending one to held (B2), a held one to pending (B4), a failed one to update-reporting (B8) after its
// failed jobs were resumed or deleted, a processing one to reporting (B5) if it has
// no unfinished job: otherwise the error is a *[StateError] with the guard [states.OnceEmptied].
// from and the other errors are as for [Queue.MoveJob].
func (q *Queue) MoveBatch(ctx context.Context, bid string, from, to newqueue.BatchState) error {
	return q.newBatch(bid).move(ctx, act{name: "move to " + string(to), from: string(from), to: string(to)})
}

// FailBatch moves a processing batch to failed before all its jobs are done
// (B5f, dialect mrt-zk). Errors as for [Queue.MoveBatch].
func (q *Queue) FailBatch(ctx context.Context, bid, message string) error {
	return q.newBatch(bid).move(ctx, act{name: "fail", from: states.Processing, to: states.Failed, message: message})
}

func (b *Batch) decide(ctx context.Context, t states.Transition, a act) (p plan, err error) {
	if t.Nodes == states.NodesRemoved {
		p.ops, err = b.remove(ctx, t)
		return p, err
	}
	status := b.Status
	status.State, status.LastModified, status.Message = newqueue.BatchState(t.To), b.q.clock(), a.message
	p.status, p.keep = newqueue.ToObject(b.q.dialect, status), func() { b.Status = status }
	switch t.Guard {
	case states.WithoutJobs: // B2, B3, B4
		left, err := b.leftStates(ctx)
		if err != nil {
			return p, err
		}
		p.ops = deleteAll(left)
		if t.To == states.Processing {
			p.ops = append(p.ops, znode.Create(newqueue.BatchStatesPath(b.ID), empty))
		}
		if t.To == states.Processing && t.Who == states.Worker {
			p.ops = append(p.ops, znode.Create(newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing), empty))
		}
	case states.OnceEmptied: // B5
		// The client library creates the folder with the batch's first job. So a batch
		// without the folder is not finished: it has not started.
		jobs, err := b.q.ls(ctx, newqueue.BatchFolderPath(b.ID, newqueue.FolderProcessing))
		if err != nil {
			return p, err
		}
		if len(jobs) > 0 {
			return p, b.guardError(t.To, t.Guard)
		}
		p.ops = b.stillEmpty(newqueue.FolderProcessing, true)
	case states.NoneFailed, states.SomeFailed: // B6, B7, B9, B10
		if p.ops, err = b.reportOps(ctx, status, t.Guard, a.report); err != nil {
			return p, err
		}
	}
	p.ops = append(p.ops, a.jobs...)
	return p, nil
}

// stillEmpty are operations that make the transaction fail unless a folder is
// empty. They delete and create it: the delete fails if it has entries. If it did
// not exist, they create and delete it: the create fails if it exists now.
func (b *Batch) stillEmpty(f newqueue.BatchFolder, there bool) []znode.Op {
	path := newqueue.BatchFolderPath(b.ID, f)
	if there {
		return []znode.Op{znode.Delete(path, -1), znode.Create(path, empty)}
	}
	return []znode.Op{znode.Create(path, empty), znode.Delete(path, -1)}
}

// reported is the state of a batch after a report of its jobs: failed if at least one job failed,
// otherwise completed (B6 and B7, B9 and B10).
func (b *Batch) reported(jobs map[newqueue.BatchFolder][]string) (newqueue.BatchState, error) {
	switch {
	case len(jobs[newqueue.FolderFailed]) > 0:
		return newqueue.BatchFailed, nil
	case len(jobs[newqueue.FolderProcessing]) > 0:
		return "", b.guardError(states.Completed, states.OnceFinished)
	}
	return newqueue.BatchCompleted, nil
}

// reportOps are the operations that write the status-report, if the dialect keeps one, and
// make the transaction fail if the report is no longer true. status is the batch's next one. The error is a *[StateError] with the guard if the jobs don't allow that one.
func (b *Batch) reportOps(ctx context.Context, status newqueue.BatchStatus, g states.Guard, sent *Report) ([]znode.Op, error) {
	jobs, err := b.jobs(ctx)
	if err != nil {
		return nil, err
	}
	failed := jobs[newqueue.FolderFailed]
	checks := make([]znode.Op, len(failed))
	err = each(len(failed), func(i int) error {
		j := b.q.newJob(failed[i])
		err := j.loadStatus(ctx)
		checks[i] = znode.Check(j.path+"/status", j.version)
		return err
	})
	if err != nil {
		return nil, err
	}
	if sent != nil && !sent.lists(jobs) {
		return nil, fmt.Errorf("%w: the batch's jobs are no longer those of the report", ErrConflict)
	}
	switch to, err := b.reported(jobs); {
	case err != nil && status.State == newqueue.BatchCompleted:
		return nil, err
	case to != status.State:
		return nil, b.guardError(string(status.State), g)
	}
	var ops []znode.Op
	if status.State == newqueue.BatchCompleted {
		_, hasFailed := jobs[newqueue.FolderFailed]
		_, hasUnfinished := jobs[newqueue.FolderProcessing]
		ops = append(b.stillEmpty(newqueue.FolderFailed, hasFailed), b.stillEmpty(newqueue.FolderProcessing, hasUnfinished)...)
	}
	ops = append(ops, checks...)
	if !b.q.dialect.KeepsReports() {
		return ops, nil
	}
	report := newqueue.StatusReport{LastModified: status.LastModified, FailedJobs: failed, Successful: jobs[newqueue.FolderCompleted]}
	data, err := newqueue.ToObject(b.q.dialect, report).Marshal()
	if err != nil {
		return nil, err
	}
	path := b.path + "/status-report"
	last, there, err := b.q.stat(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case there:
		return append(ops, znode.Set(path, data, last.Version)), nil
	}
	return append(ops, znode.Create(path, data)), nil
}
