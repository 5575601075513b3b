package services

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// checker checks the demands on a tree's items while their znodes pass, one item
// after the other.
type checker struct {
	report   func(layout.Found)
	it       *item // the item whose znodes pass
	roots    map[string]bool
	batchIDs map[string]string  // of submissions, by BID
	profiles bool               // some job has a profile
	without  map[string]string  // jobs without one, and what they have instead
	failed   map[string]*failed // Failed batches with unfinished jobs, by BID
	storing  map[string]string  // jobs on which Store is at work, by the lock on their object
}

// failed are the unfinished jobs of a Failed batch. Only those that were requeued are reported, by an administrator's
// Update Reporting.
type failed struct{ jobs, requeued int }

// newChecker returns the code that checks the demands, one znode after the
// other. It passes each violation to report. In memory it keeps the batchID of every
// batch and the paths of the jobs without a profile.
func newChecker(report func(layout.Found)) layout.GoRules {
	return &checker{report: report, roots: map[string]bool{}, batchIDs: map[string]string{}, without: map[string]string{}, failed: map[string]*failed{}, storing: map[string]string{}}
}

// Visit implements [layout.GoRules].
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
	case "batch-states":
		c.it.hasStates = true
	case "batch-entry":
		c.it.entries[newqueue.BatchFolder(v.Params.Get("folder"))]++
	case "batch-lock", "job-lock", "request-lock", "storage-lock", "inventory-lock", "localid-lock":
		if strings.HasSuffix(n.Path, "/lock") {
			c.it.locked = n.Stat.EphemeralOwner != 0
		} else {
			c.finish() // the last job
		}
		c.report(c.heldLock(v))
	}
}

var isRoot = func() map[string]bool {
	of := map[string]bool{}
	for _, path := range newqueue.MrtZK.StartNodes() {
		of[path] = true
	}
	return of
}()

// finish checks the demands on an item after all its znodes have passed.
func (c *checker) finish() {
	it := c.it
	if it == nil {
		return
	}
	it.classify()
	switch {
	case it.isBatch():
		if id, ok := it.value("submission", "batchID").(string); ok {
			c.batchIDs[it.id] = id
		}
		if it.state == "Failed" && it.entries[newqueue.FolderProcessing] > 0 {
			c.failed[it.id] = &failed{}
		}
	case it.isJob():
		if id, ok := c.batchIDs[it.bid]; ok {
			it.batchID = id
		}
		c.profile(it)
		c.requeued(it)
		if ark, _ := it.value("identifiers", "primary_id").(string); it.state == "Storing" && it.locked {
			c.storing[newqueue.StorageLock(ark).Path(newqueue.MrtZK)] = it.path
		}
	}
	for _, v := range it.violations() {
		c.violated(v)
	}
	for d := range it.demands() {
		c.textNumber(d)
	}
	c.it = nil
}

// requeued counts an unfinished job of a Failed batch.
func (c *checker) requeued(it *item) {
	b := c.failed[it.bid]
	if b == nil || it.isDone() || it.state == "Failed" {
		return
	}
	b.jobs++
	if n, is := it.value("status", "retry_count").(json.Number); is && n != "0" {
		b.requeued++
	}
}

func (c *checker) violated(v Violation) {
	c.report(layout.Found{Rule: v.Demand.rule(), Path: v.Path, Expected: v.Demand.wanted(), Found: v.What + ": " + v.Then(), Severity: severityOf(v.Stop.Effect)})
}

// textNumber mentions a string that getLong of org.json takes for a number.
func (c *checker) textNumber(d *Demand) {
	if s, is := c.it.value(d.Node, d.Key).(string); is && d.Type.number && d.Type.ok(s) {
		c.report(layout.Found{Rule: d.rule(), Severity: layout.Info, Path: c.it.path + "/" + d.Node, Expected: d.wanted(),
			Found: fmt.Sprintf("%s is %q, a string: the services take it, other readers may not", d.Key, s)})
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
	c.missingRoots()
	c.failedBatches()
	if !c.profiles {
		return
	}
	d := demandOf("R30", OfJob)
	for _, path := range slices.Sorted(maps.Keys(c.without)) {
		c.violated(Violation{Demand: d, Path: path + "/" + d.Node, What: "profile is " + c.without[path] + ", and other jobs have one", Stop: d.stop()})
	}
}

// failedBatches checks the Failed batches with unfinished jobs.
func (c *checker) failedBatches() {
	d := &Demands[slices.IndexFunc(Demands, func(d Demand) bool { return d.ID == "R05" && d.Node == "status" })]
	for _, bid := range slices.Sorted(maps.Keys(c.failed)) {
		b, path := c.failed[bid], newqueue.BatchPath(bid)+"/status"
		if b.jobs > b.requeued {
			c.violated(Violation{Demand: d, Path: path, What: fmt.Sprintf("the batch is Failed, with unfinished jobs that were never requeued: %d", b.jobs-b.requeued), Stop: d.stop()})
		} else if b.jobs > 0 {
			c.report(layout.Found{Rule: d.rule(), Severity: layout.Info, Path: path, Expected: d.wanted(),
				Found: fmt.Sprintf("the batch is Failed, and jobs of it were requeued: %d. Update Reporting reports them when they are done", b.jobs)})
		}
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
		c.violated(Violation{Demand: demandOf("R01", OfTree), Path: path, What: "it isn't there", Stop: s})
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

// heldLock is the finding for a lock. An ephemeral one is only information, because a
// worker holds it while it works.
func (c *checker) heldLock(v layout.Visit) layout.Found {
	f := layout.Found{Rule: "R02/lock", Severity: layout.Warning, Path: v.Znode.Path, Expected: "a lock only while a service is running", Found: "a lock that outlives its session"}
	if slices.Contains([]string{"storage-lock", "inventory-lock", "localid-lock"}, v.Node.ID) { // on an object, not an item
		f.Rule = "R02"
	}
	if job := c.storing[v.Znode.Path]; job != "" {
		f.Severity, f.Found = layout.Info, "Store is at work on "+job
	}
	if owner := v.Znode.Stat.EphemeralOwner; owner != 0 {
		f.Severity, f.Found = layout.Info, fmt.Sprintf("a lock of session %#x", owner)
	}
	return f
}
