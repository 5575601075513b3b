package newqueue

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mrtq/internal/znode"
)

// batches reads every /batches/BID and the entries of its jobs.
func (c *checker) batches() {
	for _, bid := range c.children(BatchesPath, RuleName, "a batch's id (bid and ten digits)", isID(BatchPrefix)) {
		path := BatchPath(bid)
		var state BatchState
		c.properties(path, []property{
			{"submission", true, object(func(c *checker, path string, data []byte) {
				s, err := ParseSubmission(c.d, data)
				if err != nil {
					c.add(path, RuleContent, "%v", err)
					return
				}
				// encoding/json reads every Java string that is cut inside a
				// character as U+FFFD, so such strings can't be told apart
				// here.
				if !strings.ContainsRune(s.BatchID, utf8.RuneError) {
					c.batchIDs[bid] = s.BatchID
				}
			})},
			{"status", true, func(c *checker, path string, data []byte) { state = c.batchStatus(path, data) }},
			{"status-report", false, content(func(data []byte) (StatusReport, error) { return ParseStatusReport(c.d, data) })},
			{"lock", false, lockNode},
		}, "states")
		c.batchStates(bid, state)
	}
}

// batchStatus returns the state, "" if it could not be read.
func (c *checker) batchStatus(path string, data []byte) BatchState {
	s, err := ParseBatchStatus(c.d, data)
	if err != nil {
		c.add(path, RuleContent, "%v", err)
		return ""
	}
	c.statusTime(path, data, "last_modified")
	if !s.State.Known() {
		c.add(path, RuleState, "status %s: no batch's state in dialect %s", s.State, c.d)
		return ""
	}
	return s.State
}

// batchStates checks /batches/BID/states. A batch has none exactly while it is
// pending or held. If there are states, batch-processing must be there, because
// without it the batch is never reported.
func (c *checker) batchStates(bid string, state BatchState) {
	path := BatchStatesPath(bid)
	waiting := state == BatchPending || state == BatchHeld
	if c.tree.Get(path) == nil {
		if state != "" && !waiting && state != BatchDeleted {
			c.add(path, RuleStates, "the batch is %s and has no states: it looks pending to a worker", state)
		}
		return
	}
	if waiting {
		c.add(path, RuleStates, "the batch is %s and has states, so the client library will never take it: delete them while no worker has the batch; if jobs are in them, find out first who made those", state)
	}
	if processing := BatchFolderPath(bid, FolderProcessing); !waiting && c.tree.Get(processing) == nil {
		c.add(processing, RuleStates, "it must be there, even empty: without it the batch is never reported")
	}
	for _, folder := range c.children(path, RuleState, "one of "+fmt.Sprint(BatchFolders), oneOf(BatchFolders)) {
		for _, jid := range c.children(znode.Join(path, folder), RuleName, "a job's id (jid and ten digits)", isID(JobPrefix)) {
			entry := BatchEntryPath(bid, BatchFolder(folder), jid)
			c.leaf(entry)
			j := c.jobs[jid]
			if j == nil {
				c.add(entry, RuleOrphan, "job %s doesn't exist", jid)
				continue
			}
			if !j.read && j.bid != bid {
				c.add(entry, RuleBatchJob, "job %s belongs to batch %.40q", jid, j.bid)
			}
			j.batchEntries = append(j.batchEntries, entry)
		}
	}
}

// uuids checks that batch-uuids and the submissions agree, in both directions.
func (c *checker) uuids() {
	for _, name := range c.tree.Children(BatchUUIDsPath) {
		path := znode.Join(BatchUUIDsPath, name)
		c.leaf(path)
		bid := string(c.tree.Get(path).Data)
		uuid, ok := c.batchIDs[bid]
		switch {
		case !ok && c.tree.Get(BatchPath(bid)) == nil:
			c.add(path, RuleOrphan, "batch %.40q doesn't exist", bid)
		case !ok: // its submission is missing or can't be read: reported there
		case uuid == "" || BatchUUIDPath(uuid) != path:
			c.add(path, RuleUUID, "the submission of batch %s says batchID %.80q", bid, uuid)
		}
	}
	for bid, uuid := range c.batchIDs {
		if uuid == "" {
			continue
		}
		path := BatchUUIDPath(uuid)
		n := c.tree.Get(path)
		switch {
		case n == nil:
			c.add(path, RuleMissing, "batch %s has this UUID and can't be found by it", bid)
		case string(n.Data) != bid:
			c.add(path, RuleUUID, "it says %.40q, but batch %s has this UUID", n.Data, bid)
		}
	}
}

// access reads /access/QUEUE/QID.
func (c *checker) access() {
	for _, q := range c.children(AccessPath, RuleName, "small or large", oneOf(AccessQueues)) {
		queue := AccessQueuePath(AccessQueue(q))
		for _, qid := range c.children(queue, RuleName, "a request's id (qid and ten digits)", isID(AccessPrefix)) {
			c.properties(znode.Join(queue, qid), []property{
				{"token", true, object(content(ParseObject))},
				{"status", true, (*checker).accessStatus},
				{"lock", false, lockNode},
			})
		}
	}
}

func (c *checker) accessStatus(path string, data []byte) {
	s, err := ParseAccessStatus(c.d, data)
	if err != nil {
		c.add(path, RuleContent, "%v", err)
		return
	}
	c.statusTime(path, data, "last_modified")
	if !s.State.Known() {
		c.add(path, RuleState, "status %s: no access request's state in dialect %s", s.State, c.d)
	}
}

// locks reads /locks. In the client library a storage lock outlives its
// session, and local ids are in another place (docs/new-layout.md, "Two
// dialects").
func (c *checker) locks() {
	places := []struct {
		folder    string
		ephemeral bool
	}{
		{StorageLocksPath, c.d.storageLocksEphemeral()},
		{InventoryLocksPath, true},
		{CollectionLocksPath, false},
		{c.d.LocalIDLocksPath(), true},
	}
	folders := []string{"queue"}
	for _, p := range places {
		if znode.Parent(p.folder) == LocksPath {
			folders = append(folders, znode.Name(p.folder))
		}
		for _, name := range c.tree.Children(p.folder) {
			path := znode.Join(p.folder, name)
			c.leaf(path)
			c.lockKind(path, p.ephemeral)
		}
	}
	slices.Sort(folders)
	c.children(LocksPath, RuleName, "one of "+fmt.Sprint(folders), oneOf(folders))

	for _, name := range c.children(QueueLocksPath, RuleName, "a hold on a queue: "+fmt.Sprint(QueueHolds), func(name string) bool {
		return slices.Contains(QueueHolds, QueueHold(name)) || znode.Join(QueueLocksPath, name) == c.d.LocalIDLocksPath()
	}) {
		if path := znode.Join(QueueLocksPath, name); path != c.d.LocalIDLocksPath() {
			c.leaf(path)
			c.lockKind(path, false)
		}
	}
}
