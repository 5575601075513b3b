package services

import (
	"regexp"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// rootNodes: the services create these nodes when they start (Job.initNodes,
// Access.initNodes, MerrittLocks.initLocks), and don't check later: if the
// folder of a lock is missing, the lock methods report that another client holds
// the lock.
func rootNodes(c *checker, _ *Demand, _ *item) []fault {
	return missingRoots(func(path string) bool { return c.tree.Get(path) != nil })
}

func missingRoots(there func(path string) bool) []fault {
	stop := map[string]Stop{
		newqueue.BatchesPath: {BatchReport, StopsReports}, newqueue.BatchUUIDsPath: {BatchReport, ReportLost},
		newqueue.AccessPath: {Access, StopsQueue}, newqueue.AccessQueuePath(newqueue.AccessSmall): {Access, StopsQueue}, newqueue.AccessQueuePath(newqueue.AccessLarge): {Access, StopsQueue},
		newqueue.LocksPath: {Store, Waits}, newqueue.StorageLocksPath: {Store, Waits}, newqueue.MrtZK.LocalIDLocksPath(): {Process, Waits},
		newqueue.InventoryLocksPath: {Inventory, Fails}, newqueue.QueueLocksPath: {Admin, BreaksPage}, newqueue.CollectionLocksPath: {Admin, BreaksPage},
	}
	var faults []fault
	for _, path := range newqueue.MrtZK.StartNodes() {
		if there(path) {
			continue
		}
		s, ok := stop[path]
		if !ok { // a state's queue
			s = Stop{Worker(newqueue.JobState(znode.Name(path)), ""), NotFound}
		}
		if s.Daemon == "" {
			s = Stop{Initialize, NotFound}
		}
		faults = append(faults, fault{path, "it isn't there", &s})
	}
	return faults
}

// objectLocks: the lock on an object in storage is persistent, so it stays when
// its holder dies. The others end with the session that took them.
func objectLocks(c *checker, _ *Demand, _ *item) []fault {
	var faults []fault
	for folder, stop := range map[string]Stop{
		newqueue.StorageLocksPath:         {Store, Waits},
		newqueue.InventoryLocksPath:       {Inventory, Fails},
		newqueue.MrtZK.LocalIDLocksPath(): {Process, Waits},
	} {
		for _, name := range c.tree.Children(folder) {
			faults = append(faults, fault{znode.Join(folder, name), "a lock is left here", &stop})
		}
	}
	return faults
}

func names(c *checker, _ *Demand, _ *item) []fault {
	var faults []fault
	for path, want := range map[string]*regexp.Regexp{
		newqueue.BatchesPath: regexp.MustCompile(`^bid\d+$`), newqueue.JobsPath: regexp.MustCompile(`^(jid\d+|states)$`),
	} {
		for _, name := range c.tree.Children(path) {
			if !want.MatchString(name) {
				faults = append(faults, fault{path: znode.Join(path, name), what: "want a name such as " + strings.TrimSuffix(want.String()[1:], "$")})
			}
		}
	}
	return faults
}

// strayUUIDs: an entry must name the batch that has the entry's name as batchID.
// The library removes no other entry with the batch.
func strayUUIDs(c *checker, _ *Demand, _ *item) []fault {
	var faults []fault
	for _, name := range c.tree.Children(newqueue.BatchUUIDsPath) {
		path := znode.Join(newqueue.BatchUUIDsPath, name)
		bid := string(dataOf(c.tree, path))
		if bid == "" || strings.Contains(bid, "/") || c.tree.Get(newqueue.BatchPath(bid)) == nil {
			faults = append(faults, fault{path: path, what: "it names " + show(bid) + ", which is no batch"})
		} else if id, known := c.batchIDs[bid]; known && id != name {
			faults = append(faults, fault{path: path, what: "it names " + bid + ", whose batchID is " + show(id)}.by(Cleanup, NeverCleaned))
		}
	}
	return faults
}

func strayEntries(c *checker, _ *Demand, _ *item) []fault {
	var faults []fault
	for jid, entries := range c.queued {
		if jid != "" && c.tree.Get(newqueue.JobPath(jid)) != nil {
			continue
		}
		for _, e := range entries {
			faults = append(faults, fault{path: e, what: "it stands for no job"})
		}
	}
	return faults
}

// strayBatchEntries: the report and the cleanup load every job that has an entry
// below a batch.
func strayBatchEntries(c *checker, _ *Demand, _ *item) []fault {
	var faults []fault
	for jid, entries := range c.inBatch {
		if c.tree.Get(newqueue.JobPath(jid)) != nil {
			continue
		}
		for _, e := range entries {
			f := fault{path: e, what: "it stands for no job"}
			folder := znode.Parent(e)
			batch := c.batches[znode.Parent(znode.Parent(folder))]
			switch {
			case znode.Name(folder) == string(newqueue.FolderProcessing):
				f = f.by(BatchReport, NeverReported)
			case znode.Name(folder) == string(newqueue.FolderDeleted), batch != nil && (batch.isDone() || batch.state == "Failed"):
				f = f.by(Cleanup, NeverCleaned)
			default:
				f = f.by(BatchReport, ReportLost)
			}
			faults = append(faults, f)
		}
	}
	return faults
}
