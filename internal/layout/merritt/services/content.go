package services

import (
	"fmt"
	"slices"
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

// present: the node exists and holds something.
func present(d *Demand, it *item) []fault {
	if it.node(d.Node) == nil {
		return one(it.path+"/"+d.Node, "it isn't there")
	}
	return filledIfThere(d, it)
}

// filledIfThere: the node is not empty. The layout states that it exists.
func filledIfThere(d *Demand, it *item) []fault {
	if n := it.node(d.Node); n != nil && n.empty {
		return one(it.path+"/"+d.Node, "it is empty")
	}
	return nil
}

// submitted: the report reads the submission of an open batch, and the cleanup that of any.
func submitted(d *Demand, it *item) []fault {
	faults := filledIfThere(d, it)
	for i := range faults {
		if it.isDone() {
			faults[i] = faults[i].by(Cleanup, NeverCleaned)
		}
	}
	return faults
}

// configured: from Provision on, the daemons catch what Initialize and Estimate don't.
func configured(d *Demand, it *item) []fault {
	faults := filledIfThere(d, it)
	if it.stop(d).Effect != Harmless {
		return faults
	}
	for i := range faults {
		faults[i] = faults[i].by(Admin, BreaksPage)
		for _, next := range slices.Backward(onTheWay(it.worker)) {
			if slices.Contains(ingest, next) {
				faults[i] = faults[i].by(next, Fails)
			}
		}
	}
	return faults
}

// objectIfThere: the Java library reads an empty node as an empty object. The
// Ruby library fails on it. The layout states that any other holds an object.
func objectIfThere(d *Demand, it *item) []fault {
	if n := it.node(d.Node); n != nil && n.empty {
		return []fault{fault{path: it.path + "/" + d.Node, what: "it is empty"}.by(Admin, BreaksPage)}
	}
	return nil
}

// lockable: Process locks each local id by a znode whose name it is in. ZooKeeper refuses some
// characters, such as emoji, and Process tries again for ever. Others are escaped before:
// see [garbled]. It locks none if the object has its primary id.
func lockable(d *Demand, it *item) (faults []fault) {
	if filled.ok(it.value(d.Node, "primary_id")) {
		return nil
	}
	for _, id := range stringsIn(it.value(d.Node, "local_id")) {
		name := strings.Map(func(r rune) rune {
			if r == '/' || r < ' ' || r >= 0x80 && r < 0xa0 {
				return '_'
			}
			return r
		}, id)
		if znode.ValidatePath("/"+name+"_owner") != nil {
			faults = append(faults, fault{path: it.path + "/" + d.Node, what: fmt.Sprintf("local id %.80q can't be part of a znode's name", id)})
		}
	}
	return faults
}

func stringValues(d *Demand, it *item) []fault {
	var faults []fault
	o, _ := it.object(d.Node).(newqueue.Object)
	for key, v := range o {
		if !isText(v) {
			faults = append(faults, fault{path: it.path + "/" + d.Node, what: key + " is " + show(v) + ": expected a string"})
		}
	}
	return faults
}

// agreesUnfinished leaves out Failed batches, of which [checker.failed] also looks at the jobs.
func agreesUnfinished(d *Demand, it *item) []fault {
	n := it.entries[newqueue.FolderProcessing]
	waits := (it.state == "Pending" || it.state == "Held") && it.hasStates
	if it.planned || n == 0 && !waits || slices.Contains([]string{"", "Processing", "Reporting", "Failed"}, it.state) {
		return nil
	}
	return one(it.path+"/"+d.Node, "the batch is %s, with unfinished jobs: %d", it.state, n)
}

func agreesFailed(d *Demand, it *item) []fault {
	if n := it.entries[newqueue.FolderFailed]; n > 0 && it.isDone() {
		return one(it.path+"/"+d.Node, "the batch is %s and has %d failed jobs", it.state, n)
	}
	return nil
}

// nameable: the mail handler finds the batch by its batchID. A plan names such a batch
// in a problem of its own.
func nameable(d *Demand, it *item) []fault {
	id, _ := it.value(d.Node, "batchID").(string)
	if it.planned || id == "" || strings.Contains(id, "/") || newqueue.CheckBatchID(id) == nil { // R06 says what is wrong with a slash
		return nil
	}
	return one(it.path+"/"+d.Node, "batchID is %s: no znode can have this name, and the batch can't be found by it", show(id))
}

// batchID: the daemons find the job's directory by it, in HOME/queue/batchID.
func batchID(d *Demand, it *item) []fault {
	o := it.object(d.Node)
	if o == nil {
		return nil
	}
	id, _ := o.Value("batchID")
	if !batchFolder.ok(id) {
		return one(it.path+"/"+d.Node, "batchID is %s: expected %s", show(id), batchFolder.Words)
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
	return one(it.path+"/"+d.Node, "digestType is %s, and there is a digestValue: expected one of %s", show(it.value(d.Node, "digestType")), strings.Join(digests, ", "))
}

// plainFilename: Download looks for a manifest with a digest by its whole filename. Initialize
// looks for the part behind the last slash, which is what the depositor's side sent.
func plainFilename(d *Demand, it *item) []fault {
	text := func(key string) string {
		s, _ := it.value(d.Node, key).(string)
		return s
	}
	if text("type") != "manifest" || text("digestType") == "" || text("digestValue") == "" || !strings.Contains(text("filename"), "/") {
		return nil
	}
	return one(it.path+"/"+d.Node, "filename is %s, with a slash, and it is a manifest with a digest", show(text("filename")))
}

func profiles(d *Demand, it *item) []fault {
	profile := it.value(d.Node, "profile")
	if it.object(d.Node) == nil || !it.profiles || isText(profile) {
		return nil
	}
	return one(it.path+"/"+d.Node, "profile is %s, and other jobs have one", show(profile))
}
