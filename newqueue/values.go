package newqueue

import (
	"fmt"
	"strings"
	"time"
)

// Configuration is the content of /jobs/JID/configuration. It is written once,
// when the job is created.
type Configuration struct {
	BatchID        string // the BID; filled in when the job is created
	ProfileName    string
	Submitter      string
	SubmissionDate time.Time
	PayloadURL     string
	PayloadType    string // a [PayloadType], or the legacy spelling
	ResponseType   string // a [ResponseType]
	LocalID        string
	SubmissionMode string // a [SubmissionMode]
	// Other holds every other key, as it is.
	Other Object
}

// Object is the configuration as JSON.
func (c Configuration) Object(d Dialect) Object {
	return c.Other.with(Object{
		"batch_id":        c.BatchID,
		"profile_name":    c.ProfileName,
		"submitter":       c.Submitter,
		"submissionDate":  d.FormatTime(c.SubmissionDate),
		"payload_url":     c.PayloadURL,
		"payload_type":    c.PayloadType,
		"response_type":   c.ResponseType,
		"local_id":        c.LocalID,
		"submission_mode": c.SubmissionMode,
	})
}

// ParseConfiguration parses the data of /jobs/JID/configuration. It keeps unknown
// values: [ParsePayloadType] and its like return an error for them.
func ParseConfiguration(d Dialect, data []byte) (Configuration, error) {
	o, err := ParseObject(data)
	if err != nil {
		return Configuration{}, err
	}
	p := fields{o: o}
	c := Configuration{
		BatchID:        p.text("batch_id"),
		ProfileName:    p.text("profile_name"),
		Submitter:      p.text("submitter"),
		SubmissionDate: p.time(d, "submissionDate"),
		PayloadURL:     p.text("payload_url"),
		PayloadType:    p.text("payload_type"),
		ResponseType:   p.text("response_type"),
		LocalID:        p.text("local_id"),
		SubmissionMode: p.text("submission_mode"),
	}
	c.Other = p.rest("batch_id", "profile_name", "submitter", "submissionDate", "payload_url",
		"payload_type", "response_type", "local_id", "submission_mode")
	return c, p.err
}

// The class diagrams have these enumerations (docs/new-layout.md, "Enumerations").
// A configuration keeps any string. ParsePayloadType and its like say which value
// a string means.
type (
	// PayloadType is what a job's payload is: one file, a manifest or a container.
	PayloadType string
	// ManifestType is what a batch's manifest lists.
	ManifestType string
	// ResponseType is the format of a response to the depositor.
	ResponseType string
	// SubmissionMode is what a submission does to an object that already exists.
	SubmissionMode string
)

// The values of the enumerations, as the class diagrams write them.
const (
	PayloadFile      PayloadType = "File"
	PayloadManifest  PayloadType = "Manifest"
	PayloadContainer PayloadType = "Container"

	SingleFile           ManifestType = "SingleFile"
	ObjectManifest       ManifestType = "ObjectManifest"
	ManifestOfContainers ManifestType = "ManifestOfContainers"
	ManifestOfManifests  ManifestType = "ManifestOfManifests"

	ResponseXML    ResponseType = "XML"
	ResponseJSON   ResponseType = "JSON"
	ResponseTurtle ResponseType = "turtle"

	ModeAdd    SubmissionMode = "Add"
	ModeUpdate SubmissionMode = "Update"
	ModeReset  SubmissionMode = "Reset"
)

// The legacy queue's words for payload types, which migrated jobs keep.
var (
	payloadTypes = map[string]PayloadType{
		"object-manifest":            PayloadManifest,
		"single-file-batch-manifest": PayloadManifest,
		"container-batch-manifest":   PayloadManifest,
		"batch-manifest":             PayloadManifest,
	}
	manifestTypes = map[string]ManifestType{
		"file":                     SingleFile,
		"object-manifest":          ObjectManifest,
		"container-batch-manifest": ManifestOfContainers,
		"batch-manifest":           ManifestOfManifests,
	}
)

// ParsePayloadType returns the payload type that a string means: its name in upper
// or lower case, or the legacy queue's word for it. The error wraps [ErrValue].
func ParsePayloadType(s string) (PayloadType, error) {
	if t, ok := payloadTypes[strings.ReplaceAll(strings.ToLower(s), "_", "-")]; ok {
		return t, nil
	}
	return parseValue("payload type", s, PayloadFile, PayloadManifest, PayloadContainer)
}

// ParseManifestType returns the manifest type that a string means: its name in
// upper or lower case, or the legacy queue's word for it. The error wraps
// [ErrValue]. A legacy single-file-batch-manifest is an error, because the class
// diagrams don't have it.
func ParseManifestType(s string) (ManifestType, error) {
	if t, ok := manifestTypes[strings.ReplaceAll(strings.ToLower(s), "_", "-")]; ok {
		return t, nil
	}
	return parseValue("manifest type", s, SingleFile, ObjectManifest, ManifestOfContainers, ManifestOfManifests)
}

// ParseResponseType returns the response type that a string names, in upper or
// lower case. The error wraps [ErrValue].
func ParseResponseType(s string) (ResponseType, error) {
	return parseValue("response type", s, ResponseXML, ResponseJSON, ResponseTurtle)
}

// ParseSubmissionMode returns the submission mode that a string names, in upper or
// lower case. The error wraps [ErrValue].
func ParseSubmissionMode(s string) (SubmissionMode, error) {
	return parseValue("submission mode", s, ModeAdd, ModeUpdate, ModeReset)
}

func parseValue[T ~string](what, s string, values ...T) (T, error) {
	for _, v := range values {
		if strings.EqualFold(s, string(v)) {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s %.60q: %w: want one of %v", what, s, ErrValue, values)
}

// validate checks the values before they are written. Any of them may be empty.
func (c Configuration) validate() error {
	if c.PayloadType != "" {
		if _, err := ParsePayloadType(c.PayloadType); err != nil {
			return err
		}
	}
	if c.ResponseType != "" {
		if _, err := ParseResponseType(c.ResponseType); err != nil {
			return err
		}
	}
	if c.SubmissionMode != "" {
		if _, err := ParseSubmissionMode(c.SubmissionMode); err != nil {
			return err
		}
	}
	return nil
}

// validate checks the values before they are written.
func (s Submission) validate() error {
	if s.SubmissionMode != "" {
		if _, err := ParseSubmissionMode(s.SubmissionMode); err != nil {
			return err
		}
	}
	if s.Type != "" {
		if _, err := ParsePayloadType(s.Type); err != nil {
			if _, merr := ParseManifestType(s.Type); merr != nil {
				return merr
			}
		}
	}
	return nil
}
