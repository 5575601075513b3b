package merritt

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"

	"mrtq/internal/layout"
	"mrtq/legacy"
)

//go:embed merritt-legacy.yaml
var legacyText []byte

// The kinds of findings that only this layout has.
const (
	wrappedSequence = "wrapped-sequence"
	inWork          = "in-work"
)

// legacyCodecs returns the codecs for the records and locks of the legacy queue.
func legacyCodecs(opt legacy.Options) []*layout.Codec {
	record := &layout.Codec{
		Name: "legacy-record", Says: "a status byte, eight bytes of time, and a payload", Values: true,
		Kinds: []string{string(legacy.BadKey), string(legacy.TruncatedHeader), string(legacy.UnknownStatus), string(legacy.EmptyPayload), string(legacy.BadPayload), string(legacy.UnsupportedClass), wrappedSequence, inWork},
		Read: func(r *layout.Reading) (any, bool) {
			rec, err := legacy.Decode(r.Path[strings.LastIndexByte(r.Path, '/')+1:], r.Data, opt)
			if err != nil {
				legacyFault(r, err)
				return nil, false
			}
			if rec.Key.Sequence < 0 {
				r.Fault(wrappedSequence, "a number from 0", fmt.Sprintf("%d: the legacy consumer skips it forever", rec.Key.Sequence))
			}
			if rec.Header.Status == legacy.Consumed {
				r.Fault(inWork, "a consumed record only while a consumer is running", "a consumed record: a consumer is working on it, or died while it worked on it")
			}
			return rec.Payload, true
		},
	}
	lock := &layout.Codec{
		Name: "legacy-lock", Says: "eight bytes of time, then data", Kinds: []string{string(legacy.TruncatedHeader), string(legacy.BadPayload)},
		Read: func(r *layout.Reading) (any, bool) {
			if _, err := legacy.DecodeLock(r.Data, opt); err != nil {
				legacyFault(r, err)
			}
			return nil, false
		},
	}
	return []*layout.Codec{record, lock}
}

// legacyFault reports why a record can't be decoded.
func legacyFault(r *layout.Reading, err error) {
	kind := string(legacy.BadPayload)
	var bad *legacy.Error
	if errors.As(err, &bad) {
		kind = string(bad.Kind)
	}
	r.Fault(kind, r.Node.Codec.Says, err.Error())
}

// legacyKinds are the kinds of legacy queues, and the ids of their rows.
var legacyKinds = []struct{ kind, id string }{{"ingest", "ingest"}, {"inventory", "inventory"}, {"accessSmall", "access-small"}, {"accessLarge", "access-large"}}

// legacyMap returns the map of the legacy queue, with the queues where opt has them.
func legacyMap(opt Options) (*layout.Map, error) {
	text := legacyText
	if opt.Queues != nil {
		var err error
		if text, err = legacyAt(opt); err != nil {
			return nil, err
		}
	}
	return layout.Load("merritt-legacy.yaml", text, "", legacyCodecs(opt.Legacy)...)
}

// legacyAt returns the map's text with the queues at other places.
func legacyAt(opt Options) ([]byte, error) {
	var m map[string]any
	if err := yaml.Unmarshal(legacyText, &m); err != nil {
		return nil, err
	}
	var roots []string
	var at []any
	for _, k := range legacyKinds {
		for i, node := range opt.Queues[k.kind] {
			id := k.id
			if i > 0 {
				id += fmt.Sprint("-", i+1)
			}
			roots = append(roots, node)
			at = append(at, map[string]any{"id": id, "path": node, "line": 1, "says": "Records of " + k.kind + "."})
		}
	}
	m["roots"] = append(roots, opt.Locks...)
	m["groups"].([]any)[0].(map[string]any)["at"] = at
	nodes := []any{}
	for i, root := range opt.Locks {
		for _, n := range m["nodes"].([]any) {
			row := maps.Clone(n.(map[string]any))
			row["path"] = root + strings.TrimPrefix(row["path"].(string), "/mrt.lock")
			if i > 0 {
				row["id"] = fmt.Sprint(row["id"], "-", i+1)
			}
			nodes = append(nodes, row)
		}
	}
	m["nodes"] = nodes
	return yaml.Marshal(m)
}

// duplicates finds records that have the same jobID.
func duplicates(report func(layout.Finding, string)) layout.GoRules {
	seen := map[[16]byte]bool{} // digests
	return layout.GoRules{Visit: func(v layout.Visit) {
		p, _ := v.Value.(legacy.Payload)
		id, _ := p.Text("jobID")
		if id == "" {
			return
		}
		sum := sha256.Sum256([]byte(id))
		key := [16]byte(sum[:16])
		if seen[key] {
			report(layout.Finding{Rule: "record/duplicate-job", Path: v.Znode.Path, Expected: "a jobID that no other record has", Found: fmt.Sprintf("jobID %.60q, which an earlier record has too", id)}, "")
		}
		seen[key] = true
	}}
}
