package merritt

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"mrtq/internal/layout"
	"mrtq/newqueue"
)

//go:embed merritt.yaml
var merrittText []byte

// plain are the maps of the layout by dialect, without what only the deployed services demand.
var plain = map[newqueue.Dialect]func() *layout.Map{
	newqueue.Design: sync.OnceValue(func() *layout.Map { return load(newqueue.Design) }),
	newqueue.MrtZK:  sync.OnceValue(func() *layout.Map { return load(newqueue.MrtZK) }),
}

func load(d newqueue.Dialect) *layout.Map {
	m, err := layout.Load("merritt.yaml", merrittText, string(d), codecsOf(d)...)
	if err != nil {
		panic(err) // it is embedded
	}
	m.AddGoRules(newPlaces(d))
	return m
}

// The kinds of findings of the layout's own codecs.
const (
	badValue = "bad-value"
	badState = "bad-state"
	badTime  = "bad-time"
)

// codecsOf read what the znodes of the layout hold, as the client library does.
func codecsOf(d newqueue.Dialect) []*layout.Codec {
	jsonKinds := []string{layout.NotJSON, badValue}
	codec := func(name, says string, kinds []string, read func(r *layout.CodecInput) any) *layout.Codec {
		if slices.Contains(kinds, layout.NotJSON) {
			read = strictly(read)
		}
		return &layout.Codec{Name: name, Says: says, Kinds: kinds, Read: func(r *layout.CodecInput) (any, bool) {
			v := read(r)
			return v, v != nil
		}}
	}
	statusKinds := append(slices.Clone(jsonKinds), badState, badTime)
	return []*layout.Codec{
		{Name: "bid", Says: "a BID, which the rules below check", Read: func(*layout.CodecInput) (any, bool) { return nil, false }},
		codec("submission", "a JSON object whose known keys are strings", jsonKinds, object(d, document[newqueue.Submission](d))),
		codec("batch-status", "a JSON object with a batch's state and a time", statusKinds, batchStatus(d)),
		codec("status-report", "a JSON object with lists of jobs", jsonKinds, document[newqueue.StatusReport](d)),
		codec("object", "a JSON object", []string{layout.NotJSON}, object(d, content(newqueue.ParseObject))),
		codec("access-status", "a JSON object with an access request's state and a time", statusKinds, accessStatus(d)),
		codec("configuration", "a JSON object; the keys that the client library reads are strings", jsonKinds, object(d, content(parseConfiguration))),
		codec("job-status", "a JSON object with a job's state, its last successful one, a number of retries and a time", statusKinds, jobStatus(d)),
		codec("priority", "a decimal number from 0 to 99", []string{badValue}, content(priority)),
		codec("space-needed", spaceNeeded[d], []string{badValue}, content(func(data []byte) (int64, error) { return newqueue.ParseSpaceNeeded(d, data) })),
		codec("identifiers", "a JSON object with a string primary_id and a list local_id", jsonKinds, object(d, document[newqueue.Identifiers](d))),
		codec("metadata", "a JSON object of strings", jsonKinds, object(d, document[newqueue.Metadata](d))),
		codec("inventory", "a JSON object with strings manifest_url and mode", jsonKinds, object(d, document[newqueue.Inventory](d))),
		codec("store", "a JSON object with strings manifest_url, mode and delete", jsonKinds, object(d, document[newqueue.Store](d))),
	}
}

var spaceNeeded = map[newqueue.Dialect]string{newqueue.Design: "a decimal number", newqueue.MrtZK: "a decimal number, or -1 if Estimate did not find the size"}

// priority parses a priority, and says how one of three digits comes about.
func priority(data []byte) (int, error) {
	n, err := newqueue.ParsePriority(data)
	if errors.Is(err, newqueue.ErrPriority) {
		err = fmt.Errorf("%w: Estimate adds 10 if it does not find the size of a job", err)
	}
	return n, err
}

func content[T any](parse func([]byte) (T, error)) func(*layout.CodecInput) any {
	return func(r *layout.CodecInput) any {
		v, err := parse(r.Data)
		if err != nil {
			contentFault(r, err)
			return nil
		}
		return v
	}
}

func document[T any, D newqueue.Document[T]](d newqueue.Dialect) func(*layout.CodecInput) any {
	return content(func(data []byte) (T, error) { return newqueue.Parse[T, D](d, data) })
}

func contentFault(r *layout.CodecInput, err error) {
	kind := badValue
	if _, bad := newqueue.ParseObject(r.Data); bad != nil && slices.Contains(r.Node.Codec.Kinds, layout.NotJSON) {
		kind = layout.NotJSON
	}
	r.Fault(kind, r.Node.Codec.Says, err.Error())
}

func object(d newqueue.Dialect, read func(*layout.CodecInput) any) func(*layout.CodecInput) any {
	return func(r *layout.CodecInput) any {
		if d.IsEmptyObject(r.Data) {
			return nil
		}
		return read(r)
	}
}

// parseConfiguration parses a configuration, and checks the keys for which the
// client library accepts only strings.
func parseConfiguration(data []byte) (newqueue.Object, error) {
	o, err := newqueue.ParseObject(data)
	for _, k := range []string{"profile_name", "submitter", "payload_url", "payload_type", "response_type"} {
		if err == nil {
			_, err = o.String(k)
		}
	}
	return o, err
}

// statusCodec checks a status: of checks its state, and the time under key must
// be readable. It returns the object.
func statusCodec(d newqueue.Dialect, key string, of func(o newqueue.Object, r *layout.CodecInput) error) func(*layout.CodecInput) any {
	return func(r *layout.CodecInput) any {
		o, err := newqueue.ParseObject(r.Data)
		if err == nil {
			err = of(o, r)
		}
		if err != nil {
			contentFault(r, err)
			return nil
		}
		text, err := o.String(key)
		if err == nil {
			_, err = d.ParseTime(text)
		}
		if err != nil { // reading tolerates it
			r.Fault(badTime, "a time as "+d.FormatTime(time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)), fmt.Sprintf("%s: %v", key, err))
		}
		return o
	}
}

func jobStatus(d newqueue.Dialect) func(*layout.CodecInput) any {
	return statusCodec(d, d.JobTimeKey(), func(o newqueue.Object, r *layout.CodecInput) error {
		s, err := newqueue.FromObject[newqueue.JobStatus](d, o)
		if err != nil {
			return err
		}
		known := func(s newqueue.JobState) bool { return slices.Contains(d.JobStates(), s) }
		checkState(r, "status", "a job's", string(s.State), known(s.State))
		checkState(r, "last_successful_status", "a job's", string(s.LastSuccessful), s.LastSuccessful == "" || known(s.LastSuccessful))
		if o["retry_count"] == nil {
			r.Fault(badValue, r.Node.Codec.Says, "retry_count is missing")
		}
		return nil
	})
}

func batchStatus(d newqueue.Dialect) func(*layout.CodecInput) any {
	return statusCodec(d, "last_modified", func(o newqueue.Object, r *layout.CodecInput) error {
		s, err := newqueue.FromObject[newqueue.BatchStatus](d, o)
		checkState(r, "status", "a batch's", string(s.State), err != nil || s.State.Known())
		return err
	})
}

func accessStatus(d newqueue.Dialect) func(*layout.CodecInput) any {
	return statusCodec(d, "last_modified", func(o newqueue.Object, r *layout.CodecInput) error {
		s, err := newqueue.FromObject[newqueue.AccessStatus](d, o)
		checkState(r, "status", "an access request's", string(s.State), err != nil || s.State.Known())
		return err
	})
}

func checkState(r *layout.CodecInput, key, whose, state string, known bool) {
	if !known {
		r.Fault(badState, whose+" state in dialect "+r.Map.Dialect, key+" "+state)
	}
}

// strictly refuses bytes that are not UTF-8, before read reads them: the admin tool does, and encoding/json takes them.
func strictly(read func(*layout.CodecInput) any) func(*layout.CodecInput) any {
	return func(r *layout.CodecInput) any {
		if !utf8.Valid(r.Data) {
			r.Fault(layout.NotJSON, r.Node.Codec.Says, fmt.Sprintf("bytes that are not UTF-8: %.60q", r.Data))
			return nil
		}
		return read(r)
	}
}
