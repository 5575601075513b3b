package services

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// checker checks the requirements on a tree's items while their znodes pass, one item
// after the other.
type checker struct {
	report   func(layout.Finding, string)
	it       *Item             // the item whose znodes pass
	roots    map[string]bool   // the nodes that the services create when they start: whether they are there
	batchIDs map[string]string // of submissions, by BID
	storage  storageLocks
}

// newChecker returns the code that checks the requirements, one znode after the
// other. It passes each violation to report. In memory it keeps the batchID of every
// batch.
func newChecker(report func(layout.Finding, string)) layout.GoRules {
	c := &checker{report: report, roots: map[string]bool{}, batchIDs: map[string]string{}, storage: newStorageLocks()}
	for _, path := range newqueue.MrtZK.StartNodes() {
		c.roots[path] = false
	}
	return layout.GoRules{Visit: c.visit, Done: c.done}
}

func (c *checker) visit(v layout.Visit) {
	n := v.Znode
	if _, is := c.roots[n.Path]; is {
		c.roots[n.Path] = true
	}
	switch v.Node.ID {
	case "batch", "job", "request":
		c.finish()
		c.it = &Item{Path: n.Path, Objects: map[string]newqueue.Object{}, entries: map[newqueue.BatchFolder]int{}}
	case "batch-submission", "batch-status", "job-status", "job-configuration", "job-identifiers", "job-metadata", "job-inventory", "job-store", "request-token", "request-status":
		o, ok := v.Value.(newqueue.Object) // as the map's codec read it
		if !ok {
			o, _ = newqueue.ParseObject(n.Data)
		}
		if v.Node.ID == "job-status" {
			c.it.changed = n.Stat.Mtime
		}
		if c.it.Objects[znode.Name(n.Path)] = o; len(n.Data) == 0 {
			c.it.empty = append(c.it.empty, znode.Name(n.Path))
		}
		if hasUnpaired(n.Data) {
			c.it.unpaired = append(c.it.unpaired, znode.Name(n.Path))
		}
	case "job-bid":
		c.it.bid = string(n.Data)
	case "batch-states":
		c.it.hasStates = true
	case "batch-entry":
		c.it.entries[newqueue.BatchFolder(v.Params.Get("folder"))]++
	case "batch-lock", "job-lock", "request-lock":
		c.it.locked, c.it.lockedAt = n.Stat.EphemeralOwner != 0, n.Stat.Czxid
		c.heldLock("R02/lock", n)
	case "storage-lock", "inventory-lock", "localid-lock": // on an object, not an item
		if v.Node.ID == "storage-lock" && n.Stat.EphemeralOwner == 0 {
			c.storage.locks = append(c.storage.locks, n)
			return
		}
		c.heldLock("R02", n)
	}
}

func (c *checker) finish() {
	it := c.it
	if it == nil {
		return
	}
	it.classify()
	switch {
	case it.isBatch():
		if id, ok := it.value("submission", "batchID").(string); ok {
			c.batchIDs[znode.Name(it.Path)] = id
		}
	case it.isJob():
		if id, ok := c.batchIDs[it.bid]; ok {
			it.BatchID = id
		}
		c.storage.job(it)
	}
	for _, v := range it.violations() {
		c.violated(v)
	}
	c.it = nil
}

func (c *checker) violated(v Violation) {
	c.report(layout.Finding{Rule: v.Requirement.rule(), Path: v.Path, Expected: v.Requirement.wanted(), Found: v.What + ": " + v.Stop.String(), Severity: severityOf(v.Stop.Effect)}, "")
}

func (c *checker) done(now time.Time) {
	c.finish()
	for _, n := range c.storage.locks {
		severity, found := c.storage.judge(n, now)
		c.report(layout.Finding{Rule: "R02", Severity: severity, Path: n.Path, Expected: "a lock only while a service is running", Found: found}, "")
	}
	c.missingRoots()
}

// missingRoots: the services create these nodes when they start (Job.initNodes,
// Access.initNodes, MerrittLocks.initLocks), and don't check later: if the
// folder of a lock is missing, the lock methods report that another client holds
// the lock.
func (c *checker) missingRoots() {
	for path, there := range c.roots {
		if there {
			continue
		}
		s, ok := withoutRoot[path]
		if !ok { // a state's queue
			s = Stop{cmp.Or(Worker(newqueue.JobState(znode.Name(path)), ""), Initialize), NotFound}
		}
		c.violated(Violation{Requirement: requirementOf("R01"), Path: path, What: "it isn't there", Stop: s})
	}
}

var withoutRoot = map[string]Stop{
	newqueue.BatchesPath: {BatchReport, StopsReports}, newqueue.BatchUUIDsPath: {BatchReport, ReportLost},
	newqueue.AccessPath: {Access, StopsQueue}, newqueue.AccessQueuePath(newqueue.AccessSmall): {Access, StopsQueue}, newqueue.AccessQueuePath(newqueue.AccessLarge): {Access, StopsQueue},
	newqueue.LocksPath: {Store, Waits}, newqueue.StorageLocksPath: {Store, Waits}, newqueue.MrtZK.LocalIDLocksPath(): {Process, Waits},
	newqueue.InventoryLocksPath: {Inventory, Fails}, newqueue.QueueLocksPath: {Admin, BreaksPage}, newqueue.CollectionLocksPath: {Admin, BreaksPage},
}

func requirementOf(rule string) *Requirement {
	return &Requirements[slices.IndexFunc(Requirements, func(d Requirement) bool { return d.rule() == rule })]
}

// heldLock reports a lock. An ephemeral one is only information, because a worker holds it
// while it works.
func (c *checker) heldLock(rule string, n znode.Node) {
	f := layout.Finding{Rule: rule, Severity: layout.Error, Path: n.Path, Expected: "a lock only while a service is running", Found: "a lock that outlives its session"}
	if owner := n.Stat.EphemeralOwner; owner != 0 {
		f.Severity, f.Found = layout.Info, fmt.Sprintf("a lock of session %#x", owner)
	}
	c.report(f, "")
}
