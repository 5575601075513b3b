package newqueue

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// batchSnap holds what was read about a batch before a decision.
type batchSnap struct {
	id      string
	uuid    bool // batch-uuids has the batch under its UUID
	batchID string
	status  BatchStatus
	version int32 // of the status
	folders map[BatchFolder][]string
	failedV map[string]int32 // status versions of the failed jobs
	report  *int32           // version of the status-report; nil if there is none
	states  []string         // the states child that a waiting batch should not have, and all below it
	subtree []string         // /batches/BID and all below it but the lock and the jobs' entries, for a deletion
	jobs    []jobRemains     // all nodes and entries of its jobs, for a deletion
	// unfinished reports whether a job is unfinished, for a deletion.
	unfinished bool
}

// decideBatch turns a transition of a batch into the operations of one
// transaction. The jobs that are created or deleted with it are not included.
func decideBatch(t states.Transition, s batchSnap, message string, d Dialect, now time.Time) ([]znode.Op, BatchStatus, error) {
	path := BatchPath(s.id)
	status := s.status
	status.State, status.LastModified, status.Message = BatchState(t.To), now, message
	ops := lockOps(t.Who, path)
	if t.Nodes == states.NodesGo {
		ops = append(ops, znode.Check(path+"/status", s.version))
		for _, j := range s.jobs {
			ops = append(ops, j.ops...)
		}
		if s.uuid {
			ops = append(ops, znode.Delete(BatchUUIDPath(s.batchID), -1))
		}
		return append(ops, deleteAll(s.subtree)...), status, nil
	}
	data, err := status.Object(d).Marshal()
	if err != nil {
		return nil, status, err
	}
	ops = append(ops, znode.Set(path+"/status", data, s.version))
	switch t.Guard {
	case states.WithoutJobs: // B2, B3, B4
		ops = append(ops, deleteAll(s.states)...)
		if t.To == states.Processing {
			ops = append(ops, znode.Create(BatchStatesPath(s.id), empty), znode.Create(BatchFolderPath(s.id, FolderProcessing), empty))
		}
	case states.OnceEmptied: // B5
		if jobs, ok := s.folders[FolderProcessing]; !ok {
			// The client library creates the folder with the batch's first job.
			// So this batch is not finished: it has not started.
			return nil, status, &NodeError{BatchFolderPath(s.id, FolderProcessing), ErrNotFound}
		} else if len(jobs) > 0 {
			return nil, status, ErrStillProcessing
		}
		ops = append(ops, s.stillEmpty(FolderProcessing)...)
	case states.NoneFailed, states.SomeFailed: // B6, B7, B9, B10
		reported, err := decideReport(t, s, d, now)
		if err != nil {
			return nil, status, err
		}
		ops = append(ops, reported...)
	}
	return ops, status, nil
}

// stillEmpty are operations that make the transaction fail unless a folder is
// empty. They delete and create it: the delete fails if it has entries. If it did
// not exist, they create and delete it: the create fails if it exists now.
func (s batchSnap) stillEmpty(f BatchFolder) []znode.Op {
	path := BatchFolderPath(s.id, f)
	if _, ok := s.folders[f]; ok {
		return []znode.Op{znode.Delete(path, -1), znode.Create(path, empty)}
	}
	return []znode.Op{znode.Create(path, empty), znode.Delete(path, -1)}
}

// outcome is the batch's state after a report: failed if at least one job failed,
// otherwise completed (B6 and B7, B9 and B10).
func (s batchSnap) outcome() (BatchState, error) {
	switch {
	case len(s.folders[FolderFailed]) > 0:
		return BatchFailed, nil
	case len(s.folders[FolderProcessing]) > 0:
		return "", ErrStillProcessing
	}
	return BatchCompleted, nil
}

// decideReport are the operations that write the status-report, and make the
// transaction fail if the report is no longer true.
func decideReport(t states.Transition, s batchSnap, d Dialect, now time.Time) ([]znode.Op, error) {
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
	report := StatusReport{LastModified: now, FailedJobs: s.folders[FolderFailed], Successful: s.folders[FolderCompleted]}
	data, err := report.Object(d).Marshal()
	if err != nil {
		return nil, err
	}
	path := BatchPath(s.id) + "/status-report"
	if s.report != nil {
		return append(ops, znode.Set(path, data, *s.report)), nil
	}
	return append(ops, znode.Create(path, data)), nil
}
