package migrate

import (
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// field is one row of the mapping: a key of the new znode, the legacy property
// that it comes from, and who reads the key.
type field struct{ key, property, readBy string }

// configurationFields are the properties that a configuration holds under
// another name (04-migration, "Record → znodes"). Every other property is
// there under its own. In dialect mrt-zk so are these: the deployed services
// read the legacy names, see [serviceKeys].
var configurationFields = []field{
	{"profile_name", "profile", "the library's profileName; a trace line of inventory"},
	{"submitter", "submitter", "mail, mrt-ingest.txt; the library's submitter; a trace line of inventory"},
	{"payload_url", "filename", "the library's payloadUrl; a trace line of inventory"},
	{"payload_type", "type", "the library's payloadType; a trace line of inventory"},
	{"response_type", "responseForm", "the library's responseType; a trace line of inventory"},
	{"local_id", "localID", "nobody: the documents have it"},
}

// Keys of a configuration that come from elsewhere.
const (
	keyBatchID        = "batch_id"
	keySubmissionDate = "submissionDate"
	keySubmissionMode = "submission_mode"
)

// aside is put before a property's own name where a configuration has another
// meaning for that name.
const aside = "legacy."

// configuration is the whole record as /jobs/JID/configuration. A property
// whose value isn't a string is there under its own name too, because the
// mapped key holds text and would lose its type.
func configuration(r Record, bid string, d newqueue.Dialect) newqueue.Object {
	p := r.Legacy.Payload
	o := newqueue.Object{
		keyBatchID:        bid,
		keySubmissionDate: d.FormatTime(r.Legacy.Header.Time),
		keySubmissionMode: submissionMode(p),
	}
	renamed := map[string]bool{}
	for _, f := range configurationFields {
		if text, ok := p.Text(f.property); ok {
			o[f.key] = text
			_, renamed[f.property] = p[f.property].(string)
			if d == newqueue.MrtZK && f.key != f.property {
				renamed[f.property] = false // the services want both
			}
		}
	}
	for name, value := range p {
		if !renamed[name] {
			o[ownName(name)] = value
		}
	}
	if d == newqueue.MrtZK && r.Queue == Ingest {
		forServices(o, p)
	}
	return o
}

// ownName is the key under which a configuration holds a property as it was.
func ownName(property string) string {
	reserved := property == keyBatchID || property == keySubmissionDate || property == keySubmissionMode
	for _, f := range configurationFields {
		reserved = reserved || property == f.key
	}
	if reserved || strings.HasPrefix(property, aside) {
		return aside + property
	}
	return property
}

// submissionMode: a true "update", as a Boolean or as text.
func submissionMode(p legacy.Payload) string {
	if text, _ := p.Text("update"); strings.EqualFold(text, "true") {
		return "update"
	}
	return "add"
}

func text(p legacy.Payload, property string) string {
	s, _ := p.Text(property)
	return s
}

func identifiers(p legacy.Payload) newqueue.Identifiers {
	ids := newqueue.Identifiers{PrimaryID: text(p, "objectID")}
	for _, id := range strings.Split(text(p, "localID"), ";") {
		if id = strings.TrimSpace(id); id != "" {
			ids.LocalIDs = append(ids.LocalIDs, id)
		}
	}
	return ids
}

func metadata(p legacy.Payload) newqueue.Metadata {
	return newqueue.Metadata{
		ErcWhat:  text(p, "title"),
		ErcWho:   text(p, "creator"),
		ErcWhen:  text(p, "date"),
		ErcWhere: text(p, "objectID"),
	}
}

// inventoryMode is the only mode there is; others "will be used when we
// implement fix options" (seed 000).
const inventoryMode = "add"

// leaf is one znode to be made.
type leaf struct {
	path string
	data []byte
}

// none is what a znode holds whose being there is all it says; the client
// library writes empty data, not null.
var none = []byte{}

// jobNodes are all znodes of one migrated job, parents first: the job itself,
// then its entries in its batch and in the queue of its state.
func jobNodes(r Record, land landing, run, bid, jid string, d newqueue.Dialect) []leaf {
	job := newqueue.JobPath(jid)
	p := r.Legacy.Payload
	status := newqueue.JobStatus{State: land.job, LastSuccessful: land.last(d), LastModified: r.Legacy.Header.Time, Message: land.message}
	nodes := []leaf{
		{job, provenance(r, land, run).encode()},
		{job + "/bid", []byte(bid)},
		{job + "/configuration", encode(configuration(r, bid, d))},
		{job + "/identifiers", encode(identifiers(p).Object())},
		{job + "/metadata", encode(metadata(p).Object())},
		{job + "/priority", newqueue.Number(int64(r.Legacy.Key.Priority))},
		{job + "/space_needed", newqueue.Number(0)},
		{job + "/status", encode(status.Object(d))},
	}
	if r.Queue == Inventory {
		nodes = append(nodes, leaf{job + "/inventory", encode(newqueue.Inventory{ManifestURL: text(p, "manifestURL"), Mode: inventoryMode}.Object())})
	}
	nodes = append(nodes, leaf{newqueue.BatchEntryPath(bid, land.job.Folder(), jid), none})
	if land.job != newqueue.JobDeleted || d.KeepsDeleted() {
		nodes = append(nodes, leaf{newqueue.JobEntryPath(land.job, r.Legacy.Key.Priority, jid), none})
	}
	return nodes
}

// accessNodes are all znodes of one migrated access request, parents first.
// The token is the record's payload: verbatim where it is JSON.
func accessNodes(r Record, land landing, run, qid string, d newqueue.Dialect) []leaf {
	request := newqueue.AccessRequestPath(accessQueue(r.Queue), qid)
	status := newqueue.AccessStatus{State: land.access, LastModified: r.Legacy.Header.Time, Message: land.message}
	token := r.Data[headerWidth:]
	if r.Legacy.Format != legacy.JSON {
		token = legacy.AppendJSON(nil, r.Legacy.Payload)
	}
	return []leaf{
		{request, provenance(r, land, run).encode()},
		{request + "/token", token},
		{request + "/status", encode(status.Object(d))},
	}
}

func accessQueue(kind QueueKind) newqueue.AccessQueue {
	if kind == AccessLarge {
		return newqueue.AccessLarge
	}
	return newqueue.AccessSmall
}

func isAccess(kind QueueKind) bool { return kind == AccessSmall || kind == AccessLarge }

// creates are the operations that make the nodes.
func creates(nodes []leaf, acl []znode.ACL) []znode.Op {
	ops := make([]znode.Op, len(nodes))
	for i, n := range nodes {
		ops[i] = znode.Op{Kind: znode.OpCreate, Path: n.path, Data: n.data, ACL: acl}
	}
	return ops
}

// earlier is the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times, of which zero is none.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
