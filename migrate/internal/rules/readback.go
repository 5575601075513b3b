package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// ReadBack recovers the record from the znodes of its job or request, and says what is
// lost. It derives the record's key, header and every property from the znodes' data, by
// rules of its own: if the mapping is wrong, it is wrong in the same way when it migrates
// and when it verifies. ReadBack still finds what was lost.
//
// choices are those of the run, which may have given the job another priority than the record's.
// nodes has the data of the znodes by their names below the job's own znode, and that
// znode's data under "".
func ReadBack(r migration.Record, choices migration.Choices, nodes map[string][]byte) (lost []string) {
	report := func(what string, got, want any) {
		lost = append(lost, fmt.Sprintf("%s of %s reads back as %q, expected %q", what, r.Path, fmt.Sprint(got), fmt.Sprint(want)))
	}
	readBackHeader(r.Legacy, nodes, report)
	var got legacy.Payload
	if r.Queue.IsAccess() {
		got = decodeObject(nodes["token"])
	} else {
		if n, want := string(nodes["priority"]), choices.Priority(r); n != fmt.Sprint(want) {
			report("the priority", n, want)
		}
		got = recoverProperties(decodeObject(nodes["configuration"]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Legacy.Payload)) {
		want := r.Legacy.Payload[name]
		value, there := got[name]
		if there && sameText(value, want) {
			continue
		}
		g, w := legacy.AppendJSON(nil, value), legacy.AppendJSON(nil, want)
		if !there || !bytes.Equal(g, w) {
			report(fmt.Sprintf("property %q", name), string(g), string(w))
		}
	}
	for name := range got {
		if _, there := r.Legacy.Payload[name]; !there {
			report(fmt.Sprintf("property %q", name), "there", "absent")
		}
	}
	return lost
}

func readBackHeader(l legacy.Record, nodes map[string][]byte, report func(what string, got, want any)) {
	var p struct {
		Path, Status, Time, Worker string
		TimeUnit                   string `json:"time_unit"`
		HighPriority               bool   `json:"high_priority"`
		Sequence                   int32
	}
	_ = json.Unmarshal(nodes[""], &p) // if it can't be read, nothing of it is as expected
	if name := p.Path[strings.LastIndexByte(p.Path, '/')+1:]; name != l.Key.String() {
		report("the key", name, l.Key)
	}
	if p.Status != l.Header.Status.String() {
		report("the status", p.Status, l.Header.Status)
	}
	if want := newqueue.Design.FormatTime(l.Header.Time); p.Time != want || p.TimeUnit != string(l.Header.Unit) {
		report("the time", p.Time+" "+p.TimeUnit, want+" "+string(l.Header.Unit))
	}
	if p.HighPriority != l.Key.HighPriority || p.Worker != l.Key.Worker || p.Sequence != l.Key.Sequence {
		report("the key's parts", p, l.Key)
	}
}

func sameText(a, b any) bool {
	x, isText := a.(string)
	y, areText := b.(string)
	return isText && areText && x == y
}

func decodeObject(data []byte) legacy.Payload {
	_, p, err := legacy.DecodePayload(data)
	if err != nil || !json.Valid(data) {
		return nil
	}
	return p
}

func recoverProperties(configuration legacy.Payload) legacy.Payload {
	p := legacy.Payload{}
	added, _ := configuration["legacy.absent"].([]any)
	for key, value := range configuration {
		switch key {
		case "batch_id", "submissionDate", "submission_mode", "legacy.absent":
			// added by the migration
		case "profile_name":
			setDefault(p, "profile", value)
		case "payload_url":
			setDefault(p, "filename", value)
		case "payload_type":
			setDefault(p, "type", value)
		case "response_type":
			setDefault(p, "responseForm", value)
		case "local_id":
			setDefault(p, "localID", value)
		default:
			own := strings.TrimPrefix(key, "legacy.")
			// Not a property: a default for the services, or the services' form of a property
			// that is there under its own name with the prefix.
			_, kept := configuration["legacy."+key]
			if own != key || !kept && !slices.Contains(added, any(key)) {
				p[own] = value
			}
		}
	}
	return p
}

// setDefault sets a property, unless the configuration also holds it under its own name.
// There it has its type.
func setDefault(p legacy.Payload, name string, value any) {
	if _, there := p[name]; !there {
		p[name] = value
	}
}
