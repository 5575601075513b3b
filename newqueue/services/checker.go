package services

import (
	"maps"
	"slices"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// checker checks the demands on a tree's items while their znodes pass, one item
// after the other. It leaves out what the layout's rules state ([Demand.Rules]), but
// for demands on content.
type checker struct {
	violated func(*item, Violation) // the item is nil for a demand on the tree
	it       *item                  // the item whose znodes pass
	roots    map[string]bool
	batchIDs map[string]string // of submissions, by BID
	profiles bool              // some job has a profile
	without  map[string]string // jobs without one, and what they have instead

	// What the checks differ in; nil for what one does not need.
	held    func(layout.Visit) // reports a lock, instead of a violation
	done    func(*item)        // is told of each item
	waiting map[string]*item   // jobs in no state, until their queue entries pass
}

func newChecker(violated func(*item, Violation)) *checker {
	return &checker{violated: violated, roots: map[string]bool{}, batchIDs: map[string]string{}, without: map[string]string{}}
}

// Visit implements [layout.Native].
func (c *checker) Visit(v layout.Visit) {
	n := v.Znode
	if isRoot[n.Path] {
		c.roots[n.Path] = true
	}
	name := znode.Name(n.Path)
	switch v.Node.ID {
	case "batch", "job", "request":
		c.finish()
		c.it = &item{path: n.Path, id: name, entries: map[newqueue.BatchFolder]int{}}
	case "batch-submission", "batch-status", "job-status", "job-configuration", "job-identifiers", "job-metadata", "job-inventory", "job-store", "request-token", "request-status":
		if o, ok := v.Value.(newqueue.Object); ok { // as the map's codec read it
			c.it.nodes = append(c.it.nodes, content{node: name, object: o})
			break
		}
		c.it.nodes = append(c.it.nodes, readContent(name, n.Data))
	case "job-bid":
		c.it.bid = string(n.Data)
	case "job-priority", "job-space":
		c.it.nodes = append(c.it.nodes, content{node: name, text: string(n.Data)})
	case "batch-states":
		c.it.hasStates = true
	case "batch-entry":
		c.it.entries[newqueue.BatchFolder(v.Params.Get("folder"))]++
	case "queue-entry":
		if it := c.waiting[v.Params.Get("jid")]; it != nil && it.worker == "" { // the daemon that finds its entry loads it
			it.worker = Worker(newqueue.JobState(v.Params.Get("state")), stateOf(it.value("status", "last_successful_status")))
		}
	case "batch-lock", "job-lock", "request-lock", "storage-lock", "inventory-lock", "localid-lock":
		c.lock(v)
	}
}

var isRoot = func() map[string]bool {
	of := map[string]bool{}
	for _, path := range newqueue.MrtZK.StartNodes() {
		of[path] = true
	}
	return of
}()

func (c *checker) lock(v layout.Visit) {
	stop, object := objectLocks[v.Node.ID]
	switch {
	case c.held != nil:
		c.held(v)
	case object:
		c.violated(nil, Violation{Demand: demandOf("R02", OfTree), Item: "/", Path: v.Znode.Path, What: "a lock is left here", Stop: stop})
	default:
		c.it.locked = true
	}
}

// objectLocks are the locks on objects, and who waits for them. A storage lock is
// persistent, so it stays when its holder dies. The others end with the session that
// took them.
var objectLocks = map[string]Stop{"storage-lock": {Store, Waits}, "inventory-lock": {Inventory, Fails}, "localid-lock": {Process, Waits}}

// finish checks the demands on an item after all its znodes have passed.
func (c *checker) finish() {
	it := c.it
	c.it = nil
	if it == nil {
		return
	}
	it.classify()
	switch {
	case it.isBatch():
		if id, ok := it.value("submission", "batchID").(string); ok {
			c.batchIDs[it.id] = id
		}
	case it.isJob():
		if id, ok := c.batchIDs[it.bid]; ok {
			it.batchID = id
		}
		if c.waiting != nil && stateOf(it.state) == "" {
			c.waiting[it.id] = it
			return
		}
		c.profile(it)
	}
	c.check(it)
}

func (c *checker) check(it *item) {
	if c.done != nil {
		c.done(it)
	}
	for _, v := range it.violations() {
		c.violated(it, v)
	}
}

// profile remembers a job without a profile. It breaks a page of the admin tool if
// another job has one.
func (c *checker) profile(it *item) {
	profile := it.value("configuration", "profile")
	switch {
	case isText(profile):
		c.profiles = true
	case it.object("configuration") != nil:
		c.without[it.path] = show(profile)
	}
}

// Done checks the demands that depend on the whole tree.
func (c *checker) Done(time.Time) {
	c.finish()
	for _, jid := range slices.Sorted(maps.Keys(c.waiting)) {
		c.profile(c.waiting[jid])
		c.check(c.waiting[jid])
	}
	c.missingRoots()
	if !c.profiles {
		return
	}
	d := demandOf("R30", OfJob)
	for _, path := range slices.Sorted(maps.Keys(c.without)) {
		c.violated(nil, Violation{Demand: d, Item: path, Path: path + "/" + d.Node, What: "profile is " + c.without[path] + ", and other jobs have one", Stop: d.Stops[0]})
	}
}

// missingRoots: the services create these nodes when they start (Job.initNodes,
// Access.initNodes, MerrittLocks.initLocks), and don't check later: if the
// folder of a lock is missing, the lock methods report that another client holds
// the lock.
func (c *checker) missingRoots() {
	for _, path := range newqueue.MrtZK.StartNodes() {
		if c.roots[path] {
			continue
		}
		s, ok := withoutRoot[path]
		if !ok { // a state's queue
			s = Stop{Worker(newqueue.JobState(znode.Name(path)), ""), NotFound}
		}
		if s.Daemon == "" {
			s = Stop{Initialize, NotFound}
		}
		c.violated(nil, Violation{Demand: demandOf("R01", OfTree), Item: "/", Path: path, What: "it isn't there", Stop: s})
	}
}

var withoutRoot = map[string]Stop{
	newqueue.BatchesPath: {BatchReport, StopsReports}, newqueue.BatchUUIDsPath: {BatchReport, ReportLost},
	newqueue.AccessPath: {Access, StopsQueue}, newqueue.AccessQueuePath(newqueue.AccessSmall): {Access, StopsQueue}, newqueue.AccessQueuePath(newqueue.AccessLarge): {Access, StopsQueue},
	newqueue.LocksPath: {Store, Waits}, newqueue.StorageLocksPath: {Store, Waits}, newqueue.MrtZK.LocalIDLocksPath(): {Process, Waits},
	newqueue.InventoryLocksPath: {Inventory, Fails}, newqueue.QueueLocksPath: {Admin, BreaksPage}, newqueue.CollectionLocksPath: {Admin, BreaksPage},
}

// demandOf returns the demand of a requirement in a scope that is about no key.
func demandOf(id string, of Scope) *Demand {
	return &Demands[slices.IndexFunc(Demands, func(d Demand) bool { return d.ID == id && d.Of == of && d.Key == "" })]
}
