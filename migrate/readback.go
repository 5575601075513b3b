package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// readBack recovers the record from its job: it reads the job's znodes in the target and
// derives the record's key, header and every property from them, by rules of its own. If
// the mapping is wrong, it is wrong in the same way when it migrates and when it verifies.
// readBack still finds what was lost.
func (p *piece) readBack(j job) {
	root := newqueue.JobPath(j.id)
	if isAccess(j.rec.Queue) {
		root = newqueue.AccessRequestPath(accessQueue(j.rec.Queue), j.id)
	}
	lost := func(what string, got, want any) {
		p.differ(NotLossless, root, fmt.Sprintf("%s of %s reads back as %q, wanted %q", what, j.rec.Path, fmt.Sprint(got), fmt.Sprint(want)))
	}
	l := j.rec.Legacy
	prov := p.provenances[root]
	if prov == nil {
		return // already missing or changed
	}
	if name := znode.Name(prov.Path); name != l.Key.String() {
		lost("the key", name, l.Key)
	}
	if prov.Status != l.Header.Status.String() {
		lost("the status", prov.Status, l.Header.Status)
	}
	if want := newqueue.Design.FormatTime(l.Header.Time); prov.Time != want || prov.TimeUnit != string(l.Header.Unit) {
		lost("the time", prov.Time+" "+prov.TimeUnit, want+" "+string(l.Header.Unit))
	}
	if prov.HighPriority != l.Key.HighPriority || prov.Worker != l.Key.Worker || prov.Sequence != l.Key.Sequence {
		lost("the key's parts", prov, l.Key)
	}
	var got legacy.Payload
	if isAccess(j.rec.Queue) {
		got = decodeObject(p.data(root + "/token"))
	} else {
		if n := string(p.data(root + "/priority")); n != fmt.Sprint(l.Key.Priority) {
			lost("the priority", n, l.Key.Priority)
		}
		got = recoverProperties(decodeObject(p.data(root + "/configuration")))
	}
	if got == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(l.Payload)) {
		g, w := legacy.AppendJSON(nil, got[name]), legacy.AppendJSON(nil, l.Payload[name])
		if _, there := got[name]; !there || !bytes.Equal(g, w) {
			lost(fmt.Sprintf("property %q", name), string(g), string(w))
		}
	}
	for name := range got {
		if _, there := l.Payload[name]; !there {
			lost(fmt.Sprintf("property %q", name), "there", "absent")
		}
	}
}

func (p *piece) data(path string) []byte {
	if n := p.tree.Get(path); n != nil {
		return n.Data
	}
	return nil
}

// decodeObject reads a JSON object; nil if it isn't one.
func decodeObject(data []byte) legacy.Payload {
	_, p, err := legacy.DecodePayload(data)
	if err != nil || !json.Valid(data) {
		return nil
	}
	return p
}

// recoverProperties takes the record's properties out of a configuration.
func recoverProperties(configuration legacy.Payload) legacy.Payload {
	if configuration == nil {
		return nil
	}
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
			// Not a property: a default for the services, or a key whose own value has the
			// prefix.
			_, aside := configuration["legacy."+key]
			if !aside && !slices.Contains(added, any(key)) {
				p[strings.TrimPrefix(key, "legacy.")] = value
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
