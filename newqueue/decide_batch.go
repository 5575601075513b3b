package newqueue

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"mrtq/internal/znode"
	"mrtq/newqueue/states"
)

// batchSnap is what was read of a batch before a decision.
type batchSnap struct {
	id      string
	uuid    bool // batch-uuids has the batch under its UUID
	batchID string
	status  BatchStatus
	version int32 // of the status
	folders map[BatchFolder][]string
	failedV map[string]int32 // status versions of the failed jobs
	report  *int32           // version of the status-report; nil if there is none
	states  []string         // a waiting batch's states child, if there is one, and everything below it
	subtree []string         // of /batches/BID without the lock and the jobs' entries, for a deletion
	jobs    []jobRemains     // everything of its jobs, for a deletion
	// unfinished: one of its jobs is unfinished, for a deletion.
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
			// The client library creates the folder with a batch's first job. So
			// this batch is not done: it has not begun.
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

// stillEmpty proves within the transaction that a folder has no entries.
// Deleting it fails if it has some. Creating it fails if somebody else has
// created it.
func (s batchSnap) stillEmpty(f BatchFolder) []znode.Op {
	path := BatchFolderPath(s.id, f)
	if _, ok := s.folders[f]; ok {
		return []znode.Op{znode.Delete(path, -1), znode.Create(path, empty)}
	}
	return []znode.Op{znode.Create(path, empty), znode.Delete(path, -1)}
}

// outcome is the state after a report: completed if every job is, failed if at
// least one is (B6 and B7, B9 and B10).
func (s batchSnap) outcome() (BatchState, error) {
	switch {
	case len(s.folders[FolderFailed]) > 0:
		return BatchFailed, nil
	case len(s.folders[FolderProcessing]) > 0:
		return "", ErrStillProcessing
	}
	return BatchCompleted, nil
}

// decideReport writes the status-report, and checks within the transaction that
// it is true.
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
