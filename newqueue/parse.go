package newqueue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// ParseObject parses the JSON object that a znode holds. Numbers stay
// [json.Number], so that unknown values can be written back unchanged.
func ParseObject(data []byte) (Object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var o Object
	if err := dec.Decode(&o); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if o == nil {
		return nil, errors.New("not a JSON object: it is null")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("not a JSON object: more data follows at byte %d", dec.InputOffset())
	}
	return o, nil
}

// Marshal returns the object as the bytes of a znode. Keys are sorted and nothing
// is escaped for HTML, so that the same content is always the same bytes.
//
// legacy.AppendJSON also writes sorted JSON, and the two stay apart on purpose.
// An Object may hold any value that a caller puts into it, and encoding/json
// writes each of them or returns an error. AppendJSON knows only the types of a
// legacy payload and cannot fail. It also keeps the unpaired surrogates of Java,
// which [ParseObject] replaces while it reads. One encoder for both would need a
// switch at each of these points, and would change the bytes of statuses with
// control characters.
func (o Object) Marshal() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any(o)); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// String returns the string under a key, or "" if the key is absent or null. The
// error names the key if the value has another type.
func (o Object) String(key string) (string, error) {
	switch v := o[key].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%s is %s: want a string", key, jsonText(v))
	}
}

// Strings returns the array of strings under a key, or nil if there is none.
func (o Object) Strings(key string) ([]string, error) {
	var array []any
	switch v := o[key].(type) {
	case nil:
		return nil, nil
	case []any:
		array = v
	default:
		return nil, fmt.Errorf("%s is %s: want an array of strings", key, jsonText(v))
	}
	out := make([]string, len(array))
	for i, v := range array {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s[%d] is %s: want a string", key, i, jsonText(v))
		}
		out[i] = s
	}
	return out, nil
}

// Count returns the whole number from 0 to 2^31-1 under a key, or 0 if there is
// none.
func (o Object) Count(key string) (int, error) {
	switch v := o[key].(type) {
	case nil:
		return 0, nil
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 32); err == nil && n >= 0 {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("%s is %s: want a whole number from 0", key, jsonText(o[key]))
}

// jsonText shows a value in a message, shortened if it is long.
func jsonText(v any) string {
	const most = 80
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// ParseNumber parses a decimal number of digits only, as [Number] formats it. It
// refuses a sign, blanks, and numbers beyond 63 bits.
func ParseNumber(data []byte) (int64, error) {
	for _, c := range data {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.40q is not a decimal number", data)
		}
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%.40q is not a decimal number up to %d", data, int64(math.MaxInt64))
	}
	return n, nil
}

// MaxPriority is the largest priority that the two digits of a queue entry hold.
const MaxPriority = 99

// ParsePriority parses the data of /jobs/JID/priority. The error wraps
// [ErrPriority] if the number has more than two digits.
func ParsePriority(data []byte) (int, error) {
	n, err := ParseNumber(data)
	if err != nil {
		return 0, err
	}
	if n > MaxPriority {
		return 0, fmt.Errorf("%d: %w", n, ErrPriority)
	}
	return int(n), nil
}

// ParseTime parses a time as [Dialect.FormatTime] formats it. "" is the zero time.
func (d Dialect) ParseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	layout := time.RFC3339Nano
	if d == MrtZK {
		layout = mrtZKTime
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %.60q: want the format %s", s, layout)
	}
	return t, nil
}

// ParseJobStatus parses the data of /jobs/JID/status. It keeps a state that the
// dialect doesn't have (see [JobState.Known]), and keys that the layout doesn't
// have (in Other). A time that can't be parsed becomes the zero time.
func ParseJobStatus(d Dialect, data []byte) (JobStatus, error) {
	o, err := ParseObject(data)
	if err != nil {
		return JobStatus{}, err
	}
	return o.JobStatus(d)
}

// JobStatus reads the object as a job's status: see [ParseJobStatus].
func (o Object) JobStatus(d Dialect) (JobStatus, error) {
	p := fields{o: o}
	s := JobStatus{
		State:          JobState(d.parseState(p.required("status"), jobNames)),
		LastSuccessful: JobState(d.parseState(p.text("last_successful_status"), jobNames)),
		RetryCount:     p.count("retry_count"),
		Message:        p.text("message"),
		LastModified:   p.time(d, d.jobTimeField()),
	}
	s.Other = p.rest("status", "last_successful_status", "retry_count", "message", d.jobTimeField())
	return s, p.err
}

// ParseBatchStatus parses the data of /batches/BID/status. It is as tolerant as
// [ParseJobStatus].
func ParseBatchStatus(d Dialect, data []byte) (BatchStatus, error) {
	o, err := ParseObject(data)
	if err != nil {
		return BatchStatus{}, err
	}
	return o.BatchStatus(d)
}

// BatchStatus reads the object as a batch's status: see [ParseBatchStatus].
func (o Object) BatchStatus(d Dialect) (BatchStatus, error) {
	p := fields{o: o}
	s := BatchStatus{
		State:        BatchState(d.parseState(p.required("status"), batchNames)),
		Message:      p.text("message"),
		LastModified: p.time(d, "last_modified"),
	}
	s.Other = p.rest("status", "message", "last_modified")
	return s, p.err
}

// ParseAccessStatus parses the data of /access/QUEUE/QID/status. It is as
// tolerant as [ParseJobStatus].
func ParseAccessStatus(d Dialect, data []byte) (AccessStatus, error) {
	o, err := ParseObject(data)
	if err != nil {
		return AccessStatus{}, err
	}
	return o.AccessStatus(d)
}

// AccessStatus reads the object as an access request's status: see [ParseAccessStatus].
func (o Object) AccessStatus(d Dialect) (AccessStatus, error) {
	p := fields{o: o}
	s := AccessStatus{
		State:        AccessState(d.parseState(p.required("status"), accessNames)),
		Message:      p.text("message"),
		LastModified: p.time(d, "last_modified"),
	}
	s.Other = p.rest("status", "message", "last_modified")
	return s, p.err
}

// ParseStatusReport parses the data of /batches/BID/status-report.
func ParseStatusReport(d Dialect, data []byte) (StatusReport, error) {
	o, err := ParseObject(data)
	if err != nil {
		return StatusReport{}, err
	}
	p := fields{o: o}
	r := StatusReport{
		LastModified: p.time(d, "last_modified"),
		FailedJobs:   p.texts("failed_jobs"),
		Successful:   p.texts("successful_jobs"),
	}
	return r, p.err
}

// ParseIdentifiers parses the data of /jobs/JID/identifiers.
func ParseIdentifiers(data []byte) (Identifiers, error) {
	o, err := ParseObject(data)
	if err != nil {
		return Identifiers{}, err
	}
	p := fields{o: o}
	i := Identifiers{PrimaryID: p.text("primary_id"), LocalIDs: p.texts("local_id")}
	return i, p.err
}

// ParseMetadata parses the data of /jobs/JID/metadata.
func ParseMetadata(data []byte) (Metadata, error) {
	o, err := ParseObject(data)
	if err != nil {
		return Metadata{}, err
	}
	p := fields{o: o}
	m := Metadata{p.text("erc_what"), p.text("erc_who"), p.text("erc_when"), p.text("erc_where")}
	return m, p.err
}

// ParseInventory parses the data of /jobs/JID/inventory.
func ParseInventory(data []byte) (Inventory, error) {
	o, err := ParseObject(data)
	if err != nil {
		return Inventory{}, err
	}
	p := fields{o: o}
	i := Inventory{p.text("manifest_url"), p.text("mode")}
	return i, p.err
}

// ParseStore parses the data of /jobs/JID/store.
func ParseStore(data []byte) (Store, error) {
	o, err := ParseObject(data)
	if err != nil {
		return Store{}, err
	}
	p := fields{o: o}
	s := Store{p.text("manifest_url"), p.text("mode"), p.text("delete")}
	return s, p.err
}

// ParseSubmission parses the data of /batches/BID/submission. It leaves out keys
// that the layout doesn't have: [Batch.Submitted] has all keys.
func ParseSubmission(d Dialect, data []byte) (Submission, error) {
	o, err := ParseObject(data)
	if err != nil {
		return Submission{}, err
	}
	p := fields{o: o}
	s := Submission{
		ProfileName:     p.text("profile_name"),
		Submitter:       p.text("submitter"),
		PayloadFilename: p.text("payload_filename"),
		SubmissionDate:  p.time(d, "submissionDate"),
		ErcWhat:         p.text("erc_what"),
		ErcWho:          p.text("erc_who"),
		ErcWhen:         p.text("erc_when"),
		ErcWhere:        p.text("erc_where"),
		Type:            p.text("type"),
		SubmissionMode:  p.text("submission_mode"),
		BatchID:         p.text("batchID"),
	}
	return s, p.err
}

// fields reads an object's values and keeps the first error, as bufio.Scanner
// does.
type fields struct {
	o   Object
	err error
}

func (p *fields) note(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *fields) text(key string) string {
	s, err := p.o.String(key)
	p.note(err)
	return s
}

func (p *fields) required(key string) string {
	s := p.text(key)
	if s == "" {
		p.note(fmt.Errorf("%s is missing", key))
	}
	return s
}

func (p *fields) texts(key string) []string {
	ss, err := p.o.Strings(key)
	p.note(err)
	return ss
}

func (p *fields) count(key string) int {
	n, err := p.o.Count(key)
	p.note(err)
	return n
}

// time is tolerant. No operation depends on a time, so a bad one must not stop
// a job. Package lint reports it.
func (p *fields) time(d Dialect, key string) time.Time {
	t, err := d.ParseTime(p.text(key))
	if err != nil {
		return time.Time{}
	}
	return t
}

// rest returns all keys of the object but the given ones, nil if there are none.
func (p *fields) rest(known ...string) Object {
	var rest Object
next:
	for k, v := range p.o {
		for _, name := range known {
			if k == name {
				continue next
			}
		}
		if rest == nil {
			rest = Object{}
		}
		rest[k] = v
	}
	return rest
}

// scalar returns a string, or a number as it is written.
func (p *fields) scalar(key string) string {
	if n, ok := p.o[key].(json.Number); ok {
		return n.String()
	}
	return p.text(key)
}

// numberOrText is the reverse of scalar: digits become a number.
func numberOrText(s string) any {
	if n, err := ParseNumber([]byte(s)); err == nil && string(Number(n)) == s {
		return json.Number(s)
	}
	return s
}

// number returns a whole number, also if a string holds it, and 0 if there is
// none.
func (p *fields) number(key string) int64 {
	s := p.scalar(key)
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		p.note(fmt.Errorf("%s is %.60q: want a whole number", key, s))
	}
	return n
}
