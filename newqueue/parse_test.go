package newqueue

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

// What the client library writes is read, and written again unchanged. The
// samples are from its test cases and from its code (QueueItem.statusObject,
// Job.statusObject), typed in by hand.
func TestClientLibrarysStatus(t *testing.T) {
	for _, c := range []struct {
		data string
		want JobStatus
	}{
		{`{"status":"Pending","last_modified":"2024-03-01 12:00:00 -0800","last_successful_status":null,"message":"","retry_count":0}`,
			JobStatus{State: JobPending}},
		{`{"status":"UpdateReporting","last_modified":"2024-03-01 12:00:00 -0800","message":"","retry_count":0,"last_successful_status":null}`,
			JobStatus{State: "UpdateReporting"}}, // no job's state: kept
		{`{"last_successful_status":"Storing","status":"Failed","retry_count":2,"message":"no room","last_modified":"2024-03-01 12:00:00 -0800"}`,
			JobStatus{State: JobFailed, LastSuccessful: JobStoring, RetryCount: 2, Message: "no room"}},
		{`{"status":"Pending","retry_count":0}`, JobStatus{State: JobPending}}, // of an early version
	} {
		got, err := Parse[JobStatus](MrtZK, []byte(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.data, err)
			continue
		}
		if got.State != c.want.State || got.LastSuccessful != c.want.LastSuccessful || got.RetryCount != c.want.RetryCount || got.Message != c.want.Message {
			t.Errorf("%s: %+v", c.data, got)
		}
		if !got.LastModified.IsZero() && !got.LastModified.Equal(time.Date(2024, 3, 1, 20, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %v", c.data, got.LastModified)
		}
	}
	b, err := Parse[BatchStatus](MrtZK, []byte(`{"status":"UpdateReporting","last_modified":"2024-03-01 12:00:00 -0800","message":""}`))
	if err != nil || b.State != BatchUpdateReporting {
		t.Errorf("%+v %v", b, err)
	}
}

// FuzzJobStatus: what is accepted reads the same after it was written, and
// unknown names and keys stay unchanged.
func FuzzJobStatus(f *testing.F) {
	for _, s := range []string{
		`{"status":"pending","last_successful_status":null,"last_modification_date":"2024-03-01T12:00:00Z","retry_count":0}`,
		`{"status":"Pending","last_successful_status":"Storing","last_modified":"2024-03-01 12:00:00 -0800","retry_count":3,"message":"x","more":[1e999]}`,
		`{"status":"\"pending\""}`, `{"status":"paused","retry_count":1}`, `{}`, `[]`, `null`, `{"status":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range Dialects {
			s, err := Parse[JobStatus](d, data)
			if err != nil {
				continue
			}
			once, err := ToObject(d, s).Marshal()
			if err != nil {
				t.Fatalf("%s: read and not written: %v", data, err)
			}
			again, err := Parse[JobStatus](d, once)
			if err != nil {
				t.Fatalf("%s became %s: %v", data, once, err)
			}
			twice, err := ToObject(d, again).Marshal()
			if err != nil || !bytes.Equal(once, twice) {
				t.Fatalf("%s became %s, then %s (%v)", data, once, twice, err)
			}
			before, _ := ParseObject(data)
			after, _ := ParseObject(once)
			if before["status"] != after["status"] {
				t.Fatalf("%s: the state's name became %v", data, after["status"])
			}
		}
	})
}

func TestValues(t *testing.T) {
	for _, c := range []Configuration{{PayloadType: "file"}, {PayloadType: "Container"}, {PayloadType: "object_manifest"}, {PayloadType: "single-file-batch-manifest"},
		{ResponseType: "xml"}, {SubmissionMode: "add"}, {}} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"file", "SingleFile", "batch-manifest", "ManifestOfContainers", ""} {
		if err := (Submission{ProfileName: "p", Type: s}).Validate(); err != nil {
			t.Error(err)
		}
	}
	err := Configuration{SubmissionMode: "replace"}.Validate()
	if want := `submission mode "replace": not a value that the layout allows: expected one of [Add Update Reset]`; err == nil || err.Error() != want {
		t.Error(err)
	}
	if tok, err := Parse[Token](MrtZK, []byte(`{"token":"t","delivery-node":"7","cloud-content-byte":12,"status":200,"extra":1}`)); err != nil || tok.DeliveryNode != 7 || tok.CloudContentBytes != 12 || tok.Status != "200" || tok.Other["extra"] == nil {
		t.Errorf("%+v %v", tok, err)
	}
}

// TestBatchIDs: the name of a batch in batch-uuids is its batchID, unchanged, as in the client library. The library
// can't have a batch with a batchID that no znode can have: here it has another name.
func TestBatchIDs(t *testing.T) {
	for id, name := range map[string]string{
		"a batch of May": "a batch of May", "Überführung 漢字": "Überführung 漢字", "100%": "100%", "a%2Fb": "a%2Fb", "...": "...", "bid:1;x&y": "bid:1;x&y", "states": "states",
		"a/b": "a%2Fb", "/": "%2F", ".": "%2E", "..": "%2E%2E", "bell \a": "bell %07", "nul \x00": "nul %00", "tab\tand\nline": "tab%09and%0Aline",
		"a/": "a%2F", "clef \U0001d11e": "clef %F0%9D%84%9E", "private \ue000": "private %EE%80%80", "cut \xed\xa0\xbd": "cut %ED%A0%BD",
	} {
		if err := CheckBatchID(id); errors.Is(err, ErrValue) != (id != name) {
			t.Errorf("%q: %v", id, err)
		}
		if got := BatchUUIDPath(id); got != "/batch-uuids/"+name {
			t.Errorf("%q is at %s", id, got)
		}
	}
}
