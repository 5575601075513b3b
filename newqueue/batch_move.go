package newqueue

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// batchSnap holds what was read about a batch before a decision, and what the
// caller changes with the transition.
type batchSnap struct {
	snap
	batch   *Batch
	status  BatchStatus // once decided, the new one
	message string
	create  []znode.Op // the jobs that are created with it (B3)

	folders map[BatchFolder][]string
	failedV map[string]int32 // status versions of the failed jobs
	report  *int32           // version of the status-report; nil if there is none
	states  []string         // the states child that a waiting batch should not have, and all below it
	uuid    string           // the entry in batch-uuids, for a deletion; "" if it has none
	jobs    []jobRemains     // all nodes and entries of its jobs, for a deletion
}

func (q *Queue) snapBatch(bid string) *batchSnap {
	b := q.newBatch(bid)
	return &batchSnap{snap: snap{item: &b.item, entity: EntityBatch}, batch: b}
}

func (s *batchSnap) read(ctx context.Context) (state string, err error) {
	if !s.worker {
		if err := s.batch.loadStatus(ctx); err != nil {
			return "", err
		}
	}
	s.status = s.batch.Status
	switch s.status.State {
	case BatchProcessing, BatchReporting, BatchUpdateReporting:
		err = s.readReport(ctx)
	}
	return string(s.status.State), err
}

// readReport reads what a report needs.
func (s *batchSnap) readReport(ctx context.Context) (err error) {
	if s.folders, err = s.q.folders(ctx, s.batch.ID); err != nil {
		return err
	}
	s.failedV = map[string]int32{}
	if s.status.State == BatchProcessing {
		return nil // it only matters whether batch-processing is empty
	}
	for _, jid := range s.folders[FolderFailed] {
		n, err := s.q.get(ctx, JobPath(jid)+"/status")
		if err != nil {
			return err
		}
		s.failedV[jid] = n.version
	}
	stat, ok, err := s.q.stat(ctx, s.path+"/status-report")
	if s.report = nil; ok {
		s.report = &stat.Version
	}
	return err
}

func (s *batchSnap) prepare(ctx context.Context, t states.Transition) (err error) {
	switch {
	case t.Guard == states.WithoutJobs:
		s.states, err = s.q.leftStates(ctx, s.batch.ID)
	case t.Nodes == states.NodesGo:
		err = s.prepareDeletion(ctx, t)
	}
	return err
}

// decide does not create or delete the jobs of a batch whose jobs don't fit into
// the same transaction.
func (s *batchSnap) decide(t states.Transition) ([]znode.Op, error) {
	s.status.State, s.status.LastModified, s.status.Message = BatchState(t.To), s.q.clock(), s.message
	ops, err := s.ops(t, s.status.Object(s.q.dialect))
	if err != nil {
		return nil, err
	}
	if t.Nodes == states.NodesGo {
		return append(ops, s.deletion()...), nil
	}
	switch t.Guard {
	case states.WithoutJobs: // B2, B3, B4
		ops = append(ops, deleteAll(s.states)...)
		if t.To == states.Processing {
			ops = append(ops, znode.Create(BatchStatesPath(s.batch.ID), empty), znode.Create(BatchFolderPath(s.batch.ID, FolderProcessing), empty))
		}
	case states.OnceEmptied: // B5
		if jobs, ok := s.folders[FolderProcessing]; !ok {
			// The client library creates the folder with the batch's first job.
			// So this batch is not finished: it has not started.
			return nil, &NodeError{BatchFolderPath(s.batch.ID, FolderProcessing), ErrNotFound}
		} else if len(jobs) > 0 {
			return nil, ErrStillProcessing
		}
		ops = append(ops, s.stillEmpty(FolderProcessing)...)
	case states.NoneFailed, states.SomeFailed: // B6, B7, B9, B10
		reported, err := s.reportOps(t)
		if err != nil {
			return nil, err
		}
		ops = append(ops, reported...)
	}
	return append(ops, s.create...), nil
}

// stillEmpty are operations that make the transaction fail unless a folder is
// empty. They delete and create it: the delete fails if it has entries. If it did
// not exist, they create and delete it: the create fails if it exists now.
func (s *batchSnap) stillEmpty(f BatchFolder) []znode.Op {
	path := BatchFolderPath(s.batch.ID, f)
	if _, ok := s.folders[f]; ok {
		return []znode.Op{znode.Delete(path, -1), znode.Create(path, empty)}
	}
	return []znode.Op{znode.Create(path, empty), znode.Delete(path, -1)}
}

// outcome is the batch's state after a report: failed if at least one job failed,
// otherwise completed (B6 and B7, B9 and B10).
func (s *batchSnap) outcome() (BatchState, error) {
	switch {
	case len(s.folders[FolderFailed]) > 0:
		return BatchFailed, nil
	case len(s.folders[FolderProcessing]) > 0:
		return "", ErrStillProcessing
	}
	return BatchCompleted, nil
}

// reportOps are the operations that write the status-report, and make the
// transaction fail if the report is no longer true.
func (s *batchSnap) reportOps(t states.Transition) ([]znode.Op, error) {
	to, err := s.outcome()
	if err != nil {
		return nil, err
	}
	if string(to) != t.To {
		return nil, fmt.Errorf("%w: the batch's jobs say %s", ErrConflict, to)
	}
	var ops []znode.Op
	if to == BatchCompleted {
		ops = append(s.stillEmpty(FolderFailed), s.stillEmpty(FolderProcessing)...)
	}
	for _, jid := range slices.Sorted(maps.Keys(s.failedV)) {
		ops = append(ops, znode.Check(JobPath(jid)+"/status", s.failedV[jid]))
	}
	report := StatusReport{LastModified: s.status.LastModified, FailedJobs: s.folders[FolderFailed], Successful: s.folders[FolderCompleted]}
	data, err := report.Object(s.q.dialect).Marshal()
	if err != nil {
		return nil, err
	}
	path := s.path + "/status-report"
	if s.report != nil {
		return append(ops, znode.Set(path, data, *s.report)), nil
	}
	return append(ops, znode.Create(path, data)), nil
}
