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
// It looks only below /batches, /batch-uuids, /jobs, /access and /locks.
// /batches/BID, /jobs/JID and /access/QUEUE/QID may hold any data, and so may
// entries, folders and locks: no reader looks at it. Whether a lock is
// ephemeral is checked if the tree has Stats. Nobody may write to the tree
// while it is read, because the client library makes its steps one znode at a
// time.
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
	codec := func(name, says string, kinds []string, read func(r *layout.Reading) any) *layout.Codec {
		return &layout.Codec{Name: name, Says: says, Kinds: kinds, Read: func(r *layout.Reading) (any, bool) {
			v := read(r)
			return v, v != nil
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

// content checks data by one of the parse functions, and returns what it reads.
func content[T any](parse func([]byte) (T, error)) func(*layout.Reading) any {
	return func(r *layout.Reading) any {
		v, err := parse(r.Data)
		if err != nil {
			contentFault(r, err)
			return nil
		}
		return v
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
func object(d Dialect, read func(*layout.Reading) any) func(*layout.Reading) any {
	return func(r *layout.Reading) any {
		if d.noObject(r.Data) {
			return nil
		}
		return read(r)
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

// statusCodec checks a status: what of says, and that its time, under key, can
// be read. It returns the object.
func statusCodec(d Dialect, key string, of func(o Object, r *layout.Reading) error) func(*layout.Reading) any {
	return func(r *layout.Reading) any {
		o, err := ParseObject(r.Data)
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

func jobStatus(d Dialect) func(*layout.Reading) any {
	return statusCodec(d, d.jobTimeField(), func(o Object, r *layout.Reading) error {
		s, err := jobStatusOf(d, o)
		if err != nil {
			return err
		}
		if !slices.Contains(d.JobStates(), s.State) {
			stateFault(r, "status", string(s.State), "a job's state in dialect "+string(d))
		}
		if s.LastSuccessful != "" && !slices.Contains(d.JobStates(), s.LastSuccessful) {
			stateFault(r, "last_successful_status", string(s.LastSuccessful), "a job's state in dialect "+string(d))
		}
		if o["retry_count"] == nil {
			r.Fault(badValue, r.Node.Codec.Says, "retry_count is missing")
		}
		return nil
	})
}

func batchStatus(d Dialect) func(*layout.Reading) any {
	return statusCodec(d, "last_modified", func(o Object, r *layout.Reading) error {
		s, err := batchStatusOf(d, o)
		if err == nil && !s.State.Known() {
			stateFault(r, "status", string(s.State), "a batch's state in dialect "+string(d))
		}
		return err
	})
}

func accessStatus(d Dialect) func(*layout.Reading) any {
	return statusCodec(d, "last_modified", func(o Object, r *layout.Reading) error {
		s, err := accessStatusOf(d, o)
		if err == nil && !s.State.Known() {
			stateFault(r, "status", string(s.State), "an access request's state in dialect "+string(d))
		}
		return err
	})
}

func stateFault(r *layout.Reading, key, state, want string) {
	r.Fault(badState, want, key+" "+state)
}

// ParseJobEntry splits the name of a queue entry, PP-JID.
func ParseJobEntry(name string) (priority int, jid string, err error) {
	pp, jid, found := strings.Cut(name, "-")
	if _, ok := ParseSequenceID(JobPrefix, jid); !found || len(pp) != 2 || !ok {
		return 0, "", fmt.Errorf("%.60q is not a queue entry: want two digits of priority, - and a job's id", name)
	}
	n, err := ParseNumber([]byte(pp))
	if err != nil {
		return 0, "", fmt.Errorf("%.60q is not a queue entry: its priority %w", name, err)
	}
	return int(n), jid, nil
}
