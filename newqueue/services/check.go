package services

import (
	"cmp"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Check compares a tree in dialect mrt-zk with every demand, and returns the
// violations in the order of ids and paths. No client may write while the tree is
// read.
func Check(tree *znode.Tree) []Violation { return newChecker(tree).check() }

func (c *checker) check() []Violation {
	var all []Violation
	for _, it := range c.items {
		all = it.violations(c, all)
	}
	sortViolations(all)
	return all
}

// CheckContent compares the JSON objects of one batch, job or request with
// every demand on the objects alone. It ignores the demands on their place in
// the tree, so it needs no tree.
func CheckContent(i Item) []Violation {
	it := i.item()
	all := it.violations(nil, nil)
	sortViolations(all)
	return all
}

func sortViolations(all []Violation) {
	slices.SortStableFunc(all, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Demand.ID, b.Demand.ID), strings.Compare(a.Path, b.Path), strings.Compare(a.What, b.What))
	})
}

// demandsOf are the demands of each scope.
var demandsOf = func() map[Scope][]*Demand {
	of := map[Scope][]*Demand{}
	for i := range Demands {
		of[Demands[i].Of] = append(of[Demands[i].Of], &Demands[i])
	}
	return of
}()

// violations appends the item's violations to all. Without a checker, it looks
// only at the content.
func (it *item) violations(c *checker, all []Violation) []Violation {
	for _, scope := range it.scopes {
		for _, d := range demandsOf[scope] {
			var faults []fault
			switch {
			case d.place != nil && c == nil:
			case d.place != nil:
				faults = d.place(c, d, it)
			case d.faults != nil:
				faults = d.faults(d, it)
			default:
				faults = it.keyFaults(d)
			}
			for _, f := range faults {
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
		return one(it.path+"/"+d.Node, "it has no %s: want %s", d.Key, d.Type.Words)
	case !d.Type.ok(v):
		return one(it.path+"/"+d.Node, "%s is %s: want %s", d.Key, show(v), d.Type.Words)
	}
	return nil
}

// checker knows which entries a tree has, and where.
type checker struct {
	tree     *znode.Tree
	items    []*item
	queued   map[string][]string // a job's entries below /jobs/states
	inBatch  map[string][]string // and below the batches
	children map[string]int      // how many jobs name a batch as theirs
	batches  map[string]*item    // by path
	batchIDs map[string]any      // of submissions, by BID
	rest     func(bid string) BatchRest
}

func newChecker(tree *znode.Tree) *checker {
	c := &checker{tree: tree, queued: map[string][]string{}, inBatch: map[string][]string{}, children: map[string]int{}, batches: map[string]*item{}, batchIDs: map[string]any{}}
	c.items = append(c.items, &item{path: "/", scopes: []Scope{OfTree}})
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
		it := c.read(newqueue.BatchPath(bid), "submission", "status")
		it.asBatch()
		if id, ok := it.value("submission", "batchID").(string); ok {
			c.batchIDs[bid] = id
		}
		c.batches[it.path] = it
		c.items = append(c.items, it)
	}
	profiles := false
	var jobs []*item
	for _, jid := range tree.Children(newqueue.JobsPath) {
		if jid == "states" {
			continue
		}
		it := c.read(newqueue.JobPath(jid), "status", "configuration", "identifiers", "metadata", "inventory", "store")
		it.asJob()
		it.bid = string(dataOf(tree, it.path+"/bid"))
		it.batchID = c.batchIDs[it.bid]
		c.children[it.bid]++
		if stateOf(it.state) == "" && len(c.queued[jid]) > 0 { // the daemon that finds its entry loads it
			it.worker = Worker(newqueue.JobState(znode.Name(znode.Parent(c.queued[jid][0]))), stateOf(it.value("status", "last_successful_status")))
		}
		profiles = profiles || isText(it.value("configuration", "profile"))
		jobs = append(jobs, it)
	}
	for _, it := range jobs {
		it.profiles = profiles
	}
	c.items = append(c.items, jobs...)
	for _, q := range newqueue.AccessQueues {
		for _, qid := range tree.Children(newqueue.AccessQueuePath(q)) {
			it := c.read(newqueue.AccessRequestPath(q, qid), "token", "status")
			it.asRequest()
			c.items = append(c.items, it)
		}
	}
	return c
}

// read reads an item with the JSON objects that it may have.
func (c *checker) read(path string, nodes ...string) *item {
	it := &item{path: path, id: znode.Name(path)}
	for _, name := range nodes {
		n := c.tree.Get(path + "/" + name)
		if n == nil {
			continue
		}
		it.nodes = append(it.nodes, readContent(name, n.Data))
	}
	return it
}

func readContent(node string, data []byte) content {
	o, err := newqueue.ParseObject(data)
	if err != nil {
		return content{node: node, bad: err.Error(), empty: len(data) == 0}
	}
	return content{node: node, object: o}
}

func dataOf(tree *znode.Tree, path string) []byte {
	if n := tree.Get(path); n != nil {
		return n.Data
	}
	return nil
}
