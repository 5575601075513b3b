package rules

import (
	"encoding/hex"
	"time"

	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Node is a znode to create.
type Node struct {
	Path string
	Data []byte
}

// None is the data of a znode that only has to exist. The client library writes empty
// data, not null.
var None = []byte{}

// Job is a record with the ids that its job or access request has in the new queue.
type Job struct {
	Record migration.Record
	State  State // in which it begins
	// Priority is that of [migration.Choices.Priority]. An access request has none.
	Priority int
	Run      string // that creates it
	ID       string // its jid, or the qid of an access request
	Batch    string // its bid; "" for an access request
}

// Root returns the job's or the request's own znode.
func (j Job) Root() string {
	if j.Record.Queue.IsAccess() {
		return newqueue.AccessRequestPath(j.Record.Queue.AccessQueue(), j.ID)
	}
	return newqueue.JobPath(j.ID)
}

// Nodes returns all znodes of the job or request, parents first: first what is at and below
// its own znode, then its entries (see [Job.Entries]).
func (j Job) Nodes(d newqueue.Dialect) []Node {
	root := j.Root()
	nodes := []Node{{root, j.provenance()}}
	if !j.Record.Queue.IsAccess() {
		nodes = append(nodes,
			Node{root + "/bid", []byte(j.Batch)},
			Node{root + "/priority", newqueue.FormatNumber(int64(j.Priority))},
			Node{root + "/space_needed", newqueue.FormatNumber(0)})
	}
	for _, o := range j.Objects(d) {
		nodes = append(nodes, Node{root + "/" + o.Node, o.encode()})
	}
	for _, entry := range j.Entries(d) {
		nodes = append(nodes, Node{entry, None})
	}
	return nodes
}

// Entries returns the paths of the job's entries: in its batch, and in the queue of its state.
// An access request has none.
func (j Job) Entries(d newqueue.Dialect) []string {
	if j.Record.Queue.IsAccess() {
		return nil
	}
	entries := []string{newqueue.BatchEntryPath(j.Batch, j.State.Job.Folder(), j.ID)}
	if j.State.Job != newqueue.JobDeleted || d.KeepsDeleted() {
		entries = append(entries, newqueue.JobEntryPath(j.State.Job, j.Priority, j.ID))
	}
	return entries
}

// Object is the JSON object that a znode below a job, a request or a batch holds.
type Object struct {
	Node   string // the znode's name
	Values newqueue.Object
	text   []byte // the data, if it is not the canonical JSON of Values
}

// Objects returns the JSON objects of the job or request.
func (j Job) Objects(d newqueue.Dialect) []Object {
	r := j.Record
	if r.Queue.IsAccess() {
		return accessObjects(r, j.State, d)
	}
	p := r.Legacy.Payload
	objects := []Object{
		{Node: "configuration", Values: configuration(r, j.Batch, d)},
		{Node: "identifiers", Values: newqueue.ToObject(d, Identifiers(p))},
		{Node: "metadata", Values: newqueue.ToObject(d, metadata(p))},
		{Node: "status", Values: newqueue.ToObject(d, newqueue.JobStatus{State: j.State.Job, LastSuccessful: j.State.lastSuccessful(d),
			LastModified: r.Legacy.Header.Time, Message: j.State.Message})},
	}
	if r.Queue == migration.Inventory {
		inventory := newqueue.Inventory{ManifestURL: Text(p, "manifestURL"), Mode: inventoryMode}
		objects = append(objects, Object{Node: "inventory", Values: newqueue.ToObject(d, inventory)})
	}
	return objects
}

// inventoryMode is the only mode in use; others "will be used when we implement
// fix options" (Queue Data, "Batches and Jobs": docs/legacy-format.md,
// "Sources").
const inventoryMode = "add"

func (o Object) encode() []byte {
	if o.text != nil {
		return o.text
	}
	return encode(o.Values)
}

// encode is the canonical JSON of an object. Unlike encoding/json, it keeps the unpaired
// surrogates that Java strings may hold.
func encode(o newqueue.Object) []byte {
	return legacy.AppendJSON(make([]byte, 0, 256), map[string]any(o))
}

// headerWidth is the status byte and the time before a record's payload
// (docs/legacy-format.md, "The header").
const headerWidth = 9

// accessObjects are the JSON objects of an access request. The token is the record's
// payload: verbatim if it is JSON.
func accessObjects(r migration.Record, s State, d newqueue.Dialect) []Object {
	token := Object{Node: "token", Values: newqueue.Object(r.Legacy.Payload)}
	if r.Legacy.Format == legacy.JSON {
		token.text = r.Data[headerWidth:]
	}
	status := newqueue.AccessStatus{State: s.Access, LastModified: r.Legacy.Header.Time, Message: s.Message}
	return []Object{token, {Node: "status", Values: newqueue.ToObject(d, status)}}
}

// provenance says which record a job or access request was made from. It is the data of
// the job's own znode, which readers of the layout ignore. People read it. mrtq decides
// nothing by it, because the ledger says what was migrated.
func (j Job) provenance() []byte {
	l, at := j.Record.Legacy, "" // RFC 3339, "" for none
	if !l.Header.Time.IsZero() {
		at = l.Header.Time.Format(time.RFC3339Nano)
	}
	return encode(newqueue.Object{
		"run": j.Run, "path": j.Record.Path, "sequence": int64(l.Key.Sequence), "status": l.Header.Status.String(), "time": at, "time_unit": string(l.Header.Unit),
		"high_priority": l.Key.HighPriority, "worker": l.Key.Worker, "format": string(l.Format), "sha256": hex.EncodeToString(l.SHA256[:]), // of the record's raw bytes
	})
}

func batchProvenance(run string, kind BatchKind, batchID string) []byte {
	o := newqueue.Object{"run": run, "of": string(kind)}
	if batchID != "" {
		o["batchID"] = batchID
	}
	return encode(o)
}
