package services

import (
	"cmp"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Options are what a check needs to know beside the tree.
type Options struct {
	// Part: the tree is a part of one, such as a batch with its jobs, so that
	// what must be once in a whole tree may be elsewhere.
	Part bool
	// Profiles: some job elsewhere has a profile.
	Profiles bool
}

// Check holds a tree in dialect mrt-zk to every demand and returns what
// violates one, in the order of ids and paths. The tree must be at rest.
func Check(tree *znode.Tree, opt Options) []Violation {
	c := newChecker(tree, opt)
	var all []Violation
	for i := range Demands {
		d := &Demands[i]
		for _, it := range c.items(d.Of) {
			for _, f := range c.faultsOf(d, it) {
				v := Violation{Demand: d, Item: it.path, Path: f.path, What: f.what}
				if f.stop != nil {
					v.Stop = *f.stop
				} else {
					v.Stop = it.first(d.Stops)
				}
				all = append(all, v)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Demand.ID, b.Demand.ID), strings.Compare(a.Path, b.Path), strings.Compare(a.What, b.What))
	})
	return all
}

type checker struct {
	tree     *znode.Tree
	opt      Options
	batches  []item
	jobs     []item
	access   []item
	queued   map[string][]string // a job's entries below /jobs/states
	inBatch  map[string][]string // and below the batches
	children map[string][]string // of a batch: its jobs by their bid
	batchIDs map[string]string   // a batch's batchID, by BID
	profiles bool
}

// item is a batch, a job or an access request, or the whole tree.
type item struct {
	path, id string
	scopes   []Scope
	worker   Daemon // that acquires the job next
	state    string // the status's exact name, "" if unreadable
	nodes    map[string]newqueue.Object
	bad      map[string]string // nodes that are no objects, and why
	missing  map[string]bool
}

// first is what happens to the item first: by the daemons that it has ahead of
// it, then by those that look at its batch, and by the admin tool.
func (it item) first(stops []Stop) Stop {
	for _, d := range onTheWay(it.worker) {
		for _, s := range stops {
			if s.Daemon == d {
				return s
			}
		}
	}
	for _, s := range stops {
		behind := s.Daemon.State() != "" // a daemon that the job has behind it
		reported := it.isBatch() && it.isDone() && slices.Contains([]Daemon{BatchReport, UpdateBatchReport}, s.Daemon)
		if !behind && !reported {
			return s
		}
	}
	return Stop{stops[0].Daemon, Harmless}
}

func (it item) isBatch() bool { return strings.HasPrefix(it.path, newqueue.BatchesPath+"/") }
func (it item) isDone() bool  { return it.state == "Completed" || it.state == "Deleted" }

// object is a JSON object below the item, nil if there is none.
func (it item) object(node string) newqueue.Object { return it.nodes[node] }

func newChecker(tree *znode.Tree, opt Options) *checker {
	c := &checker{tree: tree, opt: opt, queued: map[string][]string{}, inBatch: map[string][]string{}, children: map[string][]string{}, batchIDs: map[string]string{}, profiles: opt.Profiles}
	for _, state := range tree.Children(newqueue.JobStatesPath) {
		folder := znode.Join(newqueue.JobStatesPath, state)
		for _, name := range tree.Children(folder) {
			_, jid, _ := strings.Cut(name, "-")
			c.queued[jid] = append(c.queued[jid], znode.Join(folder, name))
		}
	}
	for _, bid := range tree.Children(newqueue.BatchesPath) {
		for _, f := range tree.Children(newqueue.BatchStatesPath(bid)) {
			for _, jid := range tree.Children(znode.Join(newqueue.BatchStatesPath(bid), f)) {
				c.inBatch[jid] = append(c.inBatch[jid], newqueue.BatchEntryPath(bid, newqueue.BatchFolder(f), jid))
			}
		}
		c.batches = append(c.batches, c.batch(bid))
	}
	for _, jid := range tree.Children(newqueue.JobsPath) {
		if jid != "states" {
			c.jobs = append(c.jobs, c.job(jid))
		}
	}
	for _, q := range newqueue.AccessQueues {
		for _, qid := range tree.Children(newqueue.AccessQueuePath(q)) {
			c.access = append(c.access, c.request(q, qid))
		}
	}
	return c
}

// read is an item with the JSON objects that it may have.
func (c *checker) read(path string, nodes ...string) item {
	it := item{path: path, id: znode.Name(path), nodes: map[string]newqueue.Object{}, bad: map[string]string{}, missing: map[string]bool{}}
	for _, name := range nodes {
		n := c.tree.Get(znode.Join(path, name))
		if n == nil {
			it.missing[name] = true
			continue
		}
		o, err := newqueue.ParseObject(n.Data)
		if err != nil {
			it.bad[name] = err.Error()
			continue
		}
		it.nodes[name] = o
	}
	it.state, _ = it.nodes["status"]["status"].(string)
	return it
}

func (c *checker) batch(bid string) item {
	it := c.read(newqueue.BatchPath(bid), "submission", "status")
	it.scopes = []Scope{OfBatch}
	if !it.isDone() {
		it.scopes = append(it.scopes, OfOpenBatch)
	}
	if id, ok := it.nodes["submission"]["batchID"].(string); ok {
		c.batchIDs[bid] = id
	}
	return it
}

func (c *checker) job(jid string) item {
	it := c.read(newqueue.JobPath(jid), "status", "configuration", "identifiers", "metadata", "inventory", "store")
	it.scopes = []Scope{OfJob}
	state := stateOf(it.state)
	switch {
	case it.isDone():
		it.scopes = append(it.scopes, OfDoneJob)
	default:
		it.scopes = append(it.scopes, OfOpenJob)
	}
	switch it.state {
	case "Failed":
		it.scopes = append(it.scopes, OfFailedJob)
	case "Storing":
		it.scopes = append(it.scopes, OfStoringJob)
	case "Recording":
		it.scopes = append(it.scopes, OfRecordingJob)
	}
	if state == "" && len(c.queued[jid]) > 0 { // whoever finds its entry meets it
		state = newqueue.JobState(znode.Name(znode.Parent(c.queued[jid][0])))
	}
	it.worker = Worker(state, stateOf(it.nodes["status"]["last_successful_status"]))
	bid := string(dataOf(c.tree, it.path+"/bid"))
	c.children[bid] = append(c.children[bid], jid)
	_, named := it.nodes["configuration"]["profile"].(string)
	c.profiles = c.profiles || named
	return it
}

func (c *checker) request(q newqueue.AccessQueue, qid string) item {
	it := c.read(newqueue.AccessRequestPath(q, qid), "token", "status")
	it.scopes = []Scope{OfAccess}
	if it.state == "Pending" || it.state == "Failed" {
		it.scopes = append(it.scopes, OfWaitingAccess)
	}
	return it
}

// items are those of a scope.
func (c *checker) items(of Scope) []item {
	if of == OfTree {
		if c.opt.Part {
			return nil
		}
		return []item{{path: "/"}}
	}
	var found []item
	for _, all := range [][]item{c.batches, c.jobs, c.access} {
		for _, it := range all {
			if slices.Contains(it.scopes, of) {
				found = append(found, it)
			}
		}
	}
	return found
}

// faultsOf checks one demand on one item.
func (c *checker) faultsOf(d *Demand, it item) []fault {
	if d.faults != nil {
		return d.faults(c, d, it)
	}
	o, ok := it.nodes[d.Node]
	if !ok {
		return nil // another row says so
	}
	path := it.path + "/" + d.Node
	v, there := o[d.Key]
	switch {
	case !there && d.Optional:
	case !there:
		return []fault{{path: path, what: "it has no " + d.Key + ": want " + d.Type.Words}}
	case !d.Type.ok(v):
		return []fault{{path: path, what: d.Key + " is " + show(v) + ": want " + d.Type.Words}}
	}
	return nil
}

func dataOf(tree *znode.Tree, path string) []byte {
	if n := tree.Get(path); n != nil {
		return n.Data
	}
	return nil
}
