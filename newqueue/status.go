package newqueue

import "time"

// BatchStatus is the content of /batches/BID/status.
type BatchStatus struct {
	State        BatchState
	LastModified time.Time
	Message      string
	// Other holds the keys that the layout doesn't have. A transition keeps them.
	Other Object
}

func (s *BatchStatus) fields(d Dialect) ([]field, *Object) {
	return []field{state(d, "status", batchNames, &s.State), d.message(&s.Message), d.date("last_modified", &s.LastModified)}, &s.Other
}

// JobStatus is the content of /jobs/JID/status. Parse keeps a state that the dialect doesn't have: see [JobState.Known].
type JobStatus struct {
	State JobState
	// LastSuccessful is the step that last succeeded. It is "", in JSON null, if
	// none has succeeded yet.
	LastSuccessful JobState
	LastModified   time.Time
	RetryCount     int
	Message        string
	Other          Object // as in [BatchStatus]
}

func (s *JobStatus) fields(d Dialect) ([]field, *Object) {
	return []field{
		state(d, "status", jobNames, &s.State),
		lastState(d, "last_successful_status", jobNames, &s.LastSuccessful),
		count("retry_count", &s.RetryCount),
		d.message(&s.Message),
		d.date(d.JobTimeKey(), &s.LastModified),
	}, &s.Other
}

// AccessStatus is the content of /access/QUEUE/QID/status.
type AccessStatus struct {
	State        AccessState
	LastModified time.Time
	Message      string
	Other        Object // as in [BatchStatus]
}

func (s *AccessStatus) fields(d Dialect) ([]field, *Object) {
	return []field{state(d, "status", accessNames, &s.State), d.message(&s.Message), d.date("last_modified", &s.LastModified)}, &s.Other
}
