package services

import (
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Item is one batch, job or access request before it is written: its JSON
// objects, and what else their check needs to know.
type Item struct {
	Path    string // of the batch, job or request
	Objects []NodeObject
	// BatchID is, for a job, the batchID of its batch's submission.
	BatchID any
	// Profiles reports whether any job of the queue has a profile.
	Profiles bool
}

// NodeObject is the JSON object that a znode below an item holds.
type NodeObject struct {
	Node   string
	Object Values
}

// Values are the values of a JSON object, by key. A [newqueue.Object] is one.
type Values interface {
	Value(key string) (v any, there bool)
}

func (i Item) item() *item {
	it := &item{path: i.Path, id: znode.Name(i.Path), batchID: i.BatchID, profiles: i.Profiles, nodes: make([]content, 0, len(i.Objects))}
	for _, n := range i.Objects {
		it.nodes = append(it.nodes, content{node: n.Node, object: n.Object})
	}
	switch {
	case it.isBatch():
		it.asBatch()
	case strings.HasPrefix(it.path, newqueue.JobsPath+"/"):
		it.asJob()
	default:
		it.asRequest()
	}
	return it
}

// item is what the check looks at: a batch, a job, an access request, or the
// whole tree.
type item struct {
	path, id string
	scopes   []Scope
	worker   Daemon    // the daemon that acquires the job next
	state    string    // the status's exact name, "" if unreadable
	nodes    []content // the znodes that exist
	bid      string    // of a job
	batchID  any       // of a job's batch
	profiles bool      // some job has a profile
}

// content is the content of one znode of an item.
type content struct {
	node   string
	object Values // nil if it holds none
	bad    string // why object is nil
	empty  bool
}

// node is the content of a znode of the item, nil if it does not exist.
func (it *item) node(name string) *content {
	for i := range it.nodes {
		if it.nodes[i].node == name {
			return &it.nodes[i]
		}
	}
	return nil
}

// object is a JSON object below the item, nil if there is none.
func (it *item) object(node string) Values {
	if n := it.node(node); n != nil {
		return n.object
	}
	return nil
}

// value is what an object below the item holds under a key, nil if there is no
// such object or key.
func (it *item) value(node, key string) any {
	if o := it.object(node); o != nil {
		v, _ := o.Value(key)
		return v
	}
	return nil
}

func (it *item) readState() { it.state, _ = it.value("status", "status").(string) }

func (it *item) asBatch() {
	it.readState()
	it.scopes = scopesOfOpenBatch
	if it.isDone() {
		it.scopes = scopesOfDoneBatch
	}
}

func (it *item) asJob() {
	it.readState()
	switch it.state {
	case "Completed", "Deleted":
		it.scopes = scopesOfDoneJob
	case "Failed":
		it.scopes = scopesOfFailedJob
	case "Storing":
		it.scopes = scopesOfStoringJob
	case "Recording":
		it.scopes = scopesOfRecordingJob
	default:
		it.scopes = scopesOfOpenJob
	}
	it.worker = Worker(stateOf(it.state), stateOf(it.value("status", "last_successful_status")))
}

func (it *item) asRequest() {
	it.readState()
	it.scopes = scopesOfAccess
	if it.state == "Pending" || it.state == "Failed" {
		it.scopes = scopesOfWaitingAccess
	}
}

// The scopes that an item is in.
var (
	scopesOfOpenBatch     = []Scope{OfBatch, OfOpenBatch}
	scopesOfDoneBatch     = []Scope{OfBatch}
	scopesOfOpenJob       = []Scope{OfJob, OfOpenJob}
	scopesOfDoneJob       = []Scope{OfJob, OfDoneJob}
	scopesOfFailedJob     = []Scope{OfJob, OfOpenJob, OfFailedJob}
	scopesOfStoringJob    = []Scope{OfJob, OfOpenJob, OfStoringJob}
	scopesOfRecordingJob  = []Scope{OfJob, OfOpenJob, OfRecordingJob}
	scopesOfAccess        = []Scope{OfAccess}
	scopesOfWaitingAccess = []Scope{OfAccess, OfWaitingAccess}
)

func (it *item) isBatch() bool { return strings.HasPrefix(it.path, newqueue.BatchesPath+"/") }
func (it *item) isDone() bool  { return it.state == "Completed" || it.state == "Deleted" }

// first chooses what happens to the item first: at the daemons that still work on
// it, then at those that read its batch, then in the admin tool.
func (it *item) first(stops []Stop) Stop {
	for _, d := range onTheWay(it.worker) {
		for _, s := range stops {
			if s.Daemon == d {
				return s
			}
		}
	}
	for _, s := range stops {
		behind := s.Daemon.State() != "" // a daemon that is done with the job
		reported := it.isBatch() && it.isDone() && slices.Contains([]Daemon{BatchReport, UpdateBatchReport}, s.Daemon)
		if !behind && !reported {
			return s
		}
	}
	return Stop{stops[0].Daemon, Harmless}
}
