package services

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

func one(path, format string, args ...any) []fault {
	return []fault{{path: path, what: fmt.Sprintf(format, args...)}}
}

func (f fault) by(d Daemon, e Effect) fault {
	f.stop = &Stop{d, e}
	return f
}

func locked(c *checker, d *Demand, it *item) []fault {
	if path := it.path + "/" + d.Node; c.tree.Get(path) != nil {
		return one(path, "a lock is left on it")
	}
	return nil
}

// object: the node exists and holds a JSON object.
func object(d *Demand, it *item) []fault {
	switch n := it.node(d.Node); {
	case n == nil:
		return one(it.path+"/"+d.Node, "it isn't there")
	case n.bad != "":
		return one(it.path+"/"+d.Node, "%s", n.bad)
	}
	return nil
}

// present: the node exists and holds something.
func present(d *Demand, it *item) []fault {
	switch n := it.node(d.Node); {
	case n == nil:
		return one(it.path+"/"+d.Node, "it isn't there")
	case n.empty:
		return one(it.path+"/"+d.Node, "it is empty")
	}
	return nil
}

// objectIfThere: the Java library reads an empty node as an empty object. The
// Ruby library fails on it.
func objectIfThere(d *Demand, it *item) []fault {
	switch n := it.node(d.Node); {
	case n == nil || n.bad == "":
		return nil
	case n.empty:
		return []fault{fault{path: it.path + "/" + d.Node, what: "it is empty"}.by(Admin, BreaksPage)}
	default:
		return one(it.path+"/"+d.Node, "%s", n.bad)
	}
}

func stringValues(d *Demand, it *item) []fault {
	var faults []fault
	o, _ := it.object(d.Node).(newqueue.Object)
	for key, v := range o {
		if !isText(v) {
			faults = append(faults, fault{path: it.path + "/" + d.Node, what: key + " is " + show(v) + ": want a string"})
		}
	}
	return faults
}

// hasStates: a batch without states is a submission that waits for its jobs to
// be created. That is right for a pending or held batch without jobs.
func hasStates(c *checker, d *Demand, it *item) []fault {
	path := it.path + "/" + d.Node
	waiting := (it.state == "Pending" || it.state == "Held") && c.jobs(it.id) == 0
	if c.tree.Get(path) != nil || waiting {
		return nil
	}
	return one(path, "it isn't there: the batch looks like a new submission")
}

func hasProcessing(c *checker, d *Demand, it *item) []fault {
	if path := it.path + "/" + d.Node; c.tree.Get(newqueue.BatchStatesPath(it.id)) != nil && c.tree.Get(path) == nil {
		return one(path, "it isn't there")
	}
	return nil
}

func agreesUnfinished(c *checker, d *Demand, it *item) []fault {
	n := c.entryCount(it.id, newqueue.FolderProcessing)
	if n == 0 && (it.state != "Pending" && it.state != "Held" || c.tree.Get(newqueue.BatchStatesPath(it.id)) == nil) {
		return nil
	}
	if it.state == "" || it.state == "Processing" || it.state == "Reporting" {
		return nil
	}
	return one(it.path+"/"+d.Node, "the batch is %s and has %d unfinished jobs", it.state, n)
}

func agreesFailed(c *checker, d *Demand, it *item) []fault {
	if n := c.entryCount(it.id, newqueue.FolderFailed); n > 0 && it.isDone() {
		return one(it.path+"/"+d.Node, "the batch is %s and has %d failed jobs", it.state, n)
	}
	return nil
}

// uuid: the mail handler finds the batch by its batchID.
func uuid(c *checker, _ *Demand, it *item) []fault {
	id, ok := it.value("submission", "batchID").(string)
	if !ok || id == "" || strings.Contains(id, "/") {
		return nil // R06 says so
	}
	if newqueue.CheckBatchID(id) != nil {
		return one(it.path+"/submission", "batchID is %s: no znode can have this name, and the batch can't be found by it", show(id))
	}
	path := newqueue.BatchUUIDPath(id)
	switch n := c.tree.Get(path); {
	case n == nil:
		return one(path, "it isn't there, and the batch can't be found by its batchID")
	case string(n.Data) != it.id:
		return one(path, "it names %s, but %s has this batchID", show(string(n.Data)), it.id)
	}
	return nil
}

func bid(c *checker, d *Demand, it *item) []fault {
	path := it.path + "/" + d.Node
	n := c.tree.Get(path)
	if n == nil {
		return one(path, "it isn't there")
	}
	id := string(n.Data)
	if id == "" || strings.Contains(id, "/") || c.tree.Get(newqueue.BatchPath(id)) == nil {
		return one(path, "there is no batch %s", show(id))
	}
	if c.tree.Get(newqueue.BatchStatesPath(id)) == nil {
		return one(path, "batch %s has no states, where the job's entry would be", id)
	}
	return nil
}

func decimal(c *checker, path string) (int64, []fault) {
	n := c.tree.Get(path)
	if n == nil {
		return 0, one(path, "it isn't there")
	}
	number, err := newqueue.ParseNumber(n.Data)
	if err != nil {
		return 0, one(path, "%v", err)
	}
	return number, nil
}

func priority(c *checker, d *Demand, it *item) []fault {
	path := it.path + "/" + d.Node
	n, faults := decimal(c, path)
	if faults == nil && n > 99 {
		// An entry's name is cut at a fixed three characters.
		return []fault{fault{path: path, what: fmt.Sprintf("it is %d: want 0 to 99", n)}.by(it.worker, NotFound)}
	}
	return faults
}

func spaceNeeded(c *checker, d *Demand, it *item) []fault {
	_, faults := decimal(c, it.path+"/"+d.Node)
	return faults
}

// queueEntry: a worker finds a job only by its entry, and stops at an entry
// that disagrees with its job's status.
func queueEntry(c *checker, _ *Demand, it *item) []fault {
	state := stateOf(it.state)
	number, err := strconv.Atoi(string(dataOf(c.tree, it.path+"/priority")))
	if state == "" || err != nil || number < 0 || number > 99 {
		return nil // another row reports it
	}
	want := newqueue.JobEntryPath(state, number, it.id)
	var faults []fault
	for _, e := range c.queued[it.id] {
		if e == want {
			continue
		}
		f := fault{path: e, what: fmt.Sprintf("%s is %s with priority %d", it.id, it.state, number)}
		switch d := Worker(newqueue.JobState(znode.Name(znode.Parent(e))), ""); {
		case znode.Parent(e) == newqueue.JobStatePath(newqueue.JobHeld), znode.Parent(e) == newqueue.JobStatePath(newqueue.JobFailed), d == "":
			f = f.by(Admin, BreaksPage)
		case d == Inventory:
			f = f.by(d, Stuck)
		default:
			f = f.by(d, StopsQueue)
		}
		faults = append(faults, f)
	}
	if !slices.Contains(c.queued[it.id], want) {
		f := fault{path: want, what: fmt.Sprintf("it isn't there, and %s is %s", it.id, it.state)}.by(it.worker, NotFound)
		if it.worker == "" || it.state == "Held" || it.state == "Failed" {
			f = f.by(Admin, BreaksPage)
		}
		faults = append(faults, f)
	}
	return faults
}

func batchEntry(c *checker, _ *Demand, it *item) []fault {
	state := stateOf(it.state)
	id := string(dataOf(c.tree, it.path+"/bid"))
	if state == "" || id == "" || strings.Contains(id, "/") {
		return nil
	}
	want := newqueue.BatchEntryPath(id, state.Folder(), it.id)
	var faults []fault
	for _, e := range c.inBatch[it.id] {
		if e == want {
			continue
		}
		f := fault{path: e, what: fmt.Sprintf("%s is %s, in batch %s", it.id, it.state, id)}.by(BatchReport, ReportsWrong)
		if znode.Name(znode.Parent(e)) == string(newqueue.FolderProcessing) {
			f = f.by(BatchReport, NeverReported)
		}
		faults = append(faults, f)
	}
	if !slices.Contains(c.inBatch[it.id], want) {
		f := fault{path: want, what: fmt.Sprintf("it isn't there, and %s is %s", it.id, it.state)}.by(BatchReport, ReportsWrong)
		if state.Folder() == newqueue.FolderProcessing {
			f = f.by(BatchReport, ReportsEarly)
		}
		faults = append(faults, f)
	}
	return faults
}

// configuration: the services load a job whose configuration is missing or
// empty. Then Initialize and Estimate throw an exception that they don't catch.
func configuration(d *Demand, it *item) []fault {
	switch n := it.node(d.Node); {
	case n == nil:
		return one(it.path+"/"+d.Node, "it isn't there")
	case n.empty:
		return one(it.path+"/"+d.Node, "it is empty")
	case n.bad != "":
		return []fault{{path: it.path + "/" + d.Node, what: n.bad, stop: new(it.first(loadedBy(StopsQueue)))}}
	}
	return nil
}

// batchID: the daemons find the job's directory by it, in HOME/queue/batchID.
func batchID(d *Demand, it *item) []fault {
	o := it.object(d.Node)
	if o == nil {
		return nil
	}
	id, _ := o.Value("batchID")
	if !batchFolder.ok(id) {
		return one(it.path+"/"+d.Node, "batchID is %s: want %s", show(id), batchFolder.Words)
	}
	if it.batchID != nil && it.batchID != id {
		return one(it.path+"/"+d.Node, "batchID is %s, and its batch has %s", show(id), show(it.batchID))
	}
	return nil
}

// packageKind: Initialize accepts the types of whole batches, too. Estimate is
// the first that does not.
func packageKind(d *Demand, it *item) []fault {
	faults := it.keyFaults(d)
	if kind, _ := it.value(d.Node, d.Key).(string); len(faults) > 0 && it.worker == Initialize && slices.Contains(batchTypes, kind) {
		faults[0] = faults[0].by(Estimate, Fails)
	}
	return faults
}

func digestType(d *Demand, it *item) []fault {
	value, _ := it.value(d.Node, "digestValue").(string)
	kind, _ := it.value(d.Node, "digestType").(string)
	if value == "" || slices.Contains(digests, kind) {
		return nil
	}
	return one(it.path+"/"+d.Node, "digestType is %s, and there is a digestValue: want one of %s", show(it.value(d.Node, "digestType")), strings.Join(digests, ", "))
}

func profiles(d *Demand, it *item) []fault {
	profile := it.value(d.Node, "profile")
	if it.object(d.Node) == nil || !it.profiles || isText(profile) {
		return nil
	}
	return one(it.path+"/"+d.Node, "profile is %s, and other jobs have one", show(profile))
}
