package newqueue

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/side"
	"mrtq/internal/znode"
)

//go:embed merritt.yaml
var merrittText []byte

var merrittMaps = map[Dialect]func() *layout.Map{}

func init() {
	for _, d := range Dialects {
		merrittMaps[d] = sync.OnceValue(func() *layout.Map {
			m, err := LoadLayout(d)
			if err != nil {
				panic(err) // it is embedded
			}
			return m
		})
	}
}

// LoadLayout is the map of the layout in a dialect, the one statement of its
// rules, for a caller who adds rules to it. It goes with the rules of [Places].
func LoadLayout(d Dialect) (*layout.Map, error) {
	return layout.Load("merritt.yaml", merrittText, string(d), codecsOf(d)...)
}

// LayoutMap is the map of [LoadLayout] that the package itself uses. The caller
// must not change it.
func LayoutMap(d Dialect) *layout.Map { return merrittMaps[d]() }

// Problem is one place where a tree breaks a rule of the layout.
type Problem struct {
	Path    string
	Rule    string // its id in [LayoutMap]
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s (%s)", p.Path, p.Message, p.Rule) }

// CheckLayout holds a tree to the map of the layout and returns every place that
// breaks a rule, in path order; nil when all is well. What the map only warns of
// is left out.
//
// It looks below /batches, /batch-uuids, /jobs, /access and /locks only. The
// data of /batches/BID, /jobs/JID and /access/QUEUE/QID is free, and so is
// that of entries, folders and locks: no reader looks at it. Whether a lock is
// ephemeral is checked where the tree has Stats. The tree must be at rest: a
// tree that was read while the client library wrote to it may show the middle
// of one of its steps.
func CheckLayout(tree *znode.Tree, d Dialect) []Problem {
	report, err := layout.Check(context.Background(), side.Tree(tree), LayoutMap(d), layout.Options{Natives: []layout.NewNative{Places(d)}})
	switch {
	case errors.Is(err, layout.ErrNoMatch):
		return nil
	case err != nil: // a tree in memory can always be read
		return []Problem{{"/", "layout", err.Error()}}
	}
	var problems []Problem
	for _, f := range report.Findings {
		if f.Severity == layout.Error {
			problems = append(problems, Problem{f.Path, f.Rule, f.Found + "; want " + f.Expected})
		}
	}
	return problems
}

// The kinds of findings of the layout's own codecs.
const (
	badValue = "bad-value"
	badState = "bad-state"
	badTime  = "bad-time"
)

// codecsOf read what the znodes of the layout hold, as the client library does.
func codecsOf(d Dialect) []*layout.Codec {
	jsonKinds := []string{layout.NotJSON, badValue}
	codec := func(name, says string, kinds []string, read func(r *layout.Reading)) *layout.Codec {
		return &layout.Codec{Name: name, Says: says, Kinds: kinds, Read: func(r *layout.Reading) (any, bool) {
			read(r)
			return nil, false
		}}
	}
	statusKinds := append(slices.Clone(jsonKinds), badState, badTime)
	return []*layout.Codec{
		codec("submission", "a JSON object; its texts are texts", jsonKinds, object(d, content(func(data []byte) (Submission, error) { return ParseSubmission(d, data) }))),
		codec("batch-status", "a JSON object with a batch's state and a time", statusKinds, batchStatus(d)),
		codec("status-report", "a JSON object with lists of jobs", jsonKinds, content(func(data []byte) (StatusReport, error) { return ParseStatusReport(d, data) })),
		codec("object", "a JSON object", []string{layout.NotJSON}, object(d, content(ParseObject))),
		codec("access-status", "a JSON object with an access request's state and a time", statusKinds, accessStatus(d)),
		codec("configuration", "a JSON object; what the client library reads of it are texts", jsonKinds, object(d, content(parseConfiguration))),
		codec("job-status", "a JSON object with a job's state, its last one, a number of retries and a time", statusKinds, jobStatus(d)),
		codec("priority", "a decimal number from 0 to 99", []string{badValue}, content(ParsePriority)),
		codec("number", "a decimal number", []string{badValue}, content(ParseNumber)),
		codec("identifiers", "a JSON object with a text primary_id and a list local_id", jsonKinds, object(d, content(ParseIdentifiers))),
		codec("metadata", "a JSON object of texts", jsonKinds, object(d, content(ParseMetadata))),
		codec("inventory", "a JSON object with a text manifest_url and a mode", jsonKinds, object(d, content(ParseInventory))),
		codec("store", "a JSON object with texts manifest_url, mode and delete", jsonKinds, object(d, content(ParseStore))),
	}
}

// content checks data by one of the parse functions.
func content[T any](parse func([]byte) (T, error)) func(*layout.Reading) {
	return func(r *layout.Reading) {
		if _, err := parse(r.Data); err != nil {
			contentFault(r, err)
		}
	}
}

func contentFault(r *layout.Reading, err error) {
	kind := badValue
	if _, bad := ParseObject(r.Data); bad != nil && slices.Contains(r.Node.Codec.Kinds, layout.NotJSON) {
		kind = layout.NotJSON
	}
	r.Fault(kind, r.Node.Codec.Says, err.Error())
}

// object spares read what is spelled as no data (see [Dialect.noObject]).
func object(d Dialect, read func(*layout.Reading)) func(*layout.Reading) {
	return func(r *layout.Reading) {
		if !d.noObject(r.Data) {
			read(r)
		}
	}
}

// parseConfiguration: the client library fails on anything but texts under
// these keys.
func parseConfiguration(data []byte) (Object, error) {
	o, err := ParseObject(data)
	p := fields{o: o, err: err}
	for _, k := range []string{"profile_name", "submitter", "payload_url", "payload_type", "response_type"} {
		p.text(k)
	}
	return o, p.err
}

func jobStatus(d Dialect) func(*layout.Reading) {
	return func(r *layout.Reading) {
		s, err := ParseJobStatus(d, r.Data)
		if err != nil {
			contentFault(r, err)
			return
		}
		if !slices.Contains(d.JobStates(), s.State) {
			stateFault(r, "status", string(s.State), "a job's state in dialect "+string(d))
		}
		if s.LastSuccessful != "" && !slices.Contains(d.JobStates(), s.LastSuccessful) {
			stateFault(r, "last_successful_status", string(s.LastSuccessful), "a job's state in dialect "+string(d))
		}
		statusTime(d, r, d.jobTimeField())
		if o, _ := ParseObject(r.Data); o["retry_count"] == nil {
			r.Fault(badValue, r.Node.Codec.Says, "retry_count is missing")
		}
	}
}

func batchStatus(d Dialect) func(*layout.Reading) {
	return func(r *layout.Reading) {
		s, err := ParseBatchStatus(d, r.Data)
		if err != nil {
			contentFault(r, err)
			return
		}
		statusTime(d, r, "last_modified")
		if !s.State.Known() {
			stateFault(r, "status", string(s.State), "a batch's state in dialect "+string(d))
		}
	}
}

func accessStatus(d Dialect) func(*layout.Reading) {
	return func(r *layout.Reading) {
		s, err := ParseAccessStatus(d, r.Data)
		if err != nil {
			contentFault(r, err)
			return
		}
		statusTime(d, r, "last_modified")
		if !s.State.Known() {
			stateFault(r, "status", string(s.State), "an access request's state in dialect "+string(d))
		}
	}
}

func stateFault(r *layout.Reading, key, state, want string) {
	r.Fault(badState, want, key+" "+state)
}

// statusTime checks the time of a status, which reading tolerates.
func statusTime(d Dialect, r *layout.Reading, key string) {
	o, err := ParseObject(r.Data)
	if err != nil {
		return // reported as content
	}
	text, err := o.String(key)
	if err == nil {
		_, err = d.ParseTime(text)
	}
	if err != nil {
		r.Fault(badTime, "a time as "+d.FormatTime(time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)), fmt.Sprintf("%s: %v", key, err))
	}
}

// ParseJobEntry takes the name of a queue entry, PP-JID, apart.
func ParseJobEntry(name string) (priority int, jid string, err error) {
	pp, jid, found := strings.Cut(name, "-")
	if _, ok := ParseSequenceID(JobPrefix, jid); !found || len(pp) != 2 || !ok {
		return 0, "", fmt.Errorf("%.60q is no queue entry: want two digits of priority, - and a job's id", name)
	}
	n, err := ParseNumber([]byte(pp))
	if err != nil {
		return 0, "", fmt.Errorf("%.60q is no queue entry: its priority %w", name, err)
	}
	return int(n), jid, nil
}
