package newqueue

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Configuration is the content of /jobs/JID/configuration. It is written once,
// when the job is created. Parse keeps unknown values of the types and modes.
type Configuration struct {
	BatchID        string // the BID; filled in when the job is created
	ProfileName    string
	Submitter      string
	SubmissionDate time.Time
	PayloadURL     string
	PayloadType    string // File, Manifest or Container, or the legacy spelling
	ResponseType   string // XML, JSON or turtle
	LocalID        string
	SubmissionMode string // Add, Update or Reset
	// Other holds every other key, as it is.
	Other Object
}

func (c *Configuration) fields(d Dialect) ([]field, *Object) {
	return []field{
		text("batch_id", &c.BatchID),
		text("profile_name", &c.ProfileName),
		text("submitter", &c.Submitter),
		d.date("submissionDate", &c.SubmissionDate),
		text("payload_url", &c.PayloadURL),
		text("payload_type", &c.PayloadType),
		text("response_type", &c.ResponseType),
		text("local_id", &c.LocalID),
		text("submission_mode", &c.SubmissionMode),
	}, &c.Other
}

// Submission is the content of /batches/BID/submission, without keys that the layout doesn't
// have: client.Batch.Submitted has all keys.
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

func (s *Submission) fields(d Dialect) ([]field, *Object) {
	return []field{
		text("profile_name", &s.ProfileName),
		text("submitter", &s.Submitter),
		text("payload_filename", &s.PayloadFilename),
		d.date("submissionDate", &s.SubmissionDate),
		text("erc_what", &s.ErcWhat),
		text("erc_who", &s.ErcWho),
		text("erc_when", &s.ErcWhen),
		text("erc_where", &s.ErcWhere),
		text("type", &s.Type),
		text("submission_mode", &s.SubmissionMode),
		text("batchID", &s.BatchID),
	}, nil
}

// StatusReport is the content of /batches/BID/status-report, which a batch has only if
// its dialect keeps reports ([Dialect.KeepsReports]): the ids of the jobs
// in the last report to the depositor.
type StatusReport struct {
	LastModified           time.Time
	FailedJobs, Successful []string
}

func (r *StatusReport) fields(d Dialect) ([]field, *Object) {
	return []field{d.date("last_modified", &r.LastModified), texts("failed_jobs", &r.FailedJobs), texts("successful_jobs", &r.Successful)}, nil
}

// Identifiers is the content of /jobs/JID/identifiers.
type Identifiers struct {
	PrimaryID string
	LocalIDs  []string
}

func (i *Identifiers) fields(Dialect) ([]field, *Object) {
	return []field{text("primary_id", &i.PrimaryID), texts("local_id", &i.LocalIDs)}, nil
}

// Metadata is the content of /jobs/JID/metadata.
type Metadata struct{ ErcWhat, ErcWho, ErcWhen, ErcWhere string }

func (m *Metadata) fields(Dialect) ([]field, *Object) {
	return []field{text("erc_what", &m.ErcWhat), text("erc_who", &m.ErcWho), text("erc_when", &m.ErcWhen), text("erc_where", &m.ErcWhere)}, nil
}

// Inventory is the content of /jobs/JID/inventory: what the inventory service has
// to record.
type Inventory struct{ ManifestURL, Mode string }

func (i *Inventory) fields(Dialect) ([]field, *Object) {
	return []field{text("manifest_url", &i.ManifestURL), text("mode", &i.Mode)}, nil
}

// Store is the content of /jobs/JID/store, in dialect mrt-zk only: what the
// storage service has to store.
type Store struct{ ManifestURL, Mode, Delete string }

func (s *Store) fields(Dialect) ([]field, *Object) {
	return []field{text("manifest_url", &s.ManifestURL), text("mode", &s.Mode), text("delete", &s.Delete)}, nil
}

// Token is what /access/QUEUE/QID/token holds. The storage service writes numbers, and a migration keeps its JSON
// unchanged. So Parse accepts numbers, and strings that hold one. A status is written as a number if it looks like one.
type Token struct {
	Token                       string
	DeliveryNode                int64
	CloudContentBytes           int64
	Status                      string
	URL                         string
	AnticipatedAvailabilityTime string
	// Other holds every other key, as it is.
	Other Object
}

func (t *Token) fields(Dialect) ([]field, *Object) {
	return []field{
		text("token", &t.Token),
		number("delivery-node", &t.DeliveryNode),
		number("cloud-content-byte", &t.CloudContentBytes),
		httpStatus("status", &t.Status),
		text("url", &t.URL),
		scalar("anticipated-availability-time", &t.AnticipatedAvailabilityTime),
	}, &t.Other
}

// The values that the class diagrams allow (docs/new-layout.md, "Enumerations"), and
// the legacy queue's words for types, which migrated jobs keep. Upper and lower case
// are the same, and so are _ and -.
var (
	payloadTypes    = []string{"File", "Manifest", "Container", "object-manifest", "single-file-batch-manifest", "container-batch-manifest", "batch-manifest"}
	manifestTypes   = []string{"SingleFile", "ObjectManifest", "ManifestOfContainers", "ManifestOfManifests"}
	responseTypes   = []string{"XML", "JSON", "turtle"}
	submissionModes = []string{"Add", "Update", "Reset"}
)

// ErrValue says that the layout does not allow a value.
var ErrValue = errors.New("not a value that the layout allows")

// allowed returns an error that wraps [ErrValue] if a value is none of values. It may
// be empty.
func allowed(what, value string, values []string) error {
	same := func(v string) bool { return strings.EqualFold(v, strings.ReplaceAll(value, "_", "-")) }
	if value == "" || slices.ContainsFunc(values, same) {
		return nil
	}
	return fmt.Errorf("%s %.60q: %w: expected one of %v", what, value, ErrValue, values)
}

// Validate returns an error that wraps [ErrValue] if the layout does not allow a value.
func (c Configuration) Validate() error {
	return cmp.Or(allowed("payload type", c.PayloadType, payloadTypes), allowed("response type", c.ResponseType, responseTypes),
		allowed("submission mode", c.SubmissionMode, submissionModes))
}

// Validate returns an error that wraps [ErrValue] if the layout does not allow a value.
func (s Submission) Validate() error {
	if s == (Submission{}) {
		return fmt.Errorf("the submission is empty: %w: set at least one field (the deployed services need ProfileName, Submitter and BatchID)", ErrValue)
	}
	return cmp.Or(allowed("submission mode", s.SubmissionMode, submissionModes), allowed("type", s.Type, slices.Concat(manifestTypes, payloadTypes)))
}
