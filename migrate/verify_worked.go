package migrate

import (
	"context"
	"slices"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Once a queue is released, its workers change what the migration made. The code here
// distinguishes their work from damage, and removes it from the differences. While the
// queues are held, nobody should work, so every change is a difference.

// WorkedOn is what workers have done since the queues were released.
type WorkedOn struct {
	Jobs     int `json:"jobs"`     // jobs and requests that workers have started
	Locked   int `json:"locked"`   // how many of these a worker has locked now
	Finished int `json:"finished"` // gone with their batch: finished and cleaned up, or deleted by hand
	Batches  int `json:"batches"`
	// First lists the first of the jobs and requests, with their states. Gone lists the
	// first of those that are gone.
	First []WorkedJob `json:"first"`
	Gone  []GoneJob   `json:"gone"`
	// Abandoned are requests of dialect mrt-zk in state processing that no worker has
	// locked. No deployed worker takes them again.
	Abandoned []string `json:"abandoned"`
}

// WorkedJob is a job or request that a worker has changed. Between two steps it has no
// lock, and waits for the worker of the next step.
type WorkedJob struct {
	Path   string `json:"path"`
	State  string `json:"state"`
	Locked bool   `json:"locked"`
}

// GoneJob is a job or request that is gone, and its legacy record.
type GoneJob struct {
	Record string `json:"record"`
	Path   string `json:"path"`
}

// maxWorked is the most entries that each list of a [WorkedOn] has.
const maxWorked = 1000

// add counts one job or request.
func (w *WorkedOn) add(j WorkedJob) {
	w.Jobs++
	if j.Locked {
		w.Locked++
	}
	if len(w.First) < maxWorked {
		w.First = append(w.First, j)
	}
}

// processing reports whether it is a request in state processing.
func (j WorkedJob) processing() bool {
	return znode.Within(j.Path, newqueue.AccessPath) && newqueue.AccessState(j.State) == newqueue.AccessProcessing
}

// isLocked reports whether a session has the lock of a job or request.
func isLocked(sub side.Subtree) bool {
	return slices.ContainsFunc(sub.Nodes, func(n znode.Node) bool { return n.Path == sub.Root+"/lock" && n.Stat.EphemeralOwner != 0 })
}

// None reports whether workers have done nothing.
func (w WorkedOn) None() bool { return w.Jobs+w.Finished+w.Batches == 0 }

// workersWrite are the znodes below a job, request or batch that workers and
// administrators change in normal work. They change no others.
var workersWrite = map[string]bool{
	"status": true, "lock": true, "priority": true, "space_needed": true, "identifiers": true, "metadata": true, "inventory": true,
	"status-report": true, "states": true, "store": true,
}

// released notes the holds that were lifted after the newest run was done. It reports
// whether there are any.
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
	if znode.Within(owner, newqueue.AccessPath) { // every access worker takes requests of both sizes
		holds = []newqueue.QueueHold{newqueue.HoldAccessSmall, newqueue.HoldAccessLarge}
	}
	return slices.ContainsFunc(holds, func(h newqueue.QueueHold) bool {
		return slices.Contains(v.verdict.Released, newqueue.QueueHoldPath(h))
	})
}

// workedOn removes the workers' work from the differences. It looks at jobs first, because
// they show which batches were worked on.
func (v *verifier) workedOn(ctx context.Context) error {
	if !v.released() {
		return nil
	}
	suspects := map[string]bool{} // jobs and requests, and whether workers can have made all their differences
	for _, d := range v.verdict.Differences {
		owner := ownerOf(d.Path)
		if !v.isOurJob(owner) || !v.isReleased(owner) {
			continue
		}
		if fine, seen := suspects[owner]; fine || !seen {
			suspects[owner] = madeByWorker(d, owner)
		}
	}
	for _, d := range v.layoutBroken {
		delete(suspects, ownerOf(d.Path)) // its entry and its status don't agree
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
		if !ok || !startedByWorker(sub) {
			continue
		}
		worked[sub.Root], bids[bid] = true, true
		job := WorkedJob{sub.Root, state, isLocked(sub)}
		v.verdict.Worked.add(job)
		if job.processing() {
			// No worker takes such a request, but that is no fault while a worker has it.
			// Abandoned lists the requests that no worker has.
			v.workers = append(v.workers, job.Path+"/status")
		}
		if job.processing() && !job.Locked && v.dialect == newqueue.MrtZK && len(v.verdict.Worked.Abandoned) < maxWorked {
			v.verdict.Worked.Abandoned = append(v.verdict.Worked.Abandoned, job.Path)
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
			h, _ := v.target.custody.lookup(d.Path)
			if v.verdict.Worked.Finished++; len(v.verdict.Worked.Gone) < maxWorked {
				v.verdict.Worked.Gone = append(v.verdict.Worked.Gone, GoneJob{d.Path, h.root})
			}
			return true
		case owner != "" && znode.Parent(owner) == newqueue.BatchesPath && bids[znode.Name(owner)] && madeByWorker(d, owner):
			batches[owner] = true
			return true
		}
		return owner == "" && d.Kind == NodeExtra && v.isWorkersFolder(d.Path)
	})
	v.verdict.Worked.Batches = len(batches)
	return nil
}

// madeByWorker reports whether a worker can have made a difference at a job, request or
// batch, or at one of its entries.
func madeByWorker(d Difference, owner string) bool {
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
	case NodeMissing, Recreated:
		return !inside && d.Path != owner || znode.Name(child) == "states" // an entry, or the folder that had it
	}
	return false
}

// startedByWorker reports whether a worker can have written a job's or request's content. A worker
// that writes there has the job's lock, or has left another status.
func startedByWorker(sub side.Subtree) bool {
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

// stateOf returns the state of a job or request, and the id of its batch. ok is false if
// no worker can have left that state.
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

// doneAndCleaned reports whether the services' cleanup can have removed a record's job. It
// removes a job together with its batch, and a request by itself. A deletion by hand looks
// the same.
func (v *verifier) doneAndCleaned(record string) bool {
	h, there := v.target.custody.lookup(record)
	return there && h.op != opDeclaredDone && v.isReleased(h.root) && v.target.batchOf(h.bid) == nil
}

// isWorkersFolder reports whether workers create a znode of the layout: the folder of a
// state that no job had before, or a lock.
func (v *verifier) isWorkersFolder(path string) bool {
	if znode.Parent(path) == newqueue.JobStatesPath {
		return slices.Contains(v.dialect.JobStates(), newqueue.JobState(znode.Name(path)))
	}
	return znode.Within(path, newqueue.StorageLocksPath) || znode.Within(path, newqueue.InventoryLocksPath) || znode.Within(path, v.dialect.LocalIDLocksPath())
}
