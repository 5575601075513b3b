package migrate

import (
	"context"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Once a queue is released, its workers change what the migration made. This file
// tells what they did from damage: it takes it out of the differences. While the
// queues are held, nobody should work, and every change is a difference.

// WorkedOn is what workers did since the queues were released.
type WorkedOn struct {
	Jobs     int `json:"jobs"`     // jobs and requests at work, or worked on
	Finished int `json:"finished"` // done and cleaned
	Batches  int `json:"batches"`
	// First names the first of the jobs and requests, with their states.
	First []WorkedJob `json:"first"`
}

// WorkedJob is a job or request that a worker has changed.
type WorkedJob struct {
	Path  string `json:"path"`
	State string `json:"state"`
}

// mostWorked is how many of them are named.
const mostWorked = 1000

// None reports whether nobody worked.
func (w WorkedOn) None() bool { return w.Jobs+w.Finished+w.Batches == 0 }

// workersWrite are the znodes below a job, request or batch that workers and
// administrators write in the course of things. All else stays as it was made.
var workersWrite = map[string]bool{
	"status": true, "lock": true, "priority": true, "space_needed": true, "identifiers": true, "metadata": true, "inventory": true,
	"status-report": true, "states": true, "store": true,
}

// released notes the holds that were lifted after the newest run was done. It
// reports whether any was.
func (v *verifier) released() bool {
	run, ok := v.target.newest()
	if !ok || run.State != RunDone {
		return false
	}
	v.dropDifferences(func(d Difference) bool {
		lifted := d.Kind == NodeMissing && znode.Parent(d.Path) == newqueue.QueueLocksPath &&
			slices.Contains(newqueue.QueueHolds, newqueue.QueueHold(znode.Name(d.Path)))
		if lifted {
			v.verdict.Released = append(v.verdict.Released, d.Path)
		}
		return lifted
	})
	return len(v.verdict.Released) > 0
}

func (v *verifier) dropDifferences(drop func(Difference) bool) {
	v.verdict.Differences = slices.DeleteFunc(v.verdict.Differences, drop)
}

// isReleased reports whether a queue's workers may be at work.
func (v *verifier) isReleased(owner string) bool {
	holds := []newqueue.QueueHold{newqueue.HoldIngest}
	if znode.Within(owner, newqueue.AccessPath) { // each worker takes requests of both sizes
		holds = []newqueue.QueueHold{newqueue.HoldAccessSmall, newqueue.HoldAccessLarge}
	}
	return slices.ContainsFunc(holds, func(h newqueue.QueueHold) bool {
		return slices.Contains(v.verdict.Released, newqueue.QueueHoldPath(h))
	})
}

// workedOn takes what workers did out of the differences: jobs first, because they
// tell which batches were worked on.
func (v *verifier) workedOn(ctx context.Context) error {
	if !v.released() {
		return nil
	}
	suspects := map[string]bool{} // jobs and requests, and whether all that differs is a worker's to write
	for _, d := range v.verdict.Differences {
		owner := ownerOf(d.Path)
		if !v.isOurJob(owner) || !v.isReleased(owner) {
			continue
		}
		if fine, seen := suspects[owner]; fine || !seen {
			suspects[owner] = workersDo(d, owner)
		}
	}
	for _, d := range v.broken {
		delete(suspects, ownerOf(d.Path)) // where it stands and what it says don't agree
	}
	var roots []string
	for root, fine := range suspects {
		if fine {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	worked, bids := map[string]bool{}, map[string]bool{}
	for sub, err := range v.target.side.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return err
		}
		state, bid, ok := v.stateOf(sub)
		if !ok || !takenOn(sub) {
			continue
		}
		worked[sub.Root], bids[bid] = true, true
		if v.verdict.Worked.Jobs++; len(v.verdict.Worked.First) < mostWorked {
			v.verdict.Worked.First = append(v.verdict.Worked.First, WorkedJob{sub.Root, state})
		}
	}
	batches := map[string]bool{}
	v.dropDifferences(func(d Difference) bool {
		owner := ownerOf(d.Path)
		switch {
		case worked[owner]:
			if d.Path == owner+"/lock" {
				v.workers = append(v.workers, d.Path)
			}
			return true
		case d.Kind == JobGone && v.doneAndCleaned(d.Path):
			v.verdict.Worked.Finished++
			return true
		case owner != "" && znode.Parent(owner) == newqueue.BatchesPath && bids[znode.Name(owner)] && workersDo(d, owner):
			batches[owner] = true
			return true
		}
		return owner == "" && d.Kind == NodeExtra && v.isWorkersFolder(d.Path)
	})
	v.verdict.Worked.Batches = len(batches)
	return nil
}

// workersDo reports whether a difference at a job, request or batch, or at one of
// its entries, can be a worker's work.
func workersDo(d Difference, owner string) bool {
	inside := znode.Within(d.Path, owner) && d.Path != owner
	child := d.Path
	for inside && znode.Parent(child) != owner {
		child = znode.Parent(child)
	}
	switch d.Kind {
	case NodeChanged, NodeTouched:
		return inside && workersWrite[znode.Name(child)]
	case NodeExtra:
		return !inside && d.Path != owner || workersWrite[znode.Name(child)]
	case NodeMissing, MadeAgain:
		return !inside && d.Path != owner || znode.Name(child) == "states" // an entry, or the folder that it was in
	}
	return false
}

// takenOn reports whether what a job or request says of its content can be a
// worker's: one that writes there has the job's lock, or has left another status.
func takenOn(sub side.Subtree) bool {
	written, worked := false, false
	for _, n := range sub.Nodes {
		switch znode.Name(n.Path) {
		case "status":
			worked = worked || n.Stat.Version != 0
		case "lock":
			worked = worked || n.Stat.EphemeralOwner != 0
		case "identifiers", "metadata", "inventory", "space_needed":
			written = written || n.Stat.Version != 0 || n.Stat.Czxid != sub.Nodes[0].Stat.Czxid
		}
	}
	return worked || !written
}

// stateOf is the state of a job or request that a worker can have left so, with
// its batch's id.
func (v *verifier) stateOf(sub side.Subtree) (state, bid string, ok bool) {
	for _, n := range sub.Nodes {
		switch n.Path {
		case sub.Root + "/bid":
			bid = string(n.Data)
		case sub.Root + "/status":
			if znode.Within(sub.Root, newqueue.AccessPath) {
				s, err := newqueue.ParseAccessStatus(v.dialect, n.Data)
				state, ok = string(s.State), err == nil
			} else {
				s, err := newqueue.ParseJobStatus(v.dialect, n.Data)
				state, ok = string(s.State), err == nil && slices.Contains(v.dialect.JobStates(), s.State)
			}
		}
	}
	return state, bid, ok
}

// doneAndCleaned reports whether a record's job went as a worker lets it go: a job
// with its batch, a request by itself.
func (v *verifier) doneAndCleaned(record string) bool {
	h, there := v.target.custody.lookup(record)
	return there && h.op != settled && v.isReleased(h.root) && v.target.batchOf(h.bid) == nil
}

// isWorkersFolder reports whether workers make a znode of the layout: the folder of
// a state in which no job was, or their locks.
func (v *verifier) isWorkersFolder(path string) bool {
	if znode.Parent(path) == newqueue.JobStatesPath {
		return slices.Contains(v.dialect.JobStates(), newqueue.JobState(znode.Name(path)))
	}
	return znode.Within(path, newqueue.StorageLocksPath) || znode.Within(path, newqueue.InventoryLocksPath) || znode.Within(path, v.dialect.LocalIDLocksPath())
}
