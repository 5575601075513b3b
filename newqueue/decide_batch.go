package newqueue

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"mrtq/internal/znode"
)

// batchSnap is what was read of a batch to decide on.
type batchSnap struct {
	id      string
	uuid    bool // batch-uuids has the batch under its UUID
	batchID string
	status  BatchStatus
	version int32 // of the status
	folders map[BatchFolder][]string
	failedV map[string]int32 // status versions of the failed jobs
	report  *int32           // version of the status-report; nil when there is none
	states  []string         // a waiting batch's states child, if it has one, and all below it
	subtree []string         // of /batches/BID without the lock and the jobs' entries, for a deletion
	jobs    []jobRemains     // what there is of its jobs, for a deletion
	// unfinished: a job of it is still to be done, for a deletion.
	unfinished bool
}

// decideBatch spells a transition of a batch, all but the jobs that are made
// or deleted with it, as the operations of one transaction.
func decideBatch(t Transition, s batchSnap, message string, d Dialect, now time.Time) ([]znode.Op, BatchStatus, error) {
	path := BatchPath(s.id)
	status := s.status
	status.State, status.LastModified, status.Message = BatchState(t.To), now, message
	ops := lockOps(t.Who, path)
	if t.Nodes == NodesGo {
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
	switch {
	case t.To == held, t.To == pending: // B2, B4
		ops = append(ops, deleteAll(s.states)...)
	case t.To == processing: // B3
		ops = append(ops, deleteAll(s.states)...)
		ops = append(ops, znode.Create(BatchStatesPath(s.id), empty), znode.Create(BatchFolderPath(s.id, FolderProcessing), empty))
	case t.Who == Event: // B5
		if jobs, ok := s.folders[FolderProcessing]; !ok {
			// The client library makes the folder with a batch's first job: it is
			// not done, it has not begun.
			return nil, status, &NodeError{BatchFolderPath(s.id, FolderProcessing), ErrNotFound}
		} else if len(jobs) > 0 {
			return nil, status, ErrStillProcessing
		}
		ops = append(ops, s.stillEmpty(FolderProcessing)...)
	case t.From == reporting || t.From == updateReporting:
		reported, err := decideReport(t, s, d, now)
		if err != nil {
			return nil, status, err
		}
		ops = append(ops, reported...)
	}
	return ops, status, nil
}

// stillEmpty proves in the transaction that a folder has no entries: deleting
// it fails if it has some, and making it fails if it has come into being.
func (s batchSnap) stillEmpty(f BatchFolder) []znode.Op {
	path := BatchFolderPath(s.id, f)
	if _, ok := s.folders[f]; ok {
		return []znode.Op{znode.Delete(path, -1), znode.Create(path, empty)}
	}
	return []znode.Op{znode.Create(path, empty), znode.Delete(path, -1)}
}

// outcome is where a report leads: completed when every job is, failed when at
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

// decideReport writes the status-report, and proves that what it says is so.
func decideReport(t Transition, s batchSnap, d Dialect, now time.Time) ([]znode.Op, error) {
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
