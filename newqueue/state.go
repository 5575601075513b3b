package newqueue

import (
	"slices"
	"time"

	"mrtq/newqueue/states"
)

// JobState is a job's state, as the published design spells it (dialect design).
type JobState string

// The states of a job, in the order of its life.
const (
	JobPending      JobState = states.Pending
	JobHeld         JobState = states.Held
	JobEstimating   JobState = states.Estimating
	JobProvisioning JobState = states.Provisioning
	JobDownloading  JobState = states.Downloading
	JobProcessing   JobState = states.Processing
	JobStoring      JobState = states.Storing // dialect mrt-zk only
	JobRecording    JobState = states.Recording
	JobNotify       JobState = states.Notify
	JobFailed       JobState = states.Failed
	JobCompleted    JobState = states.Completed
	JobDeleted      JobState = states.Deleted
)

// BatchState is a batch's state, as the published design spells it.
type BatchState string

// The states of a batch.
const (
	BatchPending         BatchState = states.Pending
	BatchHeld            BatchState = states.Held
	BatchProcessing      BatchState = states.Processing
	BatchReporting       BatchState = states.Reporting
	BatchUpdateReporting BatchState = states.UpdateReporting
	BatchCompleted       BatchState = states.Completed
	BatchFailed          BatchState = states.Failed
	BatchDeleted         BatchState = states.Deleted
)

// AccessState is an access request's state, as the published design spells it.
type AccessState string

// The states of an access request.
const (
	AccessPending    AccessState = states.Pending
	AccessProcessing AccessState = states.Processing
	AccessCompleted  AccessState = states.Completed
	AccessFailed     AccessState = states.Failed
	AccessDeleted    AccessState = states.Deleted
)

// BatchFolder is the folder under /batches/BID/states that has a job's entry. The
// names are those of the newer edition (docs/new-layout.md, "Readings").
type BatchFolder string

// The folders of a batch's states.
const (
	FolderProcessing BatchFolder = "batch-processing"
	FolderFailed     BatchFolder = "batch-failed"
	FolderCompleted  BatchFolder = "batch-completed"
	FolderDeleted    BatchFolder = "batch-deleted"
)

// BatchFolders are all folders a batch may have.
var BatchFolders = []BatchFolder{FolderProcessing, FolderFailed, FolderCompleted, FolderDeleted}

// Folder returns the folder for a job in this state.
func (s JobState) Folder() BatchFolder {
	switch s {
	case JobFailed:
		return FolderFailed
	case JobCompleted:
		return FolderCompleted
	case JobDeleted:
		return FolderDeleted
	}
	return FolderProcessing
}

// The names of all states of both dialects, for parsing. mrtq check reports a
// state in the wrong dialect.
var (
	jobNames    = states.All(states.Job)
	batchNames  = states.All(states.Batch)
	accessNames = states.All(states.Access)
)

// Known reports whether either dialect has this state.
func (s JobState) Known() bool { return slices.Contains(jobNames, string(s)) }

// Known reports whether this is one of the states.
func (s BatchState) Known() bool { return slices.Contains(batchNames, string(s)) }

// Known reports whether this is one of the states.
func (s AccessState) Known() bool { return slices.Contains(accessNames, string(s)) }

// AwaitsReport reports whether a batch in this state is reported once none of its jobs is unfinished.
func (s BatchState) AwaitsReport() bool {
	return s == BatchProcessing || s == BatchReporting || s == BatchUpdateReporting
}

// ReportedWithin is how long a batch may wait for its report once none of its jobs is unfinished.
const ReportedWithin = 24 * time.Hour

// Success returns the state that a job gets when a worker succeeds in state s. It is
// "" if a worker has nothing to do in that state.
func Success(s JobState, d Dialect) JobState {
	return JobState(states.Transitions(states.Job, string(d)).Success(string(s)))
}
