package migrate

import (
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
	"mrtq/newqueue/services"
)

// field is one row of the mapping: a key of the new znode, the legacy property
// that it comes from, and who reads the key.
type field struct{ key, property, readBy string }

// configurationFields are the properties that a configuration holds under another name
// (docs/migration.md, "From a record to znodes"). Every other property keeps its name. In
// dialect mrt-zk these are there under both names, because the deployed services read the
// legacy ones; see [serviceKeys].
var configurationFields = []field{
	{"profile_name", "profile", "the library's profileName; a trace line of inventory"},
	{"submitter", "submitter", "mail, mrt-ingest.txt; the library's submitter; a trace line of inventory"},
	{"payload_url", "filename", "the library's payloadUrl; a trace line of inventory"},
	{"payload_type", "type", "the library's payloadType; a trace line of inventory"},
	{"response_type", "responseForm", "the library's responseType; a trace line of inventory"},
	{"local_id", "localID", "nobody: the documents have it"},
}

// Keys of a configuration that are not properties of the record.
const (
	keyBatchID        = "batch_id"
	keySubmissionDate = "submissionDate"
	keySubmissionMode = "submission_mode"
)

// aside is put before a property's own name if that name means something else in a
// configuration.
const aside = "legacy."

// configured is a record as the /jobs/JID/configuration that it becomes.
type configured struct {
	rec Record
	bid string
	d   newqueue.Dialect
}

// Value is what the configuration holds under a key. A mapped key holds text. So a
// property whose value isn't a string is there under its own name too, to keep its type.
// In dialect mrt-zk every property is, because the services read those names.
func (c configured) Value(key string) (v any, there bool) {
	p := c.rec.Legacy.Payload
	switch key {
	case keyBatchID:
		return c.bid, true
	case keySubmissionDate:
		return c.d.FormatTime(c.rec.Legacy.Header.Time), true
	case keySubmissionMode:
		return submissionMode(p), true
	}
	if property, mapped := propertyOfKey[key]; mapped {
		if v, there = p[property]; isText(v) {
			return v, there
		}
		text, ok := p.Text(property)
		return text, ok
	}
	if c.d == newqueue.MrtZK && c.rec.Queue == Ingest {
		if v, there, ours := forServices(key, p); ours {
			return v, there
		}
	}
	property := key
	if rest, ok := strings.CutPrefix(key, aside); ok {
		if ownName(rest) != key {
			return nil, false
		}
		property = rest
	}
	v, there = p[property]
	if mapped := keyOfProperty[property]; mapped != "" && (c.d != newqueue.MrtZK || mapped == property) && isText(v) {
		return nil, false // only under the mapped key
	}
	return v, there
}

// Object is the whole configuration.
func (c configured) Object() newqueue.Object {
	p := c.rec.Legacy.Payload
	o := make(newqueue.Object, len(p)+len(configurationFields)+5)
	add := func(key string) {
		if v, there := c.Value(key); there {
			o[key] = v
		}
	}
	for _, key := range []string{keyBatchID, keySubmissionDate, keySubmissionMode, keyUpdate, keyAbsent, aside + keyUpdate} {
		add(key)
	}
	for _, f := range configurationFields {
		add(f.key)
	}
	for name := range p {
		add(ownName(name))
	}
	return o
}

// ownName is the key under which a configuration holds a property as it was.
func ownName(property string) string {
	_, mapped := propertyOfKey[property]
	if mapped || property == keyBatchID || property == keySubmissionDate || property == keySubmissionMode || strings.HasPrefix(property, aside) {
		return aside + property
	}
	return property
}

// propertyOfKey and keyOfProperty are [configurationFields] both ways.
var propertyOfKey, keyOfProperty = func() (properties, keys map[string]string) {
	properties, keys = map[string]string{}, map[string]string{}
	for _, f := range configurationFields {
		properties[f.key], keys[f.property] = f.property, f.key
	}
	return properties, keys
}()

// submissionMode is update if the property "update" is true, as a Boolean or as text.
func submissionMode(p legacy.Payload) string {
	if text, _ := p.Text("update"); strings.EqualFold(text, "true") {
		return "update"
	}
	return "add"
}

func isText(v any) bool { _, ok := v.(string); return ok }

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

// inventoryMode is the only mode in use; others "will be used when we implement
// fix options" (Queue Data, "Batches and Jobs": docs/legacy-format.md,
// "Sources").
const inventoryMode = "add"

// leaf is a znode to create.
type leaf struct {
	path string
	data []byte
}

// none is the data of a znode that only has to exist. The client library writes
// empty data, not null.
var none = []byte{}

// jobObjects are the JSON objects of one migrated job, by their znodes.
func jobObjects(r Record, initial initialState, bid string, d newqueue.Dialect) []services.NodeObject {
	p := r.Legacy.Payload
	objects := []services.NodeObject{
		{Node: "configuration", Object: configured{r, bid, d}},
		{Node: "identifiers", Object: identifiers(p).Object()},
		{Node: "metadata", Object: metadata(p).Object()},
		{Node: "status", Object: jobStatus(r, initial, d).Object(d)},
	}
	if r.Queue == Inventory {
		objects = append(objects, services.NodeObject{Node: "inventory", Object: inventoryOf(r).Object()})
	}
	return objects
}

func jobStatus(r Record, initial initialState, d newqueue.Dialect) newqueue.JobStatus {
	return newqueue.JobStatus{State: initial.job, LastSuccessful: initial.lastSuccessful(d), LastModified: r.Legacy.Header.Time, Message: initial.message}
}

func inventoryOf(r Record) newqueue.Inventory {
	return newqueue.Inventory{ManifestURL: text(r.Legacy.Payload, "manifestURL"), Mode: inventoryMode}
}

// jobNodes are all znodes of one migrated job, parents first: the job itself,
// then its entries in its batch and in the queue of its state.
func jobNodes(r Record, initial initialState, run, bid, jid string, d newqueue.Dialect) []leaf {
	job := newqueue.JobPath(jid)
	nodes := []leaf{
		{job, provenance(r, initial, run).encode()},
		{job + "/bid", []byte(bid)},
		{job + "/priority", newqueue.Number(int64(r.Legacy.Key.Priority))},
		{job + "/space_needed", newqueue.Number(0)},
	}
	for _, o := range jobObjects(r, initial, bid, d) {
		nodes = append(nodes, leaf{job + "/" + o.Node, encodeValues(o.Object)})
	}
	nodes = append(nodes, leaf{newqueue.BatchEntryPath(bid, initial.job.Folder(), jid), none})
	if initial.job != newqueue.JobDeleted || d.KeepsDeleted() {
		nodes = append(nodes, leaf{newqueue.JobEntryPath(initial.job, r.Legacy.Key.Priority, jid), none})
	}
	return nodes
}

// accessNodes are all znodes of one migrated access request, parents first.
func accessNodes(r Record, initial initialState, run, qid string, d newqueue.Dialect) []leaf {
	request := newqueue.AccessRequestPath(accessQueue(r.Queue), qid)
	return []leaf{
		{request, provenance(r, initial, run).encode()},
		{request + "/token", token(r)},
		{request + "/status", encode(accessStatus(r, initial, d))},
	}
}

// token is the record's payload: verbatim if it is JSON.
func token(r Record) []byte {
	if r.Legacy.Format == legacy.JSON {
		return r.Data[headerWidth:]
	}
	return legacy.AppendJSON(nil, r.Legacy.Payload)
}

func accessStatus(r Record, initial initialState, d newqueue.Dialect) newqueue.Object {
	return newqueue.AccessStatus{State: initial.access, LastModified: r.Legacy.Header.Time, Message: initial.message}.Object(d)
}

// accessObjects are the JSON objects of one migrated access request.
func accessObjects(r Record, initial initialState, d newqueue.Dialect) []services.NodeObject {
	return []services.NodeObject{{Node: "token", Object: newqueue.Object(r.Legacy.Payload)}, {Node: "status", Object: accessStatus(r, initial, d)}}
}

func accessQueue(kind QueueKind) newqueue.AccessQueue {
	if kind == AccessLarge {
		return newqueue.AccessLarge
	}
	return newqueue.AccessSmall
}

func isAccess(kind QueueKind) bool { return kind == AccessSmall || kind == AccessLarge }

// creates are the operations that create the nodes.
func creates(nodes []leaf, acl []znode.ACL) []znode.Op {
	ops := make([]znode.Op, len(nodes))
	for i, n := range nodes {
		ops[i] = znode.Op{Kind: znode.OpCreate, Path: n.path, Data: n.data, ACL: acl}
	}
	return ops
}

// earlier is the earlier of two times. The zero time doesn't count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later is the later of two times. The zero time doesn't count.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
