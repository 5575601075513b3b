package newqueue

import (
	"maps"
	"strconv"
	"time"
)

// Object is the JSON object that a znode holds. It is a map and not a struct
// because a configuration keeps all other keys that a depositor sent, and readers
// ignore the keys that they do not know.
type Object map[string]any

// Value returns the value of a key, and whether the object has the key.
func (o Object) Value(key string) (v any, there bool) {
	v, there = o[key]
	return v, there
}

// Submission is the content of /batches/BID/submission.
type Submission struct {
	ProfileName     string
	Submitter       string
	PayloadFilename string
	SubmissionDate  time.Time
	ErcWhat         string
	ErcWho          string
	ErcWhen         string
	ErcWhere        string
	Type            string
	SubmissionMode  string
	BatchID         string // the UUID
}

// Object is the submission as JSON.
func (s Submission) Object(d Dialect) Object {
	return Object{
		"profile_name":     s.ProfileName,
		"submitter":        s.Submitter,
		"payload_filename": s.PayloadFilename,
		"submissionDate":   d.FormatTime(s.SubmissionDate),
		"erc_what":         s.ErcWhat,
		"erc_who":          s.ErcWho,
		"erc_when":         s.ErcWhen,
		"erc_where":        s.ErcWhere,
		"type":             s.Type,
		"submission_mode":  s.SubmissionMode,
		"batchID":          s.BatchID,
	}
}

// BatchStatus is the content of /batches/BID/status.
type BatchStatus struct {
	State        BatchState
	LastModified time.Time
	Message      string
	// Other holds the keys that the layout doesn't have. A transition keeps them.
	Other Object
}

// Object is the status as JSON.
func (s BatchStatus) Object(d Dialect) Object {
	return d.withMessage(s.Other.with(Object{
		"status":        d.stateName(string(s.State), batchNames),
		"last_modified": d.FormatTime(s.LastModified),
	}), s.Message)
}

// StatusReport is the content of /batches/BID/status-report: the ids of the jobs
// in the last report to the depositor.
type StatusReport struct {
	LastModified           time.Time
	FailedJobs, Successful []string
}

// Object is the report as JSON.
func (r StatusReport) Object(d Dialect) Object {
	return Object{
		"last_modified":   d.FormatTime(r.LastModified),
		"failed_jobs":     list(r.FailedJobs),
		"successful_jobs": list(r.Successful),
	}
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

// Object is the status as JSON.
func (s JobStatus) Object(d Dialect) Object {
	var last any
	if s.LastSuccessful != "" {
		last = d.stateName(string(s.LastSuccessful), jobNames)
	}
	return d.withMessage(s.Other.with(Object{
		"status":                 d.stateName(string(s.State), jobNames),
		"last_successful_status": last,
		d.jobTimeField():         d.FormatTime(s.LastModified),
		"retry_count":            s.RetryCount,
	}), s.Message)
}

// AccessStatus is the content of /access/QUEUE/QID/status.
type AccessStatus struct {
	State        AccessState
	LastModified time.Time
	Message      string
	Other        Object // as in [BatchStatus]
}

// Object is the status as JSON.
func (s AccessStatus) Object(d Dialect) Object {
	return d.withMessage(s.Other.with(Object{
		"status":        d.stateName(string(s.State), accessNames),
		"last_modified": d.FormatTime(s.LastModified),
	}), s.Message)
}

// with returns all keys of both objects. more has precedence, and may be the
// result.
func (o Object) with(more Object) Object {
	if len(o) == 0 {
		return more
	}
	all := make(Object, len(o)+len(more))
	maps.Copy(all, o)
	maps.Copy(all, more)
	return all
}

// withMessage adds the message. In dialect design it leaves out an empty one.
func (d Dialect) withMessage(o Object, message string) Object {
	if message != "" || d == MrtZK {
		o["message"] = message
	}
	return o
}

// Identifiers is the content of /jobs/JID/identifiers.
type Identifiers struct {
	PrimaryID string
	LocalIDs  []string
}

// Object is the identifiers as JSON.
func (i Identifiers) Object() Object {
	return Object{"primary_id": i.PrimaryID, "local_id": list(i.LocalIDs)}
}

// Metadata is the content of /jobs/JID/metadata.
type Metadata struct{ ErcWhat, ErcWho, ErcWhen, ErcWhere string }

// Object is the metadata as JSON.
func (m Metadata) Object() Object {
	return Object{"erc_what": m.ErcWhat, "erc_who": m.ErcWho, "erc_when": m.ErcWhen, "erc_where": m.ErcWhere}
}

// Inventory is the content of /jobs/JID/inventory: what the inventory service has
// to record.
type Inventory struct{ ManifestURL, Mode string }

// Object is the content as JSON.
func (i Inventory) Object() Object {
	return Object{"manifest_url": i.ManifestURL, "mode": i.Mode}
}

// Store is the content of /jobs/JID/store, in dialect mrt-zk only: what the
// storage service has to store.
type Store struct{ ManifestURL, Mode, Delete string }

// Object is the content as JSON.
func (s Store) Object() Object {
	return Object{"manifest_url": s.ManifestURL, "mode": s.Mode, "delete": s.Delete}
}

// Number formats a number as priority and space_needed hold it: in decimal.
func Number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// list is a JSON array. An empty one is [] and not null.
func list(ss []string) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}
