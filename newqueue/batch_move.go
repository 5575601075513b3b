package newqueue

import (
	"context"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// snapBatchFor reads what is needed to decide on a batch's transition.
func (q *Queue) snapBatchFor(ctx context.Context, bid string, by *Batch) (batchSnap, error) {
	s := batchSnap{id: bid}
	if by != nil {
		s.status, s.version, s.batchID = by.Status, by.version, by.Submission.BatchID
		return s, nil
	}
	n, err := q.get(ctx, BatchPath(bid)+"/status")
	if err != nil {
		return s, err
	}
	if s.status, err = ParseBatchStatus(q.dialect, n.data); err != nil {
		return s, &NodeError{BatchPath(bid) + "/status", err}
	}
	s.version = n.version
	return s, nil
}

// snapReport reads what a report needs.
func (q *Queue) snapReport(ctx context.Context, s *batchSnap) (err error) {
	if s.folders, err = q.folders(ctx, s.id); err != nil {
		return err
	}
	s.failedV = map[string]int32{}
	if s.status.State == BatchProcessing {
		return nil // it only matters whether batch-processing is empty
	}
	for _, jid := range s.folders[FolderFailed] {
		n, err := q.get(ctx, JobPath(jid)+"/status")
		if err != nil {
			return err
		}
		s.failedV[jid] = n.version
	}
	stat, ok, err := q.stat(ctx, BatchPath(s.id)+"/status-report")
	if ok {
		s.report = &stat.Version
	}
	return err
}

// batchMove is one transition of a batch.
type batchMove struct {
	by      *Batch // the worker's acquired batch; nil if the caller is no worker
	target  func(batchSnap) (BatchState, error)
	message string
	// jobs are created by the same transaction (B3).
	jobs []znode.Op
}

// moveBatch makes a transition of a batch.
func (q *Queue) moveBatch(ctx context.Context, bid string, bm batchMove) (s batchSnap, status BatchStatus, err error) {
	m := move{EntityBatch, BatchPath(bid), bm.by != nil}
	err = m.retry(func() error {
		s, status, err = q.tryMoveBatch(ctx, m, bid, bm)
		return err
	})
	return s, status, err
}

func (q *Queue) tryMoveBatch(ctx context.Context, m move, bid string, bm batchMove) (batchSnap, BatchStatus, error) {
	none := BatchStatus{}
	s, err := q.snapBatchFor(ctx, bid, bm.by)
	if err != nil {
		return s, none, err
	}
	if from := s.status.State; from == BatchProcessing || from == BatchReporting || from == BatchUpdateReporting {
		if err := q.snapReport(ctx, &s); err != nil {
			return s, none, err
		}
	}
	to, err := bm.target(s)
	if err != nil {
		return s, none, err
	}
	t, err := q.allowed(m, string(s.status.State), string(to))
	if err != nil {
		return s, none, err
	}
	if bm.by != nil {
		if err := q.owns(ctx, bm.by.lock); err != nil {
			return s, none, err
		}
	}
	if t.Guard == states.WithoutJobs {
		if s.states, err = q.leftStates(ctx, bid); err != nil {
			return s, none, err
		}
	}
	if t.Nodes == states.NodesGo {
		if err := q.snapDeletion(ctx, &s); err != nil {
			return s, none, err
		}
		if t.Guard == states.OnceFinished && s.unfinished {
			return s, none, ErrStillProcessing
		}
		if err := q.deleteAhead(ctx, t, &s); err != nil {
			return s, none, err
		}
	}
	ops, status, err := decideBatch(t, s, bm.message, q.dialect, q.now().Round(0))
	if err != nil {
		return s, none, err
	}
	ops = append(ops, bm.jobs...)
	done := q.written(m.path+"/status", s.version, ops, t.Nodes == states.NodesGo)
	if bm.by != nil {
		done = q.lockReleased(bm.by.lock, done)
	}
	return s, status, q.commit(ctx, write{ops: ops, done: done})
}
