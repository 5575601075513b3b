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

func (s *BatchStatus) fields(d Dialect) []field {
	return []field{state(d, "status", batchNames, &s.State), d.message(&s.Message), d.date("last_modified", &s.LastModified)}
}

// Object returns the status as JSON.
func (s BatchStatus) Object(d Dialect) Object { return writeFields(s.fields(d), s.Other) }

// BatchStatus reads the object as a batch's status: see [ParseBatchStatus].
func (o Object) BatchStatus(d Dialect) (s BatchStatus, err error) {
	s.Other, err = o.readFields(s.fields(d))
	return s, err
}

// ParseBatchStatus parses the data of /batches/BID/status. It is as tolerant as
// [ParseJobStatus].
func ParseBatchStatus(d Dialect, data []byte) (s BatchStatus, err error) {
	s.Other, err = readFields(data, s.fields(d))
	return s, err
}

// JobStatus is the content of /jobs/JID/status.
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

func (s *JobStatus) fields(d Dialect) []field {
	return []field{
		state(d, "status", jobNames, &s.State),
		lastState(d, "last_successful_status", jobNames, &s.LastSuccessful),
		count("retry_count", &s.RetryCount),
		d.message(&s.Message),
		d.date(d.JobTimeKey(), &s.LastModified),
	}
}

// Object returns the status as JSON.
func (s JobStatus) Object(d Dialect) Object { return writeFields(s.fields(d), s.Other) }

// JobStatus reads the object as a job's status: see [ParseJobStatus].
func (o Object) JobStatus(d Dialect) (s JobStatus, err error) {
	s.Other, err = o.readFields(s.fields(d))
	return s, err
}

// ParseJobStatus parses the data of /jobs/JID/status. It keeps a state that the
// dialect doesn't have (see [JobState.Known]), and keys that the layout doesn't
// have (in Other). A time that can't be parsed becomes the zero time.
func ParseJobStatus(d Dialect, data []byte) (s JobStatus, err error) {
	s.Other, err = readFields(data, s.fields(d))
	return s, err
}

// AccessStatus is the content of /access/QUEUE/QID/status.
type AccessStatus struct {
	State        AccessState
	LastModified time.Time
	Message      string
	Other        Object // as in [BatchStatus]
}

func (s *AccessStatus) fields(d Dialect) []field {
	return []field{state(d, "status", accessNames, &s.State), d.message(&s.Message), d.date("last_modified", &s.LastModified)}
}

// Object returns the status as JSON.
func (s AccessStatus) Object(d Dialect) Object { return writeFields(s.fields(d), s.Other) }

// AccessStatus reads the object as an access request's status: see [ParseAccessStatus].
func (o Object) AccessStatus(d Dialect) (s AccessStatus, err error) {
	s.Other, err = o.readFields(s.fields(d))
	return s, err
}

// ParseAccessStatus parses the data of /access/QUEUE/QID/status. It is as
// tolerant as [ParseJobStatus].
func ParseAccessStatus(d Dialect, data []byte) (s AccessStatus, err error) {
	s.Other, err = readFields(data, s.fields(d))
	return s, err
}
