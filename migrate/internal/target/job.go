package target

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/newqueue"
	"mrtq/newqueue/states"
)

// Job is a migrated job or request as it was read, with its entries.
type Job struct {
	Of      *ledger.Migrated
	Nodes   []znode.Node // its own znode first; none if it is not there
	Entries []znode.Node // its entries that are there
	Batch   string       // the id of its batch, as its own znodes say; "" if it has none
	missing string       // an entry that is not there
}

// Jobs reads migrated jobs and requests. If everywhere is set, it also finds the entries of jobs that
// don't say where these are.
func (t *Target) Jobs(ctx context.Context, of []*ledger.Migrated, everywhere bool) ([]Job, error) {
	jobs := make([]Job, len(of))
	var roots []string
	for _, e := range of {
		roots = append(roots, e.Job)
	}
	reader := t.Reader.MarkUnreadable()
	places := make([][]string, len(of)) // where the jobs should have their entries
	i := 0
	for sub, err := range reader.Subtrees(ctx, slices.Values(roots)) {
		if err != nil {
			return nil, err
		}
		jobs[i] = Job{Of: of[i], Nodes: sub.Nodes}
		places[i], jobs[i].Batch = entries(t.Ledger.Runs[of[i].Run].Dialect, of[i].Job, sub.Nodes, of[i].Batch)
		i++
	}
	nodes, err := reader.GetAll(ctx, slices.Concat(places...))
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		for _, path := range places[i] {
			if len(nodes) > 0 && nodes[0].Path == path {
				jobs[i].Entries, nodes = append(jobs[i].Entries, nodes[0]), nodes[1:]
			} else {
				jobs[i].missing = path
			}
		}
	}
	if everywhere {
		return jobs, t.findEntries(ctx, jobs)
	}
	return jobs, nil
}

// findEntries finds the entries of jobs that don't say where these are, wherever they are.
func (t *Target) findEntries(ctx context.Context, jobs []Job) error {
	for i := range jobs {
		j := &jobs[i]
		if len(j.Nodes) == 0 || j.missing == "" && len(j.Entries) > 1 || znode.Within(j.Of.Job, newqueue.AccessPath) {
			continue
		}
		var err error
		if j.Entries, err = t.Reader.MarkUnreadable().GetAll(ctx, AllEntries(j.Of.Batch, znode.Name(j.Of.Job))); err != nil {
			return err
		}
	}
	return nil
}

// Gone reports whether the job is not there: finished and cleaned up, or deleted.
func (j Job) Gone() bool { return len(j.Nodes) == 0 }

// All returns all znodes of the job, its entries last.
func (j Job) All() []znode.Node { return slices.Concat(j.Nodes, j.Entries) }

// Locked says which znode of the job a session has; "" if none has. A worker is working on it.
func (j Job) Locked() string {
	for _, n := range j.Nodes {
		if n.Stat.EphemeralOwner != 0 {
			return "a session has " + znode.Name(n.Path)
		}
	}
	return ""
}

// ActedOn says what shows that another client has changed the job; "" if it is as its run
// left it: every znode has version 0, it has as many children as were created in it, and
// all its znodes come from one transaction. If restored is set, the target was restored from a
// backup, and transactions show nothing.
func (j Job) ActedOn(restored bool) string {
	root, all := j.Nodes[0], j.All()
	// That its status was written says more than that something was created below it.
	slices.SortStableFunc(all, func(a, b znode.Node) int { return cmp.Compare(b.Stat.Version, a.Stat.Version) })
	for _, n := range all {
		switch name := n.Path[strings.LastIndexByte(n.Path, '/')+1:]; {
		case n.Unreadable != "":
			return name + " can't be read: " + n.Unreadable
		case n.Stat.EphemeralOwner != 0:
			return "a session has " + name
		case n.Stat.Version != 0:
			return name + " was written"
		case n.Stat.Aversion != 0:
			return name + " has another ACL"
		case n.Stat.Cversion != n.Stat.NumChildren:
			return "a znode below " + name + " was created or deleted"
		case n.Stat.Czxid != root.Stat.Czxid && !restored:
			return name + " was created in another transaction"
		}
	}
	if j.missing != "" {
		return j.missing + " is not there"
	}
	return ""
}

// Status returns the job's state, in lower case ("" if it can't be read), and whether its status was written
// since the job was created.
func (j Job) Status() (state string, written bool) {
	for _, n := range j.Nodes {
		if n.Path == j.Of.Job+"/status" {
			if o, err := newqueue.ParseObject(n.Data); err == nil {
				state, _ = o.String("status")
			}
			return strings.ToLower(state), n.Stat.Version != 0
		}
	}
	return "", true
}

// DeleteOps returns the operations that delete znodes as they were read. The nodes have parents before their
// children, so their reverse has children first.
func DeleteOps(nodes []znode.Node) []znode.Op {
	ops := make([]znode.Op, 0, len(nodes))
	for _, n := range slices.Backward(nodes) {
		ops = append(ops, znode.Delete(n.Path, n.Stat.Version))
	}
	return ops
}

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
			status, _ = newqueue.Parse[newqueue.JobStatus](d, n.Data)
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
