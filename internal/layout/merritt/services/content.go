package services

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

func one(format string, args ...any) []fault { return []fault{{what: fmt.Sprintf(format, args...)}} }

func keyFaults(d *Requirement, it *Item) []fault {
	o := it.Objects[d.Node]
	if o == nil || d.Key == "" {
		return nil // another row reports it, or the whole tree decides
	}
	switch v, there := o[d.Key]; {
	case !there && d.Optional:
	case !there:
		return one("it has no %s: expected %s", d.Key, d.Type.Words)
	case !d.Type.ok(v):
		return one("%s is %s: expected %s", d.Key, newqueue.JSONText(v), d.Type.Words)
	}
	return nil
}

// present: the node exists and holds something.
func present(d *Requirement, it *Item) []fault {
	if _, there := it.Objects[d.Node]; !there {
		return one("it isn't there")
	}
	return filledIfThere(d, it)
}

// filledIfThere: the node is not empty. The Java library reads an empty node as an empty
// object, and the Ruby library fails on it. The layout states that the node exists, and that
// any other holds an object.
func filledIfThere(d *Requirement, it *Item) []fault {
	if slices.Contains(it.empty, d.Node) {
		return one("it is empty")
	}
	return nil
}

// lockable: Process locks each local id by a znode whose name it is in. ZooKeeper refuses some
// characters, such as emoji, and Process tries again for ever. Others are escaped before:
// see [garbled]. It locks none if the object has its primary id.
func lockable(d *Requirement, it *Item) (faults []fault) {
	if it.text(d.Node, "primary_id") != "" {
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
			faults = append(faults, one("local id %.80q can't be part of a znode's name", id)...)
		}
	}
	return faults
}

// agreesUnfinished: the report waits for unfinished jobs only in these states of the batch. That of a Failed
// one waits for an administrator.
func agreesUnfinished(d *Requirement, it *Item) []fault {
	n := it.entries[newqueue.FolderProcessing]
	waits := (it.state == "Pending" || it.state == "Held") && it.hasStates
	if it.planned || n == 0 && !waits || slices.Contains([]string{"", "Processing", "Reporting"}, it.state) {
		return nil
	}
	faults := one("the batch is %s, with unfinished jobs: %d", it.state, n)
	if it.state == "Failed" {
		faults[0].stop = &Stop{Admin, UpdatesReport}
	}
	return faults
}

func agreesFailed(d *Requirement, it *Item) []fault {
	if n := it.entries[newqueue.FolderFailed]; n > 0 && it.isDone() {
		return one("the batch is %s and has %d failed jobs", it.state, n)
	}
	return nil
}

// nameable: the mail handler finds the batch by its batchID.
func nameable(d *Requirement, it *Item) []fault {
	id := it.text(d.Node, "batchID")
	if id == "" || newqueue.CheckBatchID(id) == nil {
		return nil
	}
	return one("batchID is %s: no znode can have this name, and the batch can't be found by it", newqueue.JSONText(id))
}

// batchID: the daemons find the job's directory by it, in HOME/queue/batchID.
func batchID(d *Requirement, it *Item) []fault {
	id := it.value(d.Node, "batchID")
	switch {
	case it.Objects[d.Node] == nil:
	case !batchFolder.ok(id):
		return one("batchID is %s: expected %s", newqueue.JSONText(id), batchFolder.Words)
	case it.BatchID != nil && it.BatchID != id && !isLater(it.BatchID, id):
		return one("batchID is %s, and its batch has %s", newqueue.JSONText(id), newqueue.JSONText(it.BatchID))
	}
	return nil
}

// isLater reports whether a batch has one of the names NAME-2, NAME-3 … of a batchID: its records came late, and their payloads are in the folder of the
// batchID (docs/life.md, "Follow").
func isLater(batch, batchID any) bool {
	name, _ := batch.(string)
	id, _ := batchID.(string)
	n, ok := strings.CutPrefix(name, id+"-")
	number, err := strconv.Atoi(n)
	return ok && err == nil && number > 1 && strconv.Itoa(number) == n
}

// packageKind: Initialize accepts the types of whole batches, too. Estimate is
// the first that does not.
func packageKind(d *Requirement, it *Item) []fault {
	faults := keyFaults(d, it)
	if len(faults) > 0 && it.worker == Initialize && slices.Contains(batchTypes, it.text(d.Node, d.Key)) {
		faults[0].stop = &Stop{Estimate, Fails}
	}
	return faults
}

func digestType(d *Requirement, it *Item) []fault {
	if it.text(d.Node, "digestValue") == "" || slices.Contains(digests, it.text(d.Node, "digestType")) {
		return nil
	}
	return one("digestType is %s, and there is a digestValue: expected one of %s", newqueue.JSONText(it.value(d.Node, "digestType")), strings.Join(digests, ", "))
}

// plainFilename: Download looks for a manifest with a digest by its whole filename. Initialize
// looks for the part behind the last slash, which is what the depositor's side sent.
func plainFilename(d *Requirement, it *Item) []fault {
	name := it.text(d.Node, "filename")
	if it.text(d.Node, "type") != "manifest" || it.text(d.Node, "digestType") == "" || it.text(d.Node, "digestValue") == "" || !strings.Contains(name, "/") {
		return nil
	}
	return one("filename is %s, with a slash, and it is a manifest with a digest", newqueue.JSONText(name))
}
