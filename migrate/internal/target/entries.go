package target

import (
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// entries are the paths where a job should have its entries, as its own znodes say: in its
// batch, and in the queue of its state. bid is its batch if its znodes name none; batch is
// the one that counts. An access request has no entries.
func entries(d newqueue.Dialect, job string, nodes []znode.Node, bid string) (paths []string, batch string) {
	if len(nodes) == 0 || znode.Within(job, newqueue.AccessPath) {
		return nil, ""
	}
	var status newqueue.JobStatus
	priority := -1
	for _, n := range nodes {
		switch n.Path {
		case job + "/bid":
			bid = string(n.Data)
		case job + "/status":
			status, _ = newqueue.ParseJobStatus(d, n.Data)
		case job + "/priority":
			if p, err := newqueue.ParsePriority(n.Data); err == nil {
				priority = p
			}
		}
	}
	if _, ok := newqueue.ParseSequenceID(newqueue.BatchPrefix, bid); !ok {
		bid = ""
	}
	jid := znode.Name(job)
	if bid != "" && status.State != "" {
		paths = append(paths, newqueue.BatchEntryPath(bid, status.State.Folder(), jid))
	}
	if status.State != "" && priority >= 0 && (status.State != newqueue.JobDeleted || d.KeepsDeleted()) {
		paths = append(paths, newqueue.JobEntryPath(status.State, priority, jid))
	}
	return paths, bid
}

// AllEntries returns all paths at which a job can have an entry, in byte order. bid is its
// batch, "" if that is not known.
func AllEntries(bid, jid string) (paths []string) {
	if _, ok := newqueue.ParseSequenceID(newqueue.BatchPrefix, bid); ok {
		for _, f := range newqueue.BatchFolders {
			paths = append(paths, newqueue.BatchEntryPath(bid, f, jid))
		}
	}
	for _, state := range states.All(states.Job) {
		for priority := range newqueue.MaxPriority + 1 {
			paths = append(paths, newqueue.JobEntryPath(newqueue.JobState(state), priority, jid))
		}
	}
	slices.Sort(paths)
	return paths
}
