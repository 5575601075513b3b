package services

import (
	"iter"
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
	it.planned = true
	it.classify()
	return it
}

// item is what the check looks at: a batch, a job or an access request.
type item struct {
	path, id string
	scopes   []Scope
	worker   Daemon    // the daemon that acquires the job next
	state    string    // the status's exact name, "" if unreadable
	nodes    []content // the znodes that exist
	bid      string    // of a job
	batchID  any       // of a job's batch
	profiles bool      // some job has a profile
	planned  bool      // it is not in a tree yet, and only its objects are known

	locked    bool                         // a session has locked it
	hasStates bool                         // of a batch
	entries   map[newqueue.BatchFolder]int // of a batch, how many
}

// content is the content of one znode of an item.
type content struct {
	node   string
	object Values // nil if it holds none
	empty  bool
}

func readContent(node string, data []byte) content {
	o, err := newqueue.ParseObject(data)
	if err != nil {
		return content{node: node, empty: len(data) == 0}
	}
	return content{node: node, object: o}
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

// classify finds out, from the status, what the item is and who works on it next.
func (it *item) classify() {
	it.state, _ = it.value("status", "status").(string)
	switch {
	case it.isBatch() && it.isDone():
		it.scopes = scopesOfDoneBatch
	case it.isBatch():
		it.scopes = scopesOfOpenBatch
	case it.isJob():
		it.scopes = scopesOfJob[it.state]
		if it.scopes == nil {
			it.scopes = scopesOfOpenJob
		}
		it.worker = Worker(stateOf(it.state), stateOf(it.value("status", "last_successful_status")))
	case it.state == "Pending" || it.state == "Failed":
		it.scopes = scopesOfWaitingAccess
	default:
		it.scopes = scopesOfAccess
	}
}

// The scopes that an item is in.
var (
	scopesOfOpenBatch = []Scope{OfBatch, OfOpenBatch}
	scopesOfDoneBatch = []Scope{OfBatch}
	scopesOfOpenJob   = []Scope{OfJob, OfOpenJob}
	scopesOfJob       = map[string][]Scope{
		"Completed": {OfJob, OfDoneJob}, "Deleted": {OfJob, OfDoneJob}, "Failed": {OfJob, OfOpenJob, OfFailedJob},
		"Storing": {OfJob, OfOpenJob, OfStoringJob}, "Recording": {OfJob, OfOpenJob, OfRecordingJob},
	}
	scopesOfAccess        = []Scope{OfAccess}
	scopesOfWaitingAccess = []Scope{OfAccess, OfWaitingAccess}
)

// demandsOf are the demands of each scope.
var demandsOf = func() map[Scope][]*Demand {
	of := map[Scope][]*Demand{}
	for i := range Demands {
		of[Demands[i].Of] = append(of[Demands[i].Of], &Demands[i])
	}
	return of
}()

// demands yields the demands on the item.
func (it *item) demands() iter.Seq[*Demand] {
	return func(yield func(*Demand) bool) {
		for _, scope := range it.scopes {
			for _, d := range demandsOf[scope] {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// violations are the violations of the demands on the item.
func (it *item) violations() []Violation {
	var all []Violation
	for d := range it.demands() {
		var faults []fault
		switch {
		case d.faults != nil:
			faults = d.faults(d, it)
		case d.Key != "":
			faults = it.keyFaults(d)
		}
		for _, f := range faults {
			v := Violation{Demand: d, Path: f.path, What: f.what, Stop: it.stop(d)}
			if f.stop != nil {
				v.Stop = *f.stop
			}
			all = append(all, v)
		}
	}
	return all
}

// keyFaults checks a demand on one key.
func (it *item) keyFaults(d *Demand) []fault {
	o := it.object(d.Node)
	if o == nil {
		return nil // another row reports it
	}
	switch v, there := o.Value(d.Key); {
	case !there && d.Optional:
	case !there:
		return one(it.path+"/"+d.Node, "it has no %s: expected %s", d.Key, d.Type.Words)
	case !d.Type.ok(v):
		return one(it.path+"/"+d.Node, "%s is %s: expected %s", d.Key, show(v), d.Type.Words)
	}
	return nil
}

func (it *item) isBatch() bool { return strings.HasPrefix(it.path, newqueue.BatchesPath+"/") }
func (it *item) isJob() bool   { return strings.HasPrefix(it.path, newqueue.JobsPath+"/") }
func (it *item) isDone() bool  { return it.state == "Completed" || it.state == "Deleted" }

// stop is what happens to the item first: at a daemon that still works on it, or in its
// batch's report, or in the admin tool.
func (it *item) stop(d *Demand) Stop {
	ahead := onTheWay(it.worker)
	for _, by := range d.By {
		behind := by.State() != "" && !slices.Contains(ahead, by)
		reported := by == BatchReport && it.isBatch() && it.isDone()
		if !behind && !reported {
			return Stop{by, d.Then}
		}
	}
	return Stop{d.By[0], Harmless}
}
