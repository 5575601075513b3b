package newqueue

import "slices"

// JobState is a job's state, as the documents write it (dialect design).
type JobState string

// The states of a job, in the order of its life.
const (
	JobPending      JobState = "pending"
	JobHeld         JobState = "held"
	JobEstimating   JobState = "estimating"
	JobProvisioning JobState = "provisioning"
	JobDownloading  JobState = "downloading"
	JobProcessing   JobState = "processing"
	JobStoring      JobState = "storing" // dialect mrt-zk only
	JobRecording    JobState = "recording"
	JobNotify       JobState = "notify"
	JobFailed       JobState = "failed"
	JobCompleted    JobState = "completed"
	JobDeleted      JobState = "deleted"
)

// BatchState is a batch's state, as the documents write it.
type BatchState string

// The states of a batch.
const (
	BatchPending         BatchState = "pending"
	BatchHeld            BatchState = "held"
	BatchProcessing      BatchState = "processing"
	BatchReporting       BatchState = "reporting"
	BatchUpdateReporting BatchState = "update-reporting"
	BatchCompleted       BatchState = "completed"
	BatchFailed          BatchState = "failed"
	BatchDeleted         BatchState = "deleted"
)

// AccessState is an access request's state, as the documents write it.
type AccessState string

// The states of an access request.
const (
	AccessPending    AccessState = "pending"
	AccessProcessing AccessState = "processing"
	AccessCompleted  AccessState = "completed"
	AccessFailed     AccessState = "failed"
	AccessDeleted    AccessState = "deleted"
)

// BatchFolder is the folder under /batches/BID/states that has a job's entry
// (docs/new-layout.md, "Readings": the newer edition's names).
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

// Folder is the folder for a job in this state.
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

// The names of all states, for reading. The states that only one dialect has
// are in it for both: [CheckLayout] reports them in the wrong dialect.
var (
	jobNames = names(JobPending, JobHeld, JobEstimating, JobProvisioning, JobDownloading, JobProcessing,
		JobStoring, JobRecording, JobNotify, JobFailed, JobCompleted, JobDeleted)
	batchNames = names(BatchPending, BatchHeld, BatchProcessing, BatchReporting, BatchUpdateReporting,
		BatchCompleted, BatchFailed, BatchDeleted)
	accessNames = names(AccessPending, AccessProcessing, AccessCompleted, AccessFailed, AccessDeleted)
)

func names[S ~string](states ...S) []string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return out
}

// Known reports whether either dialect has this state.
func (s JobState) Known() bool { return slices.Contains(jobNames, string(s)) }

// Known reports whether this is one of the states.
func (s BatchState) Known() bool { return slices.Contains(batchNames, string(s)) }

// Known reports whether this is one of the states.
func (s AccessState) Known() bool { return slices.Contains(accessNames, string(s)) }
